package indexer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/embedder/embeddertest"
	"github.com/recalld/recalld/internal/memory"
)

// entry returns a listed record, and whether there is one.
func (r *rig) entry(id string) (memory.Record, bool) {
	r.index.listed.mu.RLock()
	defer r.index.listed.mu.RUnlock()
	if e, ok := r.index.listed.byID[id]; ok {
		return *e, true
	}
	return memory.Record{}, false
}

// listing is a record of the roster, created some minutes after testTime.
func listing(kind memory.Kind, id string, minute, ord int, change ...func(*memory.Record)) memory.Record {
	text := "listed " + id
	r := memory.Record{
		ID: id, Kind: kind, Project: "p-1", Text: text, Doc: memory.DocumentID(text),
		Created: testTime.Add(time.Duration(minute) * time.Minute),
	}
	switch kind {
	case memory.Task, memory.Blocker:
		r.Task = &memory.TaskContent{TaskID: id}
	default:
		r.Entry = &memory.Entry{Name: id, Ord: ord, Version: 1}
	}
	for _, c := range change {
		c(&r)
	}
	return r
}

func in(project string) func(*memory.Record) {
	return func(r *memory.Record) { r.Project = project }
}

func idsOf(records []memory.Record) []string {
	ids := []string{}
	for _, r := range records {
		ids = append(ids, r.ID)
	}
	return ids
}

// wantEntries holds what is listed against the ids that should be.
func (r *rig) wantEntries(what, project string, kinds []memory.Kind, want ...string) {
	r.t.Helper()
	if got := idsOf(r.index.Entries(project, kinds...)); !slices.Equal(got, want) {
		r.t.Errorf("%s: %v of %s are listed as %v, want %v", what, kinds, project, got, want)
	}
}

func TestEntriesAreInTheirOrder(t *testing.T) {
	r := newRig(t, nil)
	r.wantEntries("at first", "p-1", nil)
	bare := listing(memory.Reference, "f-text", 0, 0, func(r *memory.Record) { r.Entry, r.Reference = nil, &memory.RefContent{Name: "a text"} })
	r.remember(lesson("l-1", "p-1", "a lesson"), bare,
		listing(memory.Tool, "o-c", 1, 1), listing(memory.Tool, "o-b", 1, 2), listing(memory.Tool, "o-a", 1, 2))
	r.remember(listing(memory.Tool, "o-late", 3, 0), listing(memory.Tool, "o-early", 0, 9), listing(memory.Tool, "o-other", 1, 0, in("p-2")))
	r.remember(listing(memory.Rule, "u-1", 1, 3), listing(memory.Reference, "f-1", 2, 0),
		listing(memory.Task, "t-1", 4, 0), listing(memory.Blocker, "b-1", 2, 0))
	tools := []memory.Kind{memory.Tool}
	check := func(what string) {
		t.Helper()
		r.wantEntries(what, "p-1", tools, "o-early", "o-c", "o-a", "o-b", "o-late")
		r.wantEntries(what, "p-2", tools, "o-other")
		r.wantEntries(what, "p-1", []memory.Kind{memory.Tool, memory.Rule, memory.Tool}, "o-early", "o-c", "o-a", "o-b", "u-1", "o-late")
		r.wantEntries(what, "p-1", nil, "o-early", "o-c", "o-a", "o-b", "u-1", "b-1", "f-1", "o-late", "t-1")
		r.wantEntries(what, "p-1", []memory.Kind{memory.Lesson, memory.Step, memory.Chunk})
		r.wantEntries(what, "", nil)
	}
	check("as they came")
	r.reopen()
	check("after reopening")

	// Changed, moved to another project, made a text of its own, dropped.
	r.remember(
		listing(memory.Tool, "o-c", 1, 5), listing(memory.Tool, "o-a", 1, 2, in("p-2")),
		listing(memory.Reference, "f-1", 2, 0, func(r *memory.Record) { r.Entry = nil }),
		listing(memory.Reference, "f-text", 0, 0),
	)
	r.commit(memory.Batch{DropRecords: []string{"o-early", "t-1", "never"}})
	for _, what := range []string{"changed", "changed and reopened"} {
		r.wantEntries(what, "p-1", nil, "f-text", "o-b", "u-1", "o-c", "b-1", "o-late")
		r.wantEntries(what, "p-2", tools, "o-other", "o-a")
		if e, ok := r.entry("o-c"); !ok || e.Entry.Ord != 5 {
			t.Errorf("%s: entry o-c = %+v, %v; want it as it is now", what, e, ok)
		}
		for _, id := range []string{"o-early", "f-1", "l-1"} {
			if e, ok := r.entry(id); ok {
				t.Errorf("%s: %s is listed as %+v", what, id, e)
			}
		}
		r.reopen()
	}
}

