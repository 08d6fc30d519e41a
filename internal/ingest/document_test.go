package ingest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/internal/memory"
)

// mold is the built-in model with other vectors.
type mold struct {
	embedder.Embedder
	vectors func([][]float32) ([][]float32, error)
}

func (m mold) Embed(ctx context.Context, p embedder.Purpose, texts []string) ([][]float32, error) {
	vs, err := m.Embedder.Embed(ctx, p, texts)
	if err != nil {
		return nil, err
	}
	return m.vectors(vs)
}

func TestVectorsAreRefusedBeforeTheCommit(t *testing.T) {
	set := func(v []float32) func([][]float32) ([][]float32, error) {
		return func(vs [][]float32) ([][]float32, error) { return [][]float32{v}, nil }
	}
	nan := make([]float32, builtin.Dim)
	nan[3] = float32(math.NaN())
	inf := make([]float32, builtin.Dim)
	inf[0] = float32(math.Inf(1))
	for name, vectors := range map[string]func([][]float32) ([][]float32, error){
		"zero": set(make([]float32, builtin.Dim)), "not a number": set(nan), "infinite": set(inf), "too narrow": set([]float32{1, 2}),
		"none": func([][]float32) ([][]float32, error) { return nil, errors.New("the model is broken") },
	} {
		r := newRig(t, func(_ *rig, o *Options) { o.Embedder = mold{builtin.New(), vectors} })
		if _, err := r.ingest.Remember(t.Context(), memory.RememberRequest{Lesson: "x", Caller: r.caller}); memory.CodeOf(err) != memory.CodeInternal || err == nil {
			t.Errorf("%s: remember = %v, want an error", name, err)
		}
		if got := r.contents(); got != (contents{}) {
			t.Errorf("%s: the store holds %+v, want nothing", name, got)
		}
	}
}

// TestTextWithoutVector: a text that the model has no vector for is kept and
// found by its words.
func TestTextWithoutVector(t *testing.T) {
	r := newRig(t, func(_ *rig, o *Options) {
		o.Embedder = mold{builtin.New(), func(vs [][]float32) ([][]float32, error) {
			vs[0] = nil
			return vs, &embedder.PartialError{Failed: map[int]error{0: errors.New("no feature")}}
		}}
	})
	out := r.remember(memory.RememberRequest{Lesson: "--- === ---"})
	if !r.index.Held(memory.Document{ID: r.record(out.ID).Doc}) {
		t.Error("the document is not indexed")
	}
	for _, s := range r.index.Collections() {
		if s.Embedded != 0 || s.State != "ready" {
			t.Errorf("space %+v, want it ready without a vector", s)
		}
	}
}

// TestDocumentSweptMeanwhile leaves a document out that is held when it is asked
// for and gone when it is committed.
func TestDocumentSweptMeanwhile(t *testing.T) {
	lying := false
	r := newRig(t, func(r *rig, o *Options) {
		o.Held = func(d memory.Document) bool { return lying || r.index.Held(d) }
	})
	lying = true
	out := r.remember(memory.RememberRequest{Lesson: "said to be stored, and is not"})
	if !r.index.Held(memory.Document{ID: r.record(out.ID).Doc}) {
		t.Error("the document is not indexed")
	}
}

func TestStoredDocumentsAreNotEmbeddedAgain(t *testing.T) {
	texts := 0
	r := newRig(t, func(_ *rig, o *Options) {
		o.Embedder = mold{builtin.New(), func(vs [][]float32) ([][]float32, error) { texts += len(vs); return vs, nil }}
	})
	id := r.remember(memory.RememberRequest{Lesson: "a lesson"}).Project
	r.code(id, 3)
	if texts != 4 {
		t.Fatalf("%d texts were embedded, want 4", texts)
	}
	forgotten := lineAt(0, "forgotten", "")
	r.importLines(forgotten)
	if _, err := r.ingest.Forget(t.Context(), memory.ForgetRequest{IDs: []string{lessonID(r.project().ID, forgotten)}}, r.store); err != nil {
		t.Fatal(err)
	}
	texts = 4
	if out := r.importLines(forgotten); out.Forgotten != 1 || texts != 4 {
		t.Errorf("import = %+v with %d texts embedded, want what was forgotten left out and nothing embedded", out, texts-4)
	}
	doc := memory.Document{ID: memory.DocumentID("func file0() {}"), Text: "func file0() {}"}
	renamed := memory.File{Project: id, Sandbox: "s-1", Path: "renamed.go", Chunks: []memory.FileChunk{{Doc: doc.ID}, {Doc: doc.ID}}}
	must(t, r.ingest.PutFile(t.Context(), renamed, []memory.Document{doc, doc}))
	must(t, r.ingest.DropFile(t.Context(), "s-1", "f0.go"))
	if texts != 4 || !r.index.Held(doc) {
		t.Errorf("%d texts after a rename, held %v; want no more than the 4 of before", texts, r.index.Held(doc))
	}
	if err := r.ingest.DropFile(t.Context(), "s-1", "renamed.go"); err != nil || r.index.Held(doc) {
		t.Errorf("drop = %v, held %v; want it gone with its last place", err, r.index.Held(doc))
	}
}

