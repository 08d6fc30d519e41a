package indexer

import (
	stdcmp "cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/embedder/embeddertest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testlong"
)

// TestRandomOperations writes, merges, replaces, renames, puts aside and forgets at
// random, in two projects with sessions and three sandboxes that share their texts,
// while a background model that fails now and then is filled. Every now and then the indexes are
// compared with a model in memory and with the store, also after reopening.
func TestRandomOperations(t *testing.T) {
	steps := testlong.Steps(150, 600)
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
	m := world{
		records: map[string]memory.Record{}, files: map[memory.FileKey]memory.File{}, sessions: map[memory.SessionKey]memory.Session{},
	}
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
			m.compareFilters(t, rng, r)
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
	crowd    int // where in the rise and fall of a text that many have
	records  map[string]memory.Record
	files    map[memory.FileKey]memory.File
	sessions map[memory.SessionKey]memory.Session
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
	if m.crowd = (m.crowd + 1) % 200; m.crowd < 130 && rng.IntN(4) > 0 {
		text = textOf(0) // which comes to have many places, and to lose them
	}
	id := fmt.Sprintf("l-%d", rng.IntN(30))
	key := memory.FileKey{Sandbox: fmt.Sprintf("s-%d", rng.IntN(3)), Path: fmt.Sprintf("dir/file%d.go", rng.IntN(8))}
	switch rng.IntN(16) {
	case 0, 1: // remember, in place of what has the id
		rec := lesson(id, fmt.Sprintf("p-%d", 1+rng.IntN(2)), text)
		rec.Tags = []string{fmt.Sprintf("tag%d", rng.IntN(3))}
		rec.Created = testTime.Add(time.Duration(rng.IntN(5)) * time.Hour)
		rec.Session = fmt.Sprintf("x-%d", rng.IntN(6))
		rec.Event.Pinned = rng.IntN(3) == 0
		if rng.IntN(3) == 0 {
			rec.Event.Rate = &memory.Rate{Successes: rng.IntN(3), Attempts: 3}
		}
		if rng.IntN(3) == 0 {
			rec.Event.Fingerprints = []string{fmt.Sprintf("%016x", rng.IntN(3))}
		}
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
	case 9: // put a lesson aside, or remember it as before
		rec, ok := m.records[id]
		if !ok {
			return
		}
		event := *rec.Event
		if event.Withdrawn = nil; rng.IntN(3) > 0 {
			event.Withdrawn = &memory.Withdrawal{Reason: "retracted"}
		}
		rec.Event = &event
		r.remember(rec)
		m.records[id] = rec
	case 10, 11, 12:
		m.stepRoster(rng, r, text)
	default:
		m.stepSession(rng, r, text)
	}
}

// stepRoster writes, changes or drops a record of the roster, or a reference that
// comes and goes from it.
func (m *world) stepRoster(rng *rand.Rand, r *rig, text string) {
	n := rng.IntN(25)
	rec := listing(listedKinds[n%len(listedKinds)], fmt.Sprintf("o-%d", n), rng.IntN(4), rng.IntN(3), in(fmt.Sprintf("p-%d", 1+rng.IntN(2))))
	if rng.IntN(5) == 0 {
		r.commit(memory.Batch{DropRecords: []string{rec.ID}})
		delete(m.records, rec.ID)
		return
	}
	rec.Text, rec.Doc, rec.Verdicts = text, memory.DocumentID(text), &memory.VerdictCounts{Worked: rng.IntN(9)}
	if rec.Kind == memory.Reference && rng.IntN(3) == 0 {
		rec.Entry = nil
	}
	r.remember(rec)
	m.records[rec.ID] = rec
}

// compareRoster holds what is listed of a project, and in which order, against the
// world.
func (m *world) compareRoster(t *testing.T, r *rig, project string) {
	t.Helper()
	want := []memory.Record{}
	for _, rec := range m.records {
		if rec.Project == project && (rec.Entry != nil || rec.Task != nil) {
			want = append(want, rec)
		}
	}
	slices.SortFunc(want, func(a, b memory.Record) int {
		ord := func(x memory.Record) int {
			if x.Entry == nil {
				return 0
			}
			return x.Entry.Ord
		}
		return stdcmp.Or(a.Created.Compare(b.Created), stdcmp.Compare(ord(a), ord(b)), strings.Compare(a.ID, b.ID))
	})
	if diff := cmp.Diff(want, append([]memory.Record{}, r.index.Entries(project)...)); diff != "" {
		t.Errorf("the roster of %s (-want +got):\n%s", project, diff)
	}
}

