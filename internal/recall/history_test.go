package recall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// open is what a store says of the current session.
type open map[string]string // project and client to session

func (o open) CurrentSession(project string, caller memory.Caller) (memory.Session, bool, error) {
	if caller.Client == "many" {
		e := memory.Invalid("sessionId", "one, two", "2 sessions are open")
		e.Cause = memory.ErrSeveralSessions
		return memory.Session{}, false, e
	}
	if caller.Client == "broken" {
		return memory.Session{}, false, errors.New("disk on fire")
	}
	id, ok := o[project+"/"+caller.Client]
	return memory.Session{ID: id, Project: project}, ok, nil
}

// holding makes words a corpus whose documents hold them: a hit for every
// document whose step or text has a word of the question, by how many.
func (s *shelf) holding() {
	s.lexical.Retriever = retriever(func(_ context.Context, q index.Query) (index.Result, error) {
		asked := strings.Fields(q.Text)
		res := index.Result{Best: 100, Searched: len(s.docs), Content: len(asked)}
		for n, places := range s.docs {
			if !q.Allow.Contains(uint32(n)) {
				continue
			}
			text, _ := json.Marshal(s.records[places[0].ID])
			held := 0
			for _, word := range asked {
				if strings.Contains(string(text), word) {
					held++
				}
			}
			if held > 0 {
				share := float32(held) / float32(len(asked))
				res.Hits = append(res.Hits, index.Hit{Doc: uint32(n), Score: s.scale * 100 * share, Held: share})
			}
		}
		slices.SortStableFunc(res.Hits, func(a, b index.Hit) int { return int(b.Score*1000) - int(a.Score*1000) })
		return res, nil
	})
}

func stepIDs(steps []memory.StepView) []string {
	ids := []string{}
	for _, s := range steps {
		ids = append(ids, s.ID)
	}
	return ids
}

func scoped(session string) *memory.Scope { return &memory.Scope{Session: session} }

