package contextfile

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

func TestContextYAML(t *testing.T) {
	r := newRepo(t, map[string]string{
		".recalld/context.yaml": `---
# what agents should know
rules:
  - name: Error Handling
    description: how errors are wrapped
    content: |
      Wrap every error.
      Say what was being done.
    include: agent
    enabled: false
references:
  - {name: Schema, file: ./docs/schema.md}
servers:
  - name: fs
    include: manual
  - name: db
    enabled: true
tools:
  - serverName: fs
    name: read_file
    description: reads
    guidance: once
    inputSchema: {type: object, properties: {path: {type: string}, n: {minimum: 1.5}}}
    core: true
    include: always
`,
		"docs/schema.md": "# Tables\n",
	})
	found := r.clean()
	want := []memory.FileEntries{{
		Path: ".recalld/context.yaml",
		Entries: []memory.CatalogueEntry{
			{Ref: memory.Ref{Type: memory.Rule, Name: "Error Handling"}, Description: "how errors are wrapped",
				Content: "Wrap every error.\nSay what was being done.", Include: memory.IncludeAgent, Enabled: new(false)},
			{Ref: memory.Ref{Type: memory.Reference, Name: "Schema"}, Content: "# Tables"},
			{Ref: memory.Ref{Type: memory.Tool, Name: "read_file", ServerName: "fs"}, Description: "reads", Guidance: "once",
				InputSchema: json.RawMessage(`{"properties":{"n":{"minimum":1.5},"path":{"type":"string"}},"type":"object"}`),
				Core:        true, Include: memory.IncludeAlways},
		},
		Servers: []memory.Server{{Name: "fs", Include: memory.IncludeManual}, {Name: "db", Enabled: new(true)}},
	}}
	if diff := cmp.Diff(want, found.Files); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	for _, text := range []string{"", "# nothing\n", "---\n", "rules:\n", "rules: []\ntools: ~\n", "rules: []\n---\n"} {
		r := newRepo(t, map[string]string{".recalld/context.yaml": text})
		if found := r.clean(); len(found.Files) != 0 {
			t.Errorf("%q: found %s, want nothing", text, listing(found))
		}
	}
}

// The documentation names every file, and its example is read as it stands.
func TestDocumentedExample(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "agents.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range listed {
		if !strings.Contains(string(doc), strings.TrimPrefix(x.path, ".claude/")) {
			t.Errorf("docs/agents.md does not tell that %s is looked at", x.path)
		}
	}
	_, example, found := strings.Cut(string(doc), "```yaml\n# .recalld/context.yaml.")
	example, _, ended := strings.Cut(example, "```")
	if !found || !ended {
		t.Fatal("docs/agents.md has no example of .recalld/context.yaml")
	}
	r := newRepo(t, map[string]string{".recalld/context.yaml": "#" + example, "docs/schema.md": "tables"})
	if got, want := listing(r.clean()), "rule Error Handling, reference Database Schema, tool filesystem:read_file, server filesystem"; got != want {
		t.Errorf("the example has %s, want %s", got, want)
	}
}