// stepSession does one random thing to a session.
func (m *world) stepSession(rng *rand.Rand, r *rig, text string) {
	key := memory.SessionKey{Project: fmt.Sprintf("p-%d", 1+rng.IntN(2)), ID: fmt.Sprintf("x-%d", rng.IntN(4))}
	id := fmt.Sprintf("t-%d", rng.IntN(80))
	switch _, known := m.sessions[key]; {
	case !known || rng.IntN(4) == 0: // start, change or end it
		x := session(key.ID, rng.IntN(5), func(x *memory.Session) {
			x.Project, x.Bare, x.FlowTags = key.Project, rng.IntN(4) == 0, []string{[]string{"send", "swap"}[rng.IntN(2)]}
		})
		r.commit(memory.Batch{Sessions: []memory.Session{x}})
		m.sessions[key] = x
	case rng.IntN(10) == 0: // drop it with its steps
		var ids []string
		for _, rec := range m.steps(key) {
			ids = append(ids, rec.ID)
			delete(m.records, rec.ID)
		}
		r.commit(memory.Batch{DropSessions: []memory.SessionKey{key}, DropRecords: ids})
		delete(m.sessions, key)
	case rng.IntN(5) == 0: // forget a step
		r.commit(memory.Batch{DropRecords: []string{id}})
		delete(m.records, id)
	default: // a step in it, perhaps one that was another's
		rec := stepAt(id, key.ID, rng.IntN(20), onScreen([]string{"", "home", "confirm"}[rng.IntN(3)]))
		rec.Project, rec.Text, rec.Doc = key.Project, text, memory.DocumentID(text)
		if rng.IntN(4) == 0 {
			rec.Step.Fingerprints, rec.Verdicts = []string{fmt.Sprintf("%016x", rng.IntN(3))}, &memory.VerdictCounts{Worked: 1, Failed: rng.IntN(3)}
		}
		r.remember(rec)
		m.records[id] = rec
	}
}

