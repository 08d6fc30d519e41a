package daemon

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/mcp"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

// hostileRequest is a request that must be refused, with the field that the refusal names.
type hostileRequest struct {
	family string
	op     *service.Spec
	field  string // empty for the whole
	limit  bool   // the refusal says the limit
	body   string
}

// fieldCases are values that a field must not have, as JSON, by what is wrong with them.
type fieldCase struct {
	family, value string
	limit         bool
}

func casesOf(f reflect.StructField) (cases []fieldCase) {
	l := memory.LimitsOf(f)
	add := func(family string, limit bool, values ...any) {
		for _, v := range values {
			raw, ok := v.(json.RawMessage)
			if !ok {
				raw, _ = json.Marshal(v)
			}
			cases = append(cases, fieldCase{family, string(raw), limit})
		}
	}
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	t := f.Type
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		add("times", false, "yesterday", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-01-01T00:00:00+99:00", "2026-01-01", 5, "292277026597-01-01T00:00:00Z", "")
		return cases
	case t == reflect.TypeFor[json.RawMessage]():
		if l.Range != nil && len(l.Forms) > 0 && l.Forms[0] == "object" {
			add("over the limit", true, map[string]string{"k": strings.Repeat("x", int(l.Range.Max))})
		}
		if len(l.Forms) == 1 {
			add("wrong types", false, 5, []int{1})
		}
		return cases
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return nil // has tests of its own
	}
	switch t.Kind() {
	case reflect.String:
		add("wrong types", false, 5, true, []string{"x"}, map[string]int{"a": 1})
		add("texts", false, raw(`"a\ud800b"`), raw("\"a\xffb\""), raw("\"a\nb\""))
		if l.Range != nil {
			add("over the limit", true, strings.Repeat("é", int(l.Range.Max)+1))
			if l.Given != "" || !l.Optional && l.Range.Min > 0 {
				add("below the limit", true, "")
			}
		}
		if len(l.Enum) > 0 {
			add("unknown values", true, "no-such-value", l.Enum[0]+" ; rm -rf /")
		}
	case reflect.Int, reflect.Int64:
		add("wrong types", false, "5", true, []int{5})
		add("numbers", false, 1.5, raw("1e99"), raw("9223372036854775808"), raw("NaN"), raw("-Infinity"), raw("0x10"))
		if l.Range != nil {
			add("over the limit", true, l.Range.Max+1)
			add("below the limit", true, l.Range.Min-1, -1<<62)
		}
	case reflect.Float64:
		add("numbers", false, "0.5", raw("1e999"), raw("NaN"), raw("Infinity"))
		if l.Range != nil {
			add("over the limit", true, raw(fmt.Sprintf("%d.01", l.Range.Max)))
			add("below the limit", true, raw("-0.01"))
		}
	case reflect.Bool:
		add("wrong types", false, "true", 1, []bool{true})
	case reflect.Slice:
		add("wrong types", false, "x", 5, map[string]int{"a": 1})
		if t.Elem().Kind() != reflect.String {
			break
		}
		add("wrong types", false, []int{1})
		if l.Range != nil && l.Range.Max < 20_000 {
			add("over the limit", true, slices.Repeat([]string{"xxxx"}, int(l.Range.Max)+1))
		}
		if l.Each != nil {
			add("over the limit", true, []string{strings.Repeat("é", int(l.Each.Max)+1)})
			add("below the limit", true, []string{""})
		}
		if len(l.Enum) > 0 {
			add("unknown values", true, []string{"no-such-value"})
		}
	case reflect.Struct:
		add("wrong types", false, "x", 5, []int{1})
		add("unknown fields", false, map[string]int{"nosuch": 1})
	}
	return cases
}

// needed is a request of an operation that has just what must be there.
func needed(t reflect.Type) map[string]any {
	body := map[string]any{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		l := memory.LimitsOf(f)
		if f.Anonymous || name == "" || name == "-" || strings.Contains(options, "omit") {
			continue
		}
		switch {
		case len(l.Enum) > 0:
			body[name] = l.Enum[0]
		case f.Type == reflect.TypeFor[json.RawMessage]():
			body[name] = map[string]any{"valid": true}
		case strings.Contains(f.Tag.Get("text"), "absolute"):
			body[name] = filepath.Join(os.TempDir(), "wxyz")
		case f.Type.Kind() == reflect.String:
			body[name] = "wxyz"
		case f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[time.Time]():
			body[name] = needed(f.Type)
		case f.Type.Kind() == reflect.Bool:
			body[name] = true
		}
	}
	return body
}

