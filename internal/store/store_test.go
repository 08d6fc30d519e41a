package store

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

const testSpace = "test@4-0000"

// open opens a store that is checked and closed at the end of the test.
func open(t *testing.T, opts Options) *Store {
	t.Helper()
	if opts.Dir == "" {
		opts.Dir = t.TempDir()
	}
	s, err := Open(opts)
	if err != nil {
		t.Fatalf("open store: %v", err)
	}
	t.Cleanup(func() {
		s.mu.Lock()
		closed := s.db.IsClosed()
		s.mu.Unlock()
		if closed {
			return
		}
		if err := s.Check(); err != nil {
			t.Errorf("the store is not sound at the end of the test: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
	})
	must(t, s.OpenCollection(t.Context(), testSpace, nil))
	load(t, s)
	return s
}

// load loads without looking.
func load(t *testing.T, s *Store) {
	t.Helper()
	if _, err := s.Load(t.Context(), discardLoader()); err != nil {
		t.Fatalf("load store: %v", err)
	}
}

func lesson(id, text string) (memory.Record, memory.Doc) {
	r := memory.Record{
		ID: id, Kind: memory.Lesson, Project: "p-1", Text: text, Doc: memory.DocumentID(text),
		Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Event:   &memory.Event{Type: memory.EventError, Lesson: text},
	}
	return r, doc(text)
}

func doc(text string) memory.Doc {
	id := memory.DocumentID(text)
	v := []float32{float32(id[0]) + 1, float32(id[1]), float32(id[2]), 1}
	return memory.Doc{ID: id, Terms: []byte("terms of " + text), Vectors: map[string][]float32{testSpace: v}}
}

func put(t *testing.T, s *Store, r memory.Record, d memory.Doc) memory.Committed {
	t.Helper()
	c, err := s.Commit(t.Context(), memory.Batch{Docs: []memory.Doc{d}, Records: []memory.Record{r}})
	if err != nil {
		t.Fatalf("commit %s: %v", r.ID, err)
	}
	return c
}

func TestRecordSurvivesReopening(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	r, d := lesson("l-1", "npm needs a clean cache")
	put(t, s, r, d)
	must(t, s.Close())
	s = open(t, Options{Dir: dir})
	got, err := s.Record("l-1")
	must(t, err)
	if diff := cmp.Diff(r, got); diff != "" {
		t.Errorf("record after reopening (-want +got):\n%s", diff)
	}
	terms, err := s.Terms(d.ID)
	if err != nil || !bytes.Equal(terms, d.Terms) {
		t.Errorf("terms after reopening = %q, %v; want %q", terms, err, d.Terms)
	}
}

func TestLastReferenceSweepsDocument(t *testing.T) {
	s := open(t, Options{})
	a, d := lesson("l-a", "same text")
	b, _ := lesson("l-b", "same text")
	put(t, s, a, d)
	put(t, s, b, d)
	drop := func(id string) {
		if _, err := s.Commit(t.Context(), memory.Batch{DropRecords: []string{id}}); err != nil {
			t.Fatal(err)
		}
	}
	drop("l-a")
	if _, err := s.Terms(d.ID); err != nil {
		t.Fatalf("terms are gone while a record references them: %v", err)
	}
	drop("l-b")
	if _, err := s.Terms(d.ID); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("terms of an unreferenced document: %v, want not found", err)
	}
}

func TestVectorOfForgottenDocumentIsDropped(t *testing.T) {
	s := open(t, Options{})
	r, d := lesson("l-a", "soon forgotten")
	put(t, s, r, d)
	if _, err := s.Commit(t.Context(), memory.Batch{DropRecords: []string{"l-a"}}); err != nil {
		t.Fatal(err)
	}
	kept, err := s.PutVectors(t.Context(), testSpace, []memory.DocVector{{Doc: d.ID, Vector: []float32{1, 0, 0, 0}}})
	if err != nil || kept != 0 {
		t.Errorf("PutVectors of a forgotten document kept %d, %v; want 0", kept, err)
	}
}

// TestPutVectorsCountsWhatIsStored: a vector of an update that failed is not counted.
func TestPutVectorsCountsWhatIsStored(t *testing.T) {
	s := open(t, Options{})
	r, d := lesson("l-a", "kept")
	put(t, s, r, d)
	good, bad := memory.DocVector{Doc: d.ID, Vector: []float32{1, 0, 0, 0}}, memory.DocVector{Doc: d.ID}
	vectors := slices.Repeat([]memory.DocVector{good}, 257)
	if kept, err := s.PutVectors(t.Context(), testSpace, append(vectors, bad)); err == nil || kept != 256 {
		t.Errorf("PutVectors with an empty one kept %d, %v; want 256 and an error", kept, err)
	}
}

func TestRequestIsAnsweredOnce(t *testing.T) {
	s := open(t, Options{})
	r, d := lesson("l-1", "once")
	batch := memory.Batch{RequestID: "req-1", Docs: []memory.Doc{d}, Records: []memory.Record{r}}
	first, err := s.Commit(t.Context(), batch)
	must(t, err)
	if _, err := s.Commit(t.Context(), memory.Batch{DropRecords: []string{"l-1"}}); err != nil {
		t.Fatal(err)
	}
	again, err := s.Commit(t.Context(), batch)
	must(t, err)
	if !again.Repeated || first.Repeated {
		t.Errorf("repeated = %v, then %v; want false, then true", first.Repeated, again.Repeated)
	}
	if _, err := s.Record("l-1"); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("a repeated request wrote again: %v", err)
	}
}

