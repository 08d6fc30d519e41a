package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// all drains a spool and returns its events.
func all(t *testing.T, s Spool) (events []string) {
	t.Helper()
	done, err := s.Drain(func(event []byte) Verdict {
		events = append(events, string(event))
		return Done
	})
	must(t, err)
	if done != len(events) {
		t.Errorf("%d are done, %d were handed out", done, len(events))
	}
	return events
}

// TestInOrder: events come out by their time, once, and those for later stay.
func TestInOrder(t *testing.T) {
	s := In(filepath.Join(t.TempDir(), "spool"))
	if s.Waiting() != 0 || len(all(t, s)) != 0 {
		t.Error("a spool without a folder has events")
	}
	for _, at := range []int64{3, 1, 20, 2} {
		must(t, s.Put(time.Unix(0, at), fmt.Appendf(nil, "%d", at)))
	}
	seen := 0
	done, err := s.Drain(func([]byte) Verdict {
		seen++
		if seen == 2 {
			return Later
		}
		return Done
	})
	must(t, err)
	if done != 1 || seen != 2 || s.Waiting() != 3 {
		t.Errorf("%d done of %d, %d waiting; want 1 of 2, and 3", done, seen, s.Waiting())
	}
	if got, want := all(t, s), []string{"2", "3", "20"}; !slices.Equal(got, want) {
		t.Errorf("then %v, want %v", got, want)
	}
	if s.Waiting() != 0 {
		t.Errorf("%d are left", s.Waiting())
	}
}

// TestManyWriters lose nothing beside a reader.
func TestManyWriters(t *testing.T) {
	s := In(t.TempDir())
	const writers, each = 8, 50
	var work sync.WaitGroup
	for w := range writers {
		work.Go(func() {
			for i := range each {
				if err := s.Put(time.Now(), fmt.Appendf(nil, "%d/%d", w, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	seen := map[string]int{}
	for len(seen) < writers*each && !t.Failed() {
		for _, event := range all(t, s) {
			seen[event]++
		}
	}
	work.Wait()
	for event, n := range seen {
		if n != 1 {
			t.Errorf("%s came %d times", event, n)
		}
	}
}

// TestBadEventsAreSetAside, and never good ones.
func TestBadEventsAreSetAside(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "of [any name")
	s := In(dir)
	must(t, s.Put(time.Unix(0, 5), []byte("good")))
	must(t, s.Put(time.Unix(0, 6), []byte("torn")))
	names, _, err := s.list()
	must(t, err)
	text, err := os.ReadFile(filepath.Join(dir, names[1]))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, names[1]), text[:len(text)-1], 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "00000000000000000001-x.event"), nil, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "00000000000000000002-x.event"), make([]byte, maxEvent+1000), 0o600))
	left, fresh := filepath.Join(dir, "00000000000000000003-x.part"), filepath.Join(dir, "00000000000000000003-y.part")
	for _, path := range []string{left, fresh} {
		must(t, os.WriteFile(path, []byte("half"), 0o600))
	}
	must(t, os.Chtimes(left, time.Time{}, time.Now().Add(-2*time.Hour)))
	must(t, os.Mkdir(filepath.Join(dir, "00000000000000000004-x.event"), 0o700))
	must(t, s.Put(time.Unix(0, 7), []byte("refused by the taker")))
	var events []string
	_, err = s.Drain(func(event []byte) Verdict {
		events = append(events, string(event))
		if string(event) == "good" {
			return Done
		}
		return Bad
	})
	must(t, err)
	if want := []string{"good", "refused by the taker"}; !slices.Equal(events, want) {
		t.Errorf("handed out: %q, want %q", events, want)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("what a killed writer left is still there")
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Error("what a writer is writing was removed")
	}
	if s.Aside() != 4 || s.Waiting() != 0 {
		t.Errorf("%d are aside and %d wait, want 4 and 0", s.Aside(), s.Waiting())
	}
}

// TestBounds: what finds no room is refused and counted, and nothing else is lost.
func TestBounds(t *testing.T) {
	dir := t.TempDir()
	s := In(dir)
	first := ""
	for i := range maxEvents - 1 { // mostly further names of a file, which cost little
		path := filepath.Join(dir, fmt.Sprintf("%020d-x.event", i))
		if i%500 == 0 || os.Link(first, path) != nil {
			must(t, os.WriteFile(path, nil, 0o600))
			first = path
		}
	}
	must(t, s.Put(time.Now(), []byte("the last")))
	for _, err := range []error{s.Put(time.Now(), []byte("one more")), In(t.TempDir()).Put(time.Now(), make([]byte, maxEvent+1))} {
		if !errors.Is(err, ErrFull) {
			t.Errorf("without room: %v", err)
		}
	}
	if s.Refused() != 1 || s.Waiting() != maxEvents {
		t.Errorf("%d are refused and %d wait, want 1 and %d", s.Refused(), s.Waiting(), maxEvents)
	}
}
