package ingest_test

import (
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testkit/backend"
)

// TestPrivateLessonMarksSessions: a private lesson marks the sessions that it may be told in: of
// another project, all that are open where none is named, and after more tellings than it keeps.
// One that becomes private later marks those that it knows.
func TestPrivateLessonMarksSessions(t *testing.T) {
	const mine, other = "p-1", "p-2"
	for name, test := range map[string]struct {
		caller memory.Caller
		// the lesson is told again in the session before, more than its history holds
		often bool
		// it becomes private after it was told
		later bool
		want  []string
	}{
		"named":                       {caller: memory.Caller{Session: "sess-mine"}, want: []string{"sess-mine"}},
		"of another project":          {caller: memory.Caller{Session: "sess-other"}, want: []string{"sess-other"}},
		"ended, of another project":   {caller: memory.Caller{Session: "sess-ended"}, want: []string{"sess-ended"}},
		"several are open":            {caller: memory.Caller{Client: "script"}, want: []string{"sess-free", "sess-free-too"}},
		"open in another project":     {caller: memory.Caller{Client: "agent", Window: "w-1"}, want: []string{"sess-window"}},
		"told often":                  {caller: memory.Caller{Session: "sess-mine"}, often: true, want: []string{"sess-mine", "sess-last"}},
		"private later":               {caller: memory.Caller{Session: "sess-mine"}, later: true, want: []string{"sess-mine"}},
		"later, of another project":   {caller: memory.Caller{Session: "sess-other"}, later: true, want: []string{"sess-other"}},
		"outside of any":              {caller: memory.Caller{Client: "cli"}},
		"an id that no session has":   {caller: memory.Caller{Session: "sess-none"}},
		"an id that none could have":  {caller: memory.Caller{Session: "a b"}},
		"of another window and alone": {caller: memory.Caller{Client: "agent", Window: "w-3"}},
	} {
		t.Run(name, func(t *testing.T) {
			parts := backend.New(t, backend.Options{})
			at := time.Now()
			all := []memory.Session{
				{ID: "sess-mine", Project: mine}, {ID: "sess-last", Project: mine}, {ID: "sess-other", Project: other},
				{ID: "sess-ended", Project: other, EndedAt: at},
				{ID: "sess-free", Project: mine, Client: "script"}, {ID: "sess-free-too", Project: mine, Client: "script"},
				{ID: "sess-window", Project: other, Client: "agent", Window: "w-1"}, {ID: "sess-window-2", Project: mine, Client: "agent", Window: "w-2"},
			}
			for i := range all {
				all[i].CreatedAt, all[i].Goal = at, "goal"
			}
			b := memory.Batch{Projects: []memory.Project{{ID: mine, Name: "shop"}, {ID: other, Name: "site"}}, Sessions: all}
			if _, err := parts.Store.Commit(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			tell := func(caller memory.Caller) string {
				t.Helper()
				out, err := parts.Ingest.Remember(t.Context(), memory.RememberRequest{Lesson: "the key is under the mat", Private: !test.later, Project: mine, Caller: caller})
				if err != nil {
					t.Fatal(err)
				}
				return out.ID
			}
			if test.often {
				tell(memory.Caller{Client: "cli"})
			}
			id := tell(test.caller)
			for range memory.MaxObservations {
				if test.often {
					tell(memory.Caller{Session: "sess-last"})
				}
			}
			if test.later {
				if _, err := parts.Ingest.MarkLesson(t.Context(), memory.MarkLessonRequest{ID: id, Private: new(true), Project: mine}); err != nil {
					t.Fatal(err)
				}
			}
			want := map[string]bool{}
			for _, id := range test.want {
				want[id] = true
			}
			for _, x := range all {
				got, err := parts.Store.Session(x.Project, x.ID)
				if err != nil || got.Private != want[x.ID] || got.Goal != "goal" {
					t.Errorf("%s: %+v, %v, want private %t", x.ID, got, err, want[x.ID])
				}
			}
		})
	}
}

// TestForgottenPrivateLessonMarksSessions: a session that begins after a private lesson named it is
// private, too, when the lesson is forgotten: by its id, by the beginning that answers show, or
// with its project, which need not be the session's.
func TestForgottenPrivateLessonMarksSessions(t *testing.T) {
	for name, forget := range map[string]func(id string) memory.ForgetRequest{
		"by its id":        func(id string) memory.ForgetRequest { return memory.ForgetRequest{IDs: []string{id}} },
		"by its beginning": func(id string) memory.ForgetRequest { return memory.ForgetRequest{IDs: []string{id[:len("l-")+6]}} },
		"with its project": func(string) memory.ForgetRequest { return memory.ForgetRequest{Project: "p-1"} },
	} {
		parts := backend.New(t, backend.Options{})
		b := memory.Batch{Projects: []memory.Project{{ID: "p-1", Name: "shop"}, {ID: "p-2", Name: "site"}}}
		if _, err := parts.Store.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		caller := memory.Caller{Session: "sess-late"}
		told, err := parts.Ingest.Remember(t.Context(), memory.RememberRequest{Lesson: "the key is under the mat", Private: true, Project: "p-1", Caller: caller})
		if err != nil {
			t.Fatal(err)
		}
		b = memory.Batch{Sessions: []memory.Session{{ID: caller.Session, Project: "p-2", CreatedAt: time.Now()}}}
		if _, err := parts.Store.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if out, err := parts.Ingest.Forget(t.Context(), forget(told.ID), parts.Store); err != nil || out.Records != 1 {
			t.Fatalf("%s: forget = %+v, %v", name, out, err)
		}
		if got, err := parts.Store.Session("p-2", caller.Session); err != nil || !got.Private {
			t.Errorf("%s: the session is %+v, %v; want it private", name, got, err)
		}
	}
}
