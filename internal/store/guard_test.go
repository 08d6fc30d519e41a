package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// remember commits a lesson and returns its id.
func remember(s *Store, name string) (string, error) {
	r, d := lesson("l-"+name, "a lesson named "+name)
	_, err := s.Commit(context.Background(), memory.Batch{Docs: []memory.Doc{d}, Records: []memory.Record{r}})
	return r.ID, err
}

// An empty log, as a kill leaves it between making a file and its first write, does not
// keep the store from opening, and is still to be found.
func TestEmptyLogIsSetAside(t *testing.T) {
	for _, name := range []string{"00009.mem", "000009.vlog", "00000.mem"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, Options{Dir: dir})
			id, err := remember(s, "before")
			if err = errors.Join(err, s.Close()); err != nil {
				t.Fatal(err)
			}
			must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
			s = open(t, Options{Dir: dir})
			if _, err := s.Record(id); err != nil {
				t.Errorf("what was stored before is not found: %v", err)
			}
			if _, err := remember(s, "after"); err != nil {
				t.Errorf("nothing can be stored: %v", err)
			}
			if _, err := os.Stat(filepath.Join(dir, name+".empty")); err != nil {
				t.Errorf("the empty log was not set aside: %v", err)
			}
		})
	}
}

// A store without room refuses writes with words, answers questions, gives out no job,
// and takes writes again when there is room, without being opened again.
func TestFullDiskRefusesWrites(t *testing.T) {
	s := open(t, Options{})
	id, err := remember(s, "before")
	must(t, err)
	var free atomic.Int64
	free.Store(10 << 20)
	s.guard.disk = func(string) (diskState, error) { return diskState{free: free.Load()}, nil }
	_, err = remember(s, "refused")
	e := memory.AsError(err)
	if e.Code != memory.CodeReadOnly || !strings.Contains(e.Message, "10.0 MiB free") || !strings.Contains(e.Message, s.opts.Dir) || !strings.Contains(e.Hint, "free 54") {
		t.Errorf("the refusal is %+v; want code %s with what is free, where, and what to free", e, memory.CodeReadOnly)
	}
	if s.Trouble() == nil {
		t.Error("the store does not say that it takes no writes")
	}
	if _, err := s.Record(id); err != nil {
		t.Errorf("a question is not answered: %v", err)
	}
	if theGate.guards[s.guard] && s.guard.compactable() {
		t.Error("a compaction could begin without room")
	}
	free.Store(10 << 30)
	if _, err := remember(s, "after"); err != nil || s.Trouble() != nil {
		t.Errorf("with room again a write gives %v, and the store says %v", err, s.Trouble())
	}
	if _, err := s.Record("l-refused"); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("the refused lesson gives %v, want %s", err, memory.CodeNotFound)
	}
}

// TestWriteNoticesFullDisk: a full disk that a write notices, and room that the next write
// finds, are logged, and wake the jobs that were not handed out meanwhile. The store looks at
// the disk every two seconds, so it has seen neither.
func TestWriteNoticesFullDisk(t *testing.T) {
	logged := make(chan string, 100)
	s := open(t, Options{Logger: slog.New(toChannel{slog.DiscardHandler, logged})})
	var free atomic.Int64
	s.guard.disk = func(string) (diskState, error) { return diskState{free: free.Load()}, nil }
	if _, err := remember(s, "refused"); memory.CodeOf(err) != memory.CodeReadOnly {
		t.Fatalf("a write on a full disk gives %v", err)
	}
	changed, due := s.Queue().Changed()
	if due >= 0 {
		t.Errorf("on a full disk a job is due in %s, want none", due)
	}
	free.Store(10 << 30)
	if _, err := remember(s, "after"); err != nil {
		t.Fatal(err)
	}
	late := time.After(20 * watchEvery)
	for _, want := range []string{"writes are refused", "writes are taken again"} {
		select {
		case got := <-logged:
			if got != want {
				t.Errorf("%q is logged, want %q", got, want)
			}
		case <-late:
			t.Fatalf("%q is not logged", want)
		}
	}
	select {
	case <-changed:
	case <-late:
		t.Error("waiting jobs are not looked at again")
	}
}

