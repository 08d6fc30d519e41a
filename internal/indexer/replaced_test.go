package indexer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/embeddertest"
	"github.com/recalld/recalld/internal/memory"
)

// Two built-in models of the same width, so that no mistake is noticed by it.
func modelA() *embeddertest.Fake { return &embeddertest.Fake{Name: "builtin/a", Salt: "a"} }
func modelB() *embeddertest.Fake { return &embeddertest.Fake{Name: "builtin/b", Salt: "b"} }

func collectionName(t *testing.T, e embedder.Embedder) string {
	t.Helper()
	m, err := e.Model(t.Context())
	must(t, err)
	return m.Collection()
}

// switchTo opens the rig's store with another built-in model.
func (r *rig) switchTo(e embedder.Embedder) {
	r.t.Helper()
	r.own = e
	r.reopen()
}

// lacks is what the source of the built-in model lacks of all documents.
func (r *rig) lacks() string { return r.vectors()[0].Lacks(r.index.attrs.Match()) }

// heldBy returns the texts that have the vector of a model, and no other one, in the
// built-in collection.
func (r *rig) heldBy(e embedder.Embedder, texts ...string) []string {
	r.t.Helper()
	var held []string
	for _, text := range texts {
		num, ok := r.index.numbers.Lookup(memory.DocumentID(text))
		if !ok {
			r.t.Fatalf("%q is not indexed", text)
		}
		have := r.index.collections.list()[0].vectors.Vector(num)
		want, err := e.Embed(r.t.Context(), embedder.Document, []string{text})
		must(r.t, err)
		if have == nil {
			continue
		}
		var cosine float32
		for i := range have {
			cosine += have[i] * want[0][i]
		}
		if cosine < .99 { // they are stored in eight bits
			r.t.Errorf("the vector of %q has a cosine of %.2f with the model's", text, cosine)
		}
		held = append(held, text)
	}
	return held
}

func lessonText(i int) string { return fmt.Sprintf("%s lesson", wordOf(i)) }

// TestBuiltinIsReplaced: what another built-in model has embedded is embedded by the
// one of this program, code read again from disk; what cannot be had any more does not
// keep the former's collection.
func TestBuiltinIsReplaced(t *testing.T) {
	r := newRig(t, nil)
	a, b := modelA(), modelB()
	r.switchTo(a)
	r.commit(memory.Batch{Sandboxes: []memory.Sandbox{{ID: "s-0", Project: "p-1", Root: "/s-0"}}})
	r.putFile("p-1", "s-0", "a.go", "code one", "code two")
	r.putFile("p-1", "s-0", "gone.go", "code gone")
	rememberMany(r, 6)
	aside := lesson("l-9", "p-1", "a lesson put aside")
	aside.Event.Withdrawn = &memory.Withdrawal{}
	r.remember(aside)
	r.disk.set(memory.FileKey{Sandbox: "s-0", Path: "gone.go"}, "")
	all := []string{"code one", "code two", "a lesson put aside"}
	for i := range 6 {
		all = append(all, lessonText(i))
	}

	r.switchTo(b)
	if got := r.lacks(); got != "partial: 0 % embedded, 0 of 10 documents" {
		t.Errorf("at first the built-in vectors are %q", got)
	}
	r.remember(lesson("l-new", "p-1", "written to the new collection"))
	if got := r.heldBy(b, append(all, "written to the new collection")...); !slices.Equal(got, []string{"written to the new collection"}) {
		t.Errorf("before filling the collection holds %q, want what was written since", got)
	}
	if got := r.lacks(); got != "partial: 9 % embedded, 1 of 11 documents" {
		t.Errorf("after a write the built-in vectors are %q", got)
	}
	collections := r.index.Collections()
	if s := named(t, collections, "builtin/b"); s.State != memory.CollectionBackfilling || s.Text() != "filling 9 %" || s.Embedded != 1 || s.Documents != 11 {
		t.Errorf("the new collection is %+v, %s", s, s.Text())
	}
	if s := named(t, collections, "builtin/a"); s.Text() != "replaced by builtin/b" || s.Embedded != 10 || s.Documents != 10 {
		t.Errorf("the former collection is %+v, %s", s, s.Text())
	}
	jobs := r.index.BackfillJobs()
	if len(jobs) != 1 || jobs[0].Kind != EmbedBuiltinJob || jobs[0].Key != collectionName(t, b) {
		t.Fatalf("the jobs are %+v", jobs)
	}
	r.mustFill()
	if got := r.heldBy(b, all...); !slices.Equal(got, all) {
		t.Errorf("filled, the collection holds %q, want %q", got, all)
	}
	if s := r.index.Collections(); len(s) != 1 || s[0].State != memory.CollectionReady || s[0].Embedded != 10 || r.lacks() != "" {
		t.Errorf("filled: %+v, lacking %q; want the new collection alone, ready, with all but the file that is gone", s, r.lacks())
	}
	if names := r.store.Collections(); slices.Contains(names, collectionName(t, a)) {
		t.Errorf("the store still has %v", names)
	}
	if jobs := r.index.BackfillJobs(); len(jobs) != 0 {
		t.Errorf("there is still to do: %+v", jobs)
	}
	_, before := b.Calls()
	r.reopen()
	r.mustFill() // the file may be back
	if _, after := b.Calls(); after != before || len(r.index.Collections()) != 1 {
		t.Errorf("after reopening %d texts are embedded again, the collections are %+v", after-before, r.index.Collections())
	}
}

