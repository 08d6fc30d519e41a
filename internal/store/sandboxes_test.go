package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

// TestSandboxesAreKept writes, moves and removes sandboxes at random and compares what
// is kept with a model, also before it was first asked for and after reopening.
func TestSandboxesAreKept(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	opts := Options{Dir: t.TempDir(), NoSync: true}
	s := open(t, opts)
	model := map[string]memory.Sandbox{}
	for step := range 200 {
		id := fmt.Sprintf("s-%d", rng.IntN(12))
		batch := memory.Batch{DropSandboxes: []string{id}}
		if rng.IntN(3) > 0 {
			b := memory.Sandbox{ID: id, Project: fmt.Sprintf("p-%d", rng.IntN(3)), Root: fmt.Sprintf("/%d", step), Files: step}
			batch = memory.Batch{Sandboxes: []memory.Sandbox{b}}
			model[id] = b
		} else {
			delete(model, id)
		}
		if _, err := s.Commit(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		if step < 20 || step%10 != 0 {
			continue
		}
		if step == 100 {
			must(t, s.Close())
			s = open(t, opts)
		}
		var all []memory.Sandbox
		for _, id := range slices.Sorted(func(yield func(string) bool) {
			for id := range model {
				if !yield(id) {
					return
				}
			}
		}) {
			all = append(all, model[id])
		}
		compare := func(what string, want []memory.Sandbox, got []memory.Sandbox, err error) {
			t.Helper()
			if diff := cmp.Diff(want, append([]memory.Sandbox(nil), got...)); err != nil || diff != "" {
				t.Fatalf("step %d: %s (-want +got): %v\n%s", step, what, err, diff)
			}
		}
		got, err := s.Sandboxes()
		compare("all sandboxes", all, got, err)
		for project := range 4 {
			project := fmt.Sprintf("p-%d", project)
			var want []memory.Sandbox
			for _, b := range all {
				if b.Project == project {
					want = append(want, b)
				}
			}
			got, err := s.ProjectSandboxes(project)
			compare("sandboxes of "+project, want, got, err)
		}
		must(t, s.Check())
	}
}

// BenchmarkProjectSandboxes asks for the sandboxes of a project, as every question
// does, among 100 and among 10,000 of others by turns: ×small is how many times as long
// it takes among 10,000.
//
//	go test ./internal/store -run '^$' -bench ProjectSandboxes
func BenchmarkProjectSandboxes(b *testing.B) {
	stored := func(n int) *Store {
		s, err := Open(Options{Dir: b.TempDir(), NoSync: true})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { s.Close() })
		var batch memory.Batch
		for i := range n {
			batch.Sandboxes = append(batch.Sandboxes, memory.Sandbox{ID: fmt.Sprintf("s-%d", i), Project: fmt.Sprintf("p-%d", i/2), Root: fmt.Sprintf("/home/me/src/repository-%d", i)})
		}
		if _, err := s.Commit(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
		return s
	}
	few, many := stored(100), stored(10_000)
	timed := func(s *Store) float64 {
		start := time.Now()
		for range 100 {
			if list, err := s.ProjectSandboxes("p-7"); err != nil || len(list) != 2 {
				b.Fatalf("%d sandboxes, %v; want 2", len(list), err)
			}
		}
		return float64(time.Since(start).Nanoseconds())
	}
	timed(few)
	timed(many)
	var ratios []float64
	for b.Loop() {
		small := timed(few)
		ratios = append(ratios, timed(many)/small)
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "×small")
}
