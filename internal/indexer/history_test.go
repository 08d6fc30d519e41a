package indexer

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/embedder/embeddertest"
	"github.com/recalld/recalld/internal/memory"
)

func session(id string, minutes int, change ...func(*memory.Session)) memory.Session {
	x := memory.Session{ID: id, Project: "p-1", CreatedAt: testTime.Add(time.Duration(minutes) * time.Minute)}
	for _, c := range change {
		c(&x)
	}
	return x
}

// stepAt is a step, milliseconds after testTime.
func stepAt(id, session string, ms int, change ...func(*memory.Record)) memory.Record {
	text := "topic of step " + id
	r := memory.Record{
		ID: id, Kind: memory.Step, Project: "p-1", Session: session, Text: text, Doc: memory.DocumentID(text),
		Created: testTime.Add(time.Duration(ms) * time.Millisecond), Step: &memory.StepContent{},
	}
	for _, c := range change {
		c(&r)
	}
	return r
}

func onScreen(screen string) func(*memory.Record) {
	return func(r *memory.Record) { r.Step.Screen = screen }
}

// history fills a rig with sessions of two projects: three with metadata, a bare
// one, and one of the same id elsewhere.
func history(t *testing.T) *rig {
	r := newRig(t, nil)
	git := func(branch string) *memory.Git { return &memory.Git{Branch: branch, Commit: "abc"} }
	r.commit(memory.Batch{Sessions: []memory.Session{
		session("send", 10, func(x *memory.Session) { x.FlowTags, x.Tags, x.Git = []string{"send"}, []string{"smoke"}, git("main") }),
		session("swap", 30, func(x *memory.Session) {
			x.FlowTags, x.Tags, x.Git = []string{"swap", "sign"}, []string{"ci", "smoke"}, git("fix")
			x.Build, x.Extra = []byte(`{"large":1}`), map[string]json.RawMessage{"x": json.RawMessage("1")}
		}),
		session("empty", 20, func(x *memory.Session) { x.FlowTags = []string{"send"} }),
		session("bare", 40, func(x *memory.Session) { x.Bare, x.FlowTags = true, []string{"send"} }),
		session("send", 50, func(x *memory.Session) { x.Project, x.FlowTags = "p-2", []string{"send"} }),
	}})
	elsewhere := func(x *memory.Record) { x.Project = "p-2" }
	r.remember(
		stepAt("send-3", "send", 300, onScreen("home")), stepAt("send-1", "send", 100, onScreen("home")), stepAt("send-2", "send", 200, onScreen("confirm")),
		stepAt("swap-2", "swap", 250, onScreen("confirm")), stepAt("swap-1b", "swap", 150), stepAt("swap-1a", "swap", 150, onScreen("home")),
		stepAt("bare-1", "bare", 400, onScreen("home")), stepAt("p2-1", "send", 500, elsewhere, onScreen("home")),
	)
	return r
}

// twice runs a test on what was applied and on what was loaded.
func twice(t *testing.T, r *rig, test func(t *testing.T)) {
	t.Helper()
	t.Run("applied", test)
	r.reopen()
	t.Run("loaded", test)
}

func sessionIDs(sessions []memory.Session) []string {
	ids := []string{}
	for _, s := range sessions {
		ids = append(ids, s.ID)
	}
	return ids
}