// TestEntriesWhileLoading: they come with Load, in their order, and what is committed
// meanwhile at its end.
func TestEntriesWhileLoading(t *testing.T) {
	r := newRig(t, nil)
	var records []memory.Record
	for n := range 20 {
		records = append(records, listing(memory.Tool, fmt.Sprintf("o-%02d", n), 0, 20-n))
	}
	r.remember(records...)
	must(t, r.store.Close())
	r.start()
	if r.index.Loaded() {
		t.Error("the indexes are loaded before Load")
	}
	loaded := 0
	err := r.index.load(t.Context(), r.store, func(ctx context.Context, l memory.Loader) (uint64, error) {
		load := l.Record
		l.Record = func(rec memory.Record) error {
			if err := load(rec); err != nil {
				return err
			}
			if loaded++; loaded == 10 {
				r.remember(listing(memory.Tool, "o-between", 1, 0))
			}
			got := r.index.Entries("p-1", memory.Tool)
			if len(got) != loaded || !slices.IsSortedFunc(got, compareListedValues) {
				t.Errorf("after %d records %v are listed", loaded, idsOf(got))
			}
			return nil
		}
		return r.store.Load(ctx, l)
	}, nil)
	must(t, err)
	if !r.index.Loaded() {
		t.Error("the indexes are not loaded after Load")
	}
	if got := r.index.Entries("p-1"); len(got) != 21 || got[20].ID != "o-between" {
		t.Errorf("after Load %v are listed, want all 21", idsOf(got))
	}
}

// TestReplacedEntryIsNeverMissing reads beside a writer.
func TestReplacedEntryIsNeverMissing(t *testing.T) {
	r := newRig(t, nil)
	r.remember(listing(memory.Rule, "u-1", 0, 0), listing(memory.Rule, "u-2", 0, 1))
	var writing sync.WaitGroup
	done := make(chan struct{})
	writing.Go(func() {
		defer close(done)
		for n := range 200 {
			rec := listing(memory.Rule, "u-1", 0, 0)
			rec.Entry.Version = n
			if _, err := r.store.Commit(t.Context(), memory.Batch{Records: []memory.Record{rec}}); err != nil {
				t.Error(err)
				return
			}
			if got, _ := r.entry("u-1"); got.Entry.Version != n {
				t.Errorf("version %d is acknowledged, %d is listed", n, got.Entry.Version)
			}
		}
	})
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		if got := idsOf(r.index.Entries("p-1", memory.Rule)); !slices.Equal(got, []string{"u-1", "u-2"}) {
			t.Errorf("while one is replaced %v are listed", got)
			break
		}
	}
	writing.Wait()
}

// TestVerdictsEmbedNothing: what leaves the text as it is costs no model anything.
func TestVerdictsEmbedNothing(t *testing.T) {
	fake := &embeddertest.Fake{}
	r := newRig(t, fake)
	r.attach()
	tool := listing(memory.Tool, "o-1", 0, 0)
	r.remember(tool)
	r.mustFill()
	_, before := fake.Calls()
	tool.Entry = &memory.Entry{Name: "o-1", Version: 2, Guidance: "with care"}
	tool.Verdicts = &memory.VerdictCounts{Worked: 3}
	r.remember(tool) // with its document, as ingest does
	tool.Verdicts = &memory.VerdictCounts{Worked: 3, Failed: 1}
	r.commit(memory.Batch{Records: []memory.Record{tool}}) // and without
	if jobs := r.index.BackfillJobs(); len(jobs) > 0 {
		t.Errorf("%d jobs wait although no text is new", len(jobs))
	}
	r.mustFill()
	if _, texts := fake.Calls(); before != 1 || texts != before {
		t.Errorf("%d texts were embedded at first and %d after the changes, want 1 and 1", before, texts)
	}
	if got, _ := r.entry("o-1"); got.Entry.Version != 2 || got.Verdicts.Failed != 1 {
		t.Errorf("listed is %+v with %+v, want what was written last", got.Entry, got.Verdicts)
	}
	if got := r.found("listed", memory.Selection{}); !slices.Equal(got, []string{"o-1"}) {
		t.Errorf("found is %v, want o-1", got)
	}
}

