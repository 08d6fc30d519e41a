package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

// TestRandomOperations runs thousands of random batches, reopening now and
// then, and compares with a model in memory.
func TestRandomOperations(t *testing.T) {
	steps := 1500
	if testing.Short() {
		steps = 200
	}
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	dir := t.TempDir()
	s := open(t, Options{Dir: dir, NoSync: true})
	m := model{records: map[string]memory.Record{}, files: map[memory.FileKey]memory.File{}}
	for step := range steps {
		b := m.randomBatch(rng)
		if _, err := s.Commit(context.Background(), b); err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		m.apply(b)
		if rng.IntN(200) == 0 {
			if err := s.Check(); err != nil {
				t.Fatalf("step %d: %v", step, err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, Options{Dir: dir, NoSync: true})
		}
	}
	m.compare(t, s)
}

// model is what the store should hold.
type model struct {
	records map[string]memory.Record
	files   map[memory.FileKey]memory.File
}

// randomBatch draws from few ids and few texts, so that texts are shared,
// dropped and stored again.
func (m *model) randomBatch(rng *rand.Rand) memory.Batch {
	var b memory.Batch
	for range rng.IntN(4) {
		r, d := lesson(fmt.Sprintf("l-%d", rng.IntN(40)), fmt.Sprintf("text %d", rng.IntN(30)))
		b.Docs, b.Records = append(b.Docs, d), append(b.Records, r)
	}
	for range rng.IntN(2) {
		f := memory.File{Project: "p-1", Sandbox: fmt.Sprintf("s-%d", rng.IntN(2)), Path: fmt.Sprintf("f%d.go", rng.IntN(10))}
		for i := range rng.IntN(5) {
			d := doc(fmt.Sprintf("text %d", rng.IntN(30)))
			b.Docs = append(b.Docs, d)
			f.Chunks = append(f.Chunks, memory.FileChunk{Doc: d.ID, Start: i, End: i + 1})
		}
		b.Files = append(b.Files, f)
	}
	for range rng.IntN(3) {
		b.DropRecords = append(b.DropRecords, fmt.Sprintf("l-%d", rng.IntN(40)))
	}
	if rng.IntN(3) == 0 {
		b.DropFiles = append(b.DropFiles, memory.FileKey{Sandbox: "s-0", Path: fmt.Sprintf("f%d.go", rng.IntN(10))})
	}
	return distinct(b)
}

// distinct keeps one write per key: an update does not see its own writes.
func distinct(b memory.Batch) memory.Batch {
	seen := map[string]bool{}
	first := func(k string) bool { was := seen[k]; seen[k] = true; return !was }
	out := memory.Batch{Docs: b.Docs}
	for _, r := range b.Records {
		if first(r.ID) {
			out.Records = append(out.Records, r)
		}
	}
	for _, f := range b.Files {
		if first(f.Sandbox + f.Path) {
			out.Files = append(out.Files, f)
		}
	}
	for _, id := range b.DropRecords {
		if first(id) {
			out.DropRecords = append(out.DropRecords, id)
		}
	}
	for _, f := range b.DropFiles {
		if first(f.Sandbox + f.Path) {
			out.DropFiles = append(out.DropFiles, f)
		}
	}
	return out
}

func (m *model) apply(b memory.Batch) {
	for _, r := range b.Records {
		m.records[r.ID] = r
	}
	for _, f := range b.Files {
		m.files[memory.FileKey{Sandbox: f.Sandbox, Path: f.Path}] = f
	}
	for _, id := range b.DropRecords {
		delete(m.records, id)
	}
	for _, k := range b.DropFiles {
		delete(m.files, k)
	}
}

func (m *model) compare(t *testing.T, s *Store) {
	t.Helper()
	got := model{records: map[string]memory.Record{}, files: map[memory.FileKey]memory.File{}}
	if err := s.View(func(v View) error {
		for r, err := range v.Records() {
			if err != nil {
				return err
			}
			got.records[r.ID] = r
		}
		for f, err := range v.Files("") {
			if err != nil {
				return err
			}
			got.files[memory.FileKey{Sandbox: f.Sandbox, Path: f.Path}] = f
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m.records, got.records); diff != "" {
		t.Errorf("records (-model +store):\n%s", diff)
	}
	for k, want := range m.files {
		f, ok := got.files[k]
		if !ok || len(f.Chunks) != len(want.Chunks) {
			t.Errorf("file %v: stored %v, want %v", k, f.Chunks, want.Chunks)
		}
		for i := range f.Chunks {
			if f.Chunks[i] != want.Chunks[i] {
				t.Errorf("file %v: chunk %d = %+v, want %+v", k, i, f.Chunks[i], want.Chunks[i])
			}
		}
	}
	if len(got.files) != len(m.files) {
		t.Errorf("%d files stored, want %d", len(got.files), len(m.files))
	}
}