func TestSessions(t *testing.T) {
	r := history(t)
	twice(t, r, func(t *testing.T) {
		for name, test := range map[string]struct {
			project string
			filter  memory.SessionFilter
			want    []string
		}{
			"all, newest first":      {"p-1", memory.SessionFilter{}, []string{"bare", "swap", "empty", "send"}},
			"of another project":     {"p-2", memory.SessionFilter{}, []string{"send"}},
			"of an unknown project":  {"p-3", memory.SessionFilter{}, []string{}},
			"of no project":          {"", memory.SessionFilter{}, []string{}},
			"flow tag":               {"p-1", memory.SessionFilter{FlowTag: "send"}, []string{"empty", "send"}},
			"second flow tag":        {"p-1", memory.SessionFilter{FlowTag: "sign"}, []string{"swap"}},
			"unknown flow tag":       {"p-1", memory.SessionFilter{FlowTag: "sen"}, []string{}},
			"tag":                    {"p-1", memory.SessionFilter{Tag: "smoke"}, []string{"swap", "send"}},
			"branch":                 {"p-1", memory.SessionFilter{GitBranch: "main"}, []string{"send"}},
			"screen":                 {"p-1", memory.SessionFilter{Screen: "confirm"}, []string{"swap", "send"}},
			"screen of a bare one":   {"p-1", memory.SessionFilter{Screen: "home"}, []string{"swap", "send"}},
			"since, the time itself": {"p-1", memory.SessionFilter{Since: testTime.Add(20 * time.Minute)}, []string{"swap", "empty"}},
			"since, a moment later":  {"p-1", memory.SessionFilter{Since: testTime.Add(20*time.Minute + 1)}, []string{"swap"}},
			"all of it":              {"p-1", memory.SessionFilter{FlowTag: "swap", Tag: "ci", GitBranch: "fix", Screen: "home", Since: testTime}, []string{"swap"}},
			"all but one of it":      {"p-1", memory.SessionFilter{FlowTag: "swap", Tag: "ci", GitBranch: "main", Screen: "home", Since: testTime}, []string{}},
		} {
			got := r.index.Sessions(test.project, test.filter)
			if diff := cmp.Diff(test.want, sessionIDs(got)); diff != "" {
				t.Errorf("%s: sessions (-want +got):\n%s", name, diff)
			}
		}
		s, steps, ok := r.index.Session("p-1", "swap")
		if !ok || steps != 3 || s.Git == nil || s.Git.Branch != "fix" || s.Build != nil || s.Extra != nil {
			t.Errorf("Session = %+v with %d steps, %v; want swap with 3 steps, without Build and Extra", s, steps, ok)
		}
		if _, _, ok := r.index.Session("p-1", "never"); ok {
			t.Error("there is a session that was never started")
		}
		if _, _, ok := r.index.Session("p-2", "swap"); ok {
			t.Error("a session of p-1 is found in p-2")
		}
	})
}

func TestStepsInOrder(t *testing.T) {
	r := history(t)
	all := []string{"bare-1", "send-3", "swap-2", "send-2", "swap-1b", "swap-1a", "send-1"}
	twice(t, r, func(t *testing.T) {
		for id, want := range map[string][]string{
			"send": {"send-1", "send-2", "send-3"}, "swap": {"swap-1a", "swap-1b", "swap-2"}, "empty": {}, "never": nil,
		} {
			if diff := cmp.Diff(want, r.index.SessionSteps("p-1", id)); diff != "" {
				t.Errorf("steps of %s (-want +got):\n%s", id, diff)
			}
		}
		for name, test := range map[string]struct {
			project  string
			sessions []string
			screen   string
			n        int
			want     []string
		}{
			"all":                {"p-1", nil, "", 100, all},
			"as many as asked":   {"p-1", nil, "", 3, all[:3]},
			"none asked":         {"p-1", nil, "", 0, nil},
			"fewer than none":    {"p-1", nil, "", -1, nil},
			"no session":         {"p-1", []string{}, "", 9, nil},
			"one session":        {"p-1", []string{"swap"}, "", 9, []string{"swap-2", "swap-1b", "swap-1a"}},
			"two, one named two": {"p-1", []string{"swap", "send", "swap"}, "", 4, []string{"send-3", "swap-2", "send-2", "swap-1b"}},
			"without steps":      {"p-1", []string{"empty", "never"}, "", 9, nil},
			"screen":             {"p-1", nil, "home", 9, []string{"bare-1", "send-3", "swap-1a", "send-1"}},
			"screen of one":      {"p-1", []string{"send"}, "confirm", 9, []string{"send-2"}},
			"unknown screen":     {"p-1", nil, "hom", 9, nil},
			"of another project": {"p-2", nil, "", 9, []string{"p2-1"}},
			"of no project":      {"", nil, "", 9, nil},
		} {
			if diff := cmp.Diff(test.want, r.index.LastSteps(test.project, test.sessions, test.screen, test.n)); diff != "" {
				t.Errorf("%s: last steps (-want +got):\n%s", name, diff)
			}
		}
	})
}