// TestScopeOfHistory: current is the caller's own session if it is one of the
// project, else the newest open one of its client, and nothing else.
func TestScopeOfHistory(t *testing.T) {
	s := newShelf()
	for _, id := range []string{"mine", "opened", "third"} {
		s.session(id)
		s.did(id, "tool of "+id)
	}
	s.session("ended", func(x *memory.Session) { x.EndedAt = now })
	s.session("bare", func(x *memory.Session) { x.Bare = true })
	s.session("foreign", func(x *memory.Session) { x.Project = "p-other" })
	current := func(o *Options) { o.Current = open{"p-own/codex": "opened"} }
	for name, test := range map[string]struct {
		scope  *memory.Scope
		caller memory.Caller
		want   string // the tool of the only step, or all
		code   memory.Code
		field  string
	}{
		"by default the caller's own":       {nil, memory.Caller{Session: "mine", Client: "codex"}, "mine", "", ""},
		"current is the caller's own":       {&memory.Scope{Name: "current"}, memory.Caller{Session: "mine", Client: "codex"}, "mine", "", ""},
		"the client's newest open one":      {&memory.Scope{Name: "current"}, memory.Caller{Client: "codex"}, "opened", "", ""},
		"a session of another project":      {nil, memory.Caller{Session: "foreign", Client: "codex"}, "opened", "", ""},
		"named":                             {scoped("third"), memory.Caller{Session: "mine"}, "third", "", ""},
		"all":                               {&memory.Scope{Name: "all"}, memory.Caller{Session: "mine"}, "all", "", ""},
		"none is open":                      {nil, memory.Caller{Client: "cursor"}, "", memory.CodeInvalidInput, "scope"},
		"its own has ended":                 {nil, memory.Caller{Session: "ended", Client: "codex"}, "opened", "", ""},
		"its own was never opened":          {nil, memory.Caller{Session: "bare", Client: "codex"}, "opened", "", ""},
		"its own has ended, none is open":   {nil, memory.Caller{Session: "ended", Client: "cursor"}, "", memory.CodeInvalidInput, "scope"},
		"another project's, none is open":   {nil, memory.Caller{Session: "foreign"}, "", memory.CodeInvalidInput, "scope"},
		"an unknown one":                    {scoped("nobody"), memory.Caller{Session: "mine"}, "", memory.CodeNotFound, "scope.sessionId"},
		"another project's by name":         {scoped("foreign"), memory.Caller{Session: "mine"}, "", memory.CodeNotFound, "scope.sessionId"},
		"one of several":                    {nil, memory.Caller{Client: "many"}, "", memory.CodeInvalidInput, "scope"},
		"the store fails":                   {nil, memory.Caller{Client: "broken"}, "", memory.CodeInternal, ""},
		"an id of three characters":         {scoped("abc"), memory.Caller{}, "", memory.CodeInvalidInput, "scope.sessionId"},
		"an id of four characters, unknown": {scoped("abcd"), memory.Caller{}, "", memory.CodeNotFound, "scope.sessionId"},
		"an unknown scope":                  {&memory.Scope{Name: "mine"}, memory.Caller{}, "", memory.CodeInvalidInput, "scope"},
	} {
		list, err := s.service(t, current).LastSteps(t.Context(), memory.LastStepsRequest{Scope: test.scope, Caller: test.caller})
		if test.code != "" {
			if e := memory.AsError(err); err == nil || e.Code != test.code || e.Field != test.field {
				t.Errorf("%s: error %v, want code %s of field %q", name, err, test.code, test.field)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if test.want == "all" && len(list.Steps) == 3 {
			continue
		}
		if len(list.Steps) != 1 || list.Steps[0].Tool != "tool of "+test.want {
			t.Errorf("%s: steps %+v, want the one of %s", name, list.Steps, test.want)
		}
	}
}

// TestFiltersOfHistory plants noise that differs from the wanted steps in one
// thing each.
func TestFiltersOfHistory(t *testing.T) {
	s := newShelf()
	s.holding()
	wanted := func(x *memory.Session) {
		x.FlowTags, x.Tags, x.Git = []string{"send"}, []string{"smoke"}, &memory.Git{Branch: "feature"}
		x.CreatedAt = now.Add(-90 * time.Minute)
	}
	home := func(r *memory.Record) { r.Step.Screen = "home" }
	s.session("want", wanted)
	s.session("swap", wanted, func(x *memory.Session) { x.FlowTags = []string{"swap"} })
	s.session("nightly", wanted, func(x *memory.Session) { x.Tags = []string{"nightly"} })
	s.session("main", wanted, func(x *memory.Session) { x.Git = &memory.Git{Branch: "main"} })
	s.session("old", wanted, func(x *memory.Session) { x.CreatedAt = now.Add(-3 * time.Hour) })
	s.session("bare", wanted, func(x *memory.Session) { x.Bare = true })
	for _, x := range s.known {
		s.did(x.ID, "click", home)
		s.did(x.ID, "click", func(r *memory.Record) { r.Step.Screen = "settings" })
	}
	filters := func(change func(*memory.StepFilters)) *memory.StepFilters {
		f := &memory.StepFilters{}
		change(f)
		return f
	}
	all := []string{"bare", "main", "nightly", "old", "swap", "want"}
	without := func(ids ...string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(id string) bool { return slices.Contains(ids, id) })
	}
	for name, test := range map[string]struct {
		filters *memory.StepFilters
		want    []string
		screen  string
	}{
		"none":             {nil, all, ""},
		"empty":            {&memory.StepFilters{}, all, ""},
		"flow tag":         {filters(func(f *memory.StepFilters) { f.FlowTag = new("send") }), without("swap", "bare"), ""},
		"unknown flow tag": {filters(func(f *memory.StepFilters) { f.FlowTag = new("nobody") }), []string{}, ""},
		"tag":              {filters(func(f *memory.StepFilters) { f.Tag = new("smoke") }), without("nightly", "bare"), ""},
		"branch":           {filters(func(f *memory.StepFilters) { f.GitBranch = new("feature") }), without("main", "bare"), ""},
		"hours":            {filters(func(f *memory.StepFilters) { f.SinceHours = new(2) }), without("old", "bare"), ""},
		"screen":           {filters(func(f *memory.StepFilters) { f.Screen = new("home") }), without("bare"), "home"},
		"all of them": {filters(func(f *memory.StepFilters) {
			f.FlowTag, f.Tag, f.GitBranch, f.SinceHours, f.Screen = new("send"), new("smoke"), new("feature"), new(2), new("home")
		}), []string{"want"}, "home"},
	} {
		service := s.service(t)
		perSession := 2
		if test.screen != "" {
			perSession = 1
		}
		check := func(what string, steps []memory.StepView, err error) {
			t.Helper()
			got := []string{}
			for _, step := range steps {
				got = append(got, step.SessionID)
				if test.screen != "" && step.Screen != test.screen {
					t.Errorf("%s: %s shows a step on %q, want %q alone", name, what, step.Screen, test.screen)
				}
			}
			slices.Sort(got)
			if err != nil || !slices.Equal(slices.Compact(got), test.want) || len(steps) != perSession*len(test.want) {
				t.Errorf("%s: %s finds %d steps of %v, %v; want %d of each of %v", name, what, len(steps), got, err, perSession, test.want)
			}
		}
		matches, err := service.SearchSteps(t.Context(), memory.SearchStepsRequest{Query: "click", Filters: test.filters})
		if err != nil {
			t.Fatalf("%s: search: %v", name, err)
		}
		check("search", matches.Matches, err)
		last, err := service.LastSteps(t.Context(), memory.LastStepsRequest{Scope: &memory.Scope{Name: "all"}, Filters: test.filters})
		if err != nil {
			t.Fatalf("%s: last: %v", name, err)
		}
		check("last", last.Steps, err)
		sessions, err := service.Sessions(t.Context(), memory.SessionsRequest{Filters: test.filters})
		if err != nil {
			t.Fatalf("%s: sessions: %v", name, err)
		}
		got := []string{}
		for _, x := range sessions.Sessions {
			got = append(got, x.SessionID)
		}
		slices.Sort(got)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: sessions are %v, want %v", name, got, test.want)
		}
	}
	// Scope and filters are both kept to.
	last, err := s.service(t).LastSteps(t.Context(), memory.LastStepsRequest{Scope: scoped("swap"), Filters: filters(func(f *memory.StepFilters) { f.FlowTag = new("send") })})
	if err != nil || len(last.Steps) != 0 {
		t.Errorf("a session that the filters leave out shows %v, %v; want nothing", stepIDs(last.Steps), err)
	}
	last, err = s.service(t).LastSteps(t.Context(), memory.LastStepsRequest{Scope: scoped("want"), Filters: filters(func(f *memory.StepFilters) { f.Screen = new("home") })})
	if err != nil || len(last.Steps) != 1 {
		t.Errorf("a session on one screen shows %v, %v; want its one step there", stepIDs(last.Steps), err)
	}
}

