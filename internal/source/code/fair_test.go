package code_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/code"
	"github.com/recalld/recalld/worker"
)

// TestProjectsTakeTurns: however much one project asks for, and however often,
// another one waits for one of its runs at most.
func TestProjectsTakeTurns(t *testing.T) {
	r := newRig(t, rigOptions{})
	busy, quiet := folder(t, map[string]string{"a.go": "package a\n"}), folder(t, map[string]string{"b.go": "package b\n"})
	worktree := folder(t, map[string]string{"a.go": "package a\n"})
	for _, root := range []string{busy, worktree} {
		gitFolder(t, root, "https://example.org/team/shop.git")
	}
	changed := make([]string, 100)
	for n := range 100 {
		for i := range changed {
			changed[i] = fmt.Sprintf("d%d/f%d.go", n, i)
		}
		r.ask(busy, changed...)
	}
	r.ask(worktree)
	q := r.ask(quiet)
	if q.Position != 2 {
		t.Errorf("behind 10,000 changes of two worktrees the other project is at %d, want 2", q.Position)
	}
	first := r.lease()
	for n := range 10 {
		r.ask(busy, fmt.Sprintf("again%d.go", n))
	}
	second := r.lease()
	if of := runOf(t, second); of.Sandbox != q.Sandbox {
		t.Errorf("the second run is over %+v, want the other project", of)
	}
	must(t, r.run(first))
	must(t, r.run(second))
	r.runNext()
	r.runNext()
	if n := r.waiting(); n != 0 {
		t.Errorf("%d runs wait, want all that was asked for in four", n)
	}
}

func runOf(t *testing.T, lease worker.Job) code.RunRequest {
	t.Helper()
	var run code.RunRequest
	must(t, json.Unmarshal(lease.Payload, &run))
	return run
}

// TestSlowModelHoldsUpNothing: while a model that embeds in the background hangs, or
// fails, repositories are indexed and lessons are kept.
func TestSlowModelHoldsUpNothing(t *testing.T) {
	const embedKind = "embed"
	for name, embed := range map[string]worker.Handler{
		"slow": func(ctx context.Context, _ worker.Job) error {
			<-ctx.Done()
			return ctx.Err()
		},
		"dead": func(context.Context, worker.Job) error { return errors.New("connection refused") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, rigOptions{})
			tried, indexed := make(chan struct{}, 1000), make(chan error, 10)
			pool, err := worker.NewPool(worker.Options{
				Queue: r.store.Queue(), Concurrency: map[string]int{indexKind: 2, embedKind: 1},
				Handlers: map[string]worker.Handler{
					embedKind: func(ctx context.Context, job worker.Job) error {
						tried <- struct{}{}
						return embed(ctx, job)
					},
					indexKind: func(ctx context.Context, job worker.Job) error {
						err := r.boxes.Run(ctx, job.Payload)
						indexed <- err
						return err
					},
				},
			})
			must(t, err)
			for i := range 50 {
				_, err := r.store.Queue().Enqueue(t.Context(), worker.Job{Kind: embedKind, Key: fmt.Sprint(i), Priority: 100})
				must(t, err)
			}
			pool.Start()
			wait(t, "the model is asked", tried)
			var asked []*memory.IndexQueued
			for range 3 {
				asked = append(asked, r.ask(folder(t, map[string]string{"a.go": "package a\n"})))
			}
			_, err = r.paths.Remember(t.Context(), memory.RememberRequest{Lesson: "the model is late", Project: asked[0].Project})
			must(t, err)
			for range asked {
				must(t, wait(t, "a repository is indexed", indexed))
			}
			for _, q := range asked {
				if s := r.state(q.Sandbox); s.Files != 1 {
					t.Errorf("beside a %s model %s has %d files", name, q.Root, s.Files)
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // the model is not waited for
			if err := pool.Stop(ctx); err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("stop: %v", err)
			}
		})
	}
}

// wait receives what must come.
func wait[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-time.After(patience):
		t.Fatalf("%s: it does not come for %s", what, patience)
		panic("unreachable")
	}
}