func TestReferences(t *testing.T) {
	r := newRig(t)
	p := memory.Project{ID: "p-set", Name: "set"}
	put := func(docs ...memory.ReferenceDoc) {
		t.Helper()
		must(t, r.ingest.PutReferences(t.Context(), p, docs))
	}
	long := strings.Repeat("käse und wörter\n\n", 4000)
	put(memory.ReferenceDoc{Name: "long", Title: "title", Text: long}, memory.ReferenceDoc{Name: "short", Text: "hunter2 stays"},
		memory.ReferenceDoc{Name: "empty"}, memory.ReferenceDoc{Name: "short", Text: "hunter2 stays, the last one wins"})
	var whole strings.Builder
	for i := 0; ; i++ {
		rec, err := r.store.Record(ReferenceID(p, "long", i))
		if err != nil {
			break
		}
		if len(rec.Text) > memory.MaxReferenceText || !utf8.ValidString(rec.Text) || rec.Reference.Part != i {
			t.Errorf("part %d has %d bytes, valid %v, number %d", i, len(rec.Text), utf8.ValidString(rec.Text), rec.Reference.Part)
		}
		whole.WriteString(rec.Text)
	}
	if whole.String() != "title\n"+long {
		t.Error("the parts together are not the text")
	}
	if got := r.record(ReferenceID(p, "short", 0)).Text; got != "hunter2 stays, the last one wins" {
		t.Errorf("the text of short is %q, want the last one, as it was given", got)
	}
	before := r.contents()
	put(memory.ReferenceDoc{Name: "long", Text: "now short"})
	parts := len(splitText("title\n"+long, memory.MaxReferenceText))
	if got := r.contents(); parts < 4 || got.Records != before.Records-parts+1 {
		t.Errorf("%d records where %d were, want the other %d parts gone", got.Records, before.Records, parts-1)
	}
	var many []memory.ReferenceDoc // more than one commit can hold
	for i := range 200 {
		many = append(many, memory.ReferenceDoc{Name: fmt.Sprint("page ", i), Text: strings.Repeat(fmt.Sprintf("word%d ", i), 2000)})
	}
	put(many...)
	for name, doc := range map[string]memory.ReferenceDoc{"no name": {Text: "x"}, "long name": {Name: strings.Repeat("n", 201)}} {
		if err := r.ingest.PutReferences(t.Context(), p, []memory.ReferenceDoc{doc}); memory.CodeOf(err) != memory.CodeInvalidInput {
			t.Errorf("%s: put = %v, want invalid input", name, err)
		}
	}
}

func FuzzSplitText(f *testing.F) {
	f.Add("some words\n\nand more words\nin lines", 12)
	f.Add("ääääääääää", 5)
	f.Add("", 4)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		text = strings.ToValidUTF8(text, "\uFFFD")
		limit = utf8.UTFMax + limit&0xff
		parts := splitText(text, limit)
		if strings.Join(parts, "") != text {
			t.Errorf("%q is split into %q", text, parts)
		}
		for _, p := range parts {
			if len(p) > limit || !utf8.ValidString(p) || p == "" && text != "" && len(parts) > 1 && p != parts[len(parts)-1] {
				t.Errorf("a part of %q is %q, the limit is %d", text, p, limit)
			}
		}
	})
}

func TestOptionsAreRequired(t *testing.T) {
	if _, err := New(t.Context(), Options{}); memory.CodeOf(err) != memory.CodeInvalidInput {
		t.Errorf("New without anything = %v, want invalid input", err)
	}
}