// TestBackToTheFormerModel: a switch back before the new collection is complete finds the
// former's vectors and embeds what was written since; the unfinished one goes.
func TestBackToTheFormerModel(t *testing.T) {
	r := newRig(t, nil)
	a := modelA()
	r.switchTo(a)
	rememberMany(r, 10)
	ctx, cancel := context.WithCancel(t.Context())
	b := modelB()
	r.switchTo(b)
	r.remember(lesson("l-new", "p-1", "written meanwhile"))
	b.Before = func(_ context.Context, texts []string) error {
		if len(texts) > 0 && texts[0] == lessonText(4) { // the second batch
			cancel()
			return ctx.Err()
		}
		return nil
	}
	if err := r.index.Embed(ctx, r.index.BackfillJobs()[0]); !errors.Is(err, context.Canceled) {
		t.Fatalf("fill = %v, want %v", err, context.Canceled)
	}
	if s := named(t, r.index.Collections(), "builtin/b"); s.Embedded != 5 || len(r.store.Collections()) < 2 {
		t.Fatalf("the fill was not ended in the middle: %+v, the store has %v", s, r.store.Collections())
	}

	a = modelA()
	r.switchTo(a)
	if got := r.lacks(); got != "partial: 90 % embedded, 10 of 11 documents" {
		t.Errorf("back at the former model it lacks %q", got)
	}
	r.mustFill()
	if _, texts := a.Calls(); texts != 1 {
		t.Errorf("%d texts were embedded, want the one that was written since", texts)
	}
	if s := r.index.Collections(); len(s) != 1 || s[0].Model != "builtin/a" || s[0].Embedded != 11 || s[0].State != memory.CollectionReady {
		t.Errorf("the collections are %+v, want the former alone with all 11", s)
	}
}

// TestDropGoesOn: a process that ended between the last vector and the end of the drop
// leaves to the next one what is to be dropped.
func TestDropGoesOn(t *testing.T) {
	r := newRig(t, nil)
	a, b := modelA(), modelB()
	r.switchTo(a)
	rememberMany(r, 3)
	r.switchTo(b)
	ctx, cancel := context.WithCancel(t.Context())
	job := r.index.BackfillJobs()[0]
	for {
		batch := r.index.missing(r.index.collections.list()[0])
		if len(batch) == 0 {
			break
		}
		must(t, r.index.embedBatch(t.Context(), r.index.collections.list()[0], batch))
	}
	cancel()
	if err := r.index.Embed(ctx, job); !errors.Is(err, context.Canceled) {
		t.Errorf("a drop that is ended = %v, want %v", err, context.Canceled)
	}
	for range 2 { // also in the process that it was ended in
		if jobs := r.index.BackfillJobs(); len(jobs) != 1 {
			t.Fatalf("with a collection to be dropped the jobs are %+v", jobs)
		}
		r.reopen()
	}
	r.mustFill()
	if names := r.store.Collections(); slices.Contains(names, collectionName(t, a)) {
		t.Errorf("the store still has %v", names)
	}
}