// steps returns the steps of a session, oldest first.
func (m *world) steps(of ...memory.SessionKey) []memory.Record {
	var steps []memory.Record
	for _, rec := range m.records {
		if rec.Kind == memory.Step && slices.Contains(of, memory.SessionKey{Project: rec.Project, ID: rec.Session}) {
			steps = append(steps, rec)
		}
	}
	slices.SortFunc(steps, func(a, b memory.Record) int {
		if c := a.Created.Compare(b.Created); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return steps
}

// of returns the sessions of a project, newest first.
func (m *world) of(project string) []memory.SessionKey {
	var keys []memory.SessionKey
	for k := range m.sessions {
		if k.Project == project {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b memory.SessionKey) int {
		if c := m.sessions[b].CreatedAt.Compare(m.sessions[a].CreatedAt); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return keys
}

// compareSessions holds sessions and steps, their order and what a filter of
// sessions finds, against the world.
func (m *world) compareSessions(t *testing.T, r *rig, project string) {
	t.Helper()
	differs := func(what string, want, got []string) {
		t.Helper()
		if !slices.Equal(want, got) {
			t.Errorf("%s of %s are %v, want %v", what, project, got, want)
		}
	}
	ids := func(steps []memory.Record) []string {
		var ids []string
		for _, rec := range steps {
			ids = append(ids, rec.ID)
		}
		return ids
	}
	send := memory.SessionFilter{FlowTag: "send"}
	var all, sending []string
	var sendKeys []memory.SessionKey
	keys := m.of(project)
	for _, k := range keys {
		all = append(all, k.ID)
		if x := m.sessions[k]; !x.Bare && slices.Contains(x.FlowTags, "send") {
			sending, sendKeys = append(sending, k.ID), append(sendKeys, k)
		}
		differs("steps in "+k.ID, ids(m.steps(k)), r.index.SessionSteps(k.Project, k.ID))
	}
	differs("sessions", all, sessionIDs(r.index.Sessions(project, memory.SessionFilter{})))
	differs("sessions that send", sending, sessionIDs(r.index.Sessions(project, send)))
	last := m.steps(keys...)
	slices.Reverse(last)
	differs("last steps", ids(last[:min(len(last), 7)]), r.index.LastSteps(project, nil, "", 7))
	last = slices.DeleteFunc(last, func(rec memory.Record) bool { return rec.Step.Screen != "home" })
	differs("last steps at home", ids(last[:min(len(last), 7)]), r.index.LastSteps(project, nil, "home", 7))
	found := ids(m.steps(sendKeys...))
	slices.Sort(found)
	differs("steps found in sessions that send", found, r.found("common", memory.Selection{Project: project, Kinds: []memory.Kind{memory.Step}, Steps: send}))
}

// compare holds every text's places, and what a search by its word finds,
// against the world.
func (m *world) compare(t *testing.T, r *rig) {
	t.Helper()
	want := map[memory.DocID][]string{}
	held := map[memory.DocID]bool{} // what is put aside is indexed and not found
	for id, rec := range m.records {
		held[rec.Doc] = true
		if !isAside(rec) {
			want[rec.Doc] = append(want[rec.Doc], id)
		}
	}
	for _, f := range m.files {
		for _, c := range f.Chunks {
			held[c.Doc] = true
			want[c.Doc] = append(want[c.Doc], f.Sandbox+"/"+f.Path)
		}
	}
	if got := r.index.Documents(); got != len(held) {
		t.Errorf("%d documents are indexed, want %d", got, len(held))
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
			if rec.Project == project && rec.Kind == memory.Lesson && !isAside(rec) {
				want = append(want, id)
			}
		}
		got := r.found("common", memory.Selection{Project: project, Kinds: []memory.Kind{memory.Lesson}})
		if diff := cmp.Diff(slices.Sorted(slices.Values(want)), got); diff != "" {
			t.Errorf("lessons of %s (-want +got):\n%s", project, diff)
		}
		m.compareSessions(t, r, project)
		m.compareHoldings(t, r, project)
		m.compareRoster(t, r, project)
	}
}

// compareHoldings holds what is told of a project to whoever forgets it against a look
// at the whole store.
func (m *world) compareHoldings(t *testing.T, r *rig, project string) {
	t.Helper()
	want, err := r.store.ProjectHoldings(t.Context(), project)
	must(t, err)
	got, ok := r.index.ProjectHoldings(project)
	slices.Sort(want.Records)
	if !ok || !slices.Equal(got.Records, want.Records) || len(got.Files) != len(want.Files) {
		t.Errorf("%s holds %q and %d files, want %q and %d", project, got.Records, len(got.Files), want.Records, len(want.Files))
	}
	for _, id := range []string{"x-0", "x-3"} {
		want, err := r.store.SessionHoldings(t.Context(), id)
		must(t, err)
		got, _ := r.index.SessionHoldings(id)
		if len(got) != len(want) {
			t.Errorf("%d projects have a session %s, want %d", len(got), id, len(want))
			continue
		}
		for i := range want { // both by project
			slices.Sort(want[i].Steps)
			slices.Sort(got[i].Steps)
			if got[i].Session.Key() != want[i].Session.Key() || !slices.Equal(got[i].Steps, want[i].Steps) {
				t.Errorf("session %s has %q, want %q", id, got[i].Steps, want[i].Steps)
			}
		}
	}
}

// compareFilters holds what random filters let through against a look at everything.
func (m *world) compareFilters(t *testing.T, rng *rand.Rand, r *rig) {
	t.Helper()
	one := func(of ...string) string {
		if rng.IntN(2) == 0 {
			return ""
		}
		return of[rng.IntN(len(of))]
	}
	for range 40 {
		sel := memory.Selection{
			Project: one("p-1", "p-2"), Session: one("x-0", "x-1", "x-5"), Tag: one("tag0", "tag1", "merged"), AllLessons: rng.IntN(2) == 0,
		}
		if rng.IntN(2) == 0 {
			sel.Session, sel.Tag, sel.Path = "", "", one("dir", "dir/file3.go", "*/file[1-4].go", "**", "dir/*2.go", "moved/**")
		}
		if rng.IntN(2) == 0 {
			sel.Kinds = []memory.Kind{memory.Kinds[rng.IntN(len(memory.Kinds))], memory.Chunk}
		}
		if rng.IntN(2) == 0 {
			sel.Since = testTime.Add(time.Duration(rng.IntN(6)-1) * time.Hour)
		}
		if rng.IntN(6) == 0 {
			sel.Only = map[string]bool{"l-3": true, "t-4": true, "o-5": true}
		}
		var want []string
		for id, rec := range m.records {
			own := sel.Project == "" || rec.Project == sel.Project || sel.AllLessons && rec.Kind == memory.Lesson
			if own && !isAside(rec) && (sel.Session == "" || rec.Session == sel.Session) && (sel.Tag == "" || slices.Contains(rec.Tags, sel.Tag)) &&
				(len(sel.Kinds) == 0 || slices.Contains(sel.Kinds, rec.Kind)) && !rec.Created.Before(sel.Since) &&
				sel.Path == "" && (sel.Only == nil || sel.Only[id]) {
				want = append(want, id)
			}
		}
		for k, f := range m.files {
			if (sel.Project == "" || f.Project == sel.Project) && sel.Session == "" && sel.Tag == "" && sel.Only == nil && !f.ModTime.Before(sel.Since) &&
				(len(sel.Kinds) == 0 || slices.Contains(sel.Kinds, memory.Chunk)) && (sel.Path == "" || pathMatches(sel.Path, k.Path)) {
				for range f.Chunks {
					want = append(want, k.Sandbox+"/"+k.Path)
				}
			}
		}
		slices.Sort(want)
		if got := r.found("common", sel); !slices.Equal(got, want) {
			t.Errorf("%+v lets through %v, want %v", sel, got, want)
		}
		if sel.Path == "" && sel.Since.IsZero() && sel.Only == nil {
			continue
		}
		allow, _ := r.index.Select(sel)
		for it := allow.Iterator(); it.HasNext(); {
			if num := it.Next(); len(r.index.Candidates(num, sel)) == 0 {
				t.Errorf("%+v: document %d is allowed and holds nothing selected", sel, num)
			}
		}
	}
}

func isAside(rec memory.Record) bool { return rec.Event != nil && rec.Event.Withdrawn != nil }
