//go:build unix

package spool

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/testkit/badfile"
)

// TestHostileEvents: whatever lies among the events, it is neither handed out nor in the way of
// the others, and what is no plain file stays where it is.
func TestHostileEvents(t *testing.T) {
	source := In(t.TempDir())
	must(t, source.Put(time.Unix(0, 2), []byte(`{"v":1}`)))
	names, _, err := source.list()
	must(t, err)
	whole, err := os.ReadFile(filepath.Join(source.dir, names[0]))
	must(t, err)
	for bad, put := range badfile.All {
		s := In(t.TempDir())
		must(t, s.Put(time.Unix(0, 1), []byte("before")))
		must(t, s.Put(time.Unix(0, 3), []byte("after")))
		path := filepath.Join(s.dir, names[0])
		must(t, put(path, string(whole)))
		info, err := os.Lstat(path)
		must(t, err)
		var events []string
		took := badfile.Bounded(t, bad, func() { events = all(t, s) })
		if want := []string{"before", "after"}; !slices.Equal(events, want) || took > 32<<20 {
			t.Errorf("%s: handed out are %.200q, want %q; %d MB were allocated", bad, events, want, took>>20)
		}
		_, err = os.Lstat(path)
		if plain := info.Mode().IsRegular(); s.Waiting() != 0 || plain != (s.Aside() == 1) || plain == (err == nil) {
			t.Errorf("%s: %d wait, %d are aside, and it is left: %v", bad, s.Waiting(), s.Aside(), err)
		}
		must(t, s.Put(time.Unix(0, 4), []byte("later")))
		if events := all(t, s); !slices.Equal(events, []string{"later"}) {
			t.Errorf("%s: later there is %q", bad, events)
		}
	}
}

// TestHostileCount: whatever lies where the refused events are counted, an event without room is
// refused at once.
func TestHostileCount(t *testing.T) {
	for bad, put := range badfile.All {
		s := In(t.TempDir())
		must(t, put(filepath.Join(s.dir, refusedName), "...."))
		badfile.Bounded(t, bad, func() {
			if err := s.Put(time.Now(), make([]byte, maxEvent+1)); !errors.Is(err, ErrFull) {
				t.Errorf("%s: %v", bad, err)
			}
			info, err := os.Lstat(filepath.Join(s.dir, refusedName))
			must(t, err)
			if n := s.Refused(); n > 0 && !info.Mode().IsRegular() {
				t.Errorf("%s: %d events are counted", bad, n)
			}
		})
	}
}
