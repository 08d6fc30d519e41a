package contextfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// repo is a repository on disk with a scanner whose clock is an hour ahead, so that
// every file is settled.
type repo struct {
	t    testing.TB
	root string
	now  time.Time
	// written is the time of the last file: each has its own, and gives it to its
	// folder, however coarse the file system's times are.
	written time.Time
	scan    *Scanner
}

func newRepo(t testing.TB, files map[string]string) *repo {
	t.Helper()
	r := &repo{t: t, root: t.TempDir(), now: time.Now().Add(2 * time.Hour), written: time.Now().Truncate(time.Second)}
	r.scan = New()
	r.scan.clock = func() time.Time { return r.now }
	for name, text := range files {
		r.write(name, text)
	}
	return r
}

func (r *repo) path(name string) string { return filepath.Join(r.root, filepath.FromSlash(name)) }

func (r *repo) write(name, text string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(r.path(name)), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.path(name), []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
	r.written = r.written.Add(2 * time.Second)
	for _, changed := range []string{r.path(name), filepath.Dir(r.path(name))} {
		if err := os.Chtimes(changed, r.written, r.written); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *repo) look() Result {
	r.t.Helper()
	found, err := r.scan.Scan(r.root)
	if err != nil {
		r.t.Fatal(err)
	}
	return found
}

// clean is look without problems.
func (r *repo) clean() Result {
	r.t.Helper()
	found := r.look()
	if len(found.Problems) > 0 {
		r.t.Errorf("problems: %+v, want none", found.Problems)
	}
	return found
}

// entries are the entries of all files, by type and name.
func entries(f Result) map[memory.Ref]memory.CatalogueEntry {
	all := map[memory.Ref]memory.CatalogueEntry{}
	for _, file := range f.Files {
		for _, e := range file.Entries {
			all[e.Ref] = e
		}
	}
	return all
}

// ruleNamed returns a rule that must be there.
func ruleNamed(t *testing.T, f Result, name string) memory.CatalogueEntry {
	t.Helper()
	e, ok := entries(f)[memory.Ref{Type: memory.Rule, Name: name}]
	if !ok {
		t.Fatalf("there is no rule %q; there are %+v and problems %+v", name, entries(f), f.Problems)
	}
	return e
}

// listing names what was found, in its order: "rule AGENTS.md, server github".
func listing(f Result) string {
	var all []string
	for _, file := range f.Files {
		for _, e := range file.Entries {
			name := e.Name
			if e.ServerName != "" {
				name = e.ServerName + ":" + name
			}
			all = append(all, string(e.Type)+" "+name)
		}
		for _, s := range file.Servers {
			all = append(all, "server "+s.Name)
		}
	}
	return strings.Join(all, ", ")
}
