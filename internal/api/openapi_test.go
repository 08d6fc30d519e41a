package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/recalld/recalld/internal/api"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/service/servicetest"
	"github.com/recalld/recalld/internal/testkit/golden"
)

// description is the API's description and the schemas in it.
type description struct {
	doc      map[string]any
	compiler *jsonschema.Compiler
}

const descriptionURL = "mem:///openapi.json"

// describe reads the description as a client does. Closed says that objects hold no fields
// that their schemas do not name.
func describe(t *testing.T, closed bool) description {
	t.Helper()
	w, err := do(t, api.NewHandler(&servicetest.Service{}, api.Options{}), request(http.MethodGet, api.DescriptionPath, ""))
	if err != nil {
		t.Fatal(err)
	}
	doc, decodeErr := jsonschema.UnmarshalJSON(w.Body)
	if decodeErr != nil {
		t.Fatal(decodeErr)
	}
	d := description{doc.(map[string]any), jsonschema.NewCompiler()}
	if closed {
		closeObjects(doc)
		// It keeps fields of newer versions.
		delete(d.at("components", "schemas", "WorkingContext").(map[string]any), "additionalProperties")
	}
	if err := d.compiler.AddResource(descriptionURL, doc); err != nil {
		t.Fatal(err)
	}
	return d
}

// closeObjects forbids other fields in all objects whose fields are named.
func closeObjects(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, named := v["properties"].(map[string]any); named && v["type"] == "object" {
			v["additionalProperties"] = false
		}
		for _, of := range v {
			closeObjects(of)
		}
	case []any:
		for _, of := range v {
			closeObjects(of)
		}
	}
}

// at returns what a path of keys leads to, nil if there is nothing.
func (d description) at(keys ...string) any {
	var v any = d.doc
	for _, key := range keys {
		o, _ := v.(map[string]any)
		v = o[key]
	}
	return v
}

// check holds a value against the schema that a path of keys leads to.
func (d description) check(t *testing.T, what string, value []byte, keys ...string) {
	t.Helper()
	pointer := ""
	for _, key := range keys {
		pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
	}
	schema, err := d.compiler.Compile(descriptionURL + "#" + pointer)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err == nil {
		err = schema.Validate(v)
	}
	if err != nil {
		t.Errorf("%s does not fit its schema: %v\n%.300s", what, err, value)
	}
}

// TestDescriptionGolden holds the description against the file that people read.
func TestDescriptionGolden(t *testing.T) {
	w, err := do(t, api.NewHandler(&servicetest.Service{}, api.Options{}), request(http.MethodGet, api.DescriptionPath, ""))
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "../../docs/openapi.json", w.Body.String()+"\n")
}

// TestDescriptionOfEachOperation calls every operation as its example says, answers with all
// fields set, and holds both against their schemas. Errors have theirs, too.
func TestDescriptionOfEachOperation(t *testing.T) {
	d, closed := describe(t, false), describe(t, true)
	h := api.NewHandler(servicetest.Full("text", time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)), api.Options{})
	failing := api.NewHandler(&servicetest.Service{Err: &memory.Error{
		Code: memory.CodeNotFound, Field: "id", Limit: "an id", Message: "no such record", Hint: "list them"}}, api.Options{})
	for _, op := range service.Operations() {
		method := strings.ToLower(op.Method)
		example := exampleOf(t, d, op)
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, example())
		if answer.Code != http.StatusOK {
			t.Errorf("%s refuses its example: %s", op.Name, answer.Body)
			continue
		}
		content, _, _ := strings.Cut(answer.Header().Get("Content-Type"), ";")
		for line := range bytes.Lines(bytes.TrimSpace(answer.Body.Bytes())) {
			closed.check(t, "the answer of "+op.Name, line, "paths", op.Path, method, "responses", "200", "content", content, "schema")
		}
		if op.AnyProtocol {
			continue
		}
		if _, err := do(t, failing, example()); err == nil {
			t.Errorf("%s does not fail", op.Name)
			continue
		}
		answer = httptest.NewRecorder()
		failing.ServeHTTP(answer, example())
		closed.check(t, "the error of "+op.Name, answer.Body.Bytes(), "components", "responses", "404", "content", service.MIMEJSON, "schema")
	}
}

// exampleOf returns the example of an operation as a request.
func exampleOf(t *testing.T, d description, op *service.Spec) func() *http.Request {
	t.Helper()
	method, path, body := strings.ToLower(op.Method), op.Path, []byte(nil)
	parameters, _ := d.at("paths", op.Path, method, "parameters").([]any)
	for _, p := range parameters {
		p := p.(map[string]any)
		path = strings.ReplaceAll(path, "{"+p["name"].(string)+"}", p["example"].(string))
	}
	if op.TakesRequest() && !op.InPath() {
		value := d.at("paths", op.Path, method, "requestBody", "content", service.MIMEJSON, "example")
		if value == nil {
			t.Errorf("%s has no example", op.Name)
		}
		var err error
		if body, err = json.Marshal(value); err != nil {
			t.Fatal(err)
		}
		d.check(t, "the example of "+op.Name, body, "paths", op.Path, method, "requestBody", "content", service.MIMEJSON, "schema")
	}
	return func() *http.Request { return request(op.Method, path, string(body)) }
}
