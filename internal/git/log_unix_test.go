//go:build unix

package git_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/git"
	"github.com/recalld/recalld/internal/git/gittest"
)

// TestLog: the newest changes come first, with whole messages and the files that they
// changed, whatever these are called; merges and files of large changes are left out.
func TestLog(t *testing.T) {
	r := gittest.New(t, nil)
	r.Git("checkout", "-q", "-b", "side")
	r.Write("sub/ü \"x\".go", "package x\n")
	r.Git("add", "-A")
	r.Git("commit", "-q", "-m", "parser: accept umlauts\n\nCloses #12.")
	r.Git("checkout", "-q", "-")
	r.Write("\x017", "digits after the mark\n")
	r.Git("add", "-A")
	r.Git("commit", "-q", "--allow-empty-message", "-m", "")
	r.Git("merge", "-q", "--no-ff", "-m", "merge the side", "side")
	for _, name := range []string{"m1", "m2", "m3"} {
		r.Write(name, name)
	}
	r.Git("add", "-A")
	r.Git("commit", "-q", "-m", "three at once\n"+strings.Repeat("z", 5000))

	changes, err := git.Log(t.Context(), "git", r.Dir, 4, 2, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	byMessage := map[string]git.Change{}
	for _, c := range changes {
		line, _, _ := strings.Cut(c.Message, "\n")
		if _, twice := byMessage[line]; twice || c.Time.Before(time.Unix(1, 0)) && line != "" || len(c.Message) > 1024 {
			t.Errorf("change %q at %v, %d bytes", line, c.Time, len(c.Message))
		}
		byMessage[line] = c
	}
	if c := byMessage["parser: accept umlauts"]; !slices.Equal(c.Files, []string{"sub/ü \"x\".go"}) || !strings.Contains(c.Message, "Closes #12.") {
		t.Errorf("the change of the side is %q", c)
	}
	if c, ok := byMessage["three at once"]; !ok || len(c.Files) > 0 {
		t.Errorf("the large change is %v, %v", c.Files, ok)
	}
	if _, ok := byMessage["merge the side"]; ok {
		t.Error("a merge was listed")
	}
	id, err := git.Head(t.Context(), "git", r.Dir, time.Minute)
	if want := strings.TrimSpace(r.Git("rev-parse", "HEAD")); err != nil || id != want {
		t.Errorf("head is %q (%v), want %q", id, err, want)
	}
}

// TestLogOfNothing: no repository, no commit and no git are errors, not hangs.
func TestLogOfNothing(t *testing.T) {
	if changes, err := git.Log(t.Context(), "git", t.TempDir(), 10, 10, time.Minute); err == nil || len(changes) > 0 {
		t.Errorf("a folder without a repository has %v, %v", changes, err)
	}
	if _, err := git.Log(t.Context(), "no-such-git", t.TempDir(), 10, 10, time.Minute); !errors.Is(err, git.ErrNotAsked) {
		t.Errorf("without git the error is %v", err)
	}
}
