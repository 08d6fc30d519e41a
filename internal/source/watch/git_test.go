package watch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/recalld/recalld/internal/git/gittest"
)

// TestGitWorkIsOneBatch: whatever git does to the files of a worktree, in however
// many steps, is reported once.
func TestGitWorkIsOneBatch(t *testing.T) {
	gittest.Need(t)
	const files = 40
	root := tempDir(t)
	gittest.Run(t, root, "init", "-q")
	text := func(branch string) {
		for i := range files {
			write(t, root, fmt.Sprintf("pkg%d/f%02d.go", i%7, i), fmt.Sprintf("package p\n\n// %s %d\n", branch, i))
		}
	}
	commit := func(message string) {
		gittest.Run(t, root, "add", "-A")
		gittest.Run(t, root, "commit", "-q", "-m", message)
	}
	text("main")
	commit("main")
	gittest.Run(t, root, "switch", "-q", "-c", "other")
	for i := range 5 {
		write(t, root, fmt.Sprintf("pkg%d/f%02d.go", i, i), fmt.Sprintf("package p\n\n// changed %d\n", i))
		commit(fmt.Sprint("change ", i))
	}
	gittest.Run(t, root, "switch", "-q", "main")
	write(t, root, "main.go", "package main\n")
	commit("ahead")
	gittest.Run(t, root, "branch", "keep")

	linked := filepath.Join(tempDir(t), "linked")
	gittest.Run(t, root, "worktree", "add", "-q", linked, "-b", "linked")
	dirs := map[string]string{root: filepath.Join(root, ".git"), linked: gittest.Run(t, linked, "rev-parse", "--absolute-git-dir")}

	// Far less than git needs between two steps, so that only its own files hold the
	// batch together.
	opts := Options{Quiet: 10 * time.Millisecond, MaxDelay: 20 * time.Millisecond, GitQuiet: 400 * time.Millisecond}
	for _, at := range []string{root, linked} {
		w := start(t, opts, Root{Path: at, Rules: func(context.Context) Rules { return Rules{GitDir: dirs[at]} }})
		needEvents(t, w, at)
		for _, step := range []struct {
			name string
			args []string
			all  bool
		}{
			{"switch", []string{"switch", "-q", "--detach", "other"}, false},
			{"switch back", []string{"switch", "-q", "--detach", "main"}, false},
			{"merge", []string{"merge", "-q", "-m", "joined", "other"}, false},
			{"reset", []string{"reset", "-q", "--hard", "other"}, false},
			{"rebase", []string{"rebase", "-q", "main"}, false},
		} {
			gittest.Run(t, at, step.args...)
			b := next(t, w)
			if !b.All && len(b.Paths) == 0 || b.Gone {
				t.Errorf("after a %s the batch is %+v", step.name, b)
			}
			// Anything that git did and that was not in the batch would come before this.
			silent(t, w, at)
			must(t, os.Remove(filepath.Join(at, "sign.txt")))
			expect(t, w, "sign.txt")
		}
		write(t, at, "pkg0/f00.go", "package p\n\n// by hand\n")
		expect(t, w, "pkg0/f00.go")
		gittest.Run(t, at, "stash", "-q")
		if b := next(t, w); len(b.Paths) != 1 || b.Paths[0] != "pkg0/f00.go" {
			t.Errorf("after a stash the batch is %+v", b)
		}
		silent(t, w, at)
		must(t, w.Close())
		must(t, os.Remove(filepath.Join(at, "sign.txt")))
	}
}

// TestGitHolds: changes wait while git's files say that it is at work, and not for
// ever.
func TestGitHolds(t *testing.T) {
	for _, test := range []struct {
		name string
		// files are in git's folder; steps are how many times the index is replaced,
		// every half second.
		files []string
		steps int
		want  time.Duration
	}{
		{"no git work", nil, 0, 100 * time.Millisecond},
		{"a lock that stays", []string{"index.lock"}, 0, 10 * time.Second},
		{"a switch", nil, 1, 300 * time.Millisecond},
		{"a rebase of four commits", []string{"rebase-merge"}, 4, 1500*time.Millisecond + 900*time.Millisecond},
		{"a rebase that waits for the user", []string{"rebase-apply"}, 0, 100 * time.Millisecond},
		{"a rebase without end", []string{"rebase-merge"}, 1000, 10 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := tempDir(t)
			gitDir := filepath.Join(root, ".git")
			write(t, root, ".git/HEAD", "ref: refs/heads/main\n")
			for _, f := range test.files {
				write(t, root, ".git/"+f, "")
			}
			synctest.Test(t, func(t *testing.T) {
				n := newNotifier(-1, nil)
				w := start(t, Options{Notify: n.connect}, Root{Path: root, Rules: func(context.Context) Rules { return Rules{GitDir: gitDir} }})
				began := time.Now()
				n.events <- fsnotify.Event{Name: filepath.Join(root, "a.go"), Op: fsnotify.Write}
				stop := make(chan struct{})
				var steps sync.WaitGroup
				steps.Go(func() {
					for range test.steps {
						select {
						case n.events <- fsnotify.Event{Name: filepath.Join(gitDir, "index"), Op: fsnotify.Create}:
						case <-stop:
							return
						}
						select {
						case <-time.After(500 * time.Millisecond):
						case <-stop:
							return
						}
					}
				})
				expect(t, w, "a.go")
				took := time.Since(began)
				close(stop)
				steps.Wait()
				if took < test.want || took > test.want+200*time.Millisecond {
					t.Errorf("reported after %s, want %s", took, test.want)
				}
				must(t, w.Close())
			})
		})
	}
}

// TestGitHoldsBeforeItsEvents: an index that was just replaced holds changes, though its event
// has not come yet; one from the future does not.
func TestGitHoldsBeforeItsEvents(t *testing.T) {
	gitDir := tempDir(t)
	write(t, gitDir, "index", "")
	synctest.Test(t, func(t *testing.T) {
		var o Options
		must(t, o.validate())
		began := time.Now()
		for _, test := range []struct {
			age  time.Duration
			want bool
		}{{0, true}, {o.GitQuiet / 2, true}, {o.GitQuiet, false}, {-time.Hour, false}} {
			at := began.Add(-test.age)
			must(t, os.Chtimes(filepath.Join(gitDir, "index"), at, at))
			if got := new(gitWork).busy(&o, gitDir, began); got != test.want {
				t.Errorf("with an index of %s ago git is at work: %v, want %v", test.age, got, test.want)
			}
		}
	})
}

// TestStatusHoldsNothing: git's status takes the lock each time and mostly changes
// nothing.
func TestStatusHoldsNothing(t *testing.T) {
	g := gitWork{}
	for _, base := range []string{"index.lock", "config", "FETCH_HEAD", "COMMIT_EDITMSG", "logs"} {
		if g.event(base, fsnotify.Create); !g.last.IsZero() {
			t.Fatalf("%s is taken for work on files", base)
		}
	}
	if g.event("index", fsnotify.Chmod); !g.last.IsZero() {
		t.Fatal("a change of mode is taken for work on files")
	}
}
