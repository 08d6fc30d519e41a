package store

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// TestCompactionsRest: compactions are stopped while nothing is written and run during each
// commit. Thousands of writes with rests between are compacted and stored.
func TestCompactionsRest(t *testing.T) {
	withoutOtherGuards(t)
	var s *Store
	opts := Options{MemTableSize: 1 << 20, NoSync: true, restAfter: 20 * time.Millisecond}
	opts.Apply = func([]memory.Change) { // in the committer
		if s != nil && s.resting {
			t.Error("compactions are stopped during a commit")
		}
	}
	s = open(t, opts)
	chance := rand.New(rand.NewPCG(1, 71))
	stored := 0
	for round := range 12 {
		for end := time.Now().Add(30 * time.Second); ; {
			resting := false
			if err := s.betweenCommits(func() { resting = s.resting }); err != nil {
				t.Fatal(err)
			}
			if resting {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("round %d: compactions do not rest: %+v", round, s.db.Levels())
			}
		}
		for range 20 {
			var b memory.Batch
			for range 20 {
				text := make([]byte, 2000)
				for i := range text {
					text[i] = byte('a' + chance.IntN(26))
				}
				stored++
				r := memory.Record{ID: fmt.Sprintf("l-%06d", stored), Kind: memory.Lesson, Project: "p", Created: time.Now(), Text: string(text), Doc: memory.DocumentID(string(text)), Event: &memory.Event{Type: memory.EventError, Lesson: string(text)}}
				b.Records, b.Docs = append(b.Records, r), append(b.Docs, memory.Doc{ID: r.Doc})
			}
			if _, err := s.Commit(t.Context(), b); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
	}
	if n := s.db.Levels()[0].NumTables; n >= 15 { // at which Badger takes no more writes
		t.Errorf("%d tables lie in level 0: nothing was compacted", n)
	}
	if got := s.Counts(); got[memory.Lesson] != stored {
		t.Errorf("%d of %d lessons are stored", got[memory.Lesson], stored)
	}
}

// withoutOtherGuards lets compactions run: stores that other tests left open without a folder
// hold all of the process.
func withoutOtherGuards(t *testing.T) {
	t.Helper()
	theGate.mu.Lock()
	left := theGate.guards
	theGate.guards = map[*guard]bool{}
	theGate.mu.Unlock()
	t.Cleanup(func() {
		theGate.mu.Lock()
		defer theGate.mu.Unlock()
		theGate.guards = left
	})
}

// Compactions are stopped while a store is loaded and before it closes, and a commit wakes
// them.
func TestCompactionsStopForCallers(t *testing.T) {
	withoutOtherGuards(t)
	s := open(t, Options{})
	r, d := lesson("l-1", "a lesson")
	put(t, s, r, d)
	check := func(when string, want bool) {
		t.Helper()
		resting := !want
		if err := s.betweenCommits(func() { resting = s.resting }); err != nil || resting != want {
			t.Errorf("%s: compactions are stopped %v, %v; want %v", when, resting, err, want)
		}
	}
	check("after a commit", false)
	loader := readAll()
	loader.Record = func(memory.Record) error {
		check("during a load", true)
		return nil
	}
	if _, err := s.Load(t.Context(), loader); err != nil {
		t.Fatal(err)
	}
	check("after a load", false)
	if err := s.StopCompactions(); err != nil {
		t.Fatal(err)
	}
	check("when told so", true)
	commit(t, s, memory.Batch{DropRecords: []string{"l-1"}})
	check("after another commit", false)
	hold := theGate.hold()
	defer hold()
	if err := s.StopCompactions(); err != nil {
		t.Fatal(err)
	}
	check("while one may wait at the gate", false)
}