// hostileRequests are made from the fields of all requests and the tags with their limits, so
// that a new field is tried as well.
func hostileRequests(t *testing.T) []hostileRequest {
	var all []hostileRequest
	for _, op := range service.Operations() {
		if !op.TakesRequest() || op.InPath() || op.AnyProtocol || op.Form().Kind() != reflect.Struct {
			continue
		}
		base := needed(op.Form())
		with := func(name, value string) string {
			body := map[string]json.RawMessage{}
			for n, v := range base {
				text, err := json.Marshal(v)
				must(t, err)
				body[n] = text
			}
			delete(body, name)
			text := "{" + fmt.Sprintf("%q: ", name) + value
			for _, n := range slices.Sorted(maps.Keys(body)) {
				text += fmt.Sprintf(", %q: %s", n, body[n])
			}
			return text + "}"
		}
		for _, f := range reflect.VisibleFields(op.Form()) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous || name == "" || name == "-" {
				continue
			}
			for _, c := range casesOf(f) {
				all = append(all, hostileRequest{c.family, op, name, c.limit, with(name, c.value)})
			}
		}
		whole := with("nosuch", "1")
		for family, body := range map[string]string{
			"unknown fields": whole, "case": with("CALLER", "{}"), "deep nesting": strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000),
			"not an object": `["x"]`, "cut off": `{"query": "x`, "two values": "{} {}", "a comment": "{} // x", "not UTF-8": "{\"a\xff\": 1}",
			"a text": `"{}"`, "a byte order mark": "\ufeff{}", "a trailing comma": `{"a": 1,}`, "an empty name": with("", "1"),
		} {
			all = append(all, hostileRequest{family: family, op: op, body: body})
		}
		if !op.BodyOptional {
			all = append(all, hostileRequest{family: "empty", op: op})
		}
		for name := range base {
			text, err := json.Marshal(base[name])
			must(t, err)
			all = append(all, hostileRequest{family: "twice", op: op, field: name, body: strings.Replace(with(name, string(text)), "{", fmt.Sprintf("{%q: %s, ", name, text), 1)})
			break
		}
	}
	return all
}

// TestHostileRequests: what no request may say is refused, over the API and over MCP, in words
// that name the field and the limit; nothing is stored, and the daemon goes on.
func TestHostileRequests(t *testing.T) {
	underrace.Skip(t, "one request after the other")
	s := serve(t, newConfig(t))
	s.keep(shop(t), "The shop counts articles before the discount")
	before, err := service.Status.Do(t.Context(), s, service.None{})
	must(t, err)
	post := func(path, body string, headers map[string]string) (int, http.Header, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://recalld"+path, strings.NewReader(body))
		must(t, err)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		for name, value := range headers {
			request.Header.Set(name, value)
		}
		answer, err := s.HTTP().Do(request)
		must(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		must(t, err)
		return answer.StatusCode, answer.Header, string(text)
	}
	_, header, _ := post(mcp.Path, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, nil)
	session := map[string]string{"Mcp-Session-Id": header.Get("Mcp-Session-Id")}
	families := map[string]int{}
	for _, c := range hostileRequests(t) {
		families[c.family]++
		status, _, text := post(c.op.Path, c.body, nil)
		var told service.ErrorBody
		brief := c.body[:min(len(c.body), 200)]
		switch err := json.Unmarshal([]byte(text), &told); {
		case err != nil || told.Error == nil || status != http.StatusBadRequest:
			t.Errorf("API, %s: %s of %s is answered with %d: %.300s", c.family, c.op.Name, brief, status, text)
		case told.Error.Message == "" || told.Error.Field == "" || c.field != "" && !isNamed(told.Error.Field, c.field):
			t.Errorf("API, %s: the refusal of %s of %s does not name %q: %.300s", c.family, c.op.Name, brief, c.field, text)
		case c.limit && told.Error.Limit == "":
			t.Errorf("API, %s: the refusal of %s of %s does not tell the limit: %.300s", c.family, c.op.Name, brief, text)
		}
		if !c.op.IsTool() || !json.Valid([]byte(c.body)) || hiddenFromTools(c.op, c.field) {
			continue
		}
		families["MCP: "+c.family]++
		message := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, toolOf(c.op), c.body)
		status, _, text = post(mcp.Path, string(bytes.ReplaceAll(message, []byte("\n"), []byte(" "))), session)
		lower := strings.ToLower(text)
		if strings.Contains(lower, "is not valid utf-8") || strings.Contains(lower, "number 1e999") { // of the message as a whole
			continue
		}
		if status >= 500 || !strings.Contains(lower, "invalid") && !strings.Contains(lower, `"error"`) || c.field != "" && !strings.Contains(lower, strings.ToLower(c.field)) {
			t.Errorf("MCP, %s: %s of %s is answered with %d: %.300s", c.family, c.op.Name, brief, status, text)
		}
	}
	total := 0
	for _, family := range slices.Sorted(maps.Keys(families)) {
		t.Logf("%4d %s", families[family], family)
		total += families[family]
	}
	if t.Logf("%4d requests", total); total < 300 {
		t.Errorf("only %d requests are tried", total)
	}
	after, err := service.Status.Do(t.Context(), s, service.None{})
	must(t, err)
	if !maps.Equal(after.Records, before.Records) || after.Documents != before.Documents || len(after.Errors) > 0 {
		t.Errorf("the store had %v and has %v, with the errors %v", before.Records, after.Records, after.Errors)
	}
}

// isNamed says that the field of a refusal is the field, or within it, or the other name of a
// field that has two.
func isNamed(told, field string) bool {
	if told == field || strings.HasPrefix(told, field+".") || strings.HasPrefix(told, field+"[") || told == "body" {
		return true
	}
	return false
}

func hiddenFromTools(op *service.Spec, field string) bool {
	for _, f := range reflect.VisibleFields(op.Form()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == field {
			return memory.HiddenFromTools(f)
		}
	}
	return false
}
