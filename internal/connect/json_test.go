package connect

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
)

var entry = jsonEntry{path: []string{"mcpServers", "recalld"}, entry: stdio{Command: "recalld", Args: []string{"mcp"}}}

// jsonFiles are files as people and programs write them. Taken out again, recalld
// leaves exactly the text that was there, or else what left says.
var jsonFiles = map[string]struct{ text, want, left string }{
	"missing": {"", "{\n  \"mcpServers\": {\n    \"recalld\": {\n      \"command\": \"recalld\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  }\n}\n", ""},
	"other servers": {"{\n    \"mcpServers\": {\n        \"git\": {\"command\": \"g\"}\n    },\n    \"theme\": \"x\"\n}\n",
		"{\n    \"mcpServers\": {\n        \"git\": {\"command\": \"g\"},\n        \"recalld\": {\n            \"command\": \"recalld\",\n            \"args\": [\n                \"mcp\"\n            ]\n        }\n    },\n    \"theme\": \"x\"\n}\n", "same"},
	"tabs, comments, commas at the end": {"// mine\n{\n\t\"a\": 1, // one\n\t/* servers */\n\t\"mcpServers\": {\n\t\t\"git\": {}, // git\n\t\t// the end\n\t},\n}\n",
		"", "same"},
	"comment behind the last":  {"{\n  \"a\": 1 // note\n}\n", "{\n  \"a\": 1, // note\n  \"mcpServers\": {\n    \"recalld\": {\n      \"command\": \"recalld\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  }\n}\n", "same"},
	"comment over lines":       {"{\n  \"a\": 1 /* begins\n  ends */\n}\n", "", "same"},
	"comment in an empty one":  {"{\n  \"mcpServers\": {\n    // none yet\n  }\n}\n", "", "same"},
	"one line":                 {`{"a":1,"mcpServers":{"git":{"command":"g"}}}`, `{"a":1,"mcpServers":{"git":{"command":"g"}, "recalld": {"command":"recalld","args":["mcp"]}}}`, "same"},
	"one line, comma":          {`{"a": 1,}`, `{"a": 1, "mcpServers": {"recalld":{"command":"recalld","args":["mcp"]}},}`, "same"},
	"Windows":                  {"\ufeff{\r\n  \"a\": 1\r\n}\r\n", "\ufeff{\r\n  \"a\": 1,\r\n  \"mcpServers\": {\r\n    \"recalld\": {\r\n      \"command\": \"recalld\",\r\n      \"args\": [\r\n        \"mcp\"\r\n      ]\r\n    }\r\n  }\r\n}\r\n", "same"},
	"empty object":             {"{}\n", "", ""},
	"empty servers":            {"{\n  \"mcpServers\": {},\n  \"a\": 1\n}\n", "", "{\n  \"a\": 1\n}\n"},
	"escaped names":            {`{"mcp\u0053ervers": {"g": 1}}`, "", "same"},
	"only a comment outside":   {"// mine\n{}\n", "", "// mine\n{}\n"},
	"numbers beyond a float64": {"{\n  \"n\": 12345678901234567890123,\n  \"x\": 1.10\n}", "", "same"},
}

// TestJSONEntryKeepsWhatIsChosen: what a user has changed of the chosen members stays.
func TestJSONEntryKeepsWhatIsChosen(t *testing.T) {
	e := entry
	e.chosen = []string{"args"}
	const mine = `{"mcpServers": {"recalld": {"args": ["mcp", "--toolsets", "all"]}}}`
	with, err := e.Put([]byte(mine))
	if err != nil || !strings.Contains(string(with), `"--toolsets"`) || !strings.Contains(string(with), `"command"`) {
		t.Errorf("it writes %s, %v", with, err)
	}
	if with, err := e.Put([]byte("{}")); err != nil || !strings.Contains(string(with), `"args"`) {
		t.Errorf("into an empty file it writes %s, %v", with, err)
	}
}

func TestJSONEntry(t *testing.T) {
	for name, test := range jsonFiles {
		var text []byte
		if test.text != "" {
			text = []byte(test.text)
		}
		with, err := entry.Put(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if test.want != "" && string(with) != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, with, test.want)
		}
		checkEntry(t, name, text, with)
		without, err := entry.Take(with)
		if err != nil {
			t.Errorf("%s: take: %v", name, err)
			continue
		}
		want := test.left
		if want == "same" {
			want = test.text
		}
		if string(without) != want {
			t.Errorf("%s: left is\n%q\nwant\n%q", name, without, want)
		}
		if want == "" && without != nil {
			t.Errorf("%s: an empty file is left, want none", name)
		}
	}
}

