package recall

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// TestRelatedKinds: what is found with tasks is asked for once.
func TestRelatedKinds(t *testing.T) {
	const task, blocker, summary = memory.Task, memory.Blocker, memory.SessionSummary
	for _, kinds := range [][]memory.Kind{{task}, {task, blocker}, {task, summary}, {blocker, task, summary}} {
		got := slices.Sorted(slices.Values(withRelated(kinds)))
		if want := []memory.Kind{blocker, summary, task}; !slices.Equal(got, want) {
			t.Errorf("%v with what is related: %v, want %v", kinds, got, want)
		}
	}
	if got := withRelated([]memory.Kind{blocker}); len(got) != 1 {
		t.Errorf("blockers alone become %v", got)
	}
}

func TestSelectionOfARequest(t *testing.T) {
	all := append(slices.Clone(memory.DefaultKinds), memory.Blocker, memory.SessionSummary)
	// Two hours of a session, and as much as is left of a record's own age.
	hours := func(since time.Duration) memory.Selection {
		return memory.Selection{Kinds: all, Project: "p-own", AllLessons: true, Since: now.Add(-since),
			Steps: memory.SessionFilter{Since: now.Add(-2 * time.Hour)}}
	}
	for name, test := range map[string]struct {
		req  memory.RecallRequest
		want memory.Selection
	}{
		"default":             {memory.RecallRequest{}, memory.Selection{Kinds: all, Project: "p-own", AllLessons: true}},
		"project":             {memory.RecallRequest{Project: "other"}, memory.Selection{Kinds: all, Project: "p-other"}},
		"kinds":               {memory.RecallRequest{Kinds: []memory.Kind{memory.Reference}}, memory.Selection{Kinds: []memory.Kind{memory.Reference}, Project: "p-own", AllLessons: true}},
		"repository":          {memory.RecallRequest{Repo: "r"}, memory.Selection{Kinds: all, Project: "p-own", Repos: []string{"r"}, AllLessons: true}},
		"project, repository": {memory.RecallRequest{Project: "own", Repo: "r"}, memory.Selection{Kinds: all, Project: "p-own", Repos: []string{"r"}}},
		"own repository":      {memory.RecallRequest{Repo: "worktree"}, memory.Selection{Kinds: all, Project: "p-own", Repos: []string{"own", "worktree"}, AllLessons: true}},
		"another's of before": {memory.RecallRequest{Repo: "before"}, memory.Selection{Kinds: all, Project: "p-own", Repos: []string{"other", "before"}, AllLessons: true}},
		"an id is no name":    {memory.RecallRequest{Repo: "p-own"}, memory.Selection{Kinds: all, Project: "p-own", Repos: []string{"p-own"}, AllLessons: true}},
		"all sessions":        {memory.RecallRequest{Scope: &memory.Scope{Name: "all"}}, memory.Selection{Kinds: all, Project: "p-own", AllLessons: true}},
		"current session": {
			memory.RecallRequest{Scope: &memory.Scope{Name: "current"}, Caller: memory.Caller{Session: "sess"}},
			memory.Selection{Kinds: all, Project: "p-own", AllLessons: true, Session: "sess"},
		},
		"named session": {memory.RecallRequest{Scope: &memory.Scope{Session: "some-session"}}, memory.Selection{Kinds: all, Project: "p-own", AllLessons: true, Session: "some-session"}},
		"filters": {
			memory.RecallRequest{Filters: &memory.Filters{Lang: "go", Path: "src/**", Tag: "npm", Since: now.Add(-time.Hour)}},
			memory.Selection{Kinds: all, Project: "p-own", AllLessons: true, Lang: "go", Path: "src/**", Tag: "npm", Since: now.Add(-time.Hour),
				Steps: memory.SessionFilter{Tag: "npm"}},
		},
		"filters of sessions": {
			memory.RecallRequest{Filters: &memory.Filters{FlowTag: "send", Screen: "home", GitBranch: "main"}},
			memory.Selection{Kinds: all, Project: "p-own", AllLessons: true,
				Steps: memory.SessionFilter{FlowTag: "send", Screen: "home", GitBranch: "main"}},
		},
		"hours":              {memory.RecallRequest{Filters: &memory.Filters{SinceHours: 2}}, hours(2 * time.Hour)},
		"hours, then since":  {memory.RecallRequest{Filters: &memory.Filters{SinceHours: 2, Since: now.Add(-time.Hour)}}, hours(time.Hour)},
		"since, then hours":  {memory.RecallRequest{Filters: &memory.Filters{SinceHours: 2, Since: now.Add(-3 * time.Hour)}}, hours(2 * time.Hour)},
		"a filter of nought": {memory.RecallRequest{Filters: &memory.Filters{}}, memory.Selection{Kinds: all, Project: "p-own", AllLessons: true}},
	} {
		s := newShelf()
		s.session("sess")
		s.session("some-session")
		a := s.ask(t, test.req)
		test.want.Followed = true // a caller without a folder is where it says
		if diff := cmp.Diff(test.want, s.selected[0]); diff != "" {
			t.Errorf("%s: selection (-want +got):\n%s", name, diff)
		}
		if a.Project != test.want.Project || a.ProjectName == "" {
			t.Errorf("%s: the answer names project %q %q, want %s", name, a.Project, a.ProjectName, test.want.Project)
		}
	}
}