func TestRateOfVerdicts(t *testing.T) {
	r := newRig(t, nil)
	for name, test := range map[string]struct {
		rec  memory.Record
		want *memory.Rate
	}{
		"none":       {listing(memory.Tool, "o-1", 0, 0), nil},
		"irrelevant": {listing(memory.Tool, "o-1", 0, 0, func(r *memory.Record) { r.Verdicts = &memory.VerdictCounts{Irrelevant: 4} }), nil},
		"of all": {listing(memory.Task, "t-1", 0, 0, func(r *memory.Record) {
			r.Verdicts = &memory.VerdictCounts{Worked: 5, Failed: 2, Outdated: 1, Irrelevant: 9}
		}), &memory.Rate{Successes: 5, Attempts: 8}},
		"never worked": {listing(memory.Rule, "u-1", 0, 0, func(r *memory.Record) { r.Verdicts = &memory.VerdictCounts{Outdated: 1} }), &memory.Rate{Attempts: 1}},
		"a lesson's": {func() memory.Record {
			x := lesson("l-1", "p-1", "listed lesson")
			x.Event.Rate, x.Verdicts = &memory.Rate{Successes: 9, Attempts: 10}, &memory.VerdictCounts{Failed: 1}
			return x
		}(), &memory.Rate{Successes: 9, Attempts: 10}},
	} {
		r.remember(test.rec)
		num, ok := r.index.numbers.Lookup(test.rec.Doc)
		if !ok {
			t.Fatalf("%s: the document is not indexed", name)
		}
		got := r.index.Candidates(num, memory.Selection{})
		if len(got) != 1 {
			t.Fatalf("%s: %d candidates", name, len(got))
		}
		if diff := cmp.Diff(test.want, got[0].Rate); diff != "" {
			t.Errorf("%s: rate (-want +got):\n%s", name, diff)
		}
		r.commit(memory.Batch{DropRecords: []string{test.rec.ID}})
	}
}

// TestEveryKindIsSearched: whatever a record is, it is found by its words, chosen by
// its kind, and counted.
func TestEveryKindIsSearched(t *testing.T) {
	r := newRig(t, nil)
	r.commit(memory.Batch{
		Sandboxes: []memory.Sandbox{{ID: "s-1", Project: "p-1", Root: "/s-1"}},
		Sessions:  []memory.Session{{ID: "sess", Project: "p-1", CreatedAt: testTime}},
	})
	place := map[memory.Kind]string{memory.Chunk: "s-1/a.go"}
	r.putFile("p-1", "s-1", "a.go", "listed code")
	for _, kind := range memory.Kinds {
		if kind == memory.Chunk {
			continue
		}
		rec := listing(kind, "id-"+string(kind), 0, 0)
		if kind == memory.Lesson || kind == memory.Step {
			rec.Entry, rec.Session = nil, "sess"
		}
		place[kind] = rec.ID
		r.remember(rec)
	}
	for range 2 {
		for _, kind := range memory.Kinds {
			if got := r.found("listed", memory.Selection{Project: "p-1", Kinds: []memory.Kind{kind}}); !slices.Equal(got, []string{place[kind]}) {
				t.Errorf("%ss that are found: %v, want %s", kind, got, place[kind])
			}
			if n := r.store.Counts()[kind]; n != 1 {
				t.Errorf("%d %ss are counted, want 1", n, kind)
			}
		}
		if got := r.found("listed", memory.Selection{Project: "p-2"}); got != nil {
			t.Errorf("in another project %v are found", got)
		}
		r.reopen()
	}
}