// TestShelfFollowsChanges changes one thing after the other; the rig's check holds
// the shelf against a fresh one.
func TestShelfFollowsChanges(t *testing.T) {
	r := history(t)
	drop := func(ids ...string) memory.Batch {
		var b memory.Batch
		for _, id := range ids {
			b.DropSessions = append(b.DropSessions, memory.SessionKey{Project: "p-1", ID: id})
		}
		return b
	}
	is := func(what string, want ...string) {
		t.Helper()
		if got := sessionIDs(r.index.Sessions("p-1", memory.SessionFilter{})); !slices.Equal(got, want) {
			t.Errorf("%s: sessions are %v, want %v", what, got, want)
		}
	}
	r.commit(memory.Batch{Sessions: []memory.Session{session("send", 60)}})
	is("an earlier one began later", "send", "bare", "swap", "empty")
	r.commit(memory.Batch{Sessions: []memory.Session{session("bare", 5, func(x *memory.Session) { x.Tags = []string{"late"} })}})
	is("metadata came", "send", "swap", "empty", "bare")
	if got := sessionIDs(r.index.Sessions("p-1", memory.SessionFilter{Tag: "late"})); !slices.Equal(got, []string{"bare"}) {
		t.Errorf("with its metadata the session passes a filter: %v", got)
	}
	r.commit(memory.Batch{Sessions: []memory.Session{session("tie-b", 20), session("tie-a", 20)}})
	is("of one time by id", "send", "swap", "empty", "tie-a", "tie-b", "bare")
	r.commit(drop("tie-a", "tie-b", "empty"))
	is("dropped", "send", "swap", "bare")

	r.remember(stepAt("send-2", "swap", 90, onScreen("other")))
	if got := r.index.SessionSteps("p-1", "swap"); !slices.Equal(got, []string{"send-2", "swap-1a", "swap-1b", "swap-2"}) {
		t.Errorf("a step that moved to another session: %v", got)
	}
	if got := sessionIDs(r.index.Sessions("p-1", memory.SessionFilter{Screen: "confirm"})); !slices.Equal(got, []string{"swap"}) {
		t.Errorf("sessions with the screen that it left: %v, want swap alone", got)
	}
	r.check()

	r.commit(drop("swap"))
	is("dropped before its steps", "send", "bare", "swap")
	if got := r.index.Sessions("p-1", memory.SessionFilter{Since: testTime.Add(-time.Hour)}); len(got) != 2 {
		t.Errorf("%v pass a filter, want those with metadata", sessionIDs(got))
	}
	if _, steps, ok := r.index.Session("p-1", "swap"); !ok || steps != 4 {
		t.Errorf("a session that only its steps name: %d steps, %v; want 4", steps, ok)
	}
	r.commit(memory.Batch{DropRecords: r.index.SessionSteps("p-1", "swap")})
	is("and its steps", "send", "bare")
	if _, _, ok := r.index.Session("p-1", "swap"); ok {
		t.Error("a session that nothing names is still there")
	}
	told := lesson("told", "p-1", "told in a session of another machine")
	told.Session = "far"
	r.remember(told)
	is("named by a lesson only", "send", "bare")
}

// TestSessionsWhileLoading: what is written while the store is read stands in its
// order at the end, and nothing half ordered is answered before.
func TestSessionsWhileLoading(t *testing.T) {
	r := history(t)
	must(t, r.store.Close())
	r.start()
	once := false
	err := r.index.Load(t.Context(), meddled{r.store, func() {
		if once {
			return
		}
		once = true
		r.commit(memory.Batch{Sessions: []memory.Session{session("new", 35)}, DropRecords: []string{"send-1"}})
		r.remember(stepAt("new-1", "new", 175))
		sel := memory.Selection{Project: "p-1", Steps: memory.SessionFilter{FlowTag: "send"}}
		if allow, _ := r.index.Select(sel); !allow.IsEmpty() {
			t.Error("a filter of sessions allows something while loading")
		}
		_, _, known := r.index.Session("p-1", "send")
		if known || r.index.Sessions("p-1", memory.SessionFilter{}) != nil || r.index.LastSteps("p-1", nil, "", 9) != nil || r.index.SessionSteps("p-1", "send") != nil {
			t.Error("sessions are answered while loading")
		}
	}})
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	if got, want := sessionIDs(r.index.Sessions("p-1", memory.SessionFilter{})), []string{"bare", "new", "swap", "empty", "send"}; !slices.Equal(got, want) {
		t.Errorf("sessions after loading: %v, want %v", got, want)
	}
	if got, want := r.index.LastSteps("p-1", nil, "", 5), []string{"bare-1", "send-3", "swap-2", "send-2", "new-1"}; !slices.Equal(got, want) {
		t.Errorf("last steps after loading: %v, want %v", got, want)
	}
}

