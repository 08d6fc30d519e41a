//go:build unix

package code

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/git"
	"github.com/recalld/recalld/internal/git/gittest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/project"
)

// neverLong is far above what any entry takes, and far below what waiting for the
// writer of a named pipe does.
const neverLong = 30 * time.Second

// TestHostileRepositories enters each hostile repository in every way that the
// product has, and looks for traces of a program that it had run.
func TestHostileRepositories(t *testing.T) {
	type entry struct {
		name string
		// below says that it is entered below the top, too. Git looks at no folder above the one
		// that it is started in, so one of the entries that start it is enough there.
		below bool
		// limit is how long git may take.
		enter func(ctx context.Context, dir string, limit time.Duration)
	}
	entries := []entry{
		{"project.Head", true, func(_ context.Context, dir string, _ time.Duration) { project.Head(dir) }},
		{"project.Identify", true, func(_ context.Context, dir string, _ time.Duration) { project.Identify(dir) }},
		{"project.Resolver", true, func(ctx context.Context, dir string, _ time.Duration) {
			r := project.NewResolver(noProjects{})
			r.Resolve(ctx, "", memory.Caller{Dir: dir})
			r.Locate(dir)
		}},
		{"project.Below", true, func(_ context.Context, dir string, _ time.Duration) { project.Below(filepath.Dir(dir), 20) }},
		{"Walk of some files", false, func(ctx context.Context, dir string, limit time.Duration) {
			opts := settings(Options{GitLimit: limit})
			if err := opts.validate(); err != nil {
				t.Error(err)
			}
			walk(ctx, dir, []string{"a.txt", "sub"}, &opts, func(Entry) error { return nil })
		}},
		{"Index", true, func(ctx context.Context, dir string, limit time.Duration) {
			s := newShelf()
			Index(ctx, sandboxOf(dir), s, nil, s, settings(Options{GitLimit: limit}))
		}},
		{"git.Log", false, func(ctx context.Context, dir string, limit time.Duration) {
			git.Log(ctx, "git", dir, 10, 10, limit)
			git.Head(ctx, "git", dir, limit)
		}},
		{"live rules", false, func(ctx context.Context, dir string, limit time.Duration) {
			s := &Sandboxes{opts: SandboxesOptions{Run: settings(Options{Git: "git", GitLimit: limit})}}
			rules := s.rulesOf(dir)(ctx)
			rules.Skip("sub/b.go", false)
			rules.Skip("sub", true)
		}},
	}
	for _, h := range gittest.All() {
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			limit := time.Second
			if h.Slow || h.Endless {
				limit /= 10
			}
			r := gittest.New(t, &h)
			for _, e := range entries {
				dirs := []string{r.Dir}
				if e.below {
					dirs = append(dirs, filepath.Join(r.Dir, "sub"))
				}
				if _, err := os.Stat(filepath.Join(r.Dir, "bare")); err == nil {
					dirs = append(dirs, filepath.Join(r.Dir, "bare"))
				}
				for _, dir := range dirs {
					ended := make(chan struct{})
					go func() {
						defer close(ended)
						e.enter(t.Context(), dir, limit)
					}()
					select {
					case <-ended:
					case <-time.After(neverLong):
						t.Fatalf("%s in %s does not come back", e.name, dir)
					}
					if traces := r.Traces(); traces != "" {
						t.Fatalf("%s in %s ran a program of the repository:\n%s", e.name, dir, traces)
					}
				}
			}
			if len(h.Trigger) == 0 {
				return
			}
			if r.Try(h.Trigger...); r.Traces() == "" {
				t.Errorf("not even git %v runs the program: the repository is not armed, and the test proves nothing", h.Trigger)
			}
		})
	}
}

// noProjects knows none.
type noProjects struct{}

func (noProjects) Projects() ([]memory.Project, error) { return nil, nil }

func (noProjects) Sandboxes() ([]memory.Sandbox, error) { return nil, nil }
