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
	opts := Options{MemTableSize: fillerTable, NoSync: true, restAfter: 20 * time.Millisecond}
	opts.Apply = func([]memory.Change) { // in the committer
		if s != nil && s.resting {
			t.Error("compactions are stopped during a commit")
		}
	}
	s = open(t, opts)
	w := newFiller(s)
	for round := range 20 {
		for end := time.Now().Add(30 * time.Second); ; {
			resting := false
			must(t, s.betweenCommits(func() { resting = s.resting }))
			if resting {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("round %d: compactions do not rest: %+v", round, s.db.Levels())
			}
			time.Sleep(time.Millisecond)
		}
		for range 20 {
			w.commit(t)
		}
	}
	if n := s.db.Levels()[0].NumTables; n > compactAt+2 { // of 16 or more; the last may not be looked at yet
		t.Errorf("%d tables lie in level 0: nothing was compacted", n)
	}
	w.check(t)
}

const (
	fillerLessons = 5       // in a commit
	fillerTable   = 1 << 18 // some 20 commits fill one
)

// filler stores lessons of random letters, which fill tables soon.
type filler struct {
	s       *Store
	chance  *rand.Rand
	stored  int
	imports bool // commits are of an import
}

func newFiller(s *Store) *filler { return &filler{s: s, chance: rand.New(rand.NewPCG(1, 71))} }

// commit stores fillerLessons lessons of 2 kB.
func (f *filler) commit(t *testing.T) {
	t.Helper()
	var b memory.Batch
	var letters uint64
	for range fillerLessons {
		text := make([]byte, 2000)
		for i := range text {
			if i%8 == 0 {
				letters = f.chance.Uint64()
			}
			text[i] = 'a' + byte(letters>>(i%8*8)&15)
		}
		f.stored++
		r, d := lesson(fmt.Sprintf("l-%06d", f.stored), string(text))
		b.Records, b.Docs = append(b.Records, r), append(b.Docs, d)
	}
	b.Import = f.imports
	commit(t, f.s, b)
}

// check finds everything stored.
func (f *filler) check(t *testing.T) {
	t.Helper()
	if got := f.s.Counts(); got[memory.Lesson] != f.stored {
		t.Errorf("%d of %d lessons are stored", got[memory.Lesson], f.stored)
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
	loader := discardLoader()
	loader.Record = func(memory.Record) error {
		check("during a load", true)
		return nil
	}
	if _, err := s.Load(t.Context(), loader); err != nil {
		t.Fatal(err)
	}
	check("after a load", false)
	must(t, s.StopCompactions())
	check("when told so", true)
	commit(t, s, memory.Batch{DropRecords: []string{"l-1"}})
	check("after another commit", false)
	hold := theGate.hold()
	defer hold()
	must(t, s.StopCompactions())
	check("when told so while the gate is closed", true)
}