func TestFingerprinted(t *testing.T) {
	r := history(t)
	about := func(fps ...string) func(*memory.Record) {
		return func(x *memory.Record) {
			if x.Event != nil {
				x.Event.Fingerprints = fps
			} else {
				x.Step.Fingerprints = fps
			}
		}
	}
	with := func(rec memory.Record, changes ...func(*memory.Record)) memory.Record {
		for _, c := range changes {
			c(&rec)
		}
		return rec
	}
	newer := func(x *memory.Record) { x.Created = testTime.Add(time.Hour) }
	r.remember(
		with(lesson("exact", "p-1", "the fix"), about("e-1", "e-general")),
		with(lesson("newer", "p-1", "a newer fix"), about("e-1"), newer),
		with(lesson("general", "p-1", "in general"), about("e-general"), newer),
		with(lesson("theirs", "p-2", "their fix"), about("e-1")),
		with(lesson("wrong", "p-1", "a wrong fix"), about("e-1"), func(x *memory.Record) { x.Event.Withdrawn = &memory.Withdrawal{Reason: "retracted"} }),
		with(lesson("unlike", "p-1", "another error"), about("e-2")),
		stepAt("failed", "send", 600, about("e-1")),
		stepAt("failed-swap", "swap", 700, about("e-1")),
	)
	both := []string{"e-1", "e-general"}
	own := memory.Selection{Project: "p-1"}
	twice(t, r, func(t *testing.T) {
		for name, test := range map[string]struct {
			fps  []string
			sel  memory.Selection
			want []string
		}{
			"lessons, then steps": {both, own, []string{"newer", "exact", "general", "failed-swap", "failed"}},
			"the other way round": {[]string{"e-general", "e-1"}, own, []string{"general", "exact", "newer", "failed-swap", "failed"}},
			"one":                 {[]string{"e-2"}, own, []string{"unlike"}},
			"unknown":             {[]string{"e-3"}, own, nil},
			"none":                {nil, own, nil},
			"everyone's lessons":  {[]string{"e-1"}, memory.Selection{Project: "p-1", AllLessons: true, Kinds: []memory.Kind{memory.Lesson}}, []string{"newer", "exact", "theirs"}},
			"steps":               {both, memory.Selection{Project: "p-1", Kinds: []memory.Kind{memory.Step}}, []string{"failed-swap", "failed"}},
			"steps of sessions":   {both, memory.Selection{Project: "p-1", Steps: memory.SessionFilter{FlowTag: "send"}}, []string{"failed"}},
		} {
			var got []string
			for _, c := range r.index.Fingerprinted(test.fps, test.sel) {
				got = append(got, c.ID)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s: (-want +got):\n%s", name, diff)
			}
		}
	})
	var many []memory.Record
	for i := range maxFingerprinted + 5 {
		many = append(many, stepAt(fmt.Sprintf("again-%03d", i), "send", 1000+i, about("e-1")))
	}
	r.remember(many...)
	got := r.index.Fingerprinted(both, own)
	if last := got[len(got)-1]; len(got) != 3+maxFingerprinted || got[3].ID != "again-104" || last.ID != "again-005" {
		t.Errorf("%d candidates from %s to %s, want 3 lessons and the newest 100 steps", len(got), got[3].ID, last.ID)
	}
}

// TestAsideIsEmbedded: a lesson that comes back has its vector already.
func TestAsideIsEmbedded(t *testing.T) {
	r := newRig(t, &embeddertest.Fake{})
	r.attach()
	aside := lesson("told", "p-1", "put aside at once")
	aside.Event.Withdrawn = &memory.Withdrawal{Reason: "superseded", By: "other"}
	r.remember(aside, lesson("other", "p-1", "another lesson"))
	r.mustFill()
	if s := r.collection(); s.Embedded != 2 || s.State != "ready" {
		t.Errorf("after filling: %+v, want both embedded", s)
	}
}

// TestAside: a lesson that was put aside is kept, not found, and can come back.
func TestAside(t *testing.T) {
	r := newRig(t, nil)
	told, other := lesson("told", "p-1", "topic one"), lesson("other", "p-1", "topic two")
	r.remember(told, other)
	aside := lesson("told", "p-1", "topic one")
	aside.Event.Withdrawn = &memory.Withdrawal{Reason: "superseded", By: "other"}
	for _, step := range []struct {
		what string
		rec  memory.Record
		want []string
	}{
		{"put aside", aside, []string{"other"}},
		{"told again", told, []string{"other", "told"}},
		{"aside once more", aside, []string{"other"}},
	} {
		r.remember(step.rec)
		for _, sel := range []memory.Selection{{}, {Project: "p-1"}, {Kinds: []memory.Kind{memory.Lesson}}} {
			if got := r.found("topic", sel); !slices.Equal(got, step.want) {
				t.Errorf("%s: %+v finds %v, want %v", step.what, sel, got, step.want)
			}
		}
		allow, universe := r.index.Select(memory.Selection{Project: "p-1"})
		if n := len(step.want); int(allow.GetCardinality()) != n || int(universe.GetCardinality()) != n {
			t.Errorf("%s: %d documents are allowed and %d count, want %d", step.what, allow.GetCardinality(), universe.GetCardinality(), n)
		}
	}
	twin := lesson("twin", "p-2", "topic one") // the same text, told elsewhere
	r.remember(twin)
	if got := r.found("topic", memory.Selection{}); !slices.Equal(got, []string{"other", "twin"}) {
		t.Errorf("beside a twin: %v, want the twin in its place", got)
	}
	r.reopen()
	if got := r.found("topic", memory.Selection{}); !slices.Equal(got, []string{"other", "twin"}) {
		t.Errorf("after reopening: %v", got)
	}
}
