package indexer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/embedder/embeddertest"
	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/store"
)

// rig is an indexer over a real store with the real built-in model. What lies
// on disk is a map, and the background model a fake that can be told to fail.
type rig struct {
	t     *testing.T
	dir   string
	store *store.Store
	index *Indexer
	own   embedder.Embedder  // the built-in model; nil: the real one
	model *embeddertest.Fake // nil: no background model
	disk  *disk
}

var testTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// newRig opens a rig that is checked and closed at the end of the test.
func newRig(t *testing.T, model *embeddertest.Fake) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), model: model, disk: &disk{files: map[memory.FileKey]string{}}}
	r.open()
	t.Cleanup(func() {
		if !t.Failed() {
			r.check()
		}
		if err := r.store.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
	})
	return r
}

// open opens store and indexer over the rig's folder and loads them.
func (r *rig) open() {
	r.t.Helper()
	r.start()
	if err := r.index.Load(r.t.Context(), r.store); err != nil {
		r.t.Fatalf("load: %v", err)
	}
}

// start opens store and indexer and loads nothing.
func (r *rig) start() {
	r.t.Helper()
	x, err := New(Options{Builtin: r.builtin(), ChunkText: r.disk.chunk, EmbedBatch: 4})
	if err != nil {
		r.t.Fatalf("new indexer: %v", err)
	}
	if r.model != nil {
		x.Expect(modelName(r.t, r.model), r.model)
	}
	s, err := store.Open(store.Options{Dir: r.dir, NoSync: true, MemTableSize: 4 << 20, Apply: x.Apply, Follow: x.Follow})
	if err != nil {
		r.t.Fatalf("open store: %v", err)
	}
	r.index, r.store = x, s
}

func (r *rig) builtin() embedder.Embedder {
	if r.own == nil {
		return builtin.New()
	}
	return r.own
}

// reopen closes the store and opens all anew, as another process would.
func (r *rig) reopen() {
	r.t.Helper()
	if err := r.store.Close(); err != nil {
		r.t.Fatalf("close store: %v", err)
	}
	r.open()
}

// check compares the store with itself and the indexes with the store.
func (r *rig) check() {
	r.t.Helper()
	if err := r.store.Check(); err != nil {
		r.t.Errorf("the store is not sound: %v", err)
	}
	if err := r.index.Check(context.Background()); err != nil {
		r.t.Errorf("the indexes are not what the store holds: %v", err)
	}
}

// commit writes a batch with the documents of texts, as ingest does.
func (r *rig) commit(b memory.Batch, texts ...string) memory.Committed {
	r.t.Helper()
	for _, text := range texts {
		b.Docs = append(b.Docs, docBy(r.t, r.builtin(), text))
	}
	c, err := r.store.Commit(r.t.Context(), b)
	if err != nil {
		r.t.Fatalf("commit: %v", err)
	}
	return c
}

func (r *rig) remember(records ...memory.Record) {
	r.t.Helper()
	b := memory.Batch{Records: records}
	var texts []string
	for _, x := range records {
		texts = append(texts, x.Text)
	}
	r.commit(b, texts...)
}

// putFile writes a file to the disk and, with its chunks, to the store.
func (r *rig) putFile(project, sandbox, path string, chunks ...string) {
	r.t.Helper()
	f, _ := r.disk.write(project, sandbox, path, chunks...)
	r.commit(memory.Batch{Files: []memory.File{f}}, chunks...)
}

// attach reaches for the rig's model and returns the name of its collection.
func (r *rig) attach() string {
	r.t.Helper()
	name, err := r.index.Attach(r.t.Context(), modelName(r.t, r.model))
	if err != nil {
		r.t.Fatalf("attach: %v", err)
	}
	return name
}

// vectors returns the sources that search vectors, the built-in one first.
func (r *rig) vectors() []index.Source {
	return slices.DeleteFunc(r.index.Sources(), func(s index.Source) bool { return s.Collection == "" })
}

// fill runs the jobs that fill the background collections.
func (r *rig) fill() error {
	for _, job := range r.index.BackfillJobs() {
		if err := r.index.Embed(r.t.Context(), job); err != nil {
			return err
		}
	}
	return nil
}

func (r *rig) mustFill() {
	r.t.Helper()
	if err := r.fill(); err != nil {
		r.t.Fatalf("fill: %v", err)
	}
}

