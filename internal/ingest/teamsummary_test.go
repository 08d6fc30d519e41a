package ingest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/ingest"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testkit/backend"
)

// TestTakeSummaries: a member has one summary of a session; it is cleaned, and replaced or
// removed; what was forgotten stays out, and one with wrong fields is skipped.
func TestTakeSummaries(t *testing.T) {
	at := time.Now().Add(-24 * time.Hour).UTC().Truncate(time.Millisecond)
	parts := backend.New(t, backend.Options{Redact: backend.RedactSecret})
	project := memory.Project{ID: "p-1", Name: "shop"}
	id := ingest.TeamSummaryID(teamProject, "sess-1")
	by := func(member, text string, at time.Time) ingest.SharedSummary {
		return ingest.SharedSummary{Member: member, ID: id, Summary: &memory.TeamSummary{Text: text, At: at}}
	}
	take := func(list ...ingest.SharedSummary) ingest.Imported {
		t.Helper()
		done, err := parts.Ingest.TakeSummaries(t.Context(), project, list)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	known := func() map[string]memory.Record {
		t.Helper()
		all := map[string]memory.Record{}
		for r, err := range parts.Store.ProjectRecords(context.WithoutCancel(t.Context()), project.ID, memory.SessionSummary) {
			if err != nil {
				t.Fatal(err)
			}
			all[r.Provenance.Agent+": "+r.Text] = r
		}
		return all
	}
	done := take(by("ann", "Totals are rounded twice, hunter2.", at), by("bob", "Totals are rounded twice.", time.Now().Add(time.Hour)),
		by("cyd", " ", at), by("dan", strings.Repeat("é", memory.MaxTeamSummary+1), at), by("eve", strings.Repeat("é", memory.MaxTeamSummary), at))
	if done.Added != 3 || len(done.Problems) != 2 || done.Problems[0].Index != 2 || done.Problems[1].Index != 3 {
		t.Errorf("taken: %+v", done)
	}
	ann, ok := known()["ann: Totals are rounded twice, [redacted]."]
	if !ok || ann.Session != "" || ann.Provenance.Session != id || !ann.Created.Equal(at) || ann.Provenance.Origin != memory.OriginTeam || ann.Event != nil {
		t.Errorf("it is kept as %+v of %v", ann, known())
	}
	if bob := known()["bob: Totals are rounded twice."]; bob.Created.After(time.Now()) {
		t.Errorf("bob's is of %s, in the future", bob.Created)
	}
	for _, id := range []string{"sess-1", "y-0123456789abcde", "y-0123456789abcdef0", "y-0123456789ABCDEF", "l-0123456789abcdef", "y-0123456789abcdef\n"} {
		x := by("ann", "Totals are rounded up.", at)
		if x.ID = id; take(x).Added != 0 {
			t.Errorf("a summary with the id %q is taken", id)
		}
	}
	if done := take(by("ann", "Totals are rounded twice, hunter2.", at)); done.Known != 1 || done.Added != 0 {
		t.Errorf("the same again: %+v", done)
	}
	take(by("ann", "Totals are rounded once.", at.Add(time.Hour)), ingest.SharedSummary{Member: "bob", ID: id}, ingest.SharedSummary{Member: "zoe", ID: id})
	if _, ok := known()["ann: Totals are rounded once."]; !ok || len(known()) != 2 {
		t.Errorf("after a later one, and one that was taken back: %v", known())
	}
	if _, err := parts.Ingest.Forget(t.Context(), memory.ForgetRequest{IDs: []string{ann.ID}}, parts.Store); err != nil {
		t.Fatal(err)
	}
	if done := take(by("ann", "Totals are rounded by the till.", at.Add(2*time.Hour))); done.Forgotten != 1 || len(known()) != 1 {
		t.Errorf("forgotten here: %+v, %v", done, known())
	}
}

// TestForgottenPrivateLessonMarksItsSessions: a session stays private when the lesson that
// made it so is forgotten, and one of another lesson does not become so.
func TestForgottenPrivateLessonMarksItsSessions(t *testing.T) {
	parts := backend.New(t, backend.Options{})
	project := memory.Project{ID: "p-1", Name: "shop"}
	b := memory.Batch{Projects: []memory.Project{project}}
	for _, id := range []string{"sess-1", "sess-2", "sess-3"} {
		b.Sessions = append(b.Sessions, memory.Session{ID: id, Project: project.ID, CreatedAt: time.Now(), Goal: "goal"})
	}
	if _, err := parts.Store.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	remember := func(session, lesson string, private bool) string {
		t.Helper()
		out, err := parts.Ingest.Remember(t.Context(), memory.RememberRequest{Lesson: lesson, Private: private, Project: project.ID, Caller: memory.Caller{Session: session}})
		if err != nil {
			t.Fatal(err)
		}
		return out.ID
	}
	secret := remember("sess-1", "the password is under the doormat", true)
	remember("sess-2", "the password is under the doormat", false) // it stays private
	open := remember("sess-3", "restart the indexer", false)
	if _, err := parts.Ingest.Forget(t.Context(), memory.ForgetRequest{IDs: []string{secret, open}}, parts.Store); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]bool{"sess-1": true, "sess-2": true, "sess-3": false} {
		x, err := parts.Store.Session(project.ID, id)
		if err != nil || x.Private != want || x.Goal != "goal" {
			t.Errorf("%s: %+v, %v, want private %t", id, x, err, want)
		}
	}
}