// TestLastFiltersThenCounts: n is of what passed the filters, newest first.
func TestLastFiltersThenCounts(t *testing.T) {
	s := newShelf()
	s.session("sess")
	var want []string
	for i := range 250 {
		r := s.did("sess", "click", func(r *memory.Record) { r.Step.Screen = []string{"home", "noise"}[i%2] })
		if r.Step.Screen == "home" {
			want = append(want, r.ID)
		}
	}
	slices.Reverse(want)
	for n, count := range map[int]int{0: memory.DefaultLast, 1: 1, 5: 5, 125: 125, 200: 125} {
		list, err := s.service(t).LastSteps(t.Context(), memory.LastStepsRequest{
			Scope: scoped("sess"), N: n, Filters: &memory.StepFilters{Screen: new("home")},
		})
		if err != nil || !slices.Equal(stepIDs(list.Steps), want[:count]) {
			t.Errorf("the last %d: %v, %v; want the newest %d on the screen", n, stepIDs(list.Steps), err, count)
		}
	}
	list, err := s.service(t).LastSteps(t.Context(), memory.LastStepsRequest{Scope: scoped("sess"), N: 200})
	if err != nil || len(list.Steps) != 200 {
		t.Errorf("the last 200: %d steps, %v", len(list.Steps), err)
	}
}

