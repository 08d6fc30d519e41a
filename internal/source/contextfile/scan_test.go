package contextfile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

// Everything that can be there is found, in the order of the list, and valid.
func TestScan(t *testing.T) {
	r := newRepo(t, map[string]string{
		".recalld/context.yaml":           "rules:\n- {name: R, content: r}\nservers:\n- {name: s, include: agent}\n",
		"AGENTS.md":                       "\uFEFFBe kind.\r\nAnd brief.\r\n",
		"CLAUDE.md":                       "Be Claude.",
		".claude/CLAUDE.md":               "Be quick.",
		".cursorrules":                    "Be modern.",
		".cursor/rules/go/style.mdc":      "---\nalwaysApply: true\n---\nUse Go.",
		".cursor/rules/notes.txt":         "no rule",
		".github/copilot-instructions.md": "Be a pilot.",
		".mcp.json":                       `{"mcpServers": {"github": {}}}`,
		".cursor/mcp.json":                `{"mcpServers": {"linear": {}}}`,
		".vscode/mcp.json":                `{"servers": {"github": {}}}`,
		"docs/AGENTS.md":                  "not looked at",
		".claude/AGENTS.md":               " \n\t",
	})
	found := r.clean()
	want := "rule R, server s, rule AGENTS.md, rule CLAUDE.md, rule .claude/CLAUDE.md, rule .cursorrules, rule .cursor/rules/go/style.mdc, " +
		"rule .github/copilot-instructions.md, server github, server linear, server github"
	if got := listing(found); got != want {
		t.Errorf("found %s\nwant  %s", got, want)
	}
	if got := ruleNamed(t, found, "AGENTS.md"); got.Content != "Be kind.\nAnd brief." || got.Include != memory.IncludeAlways {
		t.Errorf("AGENTS.md is %+v, want its text, always included", got)
	}
	for _, f := range found.Files {
		if err := memory.ValidEntries(slices.Clone(f.Entries)); err != nil {
			t.Errorf("%s: %v", f.Path, err)
		}
		if err := memory.Check(&memory.RegisterRequest{Servers: slices.Clone(f.Servers), Replace: true}); err != nil {
			t.Errorf("%s: %v", f.Path, err)
		}
	}
}

func TestScanOfNothing(t *testing.T) {
	r := newRepo(t, nil)
	if found := r.clean(); len(found.Files) != 0 || found.Hash == "" {
		t.Errorf("an empty repository has %+v, want nothing and a hash", found)
	}
	r.write(".claude", "a file where a folder would be")
	r.clean()
	if _, err := r.scan.Scan(filepath.Join(r.root, "gone")); err == nil {
		t.Error("a folder that is not there was scanned")
	}
	if _, err := r.scan.Scan("relative"); err == nil {
		t.Error("a relative folder was scanned")
	}
}

// A change of any file that was read shows, also of those that a file leads to, and
// files that come and go; without one nothing is read again.
func TestScanAgain(t *testing.T) {
	r := newRepo(t, map[string]string{
		".recalld/context.yaml": "rules:\n- {name: R, file: docs/r.md}\nreferences:\n- {name: M, file: docs/missing.md}\n",
		"docs/r.md":             "one", ".cursor/rules/a.mdc": "a", ".cursor/rules/sub/x.mdc": "x",
	})
	before := r.look()
	for name, change := range map[string]func(){
		"a file that is named":      func() { r.write("docs/r.md", "another") },
		"a file that was missing":   func() { r.write("docs/missing.md", "here") },
		"a new file":                func() { r.write("AGENTS.md", "new") },
		"a new rule":                func() { r.write(".cursor/rules/b.mdc", "b") },
		"a rule in a folder":        func() { r.write(".cursor/rules/sub/y.mdc", "y") },
		"a rule in a folder, again": func() { r.write(".cursor/rules/sub/y.mdc", "other") },
		"a file that is gone":       func() { _ = os.Remove(r.path("docs/r.md")) },
	} {
		change()
		after := r.look()
		if after.Hash == before.Hash {
			t.Errorf("%s: the hash is the same", name)
		}
		if same := r.look(); !cmp.Equal(same, after) {
			t.Errorf("%s: without a change it is another", name)
		}
		before = after
	}
	// Read by another scanner it is the same.
	other := &repo{t: t, root: r.root, now: r.now}
	other.scan = New()
	other.scan.clock = r.scan.clock
	if got := other.look(); got.Hash != before.Hash {
		t.Errorf("another scanner's hash is %s, want %s", got.Hash, before.Hash)
	}
}