// collection returns the state of the rig's background collection.
func (r *rig) collection() memory.CollectionState {
	r.t.Helper()
	return named(r.t, r.index.Collections(), modelName(r.t, r.model))
}

// degraded returns what the source of the rig's model lacks of all documents.
func (r *rig) degraded() string {
	r.t.Helper()
	for _, s := range r.index.Sources() {
		if s.Name == "vector/"+modelName(r.t, r.model) {
			return s.Lacks(r.index.attrs.Match())
		}
	}
	r.t.Fatal("the background model is no source")
	return ""
}

// found returns the ids and places that a search by words leads to, sorted.
func (r *rig) found(query string, sel memory.Selection) []string {
	r.t.Helper()
	allow, universe := r.index.Select(sel)
	res, err := r.index.Sources()[0].Retriever.Retrieve(r.t.Context(), index.Query{Text: query, Allow: allow, Universe: universe, Limit: 100})
	if err != nil && !errors.Is(err, index.ErrNotReady) {
		r.t.Fatalf("search %q: %v", query, err)
	}
	var places []string
	for _, h := range res.Hits {
		for _, c := range r.index.Candidates(h.Doc, sel) {
			places = append(places, placeOf(c))
		}
	}
	slices.Sort(places)
	return places
}

func placeOf(c memory.Candidate) string {
	if c.ID != "" {
		return c.ID
	}
	return c.File.Sandbox + "/" + c.File.Path
}

func named(t *testing.T, collections []memory.CollectionState, model string) memory.CollectionState {
	t.Helper()
	for _, s := range collections {
		if s.Model == model {
			return s
		}
	}
	t.Fatalf("there is no collection of %s among %+v", model, collections)
	return memory.CollectionState{}
}

func modelName(t *testing.T, f *embeddertest.Fake) string {
	t.Helper()
	if f.Name != "" {
		return f.Name
	}
	return "fake/words"
}

// docOf analyses and embeds a text as ingest does.
func docOf(t testing.TB, text string) memory.Doc {
	t.Helper()
	return docBy(t, builtin.New(), text)
}

// docBy is docOf with another built-in model.
func docBy(t testing.TB, e embedder.Embedder, text string) memory.Doc {
	t.Helper()
	d := memory.Doc{ID: memory.DocumentID(text), Terms: Analyze(memory.Document{Text: text})}
	vs, err := e.Embed(context.Background(), embedder.Document, []string{text})
	if _, refused := errors.AsType[*embedder.PartialError](err); refused {
		return d
	}
	if err != nil {
		t.Fatalf("embed %q: %v", text, err)
	}
	m, err := e.Model(context.Background())
	must(t, err)
	d.Vectors = map[string][]float32{m.Collection(): vs[0]}
	return d
}

func lesson(id, project, text string) memory.Record {
	return memory.Record{
		ID: id, Kind: memory.Lesson, Project: project, Text: text, Doc: memory.DocumentID(text), Created: testTime,
		Event: &memory.Event{Type: memory.EventError, Lesson: text},
	}
}

// disk is where the text of chunks is read again.
type disk struct {
	mu    sync.Mutex // guards files
	files map[memory.FileKey]string
}

// write puts a file on the disk and returns it as the code source would.
func (d *disk) write(project, sandbox, path string, chunks ...string) (f memory.File, text string) {
	f = memory.File{Project: project, Sandbox: sandbox, Path: path, Lang: "go", ModTime: testTime}
	for i, c := range chunks {
		f.Chunks = append(f.Chunks, memory.FileChunk{Doc: memory.DocumentID(c), Start: len(text), End: len(text) + len(c), Symbol: fmt.Sprint("f", i)})
		text += c
	}
	f.Hash, f.Head = memory.DocumentID(text), text[:min(len(text), memory.MaxHead)]
	d.set(memory.FileKey{Sandbox: sandbox, Path: path}, text)
	return f, text
}

func (d *disk) set(k memory.FileKey, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files[k] = text
}

func (d *disk) chunk(_ context.Context, at memory.Location) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	text, ok := d.files[memory.FileKey{Sandbox: at.Sandbox, Path: at.Path}]
	if !ok || at.Chunk.End > len(text) {
		return "", &memory.GateError{Reason: memory.Gone, Path: at.Path}
	}
	return text[at.Chunk.Start:at.Chunk.End], nil
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