func TestSearchFloor(t *testing.T) {
	s := newShelf()
	s.holding()
	s.scale = .0001 // nothing of it is relevant as recall means it
	s.session("sess")
	one := s.did("sess", "alpha")
	two := s.did("sess", "alpha beta")
	for query, want := range map[string][]string{
		"alpha":                     {one.ID, two.ID},
		"alpha beta":                {two.ID, one.ID},
		"alpha other words here":    {one.ID, two.ID}, // a quarter
		"alpha other words here no": {},               // a fifth
		"bread":                     {},
	} {
		m, err := s.service(t).SearchSteps(t.Context(), memory.SearchStepsRequest{Query: query})
		if err != nil || m.Query != query {
			t.Fatalf("search %q: %+v, %v", query, m, err)
		}
		got := stepIDs(m.Matches)
		if slices.Sort(got); query != "alpha beta" {
			slices.Sort(want)
		} else {
			got = stepIDs(m.Matches)
		}
		if !slices.Equal(got, want) {
			t.Errorf("search %q finds %v, want %v", query, got, want)
		}
	}
}

// TestRepeatedStepsDoNotCrowdOut: of steps with one text each is shown only when
// every other text has its place.
func TestRepeatedStepsDoNotCrowdOut(t *testing.T) {
	s := newShelf()
	s.session("sess")
	s.did("sess", "again")
	s.did("sess", "other")
	for i := range 3 { // the same text three times more
		r := memory.Record{ID: fmt.Sprintf("r-%d", i), Kind: memory.Step, Project: "p-own", Session: "sess", Created: now.Add(time.Duration(i) * time.Second),
			Step: &memory.StepContent{Tool: memory.StepTool{Name: "again"}}}
		s.records[r.ID] = r
		s.docs[0] = append(s.docs[0], memory.Candidate{Kind: memory.Step, Project: "p-own", Session: "sess", Created: r.Created, ID: r.ID})
	}
	for limit, want := range map[int][]string{1: {"r-2"}, 2: {"r-2", "s-001"}, 3: {"r-2", "r-1", "s-001"}, 10: {"r-2", "r-1", "r-0", "s-000", "s-001"}} {
		m, err := s.service(t).SearchSteps(t.Context(), memory.SearchStepsRequest{Query: "needle", Limit: limit})
		if err != nil || !slices.Equal(stepIDs(m.Matches), want) {
			t.Errorf("%d matches: %v, %v; want %v", limit, stepIDs(m.Matches), err, want)
		}
	}
}

