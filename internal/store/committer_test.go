package store

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/worker"
)

// together hands updates to the committer so that it gathers them at once, and
// returns when all are answered.
func together(t *testing.T, s *Store, fns ...func(*Tx) error) []error {
	t.Helper()
	begun, free := make(chan struct{}), make(chan struct{})
	us := []*update{{done: make(chan struct{}), fn: func(*Tx) error {
		close(begun)
		<-free
		return nil
	}}}
	for _, fn := range fns {
		us = append(us, &update{fn: fn, done: make(chan struct{})})
	}
	for i, u := range us {
		must(t, s.submit(u))
		if i == 0 {
			<-begun // the others wait behind it
		}
	}
	close(free)
	errs := make([]error, len(fns))
	for i, u := range us {
		<-u.done
		if i > 0 {
			errs[i-1] = u.err
		}
	}
	return errs
}

// TestReceiptThatComesDuringACommitIsFlushed: nothing but the receipt itself
// asks for the commit that it needs.
func TestReceiptThatComesDuringACommitIsFlushed(t *testing.T) {
	var s *Store
	var during atomic.Bool
	commits := make(chan struct{}, 100)
	s = open(t, Options{
		Follow: func(memory.Change) []worker.Job {
			if during.CompareAndSwap(true, false) {
				s.EnqueueReceipt(memory.Receipt{ID: "rc-2"})
			}
			return nil
		},
		Apply: func([]memory.Change) { commits <- struct{}{} },
	})
	for _, round := range []string{"first", "second"} {
		s.EnqueueReceipt(memory.Receipt{ID: "rc-1"})
		during.Store(true)
		r, d := lesson("l-"+round, round)
		put(t, s, r, d)
		for { // the commit of the record, and one for what came during it
			select {
			case <-commits:
			case <-time.After(10 * time.Second):
				t.Fatalf("%s round: a receipt that came during a commit is not written", round)
			}
			if written(t, s, "rc-2") {
				break
			}
		}
		commit(t, s, memory.Batch{DropReceipts: []string{"rc-2"}})
	}
}

// written says that a receipt is in the database.
func written(t *testing.T, s *Store, id string) bool {
	t.Helper()
	var err error
	_ = s.View(func(v View) error {
		_, err = v.Receipt(id)
		return nil
	})
	if err != nil && memory.CodeOf(err) != memory.CodeNotFound {
		t.Fatal(err)
	}
	return err == nil
}

// TestManyReceiptsAreWritten holds more of them back than one transaction takes.
func TestManyReceiptsAreWritten(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir, MemTableSize: 1 << 20})
	const receipts = 400
	fns := []func(*Tx) error{func(*Tx) error {
		for i := range receipts {
			s.EnqueueReceipt(memory.Receipt{ID: fmt.Sprintf("rc-%d", i), Project: strings.Repeat("x", 1000)})
		}
		return nil
	}}
	must(t, together(t, s, fns...)[0])
	must(t, s.Close())
	s = open(t, Options{Dir: dir})
	for i := range receipts {
		if id := fmt.Sprintf("rc-%d", i); !written(t, s, id) {
			t.Fatalf("receipt %s of %d was lost", id, receipts)
		}
	}
}

// TestManySmallWritesShareCommits: a transaction is bounded in entries as well as
// in bytes.
func TestManySmallWritesShareCommits(t *testing.T) {
	s := open(t, Options{MemTableSize: 1 << 20})
	var fns []func(*Tx) error
	for i := range 20 {
		fns = append(fns, func(tx *Tx) error {
			for k := range 500 {
				tx.put(key(prefixTomb, fmt.Sprintf("%d-%d", i, k)), nil)
			}
			return nil
		})
	}
	for i, err := range together(t, s, fns...) {
		if err != nil {
			t.Errorf("update %d: %v", i, err)
		}
	}
	if dead, err := s.Tombstoned("19-499"); err != nil || !dead {
		t.Errorf("the last write of the last update: %v, %v", dead, err)
	}
}

// TestUpdateThatIsTooLargeFailsAlone: its neighbours in the commit are nobody's
// but their own.
func TestUpdateThatIsTooLargeFailsAlone(t *testing.T) {
	s := open(t, Options{MemTableSize: 1 << 20})
	write := func(id string) func(*Tx) error {
		return func(tx *Tx) error {
			tx.put(key(prefixTomb, id), nil)
			return nil
		}
	}
	large := func(tx *Tx) error {
		for k := range 5000 {
			tx.put(key(prefixTomb, fmt.Sprintf("large-%d", k)), nil)
		}
		return nil
	}
	badKey := func(tx *Tx) error {
		tx.put(key(prefixTomb, strings.Repeat("k", 70_000)), nil)
		return nil
	}
	errs := together(t, s, write("before"), large, write("between"), badKey, write("after"))
	for i, wrong := range []bool{false, true, false, true, false} {
		if (errs[i] != nil) != wrong {
			t.Errorf("update %d: %v; should fail: %v", i, errs[i], wrong)
		}
	}
	for id, want := range map[string]bool{"before": true, "between": true, "after": true, "large-0": false} {
		if dead, err := s.Tombstoned(id); err != nil || dead != want {
			t.Errorf("what update %q wrote: stored %v, %v; want %v", id, dead, err, want)
		}
	}
}