func TestRefusedRequests(t *testing.T) {
	filter := func(f memory.Filters) memory.RecallRequest { return memory.RecallRequest{Query: "q", Filters: &f} }
	for name, test := range map[string]struct {
		req   memory.RecallRequest
		code  memory.Code
		field string
		limit bool
	}{
		"no query":           {memory.RecallRequest{}, memory.CodeInvalidInput, "query", true},
		"blank query":        {memory.RecallRequest{Query: " \n\t"}, memory.CodeInvalidInput, "query", true},
		"long query":         {memory.RecallRequest{Query: strings.Repeat("ü", memory.MaxQuery+1)}, memory.CodeInvalidInput, "query", true},
		"NUL in the query":   {memory.RecallRequest{Query: "a\x00"}, memory.CodeInvalidInput, "query", true},
		"no UTF-8":           {memory.RecallRequest{Query: "a\xff"}, memory.CodeInvalidInput, "query", true},
		"unknown kind":       {memory.RecallRequest{Query: "q", Kinds: []memory.Kind{"blocker"}}, memory.CodeInvalidInput, "kinds[0]", true},
		"limit":              {memory.RecallRequest{Query: "q", Limit: 51}, memory.CodeInvalidInput, "limit", true},
		"negative limit":     {memory.RecallRequest{Query: "q", Limit: -1}, memory.CodeInvalidInput, "limit", true},
		"few tokens":         {memory.RecallRequest{Query: "q", MaxTokens: 49}, memory.CodeInvalidInput, "max_tokens", true},
		"many tokens":        {memory.RecallRequest{Query: "q", MaxTokens: 8001}, memory.CodeInvalidInput, "max_tokens", true},
		"relevance":          {memory.RecallRequest{Query: "q", MinRelevance: new(1.1)}, memory.CodeInvalidInput, "min_relevance", true},
		"format":             {memory.RecallRequest{Query: "q", Format: "xml"}, memory.CodeInvalidInput, "format", true},
		"unknown project":    {memory.RecallRequest{Query: "q", Project: "nowhere"}, memory.CodeNotFound, "", false},
		"no current session": {memory.RecallRequest{Query: "q", Scope: &memory.Scope{Name: "current"}}, memory.CodeInvalidInput, "scope", false},
		"unknown scope":      {memory.RecallRequest{Query: "q", Scope: &memory.Scope{Name: "mine"}}, memory.CodeInvalidInput, "scope", true},
		"short session":      {memory.RecallRequest{Query: "q", Scope: &memory.Scope{Session: "abc"}}, memory.CodeInvalidInput, "scope.sessionId", true},
		"unknown session":    {memory.RecallRequest{Query: "q", Scope: &memory.Scope{Session: "some"}}, memory.CodeNotFound, "scope.sessionId", false},
		"flow tag":           {filter(memory.Filters{FlowTag: strings.Repeat("f", 201)}), memory.CodeInvalidInput, "filters.flowTag", true},
		"screen":             {filter(memory.Filters{Screen: strings.Repeat("s", 201)}), memory.CodeInvalidInput, "filters.screen", true},
		"branch":             {filter(memory.Filters{GitBranch: strings.Repeat("b", 201)}), memory.CodeInvalidInput, "filters.gitBranch", true},
		"hours":              {filter(memory.Filters{SinceHours: 721}), memory.CodeInvalidInput, "filters.sinceHours", true},
		"path pattern":       {filter(memory.Filters{Path: "src/[a"}), memory.CodeInvalidInput, "filters.path", true},
		"long path":          {filter(memory.Filters{Path: strings.Repeat("p", 4097)}), memory.CodeInvalidInput, "filters.path", true},
	} {
		s := newShelf()
		_, err := s.service(t).Recall(t.Context(), test.req)
		e := memory.AsError(err)
		if memory.CodeOf(err) != test.code || e.Field != test.field || (e.Limit != "") != test.limit {
			t.Errorf("%s: %v (code %s, field %q, limit %q); want code %s, field %q, a limit: %v",
				name, err, e.Code, e.Field, e.Limit, test.code, test.field, test.limit)
		}
		if len(s.receipts) > 0 || len(s.selected) > 0 {
			t.Errorf("%s: a refused question was searched or has a receipt", name)
		}
	}
}