func TestStepView(t *testing.T) {
	s := newShelf()
	s.session("sess", func(x *memory.Session) { x.Goal = "use hunter2 to log in" })
	s.did("sess", "mm_click", func(r *memory.Record) {
		r.Step.Screen, r.Step.Labels = "send", []string{"interaction"}
		r.Step.Tool.Target = json.RawMessage(`{"testId":"confirm-button"}`)
		r.Step.Outcome = memory.Outcome{Error: &memory.StepError{Code: "E_GONE", Message: "the needle with hunter2 is " + strings.Repeat("ü ", 300) + "gone"}}
	})
	service := s.service(t, func(o *Options) {
		o.Redact = func(text string) (string, int) { return strings.ReplaceAll(text, "hunter2", "[redacted]"), 1 }
	})
	m, err := service.SearchSteps(t.Context(), memory.SearchStepsRequest{Query: "needle button hunter2"})
	if err != nil || len(m.Matches) != 1 {
		t.Fatalf("search: %+v, %v; want one step", m, err)
	}
	v := m.Matches[0]
	if !strings.HasPrefix(v.Snippet, "confirm-button → failed: ") || !strings.Contains(v.Snippet, "needle") {
		t.Errorf("the snippet is %q, want the target in brief, that it failed, and what was asked for", v.Snippet)
	}
	if !slices.Equal(v.MatchedFields, []string{"target", "error"}) {
		t.Errorf("matched fields %v, want target and error in this order", v.MatchedFields)
	}
	last, err := service.LastSteps(t.Context(), memory.LastStepsRequest{Scope: scoped("sess")})
	if err != nil || len(last.Steps) != 1 {
		t.Fatalf("last: %+v, %v; want one step", last, err)
	}
	if l := last.Steps[0]; !strings.HasPrefix(l.Snippet, "confirm-button → failed: E_GONE: the needle") || l.MatchedFields != nil {
		t.Errorf("without a question it is shown as %q, %v", l.Snippet, l.MatchedFields)
	}
	a := s.ask(t, memory.RecallRequest{Kinds: []memory.Kind{memory.Step}}, func(o *Options) { o.Redact = service.opts.Redact })
	if len(a.Items) != 1 || a.Items[0].Source.Session != "sess" || !strings.HasPrefix(a.Items[0].Text, "mm_click confirm-button → failed: E_GONE: ") || a.Items[0].Timestamp.IsZero() {
		t.Errorf("recall shows it as %+v", a.Items)
	}
	for what, text := range map[string]string{"search": v.Snippet, "last": last.Steps[0].Snippet, "recall": a.Items[0].Text, "goal": v.SessionGoal} {
		limit := stepSnippet
		if what == "recall" {
			limit = render.StepLine
		}
		if n := utf8.RuneCountInString(text); n > limit || !utf8.ValidString(text) {
			t.Errorf("%s has %d characters (valid: %v), want at most %d", what, n, utf8.ValidString(text), limit)
		}
		if strings.Contains(text, "hunter2") {
			t.Errorf("%s shows a secret: %q", what, text)
		}
	}
}

func TestHistoryWhileLoading(t *testing.T) {
	s := newShelf()
	s.lexical = index.Source{Name: "lexical", Degraded: "loading"}
	service := s.service(t)
	ctx, all := t.Context(), &memory.Scope{Name: "all"}
	_, search := service.SearchSteps(ctx, memory.SearchStepsRequest{Query: "q"})
	_, last := service.LastSteps(ctx, memory.LastStepsRequest{Scope: all})
	_, sessions := service.Sessions(ctx, memory.SessionsRequest{})
	_, summary := service.SummarizeSession(ctx, memory.SummarizeRequest{Scope: scoped("some")})
	for what, err := range map[string]error{"search": search, "last": last, "sessions": sessions, "summary": summary} {
		if memory.CodeOf(err) != memory.CodeUnavailable {
			t.Errorf("%s while loading: %v, want unavailable", what, err)
		}
	}
	a := s.ask(t, memory.RecallRequest{Scope: scoped("some-session")})
	if len(a.Degraded) == 0 || a.NothingRelevant {
		t.Errorf("recall while loading: %+v, want it degraded and nothing denied", a)
	}
}

// TestSnippetOfAFailedStep: whatever of it matches, it is told that it failed.
func TestSnippetOfAFailedStep(t *testing.T) {
	s := newShelf()
	s.session("sess")
	s.did("sess", "Bash", func(r *memory.Record) {
		r.Step.Tool.Input = json.RawMessage(`{"command":"npm install ` + strings.Repeat("left-pad ", 30) + `"}`)
		r.Step.Outcome = memory.Outcome{Error: &memory.StepError{Message: "EACCES: permission denied"}}
	})
	s.did("sess", "Silent", func(r *memory.Record) { r.Step.Outcome = memory.Outcome{} })
	for query, want := range map[string][2]string{ // begins and ends with
		"npm":            {"npm install left-pad", " → failed: EACCES: permission denied"},
		"permission":     {"→ failed: EACCES: permission denied", "→ failed: EACCES: permission denied"},
		"npm permission": {"npm install left-pad", " → failed: EACCES: permission denied"},
		"Bash":           {"npm install left-pad", "→ failed: EACCES: permission denied"},
		"Silent":         {"→ failed", "→ failed"},
	} {
		steps, err := s.service(t).views(t.Context(), historyScope{project: "p-own", inside: true}, []string{s.docs[0][0].ID, s.docs[1][0].ID}, lexical.Analyze(query))
		if err != nil || len(steps) != 2 {
			t.Fatalf("%s: %+v, %v", query, steps, err)
		}
		got := steps[0].Snippet
		if query == "Silent" {
			got = steps[1].Snippet
		}
		if !strings.HasPrefix(got, want[0]) || !strings.HasSuffix(got, want[1]) || len(got) > stepSnippet {
			t.Errorf("%s: shown as %q, want it to begin with %q and to end with %q", query, got, want[0], want[1])
		}
	}
}

