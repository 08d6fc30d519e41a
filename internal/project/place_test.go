package project

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/git/gittest"
	"github.com/recalld/recalld/internal/memory"
)

// mover is a person who moves repositories about, and a memory that is told of
// every call from one of them.
type mover struct {
	t     *testing.T
	dir   string
	known *directory
	r     *Resolver
}

func newMover(t *testing.T) *mover {
	t.Helper()
	m := &mover{t: t, dir: realTemp(t), known: &directory{}}
	if markOf(m.dir) == "" {
		t.Skip("this file system does not tell when a folder was made: set TMPDIR to one that does, ext4 say")
	}
	m.r = NewResolver(m.known)
	return m
}

func (m *mover) at(name string) string { return filepath.Join(m.dir, filepath.FromSlash(name)) }

func (m *mover) move(from, to string) {
	m.t.Helper()
	must(m.t, os.Rename(m.at(from), m.at(to)))
}

func (m *mover) remove(name string) {
	m.t.Helper()
	must(m.t, os.RemoveAll(m.at(name)))
}

func (m *mover) git(args ...string) {
	m.t.Helper()
	gittest.Run(m.t, m.dir, args...)
}

// visit is a call from a folder, which stores what it learns. It returns the id of the
// project.
func (m *mover) visit(name string) string {
	m.t.Helper()
	p, known, err := m.r.Resolve(m.t.Context(), "", memory.Caller{Dir: m.at(name)})
	if err != nil {
		m.t.Fatalf("a call from %s: %v", name, err)
	}
	stored, err := m.r.Stored(p)
	must(m.t, err)
	i := slices.IndexFunc(m.known.projects, func(k memory.Project) bool { return k.ID == p.ID })
	if known != (i >= 0) {
		m.t.Errorf("from %s project %s is known: %t, want %t", name, p.ID, known, i >= 0)
	}
	switch {
	case i < 0:
		m.known.projects = append(m.known.projects, p)
	case !stored:
		m.known.projects[i] = p
	}
	if stored, err := m.r.Stored(p); err != nil || !stored {
		m.t.Errorf("once it is stored, project %s of %s still has news: %v", p.ID, name, err)
	}
	return p.ID
}

// same and other compare projects.
func (m *mover) same(what, got, want string) {
	m.t.Helper()
	if got != want {
		m.t.Errorf("%s: the project is %s, want %s still", what, got, want)
	}
}

func (m *mover) other(what, got, not string) {
	m.t.Helper()
	if got == not {
		m.t.Errorf("%s: the project is %s, which is another one's", what, got)
	}
}

// TestMovedRepository: a repository without a remote stays the same project where it
// is moved, and back.
func TestMovedRepository(t *testing.T) {
	m := newMover(t)
	repo(t, m.at("a"), "")
	a := m.visit("a")
	m.move("a", "b")
	m.same("after a move", m.visit("b"), a)
	m.move("b", "c")
	m.same("after another one", m.visit("c"), a)
	m.move("c", "a")
	m.same("moved back", m.visit("a"), a)
	write(t, m.at("deep/er/keep"), "")
	m.move("a", "deep/er/a")
	m.same("moved to another folder", m.visit("deep/er/a"), a)
	m.move("deep", "shallow")
	m.same("moved with a folder above it", m.visit("shallow/er/a"), a)
	if p := m.known.projects[0]; len(m.known.projects) != 1 || !slices.Equal(p.Names, []string{"a", "b", "c"}) {
		t.Errorf("known are %+v, want one project with the names a, b and c", m.known.projects)
	}
}

// TestMovedFolderWithoutGit: so does a folder that is a project by itself.
func TestMovedFolderWithoutGit(t *testing.T) {
	m := newMover(t)
	write(t, m.at("notes/today.md"), "x")
	notes := m.visit("notes")
	write(t, m.at("notes/tomorrow.md"), "x")
	m.move("notes", "diary")
	m.same("after a move", m.visit("diary"), notes)
	write(t, m.at("notes/today.md"), "x")
	m.other("a new folder at the old place", m.visit("notes"), notes)
}

// TestRepositoryMadeLater: a folder stays the same project where a repository is made in it,
// with a remote or without, and where that is removed again; one made below it does not.
func TestRepositoryMadeLater(t *testing.T) {
	m := newMover(t)
	write(t, m.at("notes/today.md"), "x")
	write(t, m.at("draft/sub/today.md"), "x")
	notes, draft := m.visit("notes"), m.visit("draft")
	repo(t, m.at("notes"), "")
	m.same("with a repository", m.visit("notes"), notes)
	m.remove("notes/.git")
	m.same("without it again", m.visit("notes"), notes)
	repo(t, m.at("notes"), "")
	m.visit("notes")
	m.move("notes", "diary")
	m.same("moved with another one", m.visit("diary"), notes)
	repo(t, m.at("draft/sub"), "")
	m.other("a repository in a folder below", m.visit("draft/sub"), draft)
	m.move("draft", "paper")
	repo(t, m.at("paper"), "https://git.example.org/org/paper.git")
	m.same("moved, then a repository with a remote", m.visit("paper"), draft)
}

