package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// TestPauseHoldsAllWorkInTheBackground: nothing is indexed and nothing embedded by a
// server's model, also after a restart, and lessons are found all the same; then all
// of it is made up for.
func TestPauseHoldsAllWorkInTheBackground(t *testing.T) {
	fake := startFake(t)
	cfg := ollamaConfig(t, "http://"+fake.addr)
	s := serve(t, cfg, impatient)
	s.until("filled", filled)
	ctx := t.Context()
	held, err := service.Pause.Do(ctx, s, memory.PauseRequest{})
	if err != nil || !held.All {
		t.Fatalf("pause all: %+v, %v", held, err)
	}
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "clock.go"), []byte("package clock\n\n// Freeze stops the clock.\nfunc Freeze() {}\n"), 0o600))
	s.keep(dir, "Freeze the clock before the coupon expires")
	queued, err := service.IndexRepo.Do(ctx, s, memory.IndexRequest{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	if a := s.ask(dir, "freeze the clock", memory.Lesson); len(a.Items) != 1 {
		t.Fatalf("while paused the lesson is not found: %+v", a)
	}
	s.close()

	s = serve(t, cfg, impatient)
	s.until("the model in reach", func(st *memory.Status) bool { _, ok := collectionOf(st, modelName); return ok })
	// A question has the model embed, so that whatever waits for it had its turn.
	s.ask(dir, "freeze the clock", memory.Lesson)
	// A job that finds everything paused may be running for a moment.
	st := s.until("at rest", func(st *memory.Status) bool { return st.Queue.Running == 0 })
	if collection, _ := collectionOf(st, modelName); !st.Code.Paused || collection.Embedded > 0 {
		t.Errorf("after a restart: %+v, %+v, %+v", st.Code, st.Queue, st.Collections)
	}
	if held, err = service.Pause.Do(ctx, s, memory.PauseRequest{Resume: true}); err != nil || held.All {
		t.Fatalf("resume all: %+v, %v", held, err)
	}
	st = s.until("all made up for", func(st *memory.Status) bool {
		return filled(st) && len(st.Projects) == 1 && st.Projects[0].Files == 1
	})
	if st.Code.Paused || st.Projects[0].ID != queued.Sandbox {
		t.Errorf("after resume: %+v", st.Code)
	}
}
