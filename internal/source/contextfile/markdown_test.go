package contextfile

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

func TestSections(t *testing.T) {
	for name, test := range map[string]struct {
		text  string
		limit int
		want  []section
	}{
		"short":        {"# A\na\n# B\nb", 100, []section{{"", 1, "# A\na\n# B\nb"}}},
		"two at top":   {"intro\n# A\na\n# B #\nb\n", 10, []section{{"", 1, "intro"}, {"A", 2, "# A\na"}, {"B", 4, "# B #\nb"}}},
		"one title":    {"# T\n## A\n### x\na\n## B\nb", 10, []section{{"", 1, "# T"}, {"A", 2, "## A\n### x\na"}, {"B", 5, "## B\nb"}}},
		"none":         {"abcdefghijkl", 10, []section{{"", 1, "abcdefghijkl"}}},
		"fenced":       {"# A\n```sh\n# no\n```\n# B\nb", 10, []section{{"A", 1, "# A\n```sh\n# no\n```"}, {"B", 5, "# B\nb"}}},
		"long fence":   {"# A\n````\n```\n# no\n````\n# B\nb", 10, []section{{"A", 1, "# A\n````\n```\n# no\n````"}, {"B", 6, "# B\nb"}}},
		"no heading":   {"#A is none\n####### nor\n# A\n# B\n", 10, []section{{"", 1, "#A is none\n####### nor"}, {"A", 3, "# A"}, {"B", 4, "# B"}}},
		"blank parts":  {"\n\n# A\naaaaaaaaaa\n#\n", 10, []section{{"A", 3, "# A\naaaaaaaaaa"}, {"", 5, "#"}}},
		"open fence":   {"# A\n# B\n~~~\n# C\n", 10, []section{{"A", 1, "# A"}, {"B", 2, "# B\n~~~\n# C"}}},
		"in runes":     {"äöüäöüäöü", 9, []section{{"", 1, "äöüäöüäöü"}}},
		"highest wins": {"## a\n## b\n# A\n# B\n", 10, []section{{"", 1, "## a\n## b"}, {"A", 3, "# A"}, {"B", 4, "# B"}}},
	} {
		if diff := cmp.Diff(test.want, sections(test.text, test.limit), cmp.AllowUnexported(section{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A file over the limit becomes a rule for each part; a part that is still over it is a
// problem at its line.
func TestLongRules(t *testing.T) {
	half := strings.Repeat("word ", 3000)
	r := newRepo(t, map[string]string{
		"AGENTS.md": "# Guide\nintro\n## Build\n" + half + "\n## Test\n" + half + "\n## Test\nagain\n## Long\n" + half + half + "\n## " + strings.Repeat("t", 300) + "\nx\n",
	})
	found := r.look()
	want := "rule AGENTS.md, rule AGENTS.md: Build, rule AGENTS.md: Test, rule AGENTS.md: Test (2), rule AGENTS.md: " + strings.Repeat("t", 188) + "…"
	if got := listing(found); got != want {
		t.Errorf("found %s\nwant  %s", got, want)
	}
	if p := found.Problems; len(p) != 1 || p[0].Line != 9 || !strings.Contains(p[0].Message, "limit: 20000 characters") {
		t.Errorf("problems %+v, want one at line 9", p)
	}
}

// TestOwnPartsAreNoEntries: what recalld connect writes into a repository's files is not of the
// repository. What stands beside it is, and problems have the lines of the file.
func TestOwnPartsAreNoEntries(t *testing.T) {
	const block = "<!-- recalld:begin -->\n## Memory: recalld\n<!-- recalld:end -->\n"
	r := newRepo(t, map[string]string{
		"CLAUDE.md": block, ".cursor/rules/recalld.mdc": "---\nalwaysApply: true\n---\n\n" + block, ".mcp.json": `{"mcpServers": {"recalld": {}}}`,
	})
	if found := r.look(); len(found.Files)+len(found.Problems) > 0 {
		t.Errorf("found %s, problems %+v; want nothing", listing(found), found.Problems)
	}
	r = newRepo(t, map[string]string{
		"AGENTS.md": "Use tabs.\n\n" + block, "CLAUDE.md": block + "# One\nshort\n# Two\n" + strings.Repeat("x", memory.MaxContent+1) + "\n",
		".mcp.json": `{"mcpServers": {"recalld": {}, "shop": {}}}`,
	})
	found := r.look()
	if got := listing(found); got != "rule AGENTS.md, rule CLAUDE.md: One, server shop" || found.Files[0].Entries[0].Content != "Use tabs." {
		t.Errorf("found %s: %+v", got, found.Files)
	}
	if p := found.Problems; len(p) != 1 || p[0].Line != 6 {
		t.Errorf("problems %+v, want one at line 6", p)
	}
}

// TestProblemsHaveTheLineOfTheFile: blank lines before a rule count.
func TestProblemsHaveTheLineOfTheFile(t *testing.T) {
	long := "\n \n# One\nshort\n# Two\n" + strings.Repeat("x", memory.MaxContent+1) + "\n"
	for _, name := range []string{"AGENTS.md", ".cursor/rules/r.mdc"} {
		found := newRepo(t, map[string]string{name: long}).look()
		if len(found.Problems) != 1 || found.Problems[0].Line != 5 {
			t.Errorf("%s has the problems %+v, want one of line 5", name, found.Problems)
		}
	}
}

func FuzzSections(f *testing.F) {
	f.Add("# A\n```\n# B\n```\n## C\n", 4)
	f.Add("~~~\n#", 1)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		var all strings.Builder
		line := 0
		for _, s := range sections(text, limit) {
			all.WriteString(s.text)
			if s.line <= line {
				t.Errorf("a part begins at line %d, behind one at %d", s.line, line)
			}
			line = s.line
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if squeeze(all.String()) != squeeze(text) {
			t.Errorf("of %q the parts are %q", text, all.String())
		}
	})
}

func TestCursorRules(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want memory.CatalogueEntry
	}{
		"always":      {"---\ndescription: \nglobs: \nalwaysApply: true\n---\n\nText.\n", memory.CatalogueEntry{Content: "Text.", Include: memory.IncludeAlways}},
		"described":   {"---\ndescription: \"When writing SQL: beware\"\nalwaysApply: false\n---\nText.", memory.CatalogueEntry{Description: "When writing SQL: beware", Content: "Text.", Include: memory.IncludeAgent}},
		"globs":       {"---\ndescription:\nglobs: *.ts, src/**/*.tsx\nalwaysApply: false\n---\nText.", memory.CatalogueEntry{Description: "For files: *.ts, src/**/*.tsx", Content: "Text.", Include: memory.IncludeAgent}},
		"glob list":   {"---\ndescription: D\nglobs:\n  - \"*.ts\"\n  - '*.js'\n---\nText.", memory.CatalogueEntry{Description: "D\nFor files: *.ts, *.js", Content: "Text.", Include: memory.IncludeAgent}},
		"flow list":   {"---\nglobs: [\"*.ts\", '*.js']\nother: x\n---\nText.", memory.CatalogueEntry{Description: "For files: *.ts, *.js", Content: "Text.", Include: memory.IncludeAgent}},
		"block text":  {"---\ndescription: >-\n  one\n  two\n---\nText.", memory.CatalogueEntry{Description: "one two", Content: "Text.", Include: memory.IncludeAgent}},
		"by hand":     {"---\nalwaysApply: false\n---\nText.", memory.CatalogueEntry{Content: "Text.", Include: memory.IncludeManual}},
		"no matter":   {"Text.\n---\nmore", memory.CatalogueEntry{Content: "Text.\n---\nmore", Include: memory.IncludeManual}},
		"Windows":     {"---\r\nalwaysApply: true\r\n---\r\nText.\r\n", memory.CatalogueEntry{Content: "Text.", Include: memory.IncludeAlways}},
		"rule inside": {"---\nalwaysApply: true\n---\na\n---\nb", memory.CatalogueEntry{Content: "a\n---\nb", Include: memory.IncludeAlways}},
	} {
		r := newRepo(t, map[string]string{".cursor/rules/x.mdc": test.text})
		test.want.Ref = memory.Ref{Type: memory.Rule, Name: ".cursor/rules/x.mdc"}
		if diff := cmp.Diff(test.want, ruleNamed(t, r.clean(), test.want.Name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for text, line := range map[string]int{
		"---\nalwaysApply: true\n": 1,
		"---\ndescription: " + strings.Repeat("d", 5000) + "\n---\n\nText.": 5,
	} {
		r := newRepo(t, map[string]string{".cursor/rules/x.mdc": text})
		if found := r.look(); len(found.Files) != 0 || len(found.Problems) != 1 || found.Problems[0].Line != line {
			t.Errorf("%.40q: found %+v, want a problem at line %d", text, found, line)
		}
	}
	r := newRepo(t, map[string]string{".cursor/rules/x.mdc": "---\nalwaysApply: true\n---\n \n"})
	if found := r.clean(); len(found.Files) != 0 {
		t.Errorf("a rule without text: %+v", found)
	}
}

// TestLongFields: if each line copied what was read before it, the test would take minutes.
func TestLongFields(t *testing.T) {
	const lines = 400_000
	for line, want := range map[string]int{" a": 2*lines - 1, "- a": 3*lines - 2} {
		got := matterFields(append([]string{"globs:"}, slices.Repeat([]string{line}, lines)...))["globs"]
		if len(got) != want {
			t.Errorf("%d lines %q are %d bytes, want %d", lines, line, len(got), want)
		}
	}
}

func FuzzCursorRule(f *testing.F) {
	f.Add("---\nglobs: *.ts\n- a\n x\n---\ntext")
	f.Add("---\n- a\n---")
	f.Fuzz(func(t *testing.T, text string) {
		matter, body, line, ok := frontMatter(text)
		matterFields(matter)
		if ok && (!strings.HasSuffix(text, body) || line-1 != strings.Count(text[:len(text)-len(body)], "\n") && body != "") {
			t.Errorf("the text %q begins at line %d of %q", body, line, text)
		}
		l := testLook()
		for _, e := range l.cursorRule("x.mdc", text).Entries {
			if err := e.Validate(""); utf8.ValidString(text) && err != nil {
				t.Errorf("%q makes an entry that is not valid: %v", text, err)
			}
		}
	})
}

// testLook is a look without a repository.
func testLook() *scan {
	return &scan{seen: map[memory.Ref]string{}, texts: map[string]bool{}}
}
