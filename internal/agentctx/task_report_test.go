package agentctx

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

func TestSummarize(t *testing.T) {
	var many []string
	for i := range 11 {
		many = append(many, fmt.Sprintf(`"e%d"`, i))
	}
	for name, test := range map[string]struct{ intent, report, want string }{
		"success":            {"Add login", `{"valid":true}`, "Add login: succeeded."},
		"a sentence":         {"Add login.\nWith mail.", `{"valid":true}`, "Add login. With mail: succeeded."},
		"no intent":          {"", `{"valid":false}`, "Failed."},
		"no verdict":         {"Add login", `{}`, "Add login: failed."},
		"valid is no text":   {"", `{"valid":"true"}`, "Failed."},
		"a note":             {"", `{"valid":true,"summary":" All\n green. "}`, "Succeeded. All green."},
		"the first note":     {"", `{"valid":true,"feedback":"b","summary":7,"message":"a"}`, "Succeeded. a."},
		"texts":              {"", `{"errors":["no tests","no tests","lint "]}`, "Failed. Failing: no tests; lint."},
		"one text":           {"", `{"error":"no tests."}`, "Failed. Failing: no tests."},
		"objects":            {"", `{"failures":[{"name":"TestA","message":"timed out"},{"file":"a.go"},{"reason":"slow"},{"n":1},7]}`, "Failed. Failing: TestA: timed out; a.go; slow."},
		"by name":            {"", `{"missing":{"b":"docs","a":{"message":"tests"}}}`, "Failed. Failing: a: tests; b: docs."},
		"checks":             {"", `{"checks":[{"name":"lint","passed":true},{"name":"build","passed":false,"error":"no main"},{"id":"x","status":"FAILED"},{"id":"y","status":"ok"}]}`, "Failed. Failing: build: no main; x."},
		"checks by name":     {"", `{"tests":{"unit":true,"e2e":false,"race":{"ok":false,"message":"a race"}}}`, "Failed. Failing: e2e; race: a race."},
		"more than are kept": {"", `{"errors":[` + strings.Join(many, ",") + `]}`, "Failed. Failing: e0; e1; e2; e3; e4; e5; e6; e7; and 3 more."},
		"in order":           {"", `{"checks":{"c":false},"violations":["v"],"errors":["e"]}`, "Failed. Failing: e; v; c."},
		"no object":          {"", `[1]`, "Failed."},
		"other shapes":       {"", `{"valid":true,"errors":7,"checks":"none","failed":null,"issues":[]}`, "Succeeded."},
	} {
		for range 3 { // always the same
			if got := summarize(test.intent, json.RawMessage(test.report)); got != test.want {
				t.Errorf("%s: the summary is %q, want %q", name, got, test.want)
			}
		}
	}
}

// No report makes a summary, or a text to be found by, that is longer than one that
// is given may be, or breaks a line.
func FuzzSummarize(f *testing.F) {
	f.Add("Add login", []byte(`{"valid":false,"errors":["a",{"name":"b","message":"c"}],"checks":{"d":false}}`))
	f.Add("", []byte(`{"error":{"`+strings.Repeat("ü", 400)+`":"x"}}`))
	f.Add(strings.Repeat("ü", 3000), []byte(`{`))
	f.Fuzz(func(t *testing.T, intent string, report []byte) {
		got := summarize(intent, report)
		if n := utf8.RuneCountInString(got); n > memory.MaxTaskSummary || strings.ContainsAny(got, "\r\n") {
			t.Errorf("%q of %q is a summary of %d characters: %q", report, intent, n, got)
		}
		if again := summarize(intent, report); again != got {
			t.Errorf("%q is summarized as %q and %q", report, got, again)
		}
	})
}
