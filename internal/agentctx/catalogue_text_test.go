package agentctx

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

func TestSplitName(t *testing.T) {
	for name, want := range map[string]string{
		"read_file": "read file", "readFile": "read file", "HTTPServer": "http server", "list-PRs": "list p rs", "get.user/v2": "get user v2",
		"": "", "__": "", "id": "id", "getURL": "get url", "ÜberGröße": "über größe", "v1Beta2": "v1 beta2",
	} {
		if got := strings.Join(splitName(name), " "); got != want {
			t.Errorf("splitName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestText(t *testing.T) {
	e := bareTool("filesystem", "read_file", "Reads a file.")
	e.Guidance = "never twice"
	e.InputSchema = json.RawMessage(`{"type":"object","properties":{"maxLines":{"type":"integer","description":"how many lines"},"encoding":{"enum":["utf-8"]},` +
		`"edits":{"type":"array","items":{"properties":{"old_text":{"description":"what is there"}}}}}}`)
	if got, want := Text(e), "read_file: read file (filesystem)\nReads a file.\nedits\nold text: what is there\nencoding\nmax lines: how many lines"; got != want {
		t.Errorf("a tool is found by\n%s\nwant\n%s", got, want)
	}
	r := rule("style", "Write plainly.")
	r.Description = "how to write"
	if got, want := Text(r), "style\nhow to write\nWrite plainly."; got != want {
		t.Errorf("a rule is found by\n%s\nwant\n%s", got, want)
	}
	if got := Text(rule("long", strings.Repeat("ü", memory.MaxContent))); utf8.RuneCountInString(got) != memory.MaxReferenceText || !utf8.ValidString(got) {
		t.Errorf("a long rule is found by %d characters, want %d", utf8.RuneCountInString(got), memory.MaxReferenceText)
	}
}

// Schemas are foreign: whatever they are, the text is bounded and the same each time.
func FuzzText(f *testing.F) {
	f.Add("read_file", `{"properties":{"a":{"properties":{"b":{"description":"x"}}}}}`)
	f.Add("", `{"properties":[1]}`)
	f.Add("x", `{"items":{"items":{"items":{"items":{"properties":{"deep":{}}}}}}}`)
	f.Fuzz(func(t *testing.T, name, schema string) {
		e := bareTool("s", name, "")
		e.InputSchema = json.RawMessage(schema)
		text := Text(e)
		if utf8.RuneCountInString(text) > memory.MaxReferenceText || text != Text(e) {
			t.Errorf("a text of %d characters, or another one the second time", utf8.RuneCountInString(text))
		}
		if utf8.ValidString(name) && utf8.ValidString(schema) && !utf8.ValidString(text) {
			t.Errorf("%q is not UTF-8", text)
		}
	})
}
