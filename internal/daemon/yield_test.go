package daemon

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// yieldEnv has TestQuestionsWhileIndexing measure: it takes a minute.
//
//	RECALLD_YIELD=1 go test -v -run '^TestQuestionsWhileIndexing$' ./internal/daemon
const yieldEnv = "RECALLD_YIELD"

// TestQuestionsWhileIndexing measures how long the window of tasks and a recall take
// while a first index is made, against the same questions to the same daemon when it
// has nothing to do, and what the questions cost the index.
func TestQuestionsWhileIndexing(t *testing.T) {
	if os.Getenv(yieldEnv) == "" {
		t.Skip("it measures; set " + yieldEnv + "=1")
	}
	home := shop(t)
	s := serve(t, newConfig(t))
	s.indexed(s.index(home))
	for i := range 200 {
		s.keep(home, fmt.Sprintf("Drain the shard zq%dkv before the primary moves", i))
	}
	caller := memory.Caller{Dir: home}
	window := func() {
		_, err := service.TaskWindow.Do(t.Context(), s, memory.TaskWindowRequest{Caller: caller})
		must(t, err)
	}
	recall := func() { s.ask(home, "what has to be drained before the primary moves") }
	median := func(question func(), more func(n int) bool) time.Duration {
		var took []time.Duration
		for more(len(took)) {
			start := time.Now()
			question()
			took = append(took, time.Since(start))
			time.Sleep(5 * time.Millisecond) // an agent thinks longer
		}
		slices.Sort(took)
		return took[len(took)/2]
	}
	state := func(q *memory.IndexQueued) bool {
		st, err := service.Status.Do(t.Context(), s, service.None{})
		must(t, err)
		return slices.ContainsFunc(st.Projects, func(b memory.SandboxState) bool {
			return b.ID == q.Sandbox && b.Progress == nil && !b.IndexedAt.IsZero()
		})
	}
	repository := func() string {
		dir := large(t, 0)
		for i := range 1_500 {
			var text strings.Builder
			fmt.Fprintf(&text, "package p%d\n", i)
			for f := range 40 {
				fmt.Fprintf(&text, "\n// Handle%d_%d answers request %d of %s.\nfunc Handle%d_%d(a, b int) int {\n\tif a > b {\n\t\treturn a * %d\n\t}\n\treturn b + %d\n}\n", i, f, f, dir, i, f, i, f)
			}
			place(t, dir, fmt.Sprintf("p%d/f%d.go", i%20, i), text.String())
		}
		return dir
	}
	hundred := func(n int) bool { return n < 200 }
	idle := map[string]time.Duration{"window": median(window, hundred), "recall": median(recall, hundred)}

	quiet := repository()
	start := time.Now()
	for q := s.index(quiet); !state(q); {
		time.Sleep(50 * time.Millisecond)
	}
	alone := time.Since(start)
	for name, question := range map[string]func(){"window": window, "recall": recall} {
		q := s.index(repository())
		start := time.Now()
		deadline := start.Add(20 * time.Second)
		busy := median(question, func(n int) bool { return n == 0 || n%10 != 0 || !state(q) && time.Now().Before(deadline) })
		st, err := service.Status.Do(t.Context(), s, service.None{})
		must(t, err)
		done := 1.0
		for _, b := range st.Projects {
			if b.ID == q.Sandbox && b.Progress != nil {
				done = float64(b.Progress.FilesDone) / 1_500
			}
		}
		took := time.Since(start)
		t.Logf("%s: idle %v, while indexing %v: × %.1f; %.0f %% of 1,500 files in %v, alone all in %v", name,
			idle[name], busy, float64(busy)/float64(idle[name]), 100*done, took.Round(time.Millisecond), alone.Round(time.Millisecond))
		for !state(q) {
			time.Sleep(100 * time.Millisecond)
		}
	}
}
