package daemon

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/git/gittest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// TestRemoteAddedLater: what was remembered in a repository is found when it has got
// a remote, without anything being written in between, and in clones by it.
func TestRemoteAddedLater(t *testing.T) {
	s, dir := serve(t, newConfig(t)), shop(t)
	place(t, dir, ".git/HEAD", "ref: refs/heads/main\n")
	kept := s.keep(dir, "Warm the cache before the switch")
	remote := "[remote \"origin\"]\n\turl = https://git.example.org/org/shop.git\n"
	place(t, dir, ".git/config", remote)
	clone := filepath.Join(filepath.Dir(shop(t)), "clone")
	place(t, clone, ".git/HEAD", "ref: refs/heads/main\n")
	place(t, clone, ".git/config", remote)
	for _, at := range []string{dir, clone} {
		gittest.Commit(t, filepath.Join(at, ".git"), "the first commit")
	}
	for _, at := range []string{dir, clone} {
		a := s.ask(at, "warm the cache", memory.Lesson)
		if a.Project != kept.Project || len(a.Items) != 1 || !strings.Contains(a.Items[0].Text, "Warm the cache") {
			t.Errorf("in %s recall answers %+v of %s, want the lesson of %s", filepath.Base(at), a.Items, a.Project, kept.Project)
		}
	}
}

// TestClaimedRemote: a folder that names the remote of a project, and has none of its
// history, finds nothing of it, and status says why.
func TestClaimedRemote(t *testing.T) {
	s, dir := serve(t, newConfig(t)), shop(t)
	evil := filepath.Join(filepath.Dir(shop(t)), "evil")
	for _, at := range []string{dir, evil} {
		place(t, at, ".git/config", "[remote \"origin\"]\n\turl = https://git.example.org/org/shop.git\n")
		gittest.Commit(t, filepath.Join(at, ".git"), "the first commit of "+at)
	}
	kept := s.keep(dir, "Warm the cache before the switch")
	if other := s.keep(evil, "Something else"); other.Project == kept.Project {
		t.Errorf("a folder that claims the remote writes into the project %s of another one", kept.Project)
	}
	status, err := service.Status.Do(t.Context(), s, service.None{})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(status.Notes, "\n"); !strings.Contains(notes, "evil is a project of its own") || !strings.Contains(notes, "no commit in common") {
		t.Errorf("status notes %q, want why the folder is a project of its own", notes)
	}
}
