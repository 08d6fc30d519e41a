package project

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/git/gittest"
	"github.com/recalld/recalld/internal/memory"
)

// directory is a fixed list of known projects.
type directory struct {
	projects  []memory.Project
	sandboxes []memory.Sandbox
	err       error
}

func (d directory) Projects() ([]memory.Project, error) { return d.projects, d.err }

func (d directory) Sandboxes() ([]memory.Sandbox, error) { return d.sandboxes, d.err }

func TestResolve(t *testing.T) {
	dir := realTemp(t)
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("USERPROFILE", filepath.Join(dir, "home"))
	repo(t, filepath.Join(dir, "alpha"), "https://git.example.org/org/alpha.git")
	repo(t, filepath.Join(dir, "clone-of-alpha"), "git@git.example.org:org/alpha.git")
	repo(t, filepath.Join(dir, "beta"), "")
	repo(t, filepath.Join(dir, "above", "one"), "")
	repo(t, filepath.Join(dir, "above", "two"), "")
	write(t, filepath.Join(dir, "alpha", "sub", "deep", "file"), "x")
	write(t, filepath.Join(dir, "plain", "file"), "x")
	write(t, filepath.Join(dir, "home", "notes"), "x")
	id := func(name string) memory.Project {
		t.Helper()
		found, err := Identify(filepath.Join(dir, name))
		must(t, err)
		found.Project.Roots = []string{found.Root} // as an earlier version stored it
		return found.Project
	}
	alpha, beta := id("alpha"), id("beta")
	twins := []memory.Project{{ID: "p-1", Name: "twin", Names: []string{"twin"}, Roots: []string{"/a/twin", "/b"}}, {ID: "p-2", Name: "other", Names: []string{"other", "twin"}, Remote: "example.org/other"}}
	r := NewResolver(directory{projects: append(twins, alpha, memory.Project{ID: "p-3", Name: "cafe\u0301"},
		memory.Project{ID: "p-4", Name: "r\u00f4le"}, memory.Project{ID: "p-5", Name: "ro\u0302le"})})
	in := func(parts ...string) memory.Caller {
		return memory.Caller{Dir: filepath.Join(append([]string{dir}, parts...)...)}
	}
	for name, test := range map[string]struct {
		project string
		caller  memory.Caller
		want    string // id
		known   bool
		code    memory.Code
		hint    string
	}{
		"caller's folder":           {caller: in("alpha"), want: alpha.ID, known: true},
		"below it":                  {caller: in("alpha", "sub", "deep"), want: alpha.ID, known: true},
		"a clone has another name":  {caller: in("clone-of-alpha"), want: alpha.ID, known: true},
		"not known yet":             {caller: in("beta"), want: beta.ID},
		"without git":               {caller: in("plain"), want: id("plain").ID},
		"by name":                   {project: "alpha", caller: in("beta"), want: alpha.ID, known: true},
		"by name, accents composed": {project: "caf\u00e9", caller: in("beta"), want: "p-3", known: true},
		"by its very name":          {project: "ro\u0302le", want: "p-5", known: true},
		"by id":                     {project: alpha.ID, want: alpha.ID, known: true},
		"by an id among twins":      {project: "p-2", want: "p-2", known: true},
		"by an absolute folder":     {project: filepath.Join(dir, "beta"), want: beta.ID},
		"by a folder from the own":  {project: "../beta", caller: in("alpha"), want: beta.ID},
		"dot":                       {project: ".", caller: in("alpha", "sub"), want: alpha.ID, known: true},
		"home without repositories": {caller: in("home"), want: hashed("p-", "folder", foldCase(filepath.Join(dir, "home")))},
		"unknown name":              {project: "gamma", caller: in("alpha"), code: memory.CodeNotFound, hint: `near names: "alpha", `},
		"a name that two have":      {project: "twin", code: memory.CodeConflict, hint: "p-1 (/a/twin), p-2 (example.org/other)"},
		"above repositories":        {caller: in("above"), code: memory.CodeConflict, hint: "name one of them"},
		"no such folder":            {caller: in("gone"), code: memory.CodeNotFound},
		"a file":                    {caller: in("plain", "file"), code: memory.CodeInvalidInput},
		"nothing":                   {code: memory.CodeInvalidInput, hint: "name a project"},
		"relative, no caller":       {project: "./alpha", code: memory.CodeInvalidInput},
		"caller's is relative":      {caller: memory.Caller{Dir: "alpha"}, code: memory.CodeInvalidInput},
	} {
		p, known, err := r.Resolve(t.Context(), test.project, test.caller)
		if test.code != "" {
			e := memory.AsError(err)
			if err == nil || e.Code != test.code || !strings.Contains(e.Hint, test.hint) {
				t.Errorf("%s: Resolve = %v (hint %q), want %s with a hint of %q", name, err, e.Hint, test.code, test.hint)
			}
			continue
		}
		if err != nil || p.ID != test.want || known != test.known || p.Name == "" {
			t.Errorf("%s: Resolve = %+v, known %v, %v; want %s, known %v", name, p, known, err, test.want, test.known)
		}
	}
	for dir, want := range map[string]string{
		"alpha": "alpha", "alpha/sub/deep": "alpha", "clone-of-alpha": "clone-of-alpha", "beta": "alpha", "gone": "alpha", "above": "alpha",
	} {
		if p, got, err := r.ResolveRepo(t.Context(), alpha.ID, in(filepath.FromSlash(dir))); err != nil || got != want || p.ID != alpha.ID {
			t.Errorf("in %s the repository of %s is %q by default (%v), want %q", dir, p.ID, got, err, want)
		}
	}
	if p, got, err := r.ResolveRepo(t.Context(), "", in("clone-of-alpha")); err != nil || got != "clone-of-alpha" || p.ID != alpha.ID {
		t.Errorf("of the caller's folder it is %q of %s (%v), want that of the folder", got, p.ID, err)
	}
	if _, got, err := r.ResolveRepo(t.Context(), alpha.ID, memory.Caller{}); err != nil || got != "alpha" {
		t.Errorf("without a folder the repository is %q by default (%v), want alpha", got, err)
	}
	if _, _, err := r.ResolveRepo(t.Context(), "", in("gone")); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("in a folder that is gone: %v", err)
	}
	var above *AboveError
	if _, _, err := r.Resolve(t.Context(), "", in("above")); !errors.As(err, &above) || !slices.Equal(above.Repos, []string{in("above", "one").Dir, in("above", "two").Dir}) {
		t.Errorf("above repositories = %v, want both listed", err)
	}
}

