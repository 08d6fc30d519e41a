package store

import (
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// TestProvenanceOfBefore: of records that were stored before provenance was kept, only
// those are told that no file can have brought.
func TestProvenanceOfBefore(t *testing.T) {
	s := open(t, Options{})
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	rate := &memory.Rate{Successes: 99, Attempts: 99}
	lesson := func(id string) memory.Record {
		return memory.Record{ID: id, Kind: memory.Lesson, Project: "p", Created: at.AddDate(70, 0, 0), Text: id, Doc: memory.DocumentID(id),
			Event: &memory.Event{Type: memory.EventError, Lesson: id, AgentID: "a", Rate: rate, RateAt: at}}
	}
	step := func(id, session string) memory.Record {
		return memory.Record{ID: id, Kind: memory.Step, Project: "p", Session: session, Created: at, Text: id, Doc: memory.DocumentID(id),
			Step: &memory.StepContent{Tool: memory.StepTool{Name: "bash"}}}
	}
	entry := func(id, source string) memory.Record {
		return memory.Record{ID: id, Kind: memory.Rule, Project: "p", Created: at, Text: id, Doc: memory.DocumentID(id), Entry: &memory.Entry{Name: id, Source: source}}
	}
	inSession := lesson("l-session")
	inSession.Session = "here"
	records := []memory.Record{lesson("l-told"), lesson("l-file"), inSession, step("s-here", "here"), step("s-file", "file"), step("s-bare", "bare"),
		entry("u-host", "host"), entry("u-file", "file:AGENTS.md")}
	var docs []memory.Doc
	for _, r := range records {
		docs = append(docs, memory.Doc{ID: r.Doc, Terms: []byte{1}})
	}
	commit := func(b memory.Batch) {
		t.Helper()
		if _, err := s.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	commit(memory.Batch{Projects: []memory.Project{{ID: "p", Name: "p", Names: []string{"p"}}}, Docs: docs, Records: records,
		Sessions: []memory.Session{{ID: "here", Project: "p", CreatedAt: at}, {ID: "file", Project: "p", CreatedAt: at, Imported: true}, {ID: "bare", Project: "p", CreatedAt: at, Bare: true}},
		Action:   "remember", Detail: map[string]string{"id": "l-told", "project": "p"}})
	commit(memory.Batch{Action: "import lessons", Detail: map[string]any{"project": "p", "id": "l-file"}})
	for range 2 { // it may be run again after a crash
		must(t, recordsWithProvenance(s.db.DB))
	}
	for id, want := range map[string]memory.Provenance{
		"l-told":    {Origin: memory.OriginTold, Agent: "a"},
		"l-file":    {Origin: memory.OriginFollowed},
		"l-session": {Origin: memory.OriginTold, Agent: "a", Session: "here"},
		"s-here":    {Origin: memory.OriginTold, Session: "here"},
		"s-file":    {Origin: memory.OriginFollowed},
		"s-bare":    {Origin: memory.OriginFollowed},
		"u-host":    {Origin: memory.OriginTold, Agent: "host"},
		"u-file":    {Origin: memory.OriginFollowed, Path: "AGENTS.md"},
	} {
		r, err := s.Record(id)
		if err != nil || r.Provenance != want {
			t.Errorf("%s has provenance %+v, %v; want %+v", id, r.Provenance, err, want)
		}
		if r.Event == nil {
			continue
		}
		if followed := want.Followed(); followed != (r.Event.Rate == nil) || followed && (r.Created.After(time.Now()) || *r.Event.Observations[0].Rate != *rate) {
			t.Errorf("%s has rate %v, tellings %+v, created %v; want a rate where it was told, and else in its history alone", id, r.Event.Rate, r.Event.Observations, r.Created)
		}
	}
	for id, want := range map[string]memory.Origin{"here": "", "file": memory.OriginFollowed, "bare": memory.OriginFollowed} {
		if x, err := s.Session("p", id); err != nil || x.Provenance.Origin != want {
			t.Errorf("session %s has origin %q, %v; want %q", id, x.Provenance.Origin, err, want)
		}
	}
}
