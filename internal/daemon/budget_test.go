package daemon

import (
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// TestMemoryIsFull: what would add to what is held is refused or waits, and says so; what an
// agent asks and tells goes on. With room again, what waited is done.
func TestMemoryIsFull(t *testing.T) {
	cfg := newConfig(t)
	cfg.Limits.Memory = 64e6
	dir := shop(t)
	place(t, dir, ".git/HEAD", "ref: refs/heads/main\n")
	cfg.Sandboxes = []string{dir}
	var held atomic.Uint64
	held.Store(60e6)
	s := serve(t, cfg, func(o *Options) { o.held = held.Load })
	_, err := service.IndexRepo.Do(t.Context(), s, memory.IndexRequest{Path: dir})
	e := memory.AsError(err)
	if e.Code != memory.CodeUnavailable || e.Field != "limits.memory" || e.Limit != "64MB" || !strings.Contains(e.Message, "60") {
		t.Errorf("indexing is answered with %+v", e)
	}
	if _, err := service.AdaptModel.Do(t.Context(), s, memory.AdaptRequest{}, nil); memory.AsError(err).Field != "limits.memory" {
		t.Errorf("an adaptation is answered with %v", err)
	}
	kept := s.keep(dir, "The drawer sticks in winter")
	if a := s.ask(dir, "the drawer sticks"); len(a.Items) == 0 || a.Items[0].ID != kept.ID {
		t.Errorf("recall answers %+v", a)
	}
	st := s.until("queued", func(st *memory.Status) bool { return st.Queue.Waiting+st.Queue.Running > 0 })
	if !strings.Contains(strings.Join(st.Notes, "\n"), "the budget for them, limits.memory, is 64MB; the process takes more") {
		t.Errorf("status has the notes %q", st.Notes)
	}
	held.Store(10e6)
	s.indexed(s.index(dir))
	if st, err := service.Status.Do(t.Context(), s, service.None{}); err != nil || strings.Contains(strings.Join(st.Notes, "\n"), "limits.memory") {
		t.Errorf("with room again status says %q, %v", st.Notes, err)
	}
}

// TestBudget: Go keeps to the settings, and what the environment says counts more.
func TestBudget(t *testing.T) {
	for _, name := range []string{"GOMEMLIMIT", "GOMAXPROCS"} {
		t.Setenv(name, "") // for the end of the test to put back
		_ = os.Unsetenv(name)
	}
	memoryBefore, processors := debug.SetMemoryLimit(-1), runtime.GOMAXPROCS(0)
	undo := applyBudget(config.Limits{Memory: 1e9, Processors: 1})
	if m, p := debug.SetMemoryLimit(-1), runtime.GOMAXPROCS(0); m != 1e9 || p != 1 {
		t.Errorf("the limits are %d bytes and %d processors", m, p)
	}
	undo()
	if m, p := debug.SetMemoryLimit(-1), runtime.GOMAXPROCS(0); m != memoryBefore || p != processors {
		t.Errorf("afterwards they are %d and %d, want %d and %d", m, p, memoryBefore, processors)
	}
	t.Setenv("GOMEMLIMIT", "2GiB")
	defer applyBudget(config.Limits{Memory: 1e9})()
	if m := debug.SetMemoryLimit(-1); m != memoryBefore {
		t.Errorf("against the environment the limit is %d", m)
	}
}