// TestFolderOfAProjectThatIsWrong: the error names the field that the request has, and what to do.
func TestFolderOfAProjectThatIsWrong(t *testing.T) {
	dir := realTemp(t)
	write(t, filepath.Join(dir, "plain", "file"), "x")
	repo(t, filepath.Join(dir, "above", "one"), "")
	r := NewResolver(directory{})
	for project, want := range map[string]struct {
		code  memory.Code
		field string
	}{
		"./gone":       {memory.CodeNotFound, "project"},
		"./plain/file": {memory.CodeInvalidInput, "project"},
		"./above":      {memory.CodeConflict, "path"}, // by which a client knows it
	} {
		_, _, err := r.Resolve(t.Context(), project, memory.Caller{Dir: dir})
		if e := memory.AsError(err); err == nil || e.Code != want.code || e.Field != want.field || e.Hint == "" {
			t.Errorf("%s: %v (field %q, hint %q), want %s of %s with a hint", project, err, e.Field, e.Hint, want.code, want.field)
		}
	}
	for _, of := range []string{filepath.Join(dir, "gone"), filepath.Join(dir, "plain", "file"), "relative"} {
		_, _, err := r.Resolve(t.Context(), "", memory.Caller{Dir: of})
		if e := memory.AsError(err); err == nil || e.Field != "caller.dir" {
			t.Errorf("the caller's folder %s: %v (field %q), want the field caller.dir", of, err, e.Field)
		}
	}
}

