package project

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/git/gittest"
	"github.com/recalld/recalld/internal/memory"
)

const secretAddress = "git@git.example.org:org/private.git"

// claims makes a repository that names a remote and has an unrelated history.
func claims(t *testing.T, root, remote, commit string) {
	t.Helper()
	repo(t, root, remote)
	must(t, os.RemoveAll(filepath.Join(root, ".git", "objects")))
	gittest.Commit(t, filepath.Join(root, ".git"), commit)
}

// apart returns why the project of a folder is separate.
func (m *mover) apart(name string) string {
	m.t.Helper()
	p, _, err := m.r.Resolve(m.t.Context(), "", memory.Caller{Dir: m.at(name)})
	must(m.t, err)
	return p.Apart
}

// TestClaimedRemote: a folder whose .git only says that it is a clone gets nothing of
// the project; a clone does. Git is not needed.
func TestClaimedRemote(t *testing.T) {
	t.Setenv("PATH", "")
	m := newMover(t)
	claims(t, m.at("private"), secretAddress, "the first")
	private := m.visit("private")
	claims(t, m.at("evil"), secretAddress, "another first")
	evil := m.visit("evil")
	m.other("a folder that claims the remote", evil, private)
	if why := m.apart("evil"); !strings.Contains(why, "git.example.org/org/private") || !strings.Contains(why, "no commit in common") {
		t.Errorf("the project of the folder is apart because %q, want the remote and the reason", why)
	}
	m.same("the folder, seen again", m.visit("evil"), evil)
	claims(t, m.at("clone"), secretAddress, "the first")
	gittest.Commit(t, filepath.Join(m.at("clone"), ".git"), "the second")
	m.same("a clone", m.visit("clone"), private)
	if why := m.apart("clone"); why != "" {
		t.Errorf("a clone is apart because %q", why)
	}
	m.same("the first", m.visit("private"), private)

	// What is stored of the project is enough when its folders are gone.
	m.remove("private")
	m.remove("clone")
	m.r = NewResolver(m.known)
	claims(t, m.at("again"), secretAddress, "the first")
	m.same("a clone once all others are gone", m.visit("again"), private)
	claims(t, m.at("evil2"), secretAddress, "a third first")
	m.other("another folder that claims the remote, once all others are gone", m.visit("evil2"), private)
}

// TestClaimBeforeTheClone: the first to claim a remote keeps its memories, and the
// real clones, which have nothing in common with it, find one another.
func TestClaimBeforeTheClone(t *testing.T) {
	m := newMover(t)
	claims(t, m.at("evil"), secretAddress, "another first")
	evil := m.visit("evil")
	claims(t, m.at("one"), secretAddress, "the first")
	claims(t, m.at("two"), secretAddress, "the first")
	one := m.visit("one")
	m.other("a clone after a folder that claims its remote", one, evil)
	m.same("a second clone", m.visit("two"), one)
}

// TestClaimedFolder: naming a repository on this machine as one's origin is a claim
// like any other, whether that repository is known or not, there or gone.
func TestClaimedFolder(t *testing.T) {
	m := newMover(t)
	repo(t, m.at("private"), "")
	claims(t, m.at("evil"), m.at("private"), "another first")
	evil := m.visit("evil")
	private := m.visit("private")
	m.other("a repository that names it as its origin", evil, private)
	if why := m.apart("evil"); !strings.Contains(why, m.at("private")) {
		t.Errorf("it is apart because %q, want the folder", why)
	}
	m.remove("private")
	m.other("the same, once that is gone", m.visit("evil"), private)
	claims(t, m.at("evil2"), m.at("private"), "a third first")
	m.other("another one, once that is gone", m.visit("evil2"), private)
	claims(t, m.at("clone"), m.at("private"), m.at("private"))
	m.same("a clone of what is gone", m.visit("clone"), private)
}

// TestHistoryIsRewritten: a folder that was found to be of a project stays it when its
// history is written anew, and when it is moved.
func TestHistoryIsRewritten(t *testing.T) {
	m := newMover(t)
	claims(t, m.at("a"), secretAddress, "the first")
	a := m.visit("a")
	claims(t, m.at("a"), secretAddress, "rewritten")
	m.r = NewResolver(m.known)
	m.same("with another history", m.visit("a"), a)
	m.move("a", "b")
	m.same("moved", m.visit("b"), a)
	m.remove("b")
	claims(t, m.at("b"), secretAddress, "a stranger's")
	m.other("another folder in its place", m.visit("b"), a)
}

// TestHistoryComesLater: a clone that has nothing yet is joined once it has been
// fetched into.
func TestHistoryComesLater(t *testing.T) {
	m := newMover(t)
	now := time.Now()
	m.r.proofs.now = func() time.Time { return now }
	claims(t, m.at("a"), secretAddress, "the first")
	a := m.visit("a")
	claims(t, m.at("b"), secretAddress, "x")
	must(t, os.RemoveAll(m.at("b/.git/objects")))
	m.other("an empty clone", m.visit("b"), a)
	claims(t, m.at("b"), secretAddress, "the first")
	now = now.Add(recheck)
	m.same("after a fetch", m.visit("b"), a)
}

