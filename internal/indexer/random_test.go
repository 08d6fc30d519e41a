package indexer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/embedder/embeddertest"
	"github.com/recalld/recalld/internal/memory"
)

// TestRandomOperations writes, merges, replaces, renames and forgets at random,
// in two projects and three sandboxes that share their texts, while a background
// model that fails now and then is filled. Every now and then the indexes are
// compared with a model in memory and with the store, also after reopening.
func TestRandomOperations(t *testing.T) {
	steps := 600
	if testing.Short() {
		steps = 150
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	fake := &embeddertest.Fake{Refuse: func(text string) error {
		if text == textOf(13) {
			return fmt.Errorf("this text is always refused")
		}
		return nil
	}}
	r := newRig(t, fake)
	for _, box := range []string{"s-0", "s-1", "s-2"} {
		r.commit(memory.Batch{Sandboxes: []memory.Sandbox{{ID: box, Project: projectOf(box), Root: "/" + box}}})
	}
	r.attach()
	m := world{records: map[string]memory.Record{}, files: map[memory.FileKey]memory.File{}}
	for step := range steps {
		m.step(rng, r)
		switch rng.IntN(60) {
		case 0:
			r.reopen()
			r.attach()
		case 1, 2, 3:
			r.mustFill()
		case 4:
			m.compare(t, r)
			r.check()
		}
		if t.Failed() {
			t.Fatalf("at step %d", step)
		}
	}
	m.compare(t, r)
	r.mustFill()
	r.check()
	r.reopen()
	m.compare(t, r)
}

// world is what should be indexed.
type world struct {
	records map[string]memory.Record
	files   map[memory.FileKey]memory.File
}

// textOf is one of few texts, so that they are shared, dropped and stored again.
func textOf(n int) string { return wordOf(n) + " and words in common" }

// wordOf is a word of its own for every text.
func wordOf(n int) string { return "q" + string(rune('a'+n)) + "zz" }

const textCount = 25

func projectOf(sandbox string) string {
	if sandbox == "s-2" {
		return "p-2"
	}
	return "p-1"
}

// step does one random thing to the rig and to the world.
func (m *world) step(rng *rand.Rand, r *rig) {
	text := textOf(rng.IntN(textCount))
	id := fmt.Sprintf("l-%d", rng.IntN(30))
	key := memory.FileKey{Sandbox: fmt.Sprintf("s-%d", rng.IntN(3)), Path: fmt.Sprintf("dir/file%d.go", rng.IntN(8))}
	switch rng.IntN(9) {
	case 0, 1: // remember, in place of what has the id
		rec := lesson(id, fmt.Sprintf("p-%d", 1+rng.IntN(2)), text)
		rec.Tags = []string{fmt.Sprintf("tag%d", rng.IntN(3))}
		r.remember(rec)
		m.records[id] = rec
	case 2: // merge: the record keeps its document and its project
		rec := lesson(id, "p-1", text)
		old, was := m.records[id]
		keep := func(old, _ memory.Record) memory.Record {
			old.Tags = []string{"merged"}
			return old
		}
		r.commit(memory.Batch{Records: []memory.Record{rec}, Merge: keep}, text)
		if was {
			rec = keep(old, rec)
		}
		m.records[id] = rec
	case 3, 4: // put or replace a file; it may hold a text twice
		var chunks []string
		for range rng.IntN(5) {
			chunks = append(chunks, textOf(rng.IntN(textCount)))
		}
		r.putFile(projectOf(key.Sandbox), key.Sandbox, key.Path, chunks...)
		m.files[key], _ = r.disk.write(projectOf(key.Sandbox), key.Sandbox, key.Path, chunks...)
	case 5: // drop a file
		r.commit(memory.Batch{DropFiles: []memory.FileKey{key}})
		delete(m.files, key)
	case 6: // forget records
		other := fmt.Sprintf("l-%d", rng.IntN(30))
		ids := slices.Compact(slices.Sorted(slices.Values([]string{id, other})))
		r.commit(memory.Batch{DropRecords: ids})
		for _, id := range ids {
			delete(m.records, id)
		}
	case 7: // rename a file, which writes no document again
		f, ok := m.files[key]
		to := memory.FileKey{Sandbox: key.Sandbox, Path: fmt.Sprintf("moved/file%d.go", rng.IntN(8))}
		if !ok {
			return
		}
		f.Path = to.Path
		r.disk.set(to, r.disk.files[key])
		r.commit(memory.Batch{Files: []memory.File{f}, DropFiles: []memory.FileKey{key}})
		delete(m.files, key)
		m.files[to] = f
	case 8: // the disk is ahead of the index
		r.disk.set(key, "something else")
	}
}

// compare holds every text's places, and what a search by its word finds,
// against the world.
func (m *world) compare(t *testing.T, r *rig) {
	t.Helper()
	want := map[memory.DocID][]string{}
	for id, rec := range m.records {
		want[rec.Doc] = append(want[rec.Doc], id)
	}
	for _, f := range m.files {
		for _, c := range f.Chunks {
			want[c.Doc] = append(want[c.Doc], f.Sandbox+"/"+f.Path)
		}
	}
	if got := r.index.Documents(); got != len(want) {
		t.Errorf("%d documents are indexed, want %d", got, len(want))
	}
	for n := range textCount {
		places := slices.Sorted(slices.Values(want[memory.DocumentID(textOf(n))]))
		got := r.found(wordOf(n), memory.Selection{})
		if diff := cmp.Diff(places, got); diff != "" {
			t.Errorf("%s is found at (-want +got):\n%s", wordOf(n), diff)
		}
	}
	for _, project := range []string{"p-1", "p-2"} {
		var want []string
		for id, rec := range m.records {
			if rec.Project == project {
				want = append(want, id)
			}
		}
		got := r.found("common", memory.Selection{Project: project, Kinds: []memory.Kind{memory.Lesson}})
		if diff := cmp.Diff(slices.Sorted(slices.Values(want)), got); diff != "" {
			t.Errorf("lessons of %s (-want +got):\n%s", project, diff)
		}
	}
}