// TestNoViewShowsASecret: every text of sessions, steps and summaries passes the
// rules again; they may be newer than what was stored.
func TestNoViewShowsASecret(t *testing.T) {
	s := newShelf()
	s.holding()
	s.session("sess", func(x *memory.Session) {
		x.Goal, x.FlowTags, x.Tags = "goal hunter2", []string{"flow-hunter2"}, []string{"tag-hunter2"}
		x.Git = &memory.Git{Branch: "branch-hunter2", Commit: "commit-hunter2"}
	})
	for _, failed := range []bool{true, false} {
		s.did("sess", "tool-hunter2", func(r *memory.Record) {
			text := json.RawMessage(`{"text":"needle hunter2"}`)
			r.Step.Screen, r.Step.Labels = "screen-hunter2", []string{"label-hunter2"}
			r.Step.Tool.Target, r.Step.Tool.Input, r.Step.Observation = text, text, text
			if failed {
				r.Step.Outcome = memory.Outcome{Error: &memory.StepError{Code: "E-hunter2", Message: "needle hunter2"}}
			}
		})
	}
	service := s.service(t, func(o *Options) {
		o.Redact = func(text string) (string, int) { return strings.ReplaceAll(text, "hunter2", "[redacted]"), 0 }
	})
	ctx, scope := t.Context(), scoped("sess")
	for name, ask := range map[string]func() (any, error){
		"sessions": func() (any, error) { return service.Sessions(ctx, memory.SessionsRequest{}) },
		"last":     func() (any, error) { return service.LastSteps(ctx, memory.LastStepsRequest{Scope: scope}) },
		"search":   func() (any, error) { return service.SearchSteps(ctx, memory.SearchStepsRequest{Query: "needle"}) },
		"summary":  func() (any, error) { return service.SummarizeSession(ctx, memory.SummarizeRequest{Scope: scope}) },
	} {
		answer, err := ask()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "hunter2") || !strings.Contains(string(text), "[redacted]") {
			t.Errorf("%s shows %s", name, text)
		}
	}
}

func TestSessionViews(t *testing.T) {
	s := newShelf()
	for i := range 60 {
		s.session(fmt.Sprintf("sess-%02d", i), func(x *memory.Session) { x.CreatedAt = now.Add(-time.Duration(i) * time.Minute) })
	}
	s.known[0].FlowTags, s.known[0].Tags = []string{"send"}, []string{"smoke"}
	s.known[0].Git = &memory.Git{Branch: "main", Commit: "abc", Dirty: true}
	for limit, want := range map[int]int{0: memory.DefaultSessions, 1: 1, 50: 50} {
		list, err := s.service(t).Sessions(t.Context(), memory.SessionsRequest{Limit: limit})
		if err != nil || len(list.Sessions) != want || list.Sessions[0].SessionID != "sess-00" {
			t.Fatalf("%d sessions: %d, %v; want %d, the newest first", limit, len(list.Sessions), err, want)
		}
	}
	list, err := s.service(t).Sessions(t.Context(), memory.SessionsRequest{Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := []memory.SessionView{
		{SessionID: "sess-00", CreatedAt: now, Goal: "goal of sess-00", FlowTags: []string{"send"}, Tags: []string{"smoke"},
			Git: memory.Git{Branch: "main", Commit: "abc", Dirty: true}},
		{SessionID: "sess-01", CreatedAt: now.Add(-time.Minute), Goal: "goal of sess-01", FlowTags: []string{}, Tags: []string{}},
	}
	if diff := cmp.Diff(want, list.Sessions); diff != "" {
		t.Errorf("sessions (-want +got):\n%s", diff)
	}
}
