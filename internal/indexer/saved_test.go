package indexer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/embedder/embeddertest"
	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testkit/underrace"
	"github.com/recalld/recalld/internal/testlong"
)

// save saves the rig's indexes.
func (r *rig) save() {
	r.t.Helper()
	if err := r.index.Save(r.t.Context()); err != nil {
		r.t.Fatalf("save: %v", err)
	}
}

// restart reopens the rig, compares it with the store, and returns whether it began with
// saved indexes, and its warnings.
func (r *rig) restart() (restored bool, warnings string) {
	r.t.Helper()
	if err := r.store.Close(); err != nil {
		r.t.Fatalf("close store: %v", err)
	}
	return r.again()
}

// again is restart of a rig that is closed.
func (r *rig) again() (restored bool, warnings string) {
	r.t.Helper()
	r.start()
	var log bytes.Buffer
	r.index.opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
	if err := r.index.Load(r.t.Context(), r.store); err != nil {
		r.t.Fatalf("load: %v", err)
	}
	r.check()
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR") {
			warnings += line
		}
	}
	return strings.Contains(log.String(), "saved=true"), warnings
}

func (r *rig) savedFile() string { return filepath.Join(r.dir, "indexes.saved") }

// ranked is the answer of every source, to the last digit.
func (r *rig) ranked(queries ...string) (all []string) {
	r.t.Helper()
	for _, s := range r.index.Sources() {
		for _, q := range queries {
			asked := query(q)
			if s.Collection == "" {
				asked.Limit = 10_000 // many have equal scores, and of these the numbers decide, which are others
			}
			res, err := s.Retriever.Retrieve(r.t.Context(), asked)
			if err != nil && !errors.Is(err, index.ErrNotReady) {
				r.t.Fatal(err)
			}
			var hits []string
			for _, h := range res.Hits {
				id, _ := r.index.numbers.ID(h.Doc)
				hits = append(hits, fmt.Sprintf("%x %v", id, h.Score))
			}
			slices.Sort(hits)
			all = append(all, s.Name+": "+q, strings.Join(hits, "\n"))
		}
	}
	return all
}

// TestRestoredEqualsRebuilt changes a store at random, saves the indexes at random moments,
// and starts again with or without changes since, with or without a model's collection.
func TestRestoredEqualsRebuilt(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	r := newRig(t, &embeddertest.Fake{})
	for _, box := range []string{"s-0", "s-1", "s-2"} {
		r.commit(memory.Batch{Sandboxes: []memory.Sandbox{{ID: box, Project: projectOf(box), Root: "/" + box}}})
	}
	r.attach()
	m := world{
		records: map[string]memory.Record{}, files: map[memory.FileKey]memory.File{}, sessions: map[memory.SessionKey]memory.Session{},
	}
	restored := 0
	for range testlong.Steps(12, 60) {
		for range rng.IntN(30) {
			m.step(rng, r)
		}
		if rng.IntN(2) == 0 {
			r.mustFill()
		}
		if rng.IntN(4) > 0 {
			r.save()
		}
		for range rng.IntN(3) * 8 {
			m.step(rng, r)
		}
		queries := []string{"words in common", wordOf(3), wordOf(7) + " common"}
		before := r.ranked(queries...)
		saved, warnings := r.restart()
		if warnings != "" {
			t.Fatalf("a start warns: %s", warnings)
		}
		if saved {
			restored++
		}
		m.compare(t, r)
		if after := r.ranked(queries...); !slices.Equal(before, after) {
			t.Fatalf("after a start (saved: %v) the answers are %q, before %q", saved, after, before)
		}
		r.attach()
		if t.Failed() {
			t.FailNow()
		}
	}
	if restored == 0 {
		t.Error("no start began with saved indexes")
	}
}