// TestStoredByEarlierVersions: a project that was stored without its history is that
// of the folders that it was met in or that are indexed, and of their clones.
func TestStoredByEarlierVersions(t *testing.T) {
	for what, store := range map[string]func(known *directory, root string){
		"met": func(known *directory, root string) { known.projects[0].Roots = []string{root} },
		"indexed": func(known *directory, root string) {
			known.sandboxes = []memory.Sandbox{{ID: "s-1", Project: known.projects[0].ID, Root: root}}
		},
	} {
		for _, first := range []string{"private", "clone", "evil"} {
			m := newMover(t)
			claims(t, m.at("private"), secretAddress, "the first")
			claims(t, m.at("clone"), secretAddress, "the first")
			claims(t, m.at("evil"), secretAddress, "another first")
			id := hashed("p-", "git.example.org/org/private")
			m.known.projects = []memory.Project{{ID: id, Name: "private", Names: []string{"private"}, Remote: "git.example.org/org/private"}}
			store(m.known, m.at("private"))
			for _, name := range []string{first, "private", "clone", "evil"} {
				if got := m.visit(name); (got == id) != (name != "evil") {
					t.Errorf("%s, %s first: the project of %s is %s; %s is the one that was stored", what, first, name, got, id)
				}
			}
			if p := m.known.projects[0]; len(p.History) == 0 || len(p.Folders) != 2 {
				t.Errorf("%s: the project is stored with %d commits and %d folders, want some and 2", what, len(p.History), len(p.Folders))
			}
		}
	}
}

// TestGitFolderOfAnother: a .git that leads into another repository does not make a
// folder part of it, unless that repository says so.
func TestGitFolderOfAnother(t *testing.T) {
	for what, make := range map[string]func(m *mover){
		"git file": func(m *mover) { write(t, m.at("evil/.git"), "gitdir: "+m.at("private/.git")+"\n") },
		"link":     func(m *mover) { mustLink(t, m.at("private/.git"), m.at("evil/.git")) },
		"common folder": func(m *mover) {
			write(t, m.at("evil/.git/HEAD"), "x")
			write(t, m.at("evil/.git/commondir"), m.at("private/.git"))
		},
		"git file of a worktree": func(m *mover) { write(t, m.at("evil/.git"), "gitdir: "+m.at("private/.git/worktrees/tree")+"\n") },
		"forged worktree": func(m *mover) {
			write(t, m.at("evil/g/worktrees/x/HEAD"), "x")
			write(t, m.at("evil/g/worktrees/x/commondir"), m.at("private/.git"))
			write(t, m.at("evil/g/worktrees/x/gitdir"), m.at("evil/.git"))
			write(t, m.at("evil/.git"), "gitdir: "+m.at("evil/g/worktrees/x")+"\n")
		},
		"linked objects": func(m *mover) {
			claims(t, m.at("evil"), secretAddress, "x")
			must(t, os.RemoveAll(m.at("evil/.git/objects")))
			mustLink(t, m.at("private/.git/objects"), m.at("evil/.git/objects"))
			head, err := os.ReadFile(m.at("private/.git/refs/heads/main"))
			must(t, err)
			write(t, m.at("evil/.git/refs/heads/main"), string(head))
		},
	} {
		m := newMover(t)
		claims(t, m.at("private"), secretAddress, "the first")
		tree := m.at("private/.git/worktrees/tree")
		write(t, filepath.Join(tree, "HEAD"), "ref: refs/heads/main\n")
		write(t, filepath.Join(tree, "commondir"), "../..\n")
		write(t, filepath.Join(tree, "gitdir"), m.at("tree/.git")+"\n")
		write(t, m.at("tree/.git"), "gitdir: "+tree+"\n")
		private := m.visit("private")
		m.same("a worktree", m.visit("tree"), private)
		write(t, m.at("evil/file"), "x")
		make(m)
		m.other(what, m.visit("evil"), private)
		if m.apart("evil") == "" {
			t.Errorf("%s: nothing says why the folder is a separate project", what)
		}
		if p := m.known.projects[0]; len(p.Folders) != 1 || slices.ContainsFunc(m.known.projects[1:], func(k memory.Project) bool { return len(k.History) > 0 }) {
			t.Errorf("%s: stored are %+v, want no history but the project's own", what, m.known.projects)
		}
	}
}

func mustLink(t *testing.T, to, at string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(at), 0o755))
	if err := os.Symlink(to, at); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
}

// TestClonesByGit has git make clones of all kinds.
func TestClonesByGit(t *testing.T) {
	gittest.Need(t)
	m := newMover(t)
	m.git("init", "-q", "-b", "main", "one")
	for _, message := range []string{"first", "second", "third"} {
		m.git("-C", "one", "commit", "-q", "--allow-empty", "-m", message)
	}
	m.git("-C", "one", "remote", "add", "origin", secretAddress)
	one := m.visit("one")
	for _, args := range [][]string{
		{"clone", "-q", "--no-local", "one", "full"}, {"clone", "-q", "one", "local"}, {"clone", "-q", "full", "twice"},
		{"clone", "-q", "--no-local", "--depth=1", "one", "shallow"}, {"clone", "-q", "--no-local", "--filter=blob:none", "one", "partial"},
		{"clone", "-q", "--bare", "one", "bare.git"}, {"clone", "-q", "bare.git", "of-bare"},
	} {
		m.git(args...)
		name := args[len(args)-1]
		if name == "bare.git" {
			continue
		}
		m.same(name+", by its folder", m.visit(name), one)
		m.git("-C", name, "remote", "set-url", "origin", "https://git.example.org/org/private")
		m.same(name+", by its remote", m.visit(name), one)
	}
	m.git("-C", "one", "worktree", "add", "-q", "../tree")
	m.same("a worktree", m.visit("tree"), one)
	m.git("-c", "protocol.file.allow=always", "-C", "full", "submodule", "--quiet", "add", m.at("local"), "sub")
	m.git("-C", "full/sub", "remote", "set-url", "origin", secretAddress)
	m.same("a submodule", m.visit("full/sub"), one)
}