// toChannel sends the messages that are logged.
type toChannel struct {
	slog.Handler
	messages chan<- string
}

func (h toChannel) Handle(_ context.Context, r slog.Record) error {
	h.messages <- r.Message
	return nil
}

func (toChannel) Enabled(context.Context, slog.Level) bool { return true }

// When the store's folder goes away between writes, nothing that was acknowledged is
// lost: writes are refused, questions answered, and the folder may come back.
func TestFolderGoesAway(t *testing.T) {
	for name, tc := range map[string]struct {
		// leave takes the folder away and returns where what was acknowledged is; empty
		// if it is gone. back brings it back; nil if that cannot be.
		leave func(t *testing.T, dir string) string
		back  func(t *testing.T, dir string)
	}{
		"moved": {
			leave: func(t *testing.T, dir string) string { must(t, os.Rename(dir, dir+".moved")); return dir + ".moved" },
			back:  func(t *testing.T, dir string) { must(t, os.Rename(dir+".moved", dir)) },
		},
		"replaced": {
			leave: func(t *testing.T, dir string) string {
				must(t, os.Rename(dir, dir+".moved"))
				must(t, os.Mkdir(dir, 0o700))
				return dir + ".moved"
			},
			back: func(t *testing.T, dir string) {
				must(t, os.Remove(dir))
				must(t, os.Rename(dir+".moved", dir))
			},
		},
		"removed": {leave: func(t *testing.T, dir string) string { must(t, os.RemoveAll(dir)); return "" }},
		"emptied": {
			leave: func(t *testing.T, dir string) string {
				must(t, os.RemoveAll(dir))
				must(t, os.Mkdir(dir, 0o700))
				return ""
			},
		},
		"its log removed": {
			leave: func(t *testing.T, dir string) string {
				logs, _ := filepath.Glob(filepath.Join(dir, "*.mem"))
				for _, log := range logs {
					must(t, os.Remove(log))
				}
				return ""
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			s, err := Open(Options{Dir: dir})
			must(t, err)
			must(t, s.OpenCollection(t.Context(), testSpace, nil))
			load(t, s)
			// Several clients write until each is refused.
			var mu sync.Mutex
			acked, refused := map[string]bool{}, []error{}
			enough := make(chan struct{})
			var writing sync.WaitGroup
			for w := range 4 {
				writing.Go(func() {
					for n := 0; ; n++ {
						id, err := remember(s, fmt.Sprintf("%d-%d", w, n))
						mu.Lock()
						if err != nil {
							refused = append(refused, err)
							mu.Unlock()
							return
						}
						if acked[id] = true; len(acked) == 40 {
							close(enough)
						}
						mu.Unlock()
					}
				})
			}
			<-enough
			kept := tc.leave(t, dir)
			mu.Lock()
			before := len(acked)
			mu.Unlock()
			writing.Wait()
			for _, err := range refused {
				if memory.CodeOf(err) != memory.CodeReadOnly || !strings.Contains(err.Error(), "the store's folder "+dir) {
					t.Errorf("a write was refused with %v, want %s and the store's folder", err, memory.CodeReadOnly)
				}
			}
			// One more a writer may have been acknowledged between leave's end and the count.
			if kept == "" && len(acked) > before+4 {
				t.Errorf("%d writes were acknowledged into nothing", len(acked)-before)
			}
			for id := range acked {
				if _, err := s.Record(id); err != nil {
					t.Errorf("without its folder the store does not find %s: %v", id, err)
				}
			}
			if tc.back != nil {
				tc.back(t, dir)
				id, err := remember(s, "back")
				must(t, err)
				acked[id], kept = true, dir
			}
			must(t, s.Close())
			theGate.mu.Lock()
			if theGate.guards[s.guard] {
				t.Error("the closed store still holds the compactions of others")
			}
			theGate.mu.Unlock()
			if kept == "" {
				return
			}
			s = open(t, Options{Dir: kept})
			for id := range acked {
				if _, err := s.Record(id); err != nil {
					t.Errorf("%s was acknowledged and is not found: %v", id, err)
				}
			}
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
