package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testlong"
	"github.com/recalld/recalld/worker"
)

// TestConcurrentOperations has writers of records, files, vectors, receipts and
// jobs at work beside one another and beside Load, in transactions so small that
// updates are split and commits end anywhere. What each was told must hold, now
// and after reopening; the store is checked at the end.
func TestConcurrentOperations(t *testing.T) {
	rounds := testlong.Steps(30, 150)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	opts := Options{
		Dir: t.TempDir(), NoSync: true, MemTableSize: 1 << 20,
		Follow: func(c memory.Change) []worker.Job {
			if len(c.Docs) == 0 {
				return nil
			}
			return []worker.Job{{Kind: "embed", Key: testSpace}}
		},
	}
	w := &workload{s: open(t, opts), rounds: rounds, texts: 60}
	var all sync.WaitGroup
	for i, part := range []func(context.Context, *rand.Rand, int) error{
		w.records, w.records, w.files, w.vectors, w.receipts, w.jobs, w.loads,
	} {
		all.Go(func() {
			if err := part(t.Context(), rand.New(rand.NewPCG(seed, uint64(i))), i); err != nil {
				t.Errorf("part %d: %v", i, err)
			}
		})
	}
	all.Wait()
	w.verify(t)
	must(t, w.s.Check())
	must(t, w.s.Close())
	w.s = open(t, opts)
	w.verify(t)
}

// workload is what the parts of TestConcurrentOperations share.
type workload struct {
	s      *Store
	rounds int
	texts  int // how few, so that documents are shared, dropped and put again

	mu  sync.Mutex // guards what was acknowledged
	has map[string]bool
}

// told notes whether something is there. Every id has one writer, so that what
// it was told last is what holds.
func (w *workload) told(id string, there bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.has == nil {
		w.has = map[string]bool{}
	}
	w.has[id] = there
}

func (w *workload) verify(t *testing.T) {
	t.Helper()
	records, files := 0, 0
	for id, want := range w.has {
		var err error
		switch id[0] {
		case 'l':
			_, err = w.s.Record(id)
			records += btoi(want)
		case 'f':
			_, err = w.s.File("s-1", id)
			files += btoi(want)
		case 'r':
			if _, err = w.s.Receipt(id); memory.CodeOf(err) == memory.CodeNotFound {
				t.Errorf("receipt %s is lost", id)
			}
			continue
		}
		if err != nil && memory.CodeOf(err) != memory.CodeNotFound {
			t.Errorf("read %s: %v", id, err)
		} else if (err == nil) != want {
			t.Errorf("%s is there: %v, its writer was told %v", id, err == nil, want)
		}
	}
	if n := w.s.Counts()[memory.Lesson]; n != records {
		t.Errorf("%d lessons are counted, %d were written", n, records)
	}
	if records == 0 || files == 0 {
		t.Errorf("%d records and %d files: the test tries too little", records, files)
	}
}

func (w *workload) text(rng *rand.Rand) string { return fmt.Sprintf("text %d", rng.IntN(w.texts)) }

func (w *workload) records(ctx context.Context, rng *rand.Rand, part int) error {
	for range w.rounds {
		var b memory.Batch
		for n := range 1 + rng.IntN(20) {
			id := fmt.Sprintf("l-%d-%d", part, 20*rng.IntN(5)+n) // no id twice
			if rng.IntN(3) == 0 {
				b.DropRecords = append(b.DropRecords, id)
				continue
			}
			r, d := lesson(id, w.text(rng))
			b.Records, b.Docs = append(b.Records, r), append(b.Docs, d)
		}
		if _, err := w.s.Commit(ctx, b); err != nil {
			return err
		}
		for _, r := range b.Records {
			w.told(r.ID, true)
		}
		for _, id := range b.DropRecords {
			w.told(id, false)
		}
	}
	return nil
}

func (w *workload) files(ctx context.Context, rng *rand.Rand, _ int) error {
	for left := w.rounds / 3; left > 0; left-- {
		path := fmt.Sprintf("f-%d", rng.IntN(5))
		if left > 1 && rng.IntN(3) == 0 { // the last round leaves a file to verify
			if _, err := w.s.Commit(ctx, memory.Batch{DropFiles: []memory.FileKey{{Sandbox: "s-1", Path: path}}}); err != nil {
				return err
			}
			w.told(path, false)
			continue
		}
		b := memory.Batch{Files: []memory.File{{Project: "p-1", Sandbox: "s-1", Path: path}}}
		for i := range 1 + rng.IntN(1200) { // the most take several transactions
			text := fmt.Sprintf("chunk %d of %s", i, path)
			if rng.IntN(4) == 0 {
				text = w.text(rng)
			}
			d := doc(text)
			b.Docs = append(b.Docs, d)
			b.Files[0].Chunks = append(b.Files[0].Chunks, memory.FileChunk{Doc: d.ID, Start: i, End: i + 1})
		}
		if _, err := w.s.Commit(ctx, b); err != nil {
			return err
		}
		w.told(path, true)
	}
	return nil
}

// vectors fills a space that it drops and opens again now and then.
func (w *workload) vectors(ctx context.Context, rng *rand.Rand, _ int) error {
	const space = "filled@4-1"
	for round := range w.rounds {
		if err := w.s.OpenCollection(ctx, space, nil); err != nil {
			return err
		}
		var vectors []memory.DocVector
		for range 30 {
			vectors = append(vectors, memory.DocVector{Doc: memory.DocumentID(w.text(rng)), Vector: []float32{1, 2, 3, 4}})
		}
		if _, err := w.s.PutVectors(ctx, space, vectors); err != nil {
			return err
		}
		if round%40 == 39 {
			if err := w.s.DropCollection(ctx, space); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *workload) receipts(_ context.Context, _ *rand.Rand, _ int) error {
	for i := range 10 * w.rounds {
		id := fmt.Sprintf("rc-%d", i)
		w.s.EnqueueReceipt(memory.Receipt{ID: id, Project: "p-1"})
		w.told(id, true)
	}
	return nil
}

// jobs enqueues, leases and settles.
func (w *workload) jobs(ctx context.Context, rng *rand.Rand, _ int) error {
	q := w.s.Queue()
	for range w.rounds {
		if _, err := q.Enqueue(ctx, worker.Job{Kind: "index", Key: fmt.Sprint(rng.IntN(10))}); err != nil {
			return err
		}
		lease, err := q.Lease(ctx, []string{"index"})
		if err != nil {
			return err
		}
		if err := q.Settle(ctx, lease.ID, worker.Settlement{}); err != nil {
			return err
		}
	}
	return nil
}

func (w *workload) loads(ctx context.Context, _ *rand.Rand, _ int) error {
	for range 4 {
		if _, err := w.s.Read(ctx, discardLoader()); err != nil {
			return err
		}
		if _, err := w.s.Load(ctx, discardLoader()); err != nil {
			return err
		}
	}
	return nil
}