// A file that was changed within the time that its file system can tell apart, with the
// same size, is read again all the same.
func TestScanOfFreshFile(t *testing.T) {
	r := newRepo(t, map[string]string{"AGENTS.md": "one"})
	info, err := os.Stat(r.path("AGENTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	r.now = info.ModTime()
	r.look()
	r.write("AGENTS.md", "two")
	if err := os.Chtimes(r.path("AGENTS.md"), info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if got := ruleNamed(t, r.look(), "AGENTS.md").Content; got != "two" {
		t.Errorf("the rule says %q, want what was written in the same moment", got)
	}
}

// What cannot be read is a problem of its file, and costs nothing else.
func TestProblems(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(r *repo)
		file    string
		want    string
	}{
		"binary":    {func(r *repo) { r.write("CLAUDE.md", "a\x00b") }, "CLAUDE.md", "not text"},
		"not UTF-8": {func(r *repo) { r.write("CLAUDE.md", "a\xffb") }, "CLAUDE.md", "not text"},
		"too large": {func(r *repo) { r.write("CLAUDE.md", strings.Repeat("x", 256<<10+1)) }, "CLAUDE.md", "larger than 262144 bytes"},
		"too long":  {func(r *repo) { r.write("CLAUDE.md", strings.Repeat("x", 20_001)) }, "CLAUDE.md", "20001 characters"},
		"a folder":  {func(r *repo) { r.write("CLAUDE.md/x", "") }, "CLAUDE.md", "is not a file"},
		"a link out": {func(r *repo) {
			out := filepath.Join(r.t.TempDir(), "secret.md")
			if os.WriteFile(out, []byte("outside"), 0o644) != nil || os.Symlink(out, r.path("CLAUDE.md")) != nil {
				r.t.Skip("links cannot be made here")
			}
		}, "CLAUDE.md", "leads out"},
		"a folder that leads out": {func(r *repo) {
			out := r.t.TempDir()
			if os.WriteFile(filepath.Join(out, "mcp.json"), []byte(`{"mcpServers":{"outside":{}}}`), 0o644) != nil || os.Symlink(out, r.path(".cursor")) != nil {
				r.t.Skip("links cannot be made here")
			}
		}, ".cursor/mcp.json", "outside of the repository"},
		"a named file that leads out": {func(r *repo) { r.write(".recalld/context.yaml", "rules:\n- name: X\n  file: ../../etc/passwd\n") },
			".recalld/context.yaml", "not a path below the repository"},
		"a named file that is missing": {func(r *repo) { r.write(".recalld/context.yaml", "rules:\n- name: X\n  file: no.md\n") },
			".recalld/context.yaml", `"no.md" is not there`},
		"a named file of git": {func(r *repo) {
			r.write(".git/config", "url = https://user:token@host/r")
			r.write(".recalld/context.yaml", "rules:\n- name: X\n  file: docs/../.git/config\n")
		}, ".recalld/context.yaml", `rules: file "docs/../.git/config" lies in git's own folder`},
		"a link into git's folder": {func(r *repo) {
			r.write(".git/config", "url = https://user:token@host/r")
			if os.Symlink(".git/config", r.path("CLAUDE.md")) != nil {
				r.t.Skip("links cannot be made here")
			}
		}, "CLAUDE.md", "lies in git's own folder"},
		"two of a name": {func(r *repo) { r.write(".recalld/context.yaml", "rules:\n- {name: AGENTS.md, content: mine}\n") }, "AGENTS.md", "has one of that name"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, map[string]string{"AGENTS.md": "stays"})
			test.prepare(r)
			found := r.look()
			ruleNamed(t, found, "AGENTS.md")
			at := slices.IndexFunc(found.Problems, func(p memory.ImportProblem) bool {
				return p.File == test.file && strings.Contains(p.Message, test.want)
			})
			if at < 0 {
				t.Errorf("problems %+v, want one of %s with %q", found.Problems, test.file, test.want)
			}
			if got := listing(found); strings.Contains(got, "outside") || strings.Contains(got, "rule X") || strings.Contains(got, "CLAUDE") {
				t.Errorf("found %s", got)
			}
			for _, p := range found.Problems {
				if strings.Contains(p.Message, r.root) || strings.Contains(p.Message, os.TempDir()) {
					t.Errorf("the problem %q shows where the repository is", p.Message)
				}
			}
		})
	}
}

