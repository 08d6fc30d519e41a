package daemon

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
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
		a := s.ask(at, "warm the cache", memory.Lesson)
		if a.Project != kept.Project || len(a.Items) != 1 || !strings.Contains(a.Items[0].Text, "Warm the cache") {
			t.Errorf("in %s recall answers %+v of %s, want the lesson of %s", filepath.Base(at), a.Items, a.Project, kept.Project)
		}
	}
}