// checkEntry: the entry is there, all else is, and putting it again does nothing.
func checkEntry(t *testing.T, name string, text, with []byte) {
	t.Helper()
	got, err := jsonGet(with, entry.path)
	if err != nil || got == nil {
		t.Errorf("%s: the entry is not there (%v) in\n%s", name, err, with)
		return
	}
	object, _ := got.(map[string]any)
	if object["command"] != "recalld" || !reflect.DeepEqual(object["args"], []any{"mcp"}) {
		t.Errorf("%s: the entry is %v", name, got)
	}
	if again, err := entry.Put(with); err != nil || !bytes.Equal(again, with) {
		t.Errorf("%s: a second time it became (%v)\n%s", name, err, again)
	}
	old, err := jsonGet(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range old.(map[string]any) {
		if now, err := jsonGet(with, []string{key}); err != nil || key != entry.path[0] && !reflect.DeepEqual(now, value) {
			t.Errorf("%s: %s became %v (%v)", name, key, now, err)
		}
	}
}

func TestJSONEntryKeepsWhatTheUserAdded(t *testing.T) {
	text := `{
  "mcpServers": {
    "recalld": {
      "command": "/old/recalld", // moved
      "args": ["mcp", "--data", "x"],
      "env": {"A": "b"}
    }
  }
}`
	want := strings.NewReplacer(`"/old/recalld"`, `"recalld"`, `["mcp", "--data", "x"]`, `["mcp"]`).Replace(text)
	got, err := entry.Put([]byte(text))
	if err != nil || string(got) != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
	}
	got, err = entry.Put([]byte(`{"mcpServers": {"recalld": null}}`))
	if err != nil || string(got) != `{"mcpServers": {"recalld": {"command":"recalld","args":["mcp"]}}}` {
		t.Errorf("in the place of null: %v\n%s", err, got)
	}
}

// TestTakeBelowComment: what stands behind the entry does not get into the comment before it.
func TestTakeBelowComment(t *testing.T) {
	for text, want := range map[string]string{
		"{\"mcpServers\": { // mine\n \"recalld\": {}, \"b\": 2}}": "{\"mcpServers\": { // mine\n \"b\": 2}}",
		"{\"mcpServers\": {\"b\": 2, // mine\n \"recalld\": {} }}": "{\"mcpServers\": {\"b\": 2 // mine\n }}",
	} {
		if got, err := entry.Take([]byte(text)); err != nil || string(got) != want {
			t.Errorf("%q became %q (%v), want %q", text, got, err, want)
		}
	}
}

func TestOpenCodeForms(t *testing.T) {
	edit := openCodeServer(server)
	for text, want := range map[string]string{
		`{"mcp":{"servers":{}}}`: `{"mcp":{"servers":{"recalld": {"type":"local","command":["recalld","mcp"],"enabled":true}}}}`,
		`{"mcp":{"a":{}}}`:       `{"mcp":{"a":{}, "recalld": {"type":"local","command":["recalld","mcp"],"enabled":true}}}`,
	} {
		got, err := edit.Put([]byte(text))
		if err != nil || string(got) != want {
			t.Errorf("%s became %v\n%s\nwant\n%s", text, err, got, want)
		}
		if left, err := edit.Take(got); err != nil || bytes.Contains(left, []byte("recalld")) {
			t.Errorf("left is %v\n%s", err, left)
		}
	}
}

func FuzzJSONEntry(f *testing.F) {
	for _, test := range jsonFiles {
		f.Add([]byte(test.text))
	}
	f.Add([]byte("{\"hooks\":{\"a\":[/**/{}]},\"mcpServers\":{\"recalld\":{},}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		with, err := entry.Put(text)
		if err != nil {
			return
		}
		if !unique(text) { // which of two equal names counts depends on the reader
			return
		}
		checkEntry(t, "fuzz", text, with)
		without, err := entry.Take(with)
		if err != nil {
			t.Fatalf("take out of %q: %v", with, err)
		}
		if left, err := jsonGet(without, entry.path); left != nil || err != nil {
			t.Errorf("%q still has it (%v): %q", text, err, without)
		}
	})
}

// unique says whether no object has one name twice.
func unique(text []byte) bool {
	v, err := hujson.Parse(bytes.TrimPrefix(text, byteOrderMark))
	if err != nil {
		return true
	}
	for at := range v.All() {
		object, ok := at.Value.(*hujson.Object)
		if !ok {
			continue
		}
		names := map[string]bool{}
		for _, m := range object.Members {
			var name string
			if json.Unmarshal(m.Name.Pack(), &name) != nil {
				name = m.Name.Value.(hujson.Literal).String()
			}
			if names[name] {
				return false
			}
			names[name] = true
		}
	}
	return true
}

// TestJSONEntryTwice: an entry that is there twice goes whole.
func TestJSONEntryTwice(t *testing.T) {
	left, err := entry.Take([]byte(`{"mcpServers": {"recalld": {"command": "a"}, "other": {}, "recalld": {"command": "b"}}}`))
	if err != nil || strings.Contains(string(left), "recalld") || !strings.Contains(string(left), "other") {
		t.Errorf("left is %v\n%s", err, left)
	}
}