// A link within the repository is followed, and a rule that is there twice is one.
func TestLinksAndCopies(t *testing.T) {
	r := newRepo(t, map[string]string{"AGENTS.md": "be kind", ".github/copilot-instructions.md": "be kind\n"})
	if err := os.Symlink("AGENTS.md", r.path("CLAUDE.md")); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
	if got := listing(r.clean()); got != "rule AGENTS.md" {
		t.Errorf("found %s, want the rule once", got)
	}
	r.write("AGENTS.md", "be kinder")
	if got := listing(r.clean()); got != "rule AGENTS.md, rule .github/copilot-instructions.md" {
		t.Errorf("found %s, want what differs", got)
	}
}

func TestLimits(t *testing.T) {
	r := newRepo(t, nil)
	for i := range 203 {
		r.write(fmt.Sprintf(".cursor/rules/r%03d.mdc", i), fmt.Sprint("rule ", i))
	}
	found := r.look()
	if n := len(found.Files); n != 200 || len(found.Problems) != 1 || !strings.Contains(found.Problems[0].Message, "200 files") {
		t.Errorf("%d files and problems %+v, want 200 and one", n, found.Problems)
	}
	r.write("docs/r.md", "r")
	r.write(".recalld/context.yaml", "rules:\n- {name: R, file: docs/r.md}\n") // it is read first
	if found = r.look(); len(found.Files) != 200 || ruleNamed(t, found, "R").Content != "r" {
		t.Errorf("%d files with one that is named, want 200", len(found.Files))
	}
	var text strings.Builder
	text.WriteString("rules:\n")
	for i := range memory.MaxRegistered + 1 {
		fmt.Fprintf(&text, "- {name: R%d, content: x}\n", i)
	}
	r = newRepo(t, map[string]string{".recalld/context.yaml": text.String(), "AGENTS.md": "one more"})
	found = r.look()
	if n := len(entries(found)); n != memory.MaxRegistered || len(found.Problems) != 2 {
		t.Errorf("%d entries and problems %+v, want %d and one for each file", n, found.Problems, memory.MaxRegistered)
	}
}

// However many folders and mistakes there are, what is kept of them is bounded.
func TestFoldersAndProblemsAreBounded(t *testing.T) {
	r := newRepo(t, nil)
	for i := range 203 {
		r.write(fmt.Sprintf(".cursor/rules/f%03d/r.txt", i), "no rule")
	}
	r.write(".cursor/rules/z.mdc", "one folder too late")
	found := r.look()
	if len(found.Files) != 0 || len(found.Problems) != 1 || !strings.Contains(found.Problems[0].Message, "200 files and folders") {
		t.Errorf("%d files and problems %+v, want none and one", len(found.Files), found.Problems)
	}
	r = newRepo(t, map[string]string{".recalld/context.yaml": "rules:\n" + strings.Repeat("- a\n", 1000), "AGENTS.md": "be kind"})
	found = r.look()
	if n := len(found.Problems); n != 101 || !strings.Contains(found.Problems[100].Message, "first 100 problems") || found.Problems[99].Line != 101 {
		t.Errorf("%d problems, of which the last are %+v; want 100 and one that says so", n, found.Problems[max(0, n-2):])
	}
	if got := listing(found); got != "rule AGENTS.md" {
		t.Errorf("found %s behind the problems, want the rule", got)
	}
}