// TestNamesAreCollected: a clone under another name is the project of before
// with one more name, which the list of known projects does not feel.
func TestNamesAreCollected(t *testing.T) {
	dir := realTemp(t)
	repo(t, filepath.Join(dir, "mine"), "https://git.example.org/org/lib.git")
	stored := memory.Project{ID: hashed("p-", "git.example.org/org/lib"), Name: "lib", Names: []string{"lib", "before"}, Roots: []string{filepath.Join(dir, "mine")}}
	known := directory{projects: []memory.Project{stored}}
	r := NewResolver(known)
	p, old, err := r.Resolve(t.Context(), "", memory.Caller{Dir: filepath.Join(dir, "mine")})
	if err != nil || !old {
		t.Fatalf("Resolve = known %v, %v; want it known", old, err)
	}
	for _, c := range []struct {
		project memory.Project
		want    bool
	}{{p, false}, {stored, true}, {memory.Project{ID: "p-else", Names: []string{"lib"}}, false}} {
		if got, err := r.Stored(c.project); err != nil || got != c.want {
			t.Errorf("%s with the names %v: stored %v, %v; want %v", c.project.ID, c.project.Names, got, err, c.want)
		}
	}
	if diff := cmp.Diff([]string{"lib", "before", "mine"}, p.Names); diff != "" || p.Name != "lib" {
		t.Errorf("name %q, names (-want +got):\n%s", p.Name, diff)
	}
	if !slices.Equal(known.projects[0].Names, []string{"lib", "before"}) {
		t.Errorf("the known project was changed to %v", known.projects[0].Names)
	}
}

// TestKnownFolder: a folder that is known as a project by itself stays it when
// repositories appear below it; one that is not known lies above them.
func TestKnownFolder(t *testing.T) {
	dir := realTemp(t)
	repo(t, filepath.Join(dir, "later"), "")
	known := directory{projects: []memory.Project{folderIdentity(dir).Project}}
	p, old, err := NewResolver(known).Resolve(t.Context(), "", memory.Caller{Dir: dir})
	if err != nil || !old || p.ID != known.projects[0].ID {
		t.Errorf("Resolve = %s, known %v, %v; want the known project of the folder", p.ID, old, err)
	}
	_, _, err = NewResolver(directory{}).Resolve(t.Context(), "", memory.Caller{Dir: dir})
	if above, ok := errors.AsType[*AboveError](err); !ok || len(above.Repos) != 1 {
		t.Errorf("Resolve of an unknown folder = %v, want an error that lists the repository", err)
	}
}

func TestResolveWithoutDirectory(t *testing.T) {
	broken := errors.New("broken")
	if _, _, err := NewResolver(directory{err: broken}).Resolve(t.Context(), "x", memory.Caller{}); !errors.Is(err, broken) {
		t.Errorf("Resolve = %v, want the directory's error", err)
	}
	_, _, err := NewResolver(directory{}).Resolve(t.Context(), "x", memory.Caller{})
	if e := memory.AsError(err); e.Code != memory.CodeNotFound || !strings.Contains(e.Hint, "no project is known yet") {
		t.Errorf("Resolve among no projects = %v (hint %q)", err, e.Hint)
	}
}

// TestWorktreesAreOneProject asks git itself to make a worktree and a clone.
func TestWorktreesAreOneProject(t *testing.T) {
	gittest.Need(t)
	dir := realTemp(t)
	gittest.Run(t, dir, "init", "-q", "main")
	gittest.Run(t, dir, "-C", "main", "commit", "-q", "--allow-empty", "-m", "first")
	gittest.Run(t, dir, "-C", "main", "worktree", "add", "-q", "../tree")
	gittest.Run(t, dir, "clone", "-q", "main", "copy")
	r := NewResolver(directory{})
	want := ""
	for _, name := range []string{"main", "tree", "copy"} {
		p, _, err := r.Resolve(t.Context(), "", memory.Caller{Dir: filepath.Join(dir, name)})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if want == "" {
			want = p.ID
		}
		if p.ID != want {
			t.Errorf("%s is project %s, want %s like the others", name, p.ID, want)
		}
	}
}