func TestOwnLessonsFirst(t *testing.T) {
	s := newShelf()
	foreign := func(r *memory.Record) { r.Project, r.Repo = "p-other", "other" }
	s.lesson("theirs-1", foreign)
	s.lesson("own-1")
	s.lesson("theirs-2", foreign)
	s.lesson("own-2")
	if got, want := ids(s.ask(t, memory.RecallRequest{})), []string{"own-1", "own-2", "theirs-1", "theirs-2"}; !slices.Equal(got, want) {
		t.Errorf("without a repository: %v, want the own ones first: %v", got, want)
	}
	a := s.ask(t, memory.RecallRequest{Repo: "other"})
	if got, want := ids(a), []string{"theirs-1", "theirs-2"}; !slices.Equal(got, want) {
		t.Errorf("with a repository: %v, want its lessons alone: %v", got, want)
	}
	if n := strings.Count(a.Text, "[from other]"); n != 2 {
		t.Errorf("%d lessons are marked as another repository's, want 2:\n%s", n, a.Text)
	}
	if got := ids(s.ask(t, memory.RecallRequest{Project: "own"})); !slices.Equal(got, []string{"own-1", "own-2"}) {
		t.Errorf("with a project: %v, want its lessons alone", got)
	}
}

func TestOrderOfKinds(t *testing.T) {
	s := newShelf()
	s.chunk("func f() {}", at("f.go"))
	s.step("t-1", "a step")
	s.lesson("l-1")
	if got, want := ids(s.ask(t, memory.RecallRequest{})), []string{"l-1", "t-1", "f.go"}; !slices.Equal(got, want) {
		t.Errorf("items = %v, want lessons, steps, code: %v", got, want)
	}
}

func TestReceipt(t *testing.T) {
	s := newShelf()
	s.many(3, func(r *memory.Record) { r.Event.Lesson = "the words of " + r.ID })
	s.chunk("func bad() {}", at("bad.go"))
	s.gates[at("bad.go")] = &memory.GateError{Reason: memory.Gone}
	a := s.ask(t, memory.RecallRequest{Query: "needle hunter2", Limit: 2}, func(o *Options) {
		o.Redact = func(text string) (string, int) { return strings.ReplaceAll(text, "hunter2", "[redacted]"), 0 }
	})
	r, err := s.service(t).Receipt(t.Context(), a.Receipt)
	if err != nil {
		t.Fatalf("the receipt that the answer names: %v", err)
	}
	if r.Request.Query != "needle [redacted]" || r.Request.Limit != 2 || r.Request.MaxTokens != memory.DefaultTokens {
		t.Errorf("the receipt has the request %+v, want it with its settings and without its secret", r.Request)
	}
	if r.Project != "p-own" || r.Seq != 42 || r.Calibration == "" || !r.At.Equal(now) || r.Tokens != a.Tokens {
		t.Errorf("the receipt is %+v, want project, sequence number, calibration, time and tokens", r)
	}
	if len(r.Items) != 2 || r.Items[0].ID != "l-00" || r.Items[0].RankFactors == nil || r.Items[0].RankFactors.Retrievers["lexical"].Score != 100 {
		t.Errorf("the receipt has the items %+v, want both with their factors and scores", r.Items)
	}
	if diff := cmp.Diff(a.Withheld, r.Withheld); diff != "" {
		t.Errorf("withheld in answer and receipt (-answer +receipt):\n%s", diff)
	}
	_, err = s.service(t).Receipt(t.Context(), "rc-none")
	if e := memory.AsError(err); memory.CodeOf(err) != memory.CodeNotFound || e.Field != "id" || e.Hint == "" {
		t.Errorf("an unknown receipt = %v, field %q, hint %q, want not found with both", err, e.Field, e.Hint)
	}
}