// TestMovedIntoAnothersPlace: what is made where a moved repository was is a project
// of its own, whoever is seen first, and stays it.
func TestMovedIntoAnothersPlace(t *testing.T) {
	m := newMover(t)
	repo(t, m.at("a"), "")
	a := m.visit("a")
	m.move("a", "b")
	repo(t, m.at("a"), "")
	m.same("moved, with another one in its place", m.visit("b"), a)
	second := m.visit("a")
	m.other("the other one", second, a)
	m.same("the other one, seen again", m.visit("a"), second)
	m.same("the first, seen again", m.visit("b"), a)

	m.move("a", "c")
	m.move("b", "a")
	m.same("the other one, moved on", m.visit("c"), second)
	m.same("the first, back", m.visit("a"), a)

	m.remove("a")
	m.move("c", "a")
	m.same("moved to where the first was removed", m.visit("a"), second)
}

// TestNewRepositoryIsNotTheOld: one that is made anew at the same path goes on as the
// project of that path; one that is made elsewhere does not, even if the system gives
// it the number of a folder that was removed. A copy is another project.
func TestNewRepositoryIsNotTheOld(t *testing.T) {
	m := newMover(t)
	repo(t, m.at("a"), "")
	a := m.visit("a")
	m.remove("a")
	repo(t, m.at("a"), "")
	m.same("made anew at the same path", m.visit("a"), a)

	must(t, os.CopyFS(m.at("copy"), os.DirFS(m.at("a"))))
	duplicate := m.visit("copy")
	m.other("a copy", duplicate, a)
	m.same("the copied one", m.visit("a"), a)
	m.remove("a")
	m.same("the copy, once the copied one is gone", m.visit("copy"), duplicate)

	for i := range 20 { // until a number is used again, if it ever is
		gone, next := "gone"+string(rune('a'+i)), "next"+string(rune('a'+i))
		repo(t, m.at(gone), "")
		id := m.visit(gone)
		m.remove(gone)
		repo(t, m.at(next), "")
		m.other("made elsewhere after another one was removed", m.visit(next), id)
	}
}

// TestMovedWithRemote: a repository that got its remote after it was known is found
// again by its folder, not by the remote, which another one may have.
func TestMovedWithRemote(t *testing.T) {
	const address = "https://git.example.org/org/tool.git"
	m := newMover(t)
	repo(t, m.at("one"), "")
	repo(t, m.at("two"), "")
	one, two := m.visit("one"), m.visit("two")
	repo(t, m.at("one"), address)
	repo(t, m.at("two"), address)
	m.same("with a remote", m.visit("one"), one)
	m.same("with the same remote", m.visit("two"), two)
	m.move("two", "moved")
	m.same("moved with a remote that another one has", m.visit("moved"), two)
	repo(t, m.at("clone"), address)
	m.same("a clone by the remote", m.visit("clone"), one)
	m.same("the first after all that", m.visit("one"), one)
}

// TestMovedByGit asks git itself to move worktrees, and moves clones.
func TestMovedByGit(t *testing.T) {
	gittest.Need(t)
	m := newMover(t)
	m.git("init", "-q", "main")
	m.git("-C", "main", "commit", "-q", "--allow-empty", "-m", "first")
	id := m.visit("main")
	m.git("-C", "main", "worktree", "add", "-q", "../tree")
	m.same("a worktree", m.visit("tree"), id)
	m.git("-C", "main", "worktree", "move", "../tree", "../wood")
	m.same("a worktree moved by git", m.visit("wood"), id)

	m.git("clone", "-q", "main", "clone")
	m.same("a clone on this machine", m.visit("clone"), id)
	m.move("clone", "clone2")
	m.same("the clone moved", m.visit("clone2"), id)

	m.move("main", "trunk")
	m.same("moved, with a worktree and a clone", m.visit("trunk"), id)
	m.same("the clone of what was moved", m.visit("clone2"), id)
	if _, _, err := m.r.Resolve(t.Context(), "", memory.Caller{Dir: m.at("wood")}); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("a worktree whose repository was moved: %v, want to be told how to repair it", err)
	}
	m.git("-C", "trunk", "worktree", "repair", "../wood")
	m.same("the worktree, repaired", m.visit("wood"), id)
	m.remove("trunk")
	m.same("the clone of what is gone", m.visit("clone2"), id)
}

// TestMarkStays: a mark does not change with what is done in a folder, and a folder of
// the same name has another one.
func TestMarkStays(t *testing.T) {
	m := newMover(t)
	write(t, m.at("a/file"), "x")
	before := markOf(m.at("a"))
	write(t, m.at("a/other"), "x")
	must(t, os.Chtimes(m.at("a"), time.Unix(1, 0), time.Unix(1, 0)))
	if got := markOf(m.at("a")); got != before || got == "" {
		t.Errorf("the mark %q becomes %q by writing into the folder", before, got)
	}
	m.remove("a")
	if got := markOf(m.at("a")); got != "" {
		t.Errorf("a folder that is gone has the mark %q", got)
	}
	write(t, m.at("a/file"), "x")
	if got := markOf(m.at("a")); got == before {
		t.Errorf("a new folder has the mark %q of the old one", got)
	}
}