// An error is reported with its line, and the valid entries are read.
func TestContextYAMLProblems(t *testing.T) {
	const good = "rules:\n- name: A\n  content: a\n"
	for name, test := range map[string]struct {
		text string // behind good, whose next line is the fourth
		line int
		want string
		none bool // not even good is taken
	}{
		"unknown field":      {text: "- name: B\n  contents: b\n", line: 5, want: `rules: unknown field "contents"`},
		"unknown list":       {text: "rulez:\n- x\n", line: 4, want: `unknown field "rulez"`},
		"no list":            {text: "tools: x\n", line: 4, want: "tools: is not a list"},
		"no mapping":         {text: "- just text\n", line: 4, want: "mapping is expected"},
		"no text":            {text: "- name: [1, 2]\n", line: 4, want: "rules: is not a text"},
		"no flag":            {text: "- name: B\n  content: b\n  enabled: perhaps\n", line: 6, want: "is not true or false"},
		"mode":               {text: "- name: B\n  content: b\n  include: sometimes\n", line: 4, want: "always, manual, agent"},
		"no name":            {text: "- content: b\n", line: 4, want: "name: is empty (limit: 1–200 characters)"},
		"nothing to say":     {text: "- name: B\n", line: 4, want: "content: is empty"},
		"both":               {text: "- {name: B, content: b, file: b.md}\n", line: 4, want: "both content and file"},
		"twice":              {text: "- {name: A, content: again}\n", line: 4, want: `the rule "A" appears twice`},
		"tool, no server":    {text: "tools:\n- name: t\n", line: 5, want: "serverName: is empty"},
		"tool of a rule":     {text: "- {name: B, content: b, guidance: g}\n", line: 4, want: `unknown field "guidance"`},
		"no schema":          {text: "tools:\n- {serverName: s, name: t, inputSchema: text}\n", line: 5, want: "is not a JSON object"},
		"schema with NaN":    {text: "tools:\n- {serverName: s, name: t, inputSchema: {a: .nan}}\n", line: 5, want: "cannot be written as JSON"},
		"server twice":       {text: "servers:\n- name: s\n- name: s\n", line: 6, want: `the server "s" appears twice`},
		"server, no name":    {text: "servers:\n- include: agent\n", line: 5, want: "name: is empty"},
		"too long":           {text: "- name: B\n  content: " + strings.Repeat("x", 20_001) + "\n", line: 4, want: "at most 20000 characters"},
		"field twice":        {text: "rules: []\n", line: 4, want: "already defined", none: true},
		"no YAML":            {text: "- name: \"B\n", line: 4, want: "is not YAML", none: true},
		"alias":              {text: "- &b {name: B, content: b}\n- *b\n", line: 4, want: "anchors and aliases", none: true},
		"tag":                {text: "- name: !!binary aGk=\n", line: 4, want: "tags", none: true},
		"key with a mark":    {text: "? tools\n: []\n", line: 4, want: "keys with ?", none: true},
		"second document":    {text: "---\nrules: []\n", line: 5, want: "second document", none: true},
		"nested in brackets": {text: "tools: " + strings.Repeat("[", 65) + "\n", line: 4, want: "too deep", none: true},
		"nested in dashes":   {text: strings.Repeat("- ", 65) + "\n", line: 4, want: "too deep", none: true},
	} {
		r := newRepo(t, map[string]string{".recalld/context.yaml": good + test.text})
		found := r.look()
		if len(found.Problems) != 1 || found.Problems[0].Line != test.line || !strings.Contains(found.Problems[0].Message, test.want) {
			t.Errorf("%s: problems %+v, want one in line %d: %s", name, found.Problems, test.line, test.want)
		}
		if taken := strings.HasPrefix(listing(found), "rule A"); taken == test.none {
			t.Errorf("%s: found %q", name, listing(found))
		}
	}
}

// A small file never takes long, however it is nested.
func TestContextYAMLIsBounded(t *testing.T) {
	deep := func(open string, n int) string { return strings.Repeat(open, n) }
	var stairs strings.Builder
	for i := range 700 {
		stairs.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	for name, text := range map[string]string{
		"brackets": "rules: " + deep("[", 250_000), "braces": "tools:\n- inputSchema: " + deep("{a: ", 60_000), "dashes": deep("- ", 120_000),
		"marks": deep("? ", 120_000), "stairs": stairs.String(), "colons": deep("a: ", 80_000), "quotes": deep(`"`, 250_000), "tags": deep("!a ", 80_000),
	} {
		start := time.Now()
		fields, line, err := parseYAML(text)
		if err == nil && name != "stairs" {
			t.Errorf("%s has %d fields, want it refused", name, len(fields))
		}
		t.Logf("%s: %v, line %d, %v", name, time.Since(start), line, err)
	}
}

func FuzzContextYAML(f *testing.F) {
	f.Add("rules:\n- name: A\n  content: |\n    a\n")
	f.Add("tools:\n- {serverName: s, name: t, inputSchema: {a: [1, 0x2, .inf]}}\nservers: [{name: s, enabled: no}]")
	f.Add("''\r\r0")
	f.Add("rules: [&a {name: x}, *a, !!str y]\n---\n? a\n: b")
	f.Fuzz(func(t *testing.T, text string) {
		l := testLook()
		if strings.Contains(text, "file") {
			return // there is no repository to read it from
		}
		text = lineEnds(text)
		found := l.readContext("x.yaml", text)
		for _, e := range found.Entries {
			if err := e.Validate(""); err != nil {
				t.Errorf("%q has an entry that is not valid: %v", text, err)
			}
		}
		for _, p := range l.found.Problems {
			if p.Message == "" || strings.Contains(p.Message, "\n") || p.Line < 0 || p.Line > 2+strings.Count(text, "\n") {
				t.Errorf("%q has the problem %+v", text, p)
			}
		}
	})
}