// longRig has documents of every sort: names, paths, marks, parts and a large collection.
func longRig(t *testing.T, lessons int) *rig {
	r := newRig(t, nil)
	r.commit(memory.Batch{Sandboxes: []memory.Sandbox{{ID: "s-1", Project: "p-1", Root: "/s-1"}}})
	var batch memory.Batch
	var texts []string
	for i := range lessons {
		text := fmt.Sprintf("lesson %d about %s and %s", i, wordOf(i%20), wordOf(i*7%20))
		batch.Records = append(batch.Records, lesson(fmt.Sprintf("l-%d", i), "p-1", text))
		texts = append(texts, text)
	}
	r.commit(batch, texts...)
	r.putFile("p-1", "s-1", "dir/a.go", "first chunk", "shared chunk")
	r.putFile("p-1", "s-1", "other/b.go", "shared chunk")
	long := listing(memory.Reference, "f-long", 0, 0, in("p-1"))
	long.Text = strings.Repeat("A long reference has many lines about "+wordOf(1)+".\n", 80)
	long.Doc = memory.DocumentID(long.Text)
	r.remember(long)
	return r
}

// TestSavedCodes: a collection that is searched by codes answers as before, also after changes
// to vectors that lie in the saved file.
func TestSavedCodes(t *testing.T) {
	r := longRig(t, 2500)
	r.commit(memory.Batch{DropRecords: []string{"l-3", "l-2499"}})
	before := r.ranked("lesson about "+wordOf(4), wordOf(1)+" reference")
	r.save()
	if saved, warnings := r.restart(); !saved || warnings != "" {
		t.Fatalf("saved indexes were not used: %s", warnings)
	}
	if after := r.ranked("lesson about "+wordOf(4), wordOf(1)+" reference"); !slices.Equal(before, after) {
		t.Errorf("the answers are\n%q, before\n%q", after, before)
	}
	for i := range underrace.Steps(3, 1) {
		r.commit(memory.Batch{DropRecords: []string{fmt.Sprintf("l-%d", 10+i)}})
		r.save()
		r.remember(lesson(fmt.Sprintf("l-%d", 1000*i), "p-1", fmt.Sprintf("changed lesson %d", i)))
		runtime.GC() // ends the mapping of files that nothing uses
		r.check()
	}
	if saved, warnings := r.restart(); !saved || warnings != "" {
		t.Fatalf("saved indexes were not used: %s", warnings)
	}
}

// TestDamagedSavedIndexes cuts the file everywhere, flips bytes, exchanges it for another
// store's and an older one: each costs a warning, and the indexes are those of the store.
func TestDamagedSavedIndexes(t *testing.T) {
	r := longRig(t, 30)
	r.save()
	older := r.readSaved()
	r.remember(lesson("l-new", "p-1", "a new lesson "+wordOf(2)))
	r.save()
	whole := r.readSaved()
	foreign := longRig(t, 30)
	foreign.save()
	must(t, r.store.Close())
	try := func(what string, content []byte) {
		t.Helper()
		must(t, os.WriteFile(r.savedFile(), content, 0o600))
		saved, warnings := r.again()
		if saved || strings.Count(warnings, "\n") != 1 {
			t.Errorf("%s: used: %v, %d warnings %s", what, saved, strings.Count(warnings, "\n"), warnings)
		}
		must(t, r.store.Close())
	}
	rng := rand.New(rand.NewPCG(1, 1))
	steps := underrace.Steps(testlong.Steps(25, 400), 5)
	for range steps {
		n := rng.IntN(len(whole))
		try(fmt.Sprintf("cut to %d", n), whole[:n])
	}
	for range steps {
		flipped, at := bytes.Clone(whole), rng.IntN(len(whole))
		flipped[at] ^= 1 << rng.IntN(8)
		try(fmt.Sprintf("flipped byte %d", at), flipped)
	}
	try("empty", nil)
	try("of another store", foreign.readSaved())
	try("older", older)
	must(t, os.WriteFile(r.savedFile(), whole, 0o600))
	if saved, warnings := r.again(); !saved {
		t.Errorf("the whole file is not used: %s", warnings)
	}
}

func (r *rig) readSaved() []byte {
	r.t.Helper()
	b, err := os.ReadFile(r.savedFile())
	must(r.t, err)
	return b
}

// TestSavedByAnotherVersion: what another version of the program saved is not used.
func TestSavedByAnotherVersion(t *testing.T) {
	r := longRig(t, 3)
	r.index.opts.Version = "v9"
	r.save()
	if saved, warnings := r.restart(); saved || !strings.Contains(warnings, "another version") {
		t.Errorf("indexes of another version: used %v, %s", saved, warnings)
	}
}