// TestJobsShareATransactionWithWhatCausedThem: what the queue adds counts too.
func TestJobsShareATransactionWithWhatCausedThem(t *testing.T) {
	s := open(t, Options{MemTableSize: 1 << 20, Follow: func(c memory.Change) []worker.Job {
		var jobs []worker.Job
		for _, d := range c.Docs {
			jobs = append(jobs, worker.Job{Kind: "echo", Key: d.ID.String(), Payload: bytes.Repeat([]byte("1"), 2000)})
		}
		return jobs
	}})
	var fns []func(*Tx) error
	for i := range 100 {
		r, d := lesson(fmt.Sprintf("l-%d", i), fmt.Sprintf("lesson %d", i))
		d.Terms = bytes.Repeat([]byte("t"), 1200)
		fns = append(fns, func(tx *Tx) error {
			return tx.putBatch(memory.Batch{Docs: []memory.Doc{d}, Records: []memory.Record{r}}, nil, &memory.Committed{})
		})
	}
	for i, err := range together(t, s, fns...) {
		if err != nil {
			t.Errorf("update %d: %v", i, err)
		}
	}
	if got := s.Queue().Stats().Waiting; got != 100 {
		t.Errorf("%d jobs wait, want 100", got)
	}
}

// TestLargeFileCanBeDropped: sweeping what it alone held takes more entries than
// a transaction has.
func TestLargeFileCanBeDropped(t *testing.T) {
	s := open(t, Options{MemTableSize: 1 << 20})
	file := memory.File{Project: "p-1", Sandbox: "s-1", Path: "a/big.go", ModTime: time.Unix(1, 2).UTC()}
	var docs []memory.Doc
	for i := range 2000 {
		d := doc(fmt.Sprintf("chunk %d", i))
		docs = append(docs, d)
		file.Chunks = append(file.Chunks, memory.FileChunk{Doc: d.ID, Hash: d.ID, Start: i, End: i + 1})
	}
	commit(t, s, memory.Batch{Docs: docs, Files: []memory.File{file}})
	// What the file held last is put again by whoever comes next.
	errs := together(t, s,
		func(tx *Tx) error { _, err := tx.DropFile("s-1", "a/big.go"); return err },
		func(tx *Tx) error {
			r, d := lesson("l-1", "chunk 7")
			return tx.putBatch(memory.Batch{Docs: []memory.Doc{d}, Records: []memory.Record{r}}, nil, &memory.Committed{})
		})
	for i, err := range errs {
		if err != nil {
			t.Fatalf("update %d: %v", i, err)
		}
	}
	if _, err := s.Terms(docs[0].ID); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("terms of a dropped file: %v, want not found", err)
	}
	if _, err := s.Terms(docs[7].ID); err != nil {
		t.Errorf("terms that were put again at once: %v", err)
	}
}

// TestUpdateThatReadWhatWasTakenBackFails: it saw writes of its group that were
// then not committed, so it must not be committed either.
func TestUpdateThatReadWhatWasTakenBackFails(t *testing.T) {
	s := open(t, Options{MemTableSize: 1 << 20})
	var seen bool
	errs := together(t, s,
		func(tx *Tx) error {
			tx.put(key(prefixTomb, "first"), nil)
			return nil
		},
		func(tx *Tx) error {
			var err error
			seen, err = tx.Tombstoned("first")
			for k := range 1000 { // together with the next it does not fit
				tx.put(key(prefixTomb, fmt.Sprintf("second-%d", k)), nil)
			}
			return err
		},
		func(tx *Tx) error {
			tx.group.txn.Discard() // as a disk that is full ends it
			for k := range 1000 {
				tx.put(key(prefixTomb, fmt.Sprintf("third-%d", k)), nil)
			}
			return nil
		},
		func(tx *Tx) error {
			tx.put(key(prefixTomb, "fourth"), nil)
			return nil
		})
	if !seen {
		t.Error("the second update did not see what the first wrote")
	}
	for i, wrong := range []bool{true, true, true, false} {
		if (errs[i] != nil) != wrong {
			t.Errorf("update %d: %v; should fail: %v", i, errs[i], wrong)
		}
	}
	for id, want := range map[string]bool{"first": false, "second-0": false, "third-0": false, "fourth": true} {
		if dead, err := s.Tombstoned(id); err != nil || dead != want {
			t.Errorf("what wrote %q: stored %v, %v; want %v", id, dead, err, want)
		}
	}
}

// TestFollowIsAskedAboutRecordsWithoutNewDocuments: a text that a model refused
// may lie elsewhere now.
func TestFollowIsAskedAboutRecordsWithoutNewDocuments(t *testing.T) {
	var asked int
	s := open(t, Options{Follow: func(memory.Change) []worker.Job {
		asked++
		return nil
	}})
	first, d := lesson("l-1", "shared")
	again, _ := lesson("l-2", "shared")
	put(t, s, first, d)
	before := asked
	commit(t, s, memory.Batch{Records: []memory.Record{again}})
	if asked != before+1 {
		t.Errorf("Follow was asked %d times about a record of a text that is held, want once", asked-before)
	}
}