// TestRequestIDOfAnother: an id stands for one request and what that turned out to be about, also
// among requests that come at once. A former version kept no sum of its requests; they are
// answered all the same.
func TestRequestIDOfAnother(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	commit := func(sum, subject, id string) (memory.Committed, error) {
		ctx := t.Context()
		if sum != "" {
			ctx = memory.WithRequestSum(ctx, []byte(sum))
		}
		return s.Commit(ctx, memory.Batch{RequestID: id, Subject: subject, Tombstones: []string{sum + subject}})
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := map[string]memory.Committed{}
	for _, sum := range []string{"a", "b", "c", "d"} {
		wg.Go(func() {
			c, err := commit(sum, "p", "at once")
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won[sum] = c
			} else if e := memory.AsError(err); e.Code != memory.CodeConflict || e.Field != "request_id" {
				t.Errorf("commit %s: %v", sum, err)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 {
		t.Fatalf("%d requests were done under one id", len(won))
	}
	if _, err := s.Update(t.Context(), func(tx *Tx) error { return tx.PutAnswer("former", memory.Committed{Seq: 7}) }); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for sum, first := range won {
			if again, err := commit(sum, "p", "at once"); err != nil || !again.Repeated || again.Seq != first.Seq {
				t.Errorf("the request again: %+v, %v; want that of %d", again, err, first.Seq)
			}
			for _, other := range [][2]string{{sum, "q"}, {sum + "x", "p"}} {
				seq := s.Seq()
				if _, err := commit(other[0], other[1], "at once"); memory.CodeOf(err) != memory.CodeConflict || s.Seq() != seq {
					t.Errorf("another request, %q: %v, want a conflict and nothing written", other, err)
				}
			}
		}
		_, err := commit("a", "p/s", "a session's")
		must(t, err)
		if again, err := commit("a", "p", "a session's"); err != nil || !again.Repeated {
			t.Errorf("that of a session, which has ended: %+v, %v", again, err)
		}
		for _, other := range []string{"p/t", "q", "q/s"} {
			if _, err := commit("a", other, "a session's"); memory.CodeOf(err) != memory.CodeConflict {
				t.Errorf("that of a session about %s: %v, want a conflict", other, err)
			}
		}
		if again, err := commit("any", "p", "former"); err != nil || !again.Repeated || again.Seq != 7 {
			t.Errorf("a request of a former version: %+v, %v", again, err)
		}
		must(t, s.Close())
		s = open(t, Options{Dir: dir})
	}
}

// TestConcurrentWritersShareCommits has 64 writers; what each was told is
// stored must be there after reopening.
func TestConcurrentWritersShareCommits(t *testing.T) {
	dir := t.TempDir()
	var mu sync.Mutex
	var applied []uint64
	s := open(t, Options{Dir: dir, Apply: func(cs []memory.Change) {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range cs {
			applied = append(applied, c.Seq)
		}
	}})
	var wg sync.WaitGroup
	for w := range 64 {
		wg.Go(func() {
			for i := range 5 {
				r, d := lesson(fmt.Sprintf("l-%d-%d", w, i), fmt.Sprintf("lesson %d of %d", i, w))
				if _, err := s.Commit(context.Background(), memory.Batch{Docs: []memory.Doc{d}, Records: []memory.Record{r}}); err != nil {
					t.Errorf("commit: %v", err)
				}
			}
		})
	}
	wg.Wait()
	for i := 1; i < len(applied); i++ {
		if applied[i] != applied[i-1]+1 {
			t.Fatalf("changes were applied in the order %v", applied)
		}
	}
	must(t, s.Close())
	s = open(t, Options{Dir: dir})
	if n := s.Counts()[memory.Lesson]; n != 320 {
		t.Errorf("%d lessons after reopening, 320 were acknowledged", n)
	}
}

// TestLargeFileIsReplacedAsOne writes a file whose documents do not fit one
// transaction.
func TestLargeFileIsReplacedAsOne(t *testing.T) {
	s := open(t, Options{MemTableSize: 1 << 20})
	file := memory.File{Project: "p-1", Sandbox: "s-1", Path: "a/big.go", ModTime: time.Unix(1, 2).UTC()}
	var docs []memory.Doc
	for i := range 400 {
		d := doc(fmt.Sprintf("chunk %d", i))
		d.Terms = bytes.Repeat([]byte{byte(i)}, 2000)
		docs = append(docs, d)
		file.Chunks = append(file.Chunks, memory.FileChunk{Doc: d.ID, Hash: d.ID, Start: i, End: i + 1, StartLine: i + 1, EndLine: i + 1})
	}
	if _, err := s.Commit(t.Context(), memory.Batch{Docs: docs, Files: []memory.File{file}}); err != nil {
		t.Fatal(err)
	}
	file.Chunks = file.Chunks[:1]
	if _, err := s.Commit(t.Context(), memory.Batch{Docs: docs[:1], Files: []memory.File{file}}); err != nil {
		t.Fatal(err)
	}
	got, err := s.File("s-1", "a/big.go")
	must(t, err)
	file.Generation = 2
	if diff := cmp.Diff(file, got); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
}

func TestDamagedValueIsToldFromMissing(t *testing.T) {
	s := open(t, Options{})
	r, d := lesson("l-1", "to be damaged")
	put(t, s, r, d)
	k := key(prefixRecord, "l-1")
	good, err := encode(r)
	must(t, err)
	must(t, setRaw(s, k, append(seal(k, good), 0)))
	if _, err := s.Record("l-1"); memory.CodeOf(err) != memory.CodeCorrupt {
		t.Errorf("damaged record: %v, want corrupt", err)
	}
	if err := s.Check(); err == nil {
		t.Error("Check found nothing wrong with a damaged record")
	}
	must(t, setRaw(s, k, seal(k, good)))
}

func TestNewerSchemaIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	must(t, setRaw(s, keySchema, seal(keySchema, []byte{0, 0, 0, 0, 0, 0, 0, 99})))
	must(t, s.Close())
	_, err := Open(Options{Dir: dir})
	if memory.CodeOf(err) != memory.CodeIncompatible {
		t.Errorf("open of a newer store: %v, want incompatible", err)
	}
}

func TestClosedStoreRefuses(t *testing.T) {
	s, err := Open(Options{Dir: filepath.Join(t.TempDir(), "db")})
	must(t, err)
	for range 2 {
		must(t, s.Close())
	}
	r, d := lesson("l-1", "late")
	if _, err := s.Commit(context.Background(), memory.Batch{Docs: []memory.Doc{d}, Records: []memory.Record{r}}); err != ErrClosed {
		t.Errorf("commit after close: %v, want ErrClosed", err)
	}
}

func TestReceiptIsReadBackBeforeAndAfterItIsWritten(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	s.EnqueueReceipt(memory.Receipt{ID: "rc-1", Project: "p-1"})
	if r, err := s.Receipt("rc-1"); err != nil || r.Project != "p-1" {
		t.Fatalf("receipt at once = %+v, %v", r, err)
	}
	must(t, s.Close())
	s = open(t, Options{Dir: dir})
	if r, err := s.Receipt("rc-1"); err != nil || r.Project != "p-1" {
		t.Errorf("receipt after reopening = %+v, %v", r, err)
	}
}

func TestVectorKeepsItsDirection(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		v := make([]float32, 256)
		var norm float64
		for i := range v {
			v[i] = float32(rng.NormFloat64())
			norm += float64(v[i]) * float64(v[i])
		}
		got, err := decodeVector(encodeVector(v))
		must(t, err)
		var dot float64
		for i := range v {
			dot += float64(v[i]) * float64(got[i]) / math.Sqrt(norm)
		}
		if dot < 0.9995 {
			t.Fatalf("cosine between a vector and what is stored of it = %.5f, want at least .9995", dot)
		}
	}
}

func setRaw(s *Store, key, value []byte) error {
	txn := s.db.NewTransaction(true)
	defer txn.Discard()
	if err := txn.Set(key, value); err != nil {
		return err
	}
	return txn.Commit()
}

func TestBatchHasNothingTwice(t *testing.T) {
	s := open(t, Options{})
	r, d := lesson("l-1", "once")
	put(t, s, r, d)
	file := memory.File{Project: "p-1", Sandbox: "s-1", Path: "a.go", Chunks: []memory.FileChunk{{Doc: d.ID, End: 1}}}
	at := memory.FileKey{Sandbox: "s-1", Path: "a.go"}
	session := memory.Session{ID: "x", Project: "p-1"}
	for name, b := range map[string]memory.Batch{
		"records put":             {Records: []memory.Record{r, r}},
		"a record put, dropped":   {Records: []memory.Record{r}, DropRecords: []string{"l-1"}},
		"records dropped":         {DropRecords: []string{"l-1", "l-1"}},
		"files put":               {Files: []memory.File{file, file}},
		"a file put, dropped":     {Files: []memory.File{file}, DropFiles: []memory.FileKey{at}},
		"files dropped":           {DropFiles: []memory.FileKey{at, at}},
		"sessions put":            {Sessions: []memory.Session{session, session}},
		"a session put, dropped":  {Sessions: []memory.Session{session}, DropSessions: []memory.SessionKey{session.Key()}},
		"states edited":           {States: []memory.StateEdit{setState(servers, "1"), setState(servers, "2")}},
		"a state edited, dropped": {States: []memory.StateEdit{setState(stateOf("x"), "1")}, DropSessions: []memory.SessionKey{session.Key()}},
		"receipts put":            {Receipts: []memory.Receipt{{ID: "rc-1"}, {ID: "rc-1"}}},
		"a receipt put, dropped":  {Receipts: []memory.Receipt{{ID: "rc-1"}}, DropReceipts: []string{"rc-1"}},
		"with its session":        {Receipts: []memory.Receipt{{ID: "rc-1", Project: "p-1", Session: "x"}}, DropSessions: []memory.SessionKey{session.Key()}},
		"one record among others": {DropRecords: []string{"l-2", "l-1", "l-3", "l-2"}},
	} {
		if _, err := s.Commit(t.Context(), b); memory.CodeOf(err) != memory.CodeInvalidInput {
			t.Errorf("%s twice: %v, want invalid input", name, err)
		}
	}
}