// TestSaveIsDue: only large indexes that are not saved, or changed a lot since, are saved.
func TestSaveIsDue(t *testing.T) {
	r := longRig(t, 5)
	due := func(want bool, when string) {
		t.Helper()
		if r.index.SaveDue() != want {
			t.Errorf("%s: saving is due: %v, want %v", when, !want, want)
		}
	}
	due(false, "few documents")
	r.index.opts.SaveFrom = 1
	due(true, "nothing is saved")
	r.save()
	due(false, "just saved")
	r.commit(memory.Batch{DropRecords: []string{"l-1"}, Tombstones: []string{"l-1"}})
	due(true, "something was forgotten, which removes what is saved")
	r.save()
	r.index.unsaved.Store(leastUnsaved)
	due(true, "much has changed")
	r.save()
	due(false, "saved again")
}

// TestSavedWhileWriting: a start after a kill finds what was written while and after the
// indexes were saved.
func TestSavedWhileWriting(t *testing.T) {
	r := longRig(t, 300)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				r.remember(lesson(fmt.Sprintf("l-%d", i%400), "p-1", fmt.Sprintf("changed lesson %d %s", i, wordOf(i%20))))
			}
		}
	}()
	for range 3 {
		r.save()
	}
	close(stop)
	<-done
	if saved, warnings := r.restart(); !saved {
		t.Errorf("saved indexes were not used: %s", warnings)
	}
}

// FuzzRestore restores what may be anything: no panic, and memory in proportion.
func FuzzRestore(f *testing.F) {
	x, err := New(Options{Builtin: &embeddertest.Fake{Name: "fake/own", Dim: 4}})
	must(f, err)
	x.store = crowded{}
	for num, text := range []string{"one two three", "two three", "three and more"} {
		n, _ := x.numbers.Number(memory.DocumentID(text))
		x.docs.Set(n, document{indexed: true, paths: "a/b.go"})
		x.index(lexicalFields{doc: uint32(num), text: index.Terms{{Text: text, Count: uint32(num + 1)}, {Text: "zzz", Count: 1}}})
	}
	for _, rec := range []memory.Record{lesson("l-1", "p-1", "one two three"), stepAt("t-1", "x-1", 1, onScreen("home"))} {
		rec.Text, rec.Doc, rec.Tags = "one two three", memory.DocumentID("one two three"), []string{"tag"}
		rec.Verdicts = &memory.VerdictCounts{Worked: 1}
		if rec.Event != nil {
			rec.Event.Rate, rec.Event.Pinned, rec.Event.Fingerprints = &memory.Rate{Successes: 1, Attempts: 2}, true, []string{"0123456789abcdef"}
		}
		x.addRecord(&rec)
	}
	must(f, x.open(context.Background(), "fake/own@4-x", x.opts.Builtin, true))
	for num := range uint32(3) {
		must(f, x.collections.all[0].vectors.Upsert(num, []float32{1, 2, 3, float32(num)}))
	}
	var parts [3]bytes.Buffer // documents and records, words, vectors
	n := 0
	must(f, x.save(func() io.Writer { n++; return &parts[n-1] }, x.collections.list()))
	f.Add(parts[0].Bytes(), parts[1].Bytes(), parts[2].Bytes())
	f.Fuzz(func(t *testing.T, docs, words, vectors []byte) {
		saved := &memory.SavedIndexes{Part: func(n int) ([]byte, error) { return [][]byte{docs, words, vectors}[min(n, 2)], nil }}
		r := &restored{x: x, saved: saved}
		in, _ := r.part(savedDocs)
		names := r.readHead(in)
		if len(r.ids) > 0 && r.readDocs(in) != nil {
			return
		}
		var read restoredIndexes
		if r.readWords(&read) == nil {
			_, err := read.words.Retrieve(t.Context(), query("one two three zzz"))
			if err != nil && !errors.Is(err, index.ErrNotReady) { // without a document there is nothing to search
				t.Error(err)
			}
		}
		if r.readVectors(&read, names) != nil {
			return
		}
		for _, c := range read.vectors {
			vec := make([]float32, c.Dim())
			vec[0] = 1
			res := c.Direct(func(context.Context, index.Query) ([]float32, error) { return vec, nil })
			_, _ = res.Retrieve(t.Context(), query("one"))
		}
	})
}