// TestReceiptHoldsNoSecret: whatever text narrows a question may quote one; what was
// asked is searched as it is.
func TestReceiptHoldsNoSecret(t *testing.T) {
	s := newShelf()
	s.lesson("l-1")
	s.session("session-hunter2")
	req := memory.RecallRequest{
		Query: "needle hunter2", Repo: "hunter2", Scope: scoped("session-hunter2"), Caller: memory.Caller{Dir: "/hunter2", Client: "hunter2", Session: "hunter2"},
		Filters: &memory.Filters{FlowTag: "hunter2", Screen: "hunter2", GitBranch: "hunter2", Lang: "go", Path: "hunter2", Tag: "hunter2"},
	}
	asked, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	a := s.ask(t, req, func(o *Options) {
		o.Redact = func(text string) (string, int) { return strings.ReplaceAll(text, "hunter2", "[redacted]"), 0 }
	})
	r, err := s.service(t).Receipt(t.Context(), a.Receipt)
	if err != nil {
		t.Fatalf("receipt: %v", err)
	}
	kept, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(kept), "hunter2") || strings.Count(string(kept), "[redacted]") != strings.Count(string(asked), "hunter2") {
		t.Errorf("the receipt is %s, want each of the texts of %s without its secret", kept, asked)
	}
	if got := s.selected[0]; got.Tag != "hunter2" || req.Filters.Tag != "hunter2" {
		t.Errorf("searched was %+v for %+v, want what was asked", got, req.Filters)
	}
}

func TestReceiptsSortByTime(t *testing.T) {
	early, again, late := ReceiptID(now), ReceiptID(now), ReceiptID(now.Add(time.Millisecond))
	if early >= late || early == again || len(early) != memory.ReceiptLength {
		t.Errorf("receipts %s, %s and %s: want them in order and none twice", early, again, late)
	}
}

// TestAnswersAreDeterministic asks the same ten times.
func TestAnswersAreDeterministic(t *testing.T) {
	s := newShelf()
	s.many(20)
	s.chunk("func f() {}", at("f.go"))
	s.more = append(s.more, working("vector/m", "", 0), failing("vector/n", errors.New("down")))
	var first *memory.RecallResponse
	for range 10 {
		a := s.ask(t, memory.RecallRequest{Explain: true, MaxTokens: 8000, Limit: 10})
		a.Text = strings.ReplaceAll(strings.ReplaceAll(a.Text, a.Receipt, ""), render.ShortReceipt(a.Receipt), "")
		a.Receipt = ""
		if first == nil {
			first = a
		}
		if diff := cmp.Diff(first, a); diff != "" {
			t.Fatalf("the same question is answered otherwise (-first +again):\n%s", diff)
		}
	}
}

func TestRankIsBare(t *testing.T) {
	s := newShelf()
	s.many(8)
	s.scale = .001
	ranked, degraded := s.service(t).Rank(t.Context(), "needle", memory.Selection{Kinds: memory.DefaultKinds, Project: "p-own"}, 6)
	if len(ranked) != 6 || len(degraded) != 0 || ranked[0].ID != "l-00" || ranked[5].ID != "l-05" {
		t.Errorf("Rank = %+v, %v; want the first six whatever their relevance", ranked, degraded)
	}
	for i := 1; i < len(ranked); i++ {
		if ranked[i].Score >= ranked[i-1].Score {
			t.Errorf("the score of %s is not below that of %s", ranked[i].ID, ranked[i-1].ID)
		}
	}
}