// TestSpacesOfOtherProviders: the built-in model takes the place of no server's, whose
// collection stays while it is switched off and goes when another of its models is filled.
func TestSpacesOfOtherProviders(t *testing.T) {
	x := &embeddertest.Fake{Name: "ollama/x", Salt: "x"}
	r := newRig(t, x)
	r.attach()
	rememberMany(r, 5)
	r.mustFill()

	r.model = nil
	r.switchTo(modelB())
	r.mustFill()
	if s := named(t, r.index.Collections(), "ollama/x"); s.State != memory.CollectionUnused || s.ReplacedBy != "" || s.Embedded != 5 {
		t.Errorf("switched off it is %+v, want its 5 vectors kept", s)
	}

	down := true
	y := &embeddertest.Fake{Name: "ollama/y", Salt: "y", Before: func(context.Context, []string) error {
		if down {
			return embedder.ErrUnavailable
		}
		return nil
	}}
	r.model = y
	r.reopen()
	if _, err := r.index.Attach(t.Context(), "ollama/y"); !errors.Is(err, embedder.ErrUnavailable) {
		t.Fatalf("attach = %v", err)
	}
	r.mustFill()
	if s := named(t, r.index.Collections(), "ollama/x"); s.Text() != "replaced by ollama/y" {
		t.Errorf("while the other model is out of reach it is %+v", s)
	}
	down = false
	r.attach()
	if got := r.degraded(); got != "partial: 0 % embedded, 0 of 5 documents" {
		t.Errorf("the other model lacks %q", got)
	}
	r.mustFill()
	if s := r.index.Collections(); len(s) != 2 || r.collection().Embedded != 5 {
		t.Errorf("filled: %+v, want the built-in collection and that of ollama/y", s)
	}
}

// TestRefusedAtIngest: a text that the built-in model cannot embed waits for nothing,
// and costs no job until something that holds it is written again.
func TestRefusedAtIngest(t *testing.T) {
	r := newRig(t, nil)
	b := modelB()
	b.Refuse = func(text string) error {
		if text == "???" {
			return errors.New("no words")
		}
		return nil
	}
	r.switchTo(b)
	r.mustFill() // which drops the collection of the rig's own
	r.remember(lesson("l-0", "p-1", "???"), lesson("l-1", "p-1", "with words"))
	if s := r.index.Collections()[0]; s.State != memory.CollectionReady || s.Embedded != 1 || r.lacks() != "" || len(r.index.BackfillJobs()) > 0 {
		t.Errorf("the collection is %+v, lacks %q, jobs %+v", s, r.lacks(), r.index.BackfillJobs())
	}
	other := lesson("l-2", "p-1", "other words")
	if jobs := r.index.Follow(memory.Change{Records: []memory.RecordChange{{New: &other}}}); len(jobs) != 0 {
		t.Errorf("jobs follow from a change of something else: %+v", jobs)
	}
	again := lesson("l-3", "p-1", "???")
	if jobs := r.index.Follow(memory.Change{Records: []memory.RecordChange{{New: &again}}}); len(jobs) != 1 || jobs[0].Kind != EmbedBuiltinJob {
		t.Errorf("of a record that holds it follow %+v", jobs)
	}
	r.reopen() // nobody knows that it was refused
	r.mustFill()
	if s := r.index.Collections()[0]; s.State != memory.CollectionReady || r.lacks() != "" {
		t.Errorf("after reopening the collection is %+v, lacks %q", s, r.lacks())
	}
}

// TestExchangedModelMeetsNoOtherVectors: a server may have other weights of the same
// width under the name. Until Attach has seen it, neither a question nor a document
// that they embed meets the vectors of before.
func TestExchangedModelMeetsNoOtherVectors(t *testing.T) {
	fake := &embeddertest.Fake{Salt: "before"}
	r := newRig(t, fake)
	r.attach()
	rememberMany(r, 3)
	r.mustFill()
	rememberMany(r, 4)
	jobs := r.index.BackfillJobs()
	ask := func() error {
		_, err := r.vectors()[1].Retriever.Retrieve(t.Context(), query(lessonText(0)))
		return err
	}
	for _, when := range []string{"while it is attached", "before it is attached"} {
		fake.Salt = "after"
		if err := ask(); !errors.Is(err, errOtherModel) || embedder.Reason(err) != "unavailable" {
			t.Errorf("%s: a question is answered with %v, want %v", when, err, errOtherModel)
		}
		if err := r.index.Embed(t.Context(), jobs[0]); !errors.Is(err, errOtherModel) {
			t.Errorf("%s: a fill ends with %v, want %v", when, err, errOtherModel)
		}
		// While it embeds.
		fake.Salt = "before"
		fake.Before = func(_ context.Context, texts []string) error {
			if texts != nil {
				fake.Salt = "after"
			}
			return nil
		}
		if err := r.index.Embed(t.Context(), jobs[0]); !errors.Is(err, errOtherModel) {
			t.Errorf("%s: a fill in which it is exchanged ends with %v, want %v", when, err, errOtherModel)
		}
		if s := r.collection(); s.Embedded != 3 {
			t.Errorf("%s: %d vectors are held, want the 3 of before", when, s.Embedded)
		}
		fake.Before, fake.Salt = nil, "before"
		if err := ask(); err != nil {
			t.Errorf("%s: with the former weights a question fails: %v", when, err)
		}
		r.reopen()
	}
}
