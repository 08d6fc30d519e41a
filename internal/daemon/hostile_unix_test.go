//go:build unix

package daemon

import (
	"context"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/git/gittest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/testlong"
)

// TestHostileRepositories works in each hostile repository as an agent and its hooks
// do: no program of the repository runs, and no call waits for ever. Where git itself
// waits until its time limit, package code has the test.
func TestHostileRepositories(t *testing.T) {
	testlong.Only(t)
	s := serve(t, newConfig(t))
	top := t // its folders last until the daemon, which goes on reading them, has ended
	for _, h := range gittest.All() {
		if h.Slow {
			continue
		}
		t.Run(h.Name, func(t *testing.T) {
			r := gittest.New(top, &h)
			caller := memory.Caller{Dir: r.Dir, Client: "agent"}
			for name, call := range map[string]func(ctx context.Context){
				"session_start": func(ctx context.Context) {
					service.StartSession.Do(ctx, s, memory.StartSessionRequest{Goal: "look around", Caller: caller})
				},
				"recall": func(ctx context.Context) {
					service.Recall.Do(ctx, s, memory.RecallRequest{Query: "func B", Caller: caller})
				},
				"remember": func(ctx context.Context) {
					service.Remember.Do(ctx, s, memory.RememberRequest{Type: memory.EventPattern, Context: "a", Lesson: "b " + h.Name, Caller: caller})
				},
				"index_repo": func(ctx context.Context) {
					service.IndexRepo.Do(ctx, s, memory.IndexRequest{Path: r.Dir, Caller: caller})
				},
				"status": func(ctx context.Context) { service.Status.Do(ctx, s, service.None{}) },
				"assemble": func(ctx context.Context) {
					service.Assemble.Do(ctx, s, memory.AssembleRequest{Message: "func B", SessionRef: memory.SessionRef{Caller: caller}})
				},
				"trust": func(ctx context.Context) { // and what is read by it, in the background
					service.Trust.Do(ctx, s, memory.TrustRequest{Path: r.Dir, Caller: caller})
					service.Trust.Do(ctx, s, memory.TrustRequest{Path: r.Dir, Revoke: true, Caller: caller})
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
