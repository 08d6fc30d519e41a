package project

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// TestRemoteComesLater: a repository without a remote is remembered by its folder.
// It stays that project when it gets a remote, when it loses it, and for clones by
// that remote.
func TestRemoteComesLater(t *testing.T) {
	const address = "https://git.example.org/org/tool.git"
	dir := realTemp(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	known := &directory{}
	r := NewResolver(known)
	// resolve is one call from a folder, which stores what it learns.
	resolve := func(name string) memory.Project {
		t.Helper()
		p, _, err := r.Resolve(t.Context(), "", memory.Caller{Dir: at(name)})
		must(t, err)
		if id, err := r.Locate(at(name)); err != nil || id.Project.ID != p.ID || id.Root != at(name) {
			t.Errorf("Locate(%s) = %+v, %v; want project %s in its own root", name, id, err, p.ID)
		}
		stored, err := r.Stored(p)
		must(t, err)
		if i := slices.IndexFunc(known.projects, func(k memory.Project) bool { return k.ID == p.ID }); !stored && i >= 0 {
			known.projects[i] = p
		} else if !stored {
			known.projects = append(known.projects, p)
		}
		return p
	}
	repo(t, at("tool"), "")
	repo(t, at("other"), "")
	first, other := resolve("tool"), resolve("other")

	repo(t, at("tool"), address)
	if p := resolve("tool"); p.ID != first.ID || p.Remote != "git.example.org/org/tool" {
		t.Errorf("with a remote it is %+v, want %s and its remote", p, first.ID)
	}
	repo(t, at("clone"), address)
	if p := resolve("clone"); p.ID != first.ID || !slices.Contains(p.Names, "clone") {
		t.Errorf("a clone by the remote is %+v, want %s with one more name", p, first.ID)
	}
	repo(t, at("other"), address)
	if p := resolve("other"); p.ID != other.ID {
		t.Errorf("another repository that gets the same remote becomes %s, want %s still", p.ID, other.ID)
	}
	if p := resolve("tool"); p.ID != first.ID {
		t.Errorf("after that the first is %s, want %s still", p.ID, first.ID)
	}
	repo(t, at("tool"), "")
	if p := resolve("tool"); p.ID != first.ID || p.Remote == "" {
		t.Errorf("without the remote it is %+v, want %s, its clones not forgotten", p, first.ID)
	}
	if p := resolve("clone"); p.ID != first.ID {
		t.Errorf("the clone is %s then, want %s", p.ID, first.ID)
	}
}

// TestRemoteIsKnown: a folder that gets the remote of a project that others made
// known becomes a clone of it.
func TestRemoteIsKnown(t *testing.T) {
	const address = "https://git.example.org/org/tool.git"
	dir := realTemp(t)
	repo(t, filepath.Join(dir, "clone"), address)
	repo(t, filepath.Join(dir, "own"), "")
	var known directory
	for _, name := range []string{"clone", "own"} {
		id, err := Identify(filepath.Join(dir, name))
		must(t, err)
		id.Project.Roots = []string{id.Root}
		known.projects = append(known.projects, id.Project)
	}
	repo(t, filepath.Join(dir, "own"), address)
	p, old, err := NewResolver(known).Resolve(t.Context(), "", memory.Caller{Dir: filepath.Join(dir, "own")})
	if err != nil || !old || p.ID != known.projects[0].ID {
		t.Errorf("Resolve = %+v, known %t, %v; want %s", p, old, err, known.projects[0].ID)
	}
}

// TestUnreadableGit: a clone stays its project while git's files cannot be read, and from its
// subfolders too: what is stored then would be another project's afterwards.
func TestUnreadableGit(t *testing.T) {
	root := filepath.Join(realTemp(t), "clone")
	repo(t, root, "https://git.example.org/org/tool.git")
	write(t, filepath.Join(root, "deep", "x.go"), "package x\n")
	known := &directory{}
	resolve := func(dir string) memory.Project {
		t.Helper()
		p, _, err := NewResolver(known).Resolve(t.Context(), "", memory.Caller{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := resolve(root)
	known.projects = append(known.projects, first)

	config := filepath.Join(root, ".git", "config")
	if err := os.Rename(config, config+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(config, 0o755); err != nil { // which root cannot read either
		t.Fatal(err)
	}
	if p := resolve(filepath.Join(root, "deep")); p.ID != first.ID || p.Remote != first.Remote {
		t.Errorf("without git's config it is %+v, want %s with its remote", p, first.ID)
	}

	former := memory.Project{ID: "p-former", Name: "template", Folders: first.Folders} // before its remote was changed
	known.projects = append([]memory.Project{former}, known.projects...)
	if p := resolve(root); p.ID == former.ID {
		t.Errorf("it is the former project of the folder: %+v", p)
	}
	known.projects = known.projects[1:]

	if os.Geteuid() == 0 {
		t.Skip("root enters every folder: run it as another user")
	}
	closed := filepath.Join(root, ".git")
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(closed, 0o755) // for the removal of the folder
	for _, dir := range []string{root, filepath.Join(root, "deep")} {
		if p := resolve(dir); p.ID != first.ID {
			t.Errorf("where .git may not be entered %s is %+v, want %s", dir, p, first.ID)
		}
	}
}
