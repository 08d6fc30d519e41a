//go:build unix

package daemon

import (
	"context"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/git/gittest"
	"github.com/recalld/recalld/internal/memory"
)

// TestHostileRepositories works in each hostile repository as an agent and its hooks
// do: no program of the repository runs, and no call waits for ever. Where git itself
// waits until its time limit, package code has the test.
func TestHostileRepositories(t *testing.T) {
	s := serve(t, newConfig(t))
	for _, h := range gittest.All() {
		if h.Slow {
			continue
		}
		t.Run(h.Name, func(t *testing.T) {
			r := gittest.New(t, &h)
			caller := memory.Caller{Dir: r.Dir, Client: "agent"}
			for name, call := range map[string]func(ctx context.Context){
				"session_start": func(ctx context.Context) {
					s.StartSession(ctx, memory.StartSessionRequest{Goal: "look around", Caller: caller})
				},
				"recall": func(ctx context.Context) { s.Recall(ctx, memory.RecallRequest{Query: "func B", Caller: caller}) },
				"remember": func(ctx context.Context) {
					s.Remember(ctx, memory.RememberRequest{Type: memory.EventPattern, Context: "a", Lesson: "b " + h.Name, Caller: caller})
				},
				"index_repo": func(ctx context.Context) { s.IndexRepo(ctx, memory.IndexRequest{Path: r.Dir, Caller: caller}) },
				"status":     func(ctx context.Context) { s.Status(ctx) },
				"assemble": func(ctx context.Context) {
					s.Assemble(ctx, memory.AssembleRequest{Message: "func B", SessionRef: memory.SessionRef{Caller: caller}})
				},
				"trust": func(ctx context.Context) { // and what is read by it, in the background
					s.Trust(ctx, memory.TrustRequest{Path: r.Dir, Caller: caller})
					s.Trust(ctx, memory.TrustRequest{Path: r.Dir, Revoke: true, Caller: caller})
				},
			} {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				ended := make(chan struct{})
				go func() { defer close(ended); call(ctx) }()
				select {
				case <-ended:
				case <-ctx.Done():
					t.Fatalf("%s does not come back", name)
				}
				cancel()
				if traces := r.Traces(); traces != "" {
					t.Fatalf("%s ran a program of the repository:\n%s", name, traces)
				}
			}
		})
	}
}
