package memory_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

// question has what any request about history has.
type question struct {
	Query, Project string
	Scope          *memory.Scope
	Filters        *memory.StepFilters
	Limit          int
}

// historyChecks validate a question as each of the requests does, and return it with the
// defaults filled in.
var historyChecks = map[string]func(question) (question, error){
	"search": func(q question) (question, error) {
		r := memory.SearchStepsRequest{Query: q.Query, Project: q.Project, Scope: q.Scope, Filters: q.Filters, Limit: q.Limit}
		err := memory.Check(&r)
		return question{r.Query, r.Project, r.Scope, r.Filters, r.Limit}, err
	},
	"last": func(q question) (question, error) {
		r := memory.LastStepsRequest{Project: q.Project, Scope: q.Scope, Filters: q.Filters, N: q.Limit}
		err := memory.Check(&r)
		return question{"", r.Project, r.Scope, r.Filters, r.N}, err
	},
	"summarize": func(q question) (question, error) {
		r := memory.SummarizeRequest{Project: q.Project, Scope: q.Scope}
		err := memory.Check(&r)
		return question{"", r.Project, r.Scope, nil, 0}, err
	},
	"sessions": func(q question) (question, error) {
		r := memory.SessionsRequest{Project: q.Project, Filters: q.Filters, Limit: q.Limit}
		err := memory.Check(&r)
		return question{"", r.Project, nil, r.Filters, r.Limit}, err
	},
}

// Every limit of the knowledge tools from both sides; the error names the field
// as the wire does.
func TestHistoryLimits(t *testing.T) {
	query := func(n int) question { return question{Query: repeat(n)} }
	limit := func(n int) question { return question{Query: "q", Limit: n} }
	session := func(n int) question {
		return question{Query: "q", Scope: &memory.Scope{Session: repeat(n)}}
	}
	scope := func(name string) question {
		return question{Query: "q", Scope: &memory.Scope{Name: name}}
	}
	filters := func(f memory.StepFilters) question {
		return question{Query: "q", Filters: &f}
	}
	all := []string{"search", "last", "summarize", "sessions"}
	scoped, filtered := []string{"search", "last", "summarize"}, []string{"search", "last", "sessions"}
	for _, test := range []struct {
		name  string
		of    []string
		good  []question
		bad   []question
		field string
	}{
		{"query", []string{"search"}, []question{query(1), query(200), {Query: " q "}},
			[]question{query(0), query(201), {Query: " \t"}, {Query: "a\x00"}, {Query: "a\xff"}}, "query"},
		{"limit of a search", []string{"search"}, []question{limit(1), limit(100)},
			[]question{limit(-1), limit(101)}, "limit"},
		{"n", []string{"last"}, []question{limit(1), limit(200)}, []question{limit(-1), limit(201)}, "n"},
		{"limit of sessions", []string{"sessions"}, []question{limit(1), limit(50)},
			[]question{limit(-1), limit(51)}, "limit"},
		{"session", scoped, []question{session(4), session(200)},
			[]question{session(1), session(3), session(201)}, "scope.sessionId"},
		{"scope", scoped, []question{scope("current")}, []question{scope("mine"), scope("All")}, "scope"},
		{"scope of a summary", []string{"summarize"}, nil, []question{scope("all")}, "scope"},
		{"flow tag", filtered, []question{filters(memory.StepFilters{FlowTag: new(repeat(1))}), filters(memory.StepFilters{FlowTag: new(repeat(200))})},
			[]question{filters(memory.StepFilters{FlowTag: new("")}), filters(memory.StepFilters{FlowTag: new(repeat(201))})}, "filters.flowTag"},
		{"tag", filtered, []question{filters(memory.StepFilters{Tag: new(repeat(1))}), filters(memory.StepFilters{Tag: new(repeat(200))})},
			[]question{filters(memory.StepFilters{Tag: new("")}), filters(memory.StepFilters{Tag: new(repeat(201))})}, "filters.tag"},
		{"screen", filtered, []question{filters(memory.StepFilters{Screen: new(repeat(1))}), filters(memory.StepFilters{Screen: new(repeat(200))})},
			[]question{filters(memory.StepFilters{Screen: new("")}), filters(memory.StepFilters{Screen: new(repeat(201))})}, "filters.screen"},
		{"branch", filtered, []question{filters(memory.StepFilters{GitBranch: new(repeat(1))}), filters(memory.StepFilters{GitBranch: new(repeat(200))})},
			[]question{filters(memory.StepFilters{GitBranch: new("")}), filters(memory.StepFilters{GitBranch: new(repeat(201))})}, "filters.gitBranch"},
		{"hours", filtered, []question{filters(memory.StepFilters{SinceHours: new(1)}), filters(memory.StepFilters{SinceHours: new(720)})},
			[]question{filters(memory.StepFilters{SinceHours: new(0)}), filters(memory.StepFilters{SinceHours: new(721)}), filters(memory.StepFilters{SinceHours: new(-1)})},
			"filters.sinceHours"},
		{"project", all, []question{{Query: "q", Project: repeat(4096)}}, []question{{Query: "q", Project: repeat(4097)}}, "project"},
	} {
		for _, of := range test.of {
			for i, r := range test.good {
				if _, err := historyChecks[of](r); err != nil {
					t.Errorf("%s: %s: good request %d is refused: %v", of, test.name, i, err)
				}
			}
			for i, r := range test.bad {
				_, err := historyChecks[of](r)
				if err == nil {
					t.Errorf("%s: %s: bad request %d passes", of, test.name, i)
					continue
				}
				e := memory.AsError(err)
				if e.Code != memory.CodeInvalidInput || e.Field != test.field || e.Limit == "" {
					t.Errorf("%s: %s: bad request %d: error %v of field %q, limit %q; want invalid input of %s with its limit",
						of, test.name, i, e, e.Field, e.Limit, test.field)
				}
			}
		}
	}
}

func TestHistoryDefaults(t *testing.T) {
	for of, want := range map[string]question{
		"search":    {Query: "q", Limit: 20, Scope: &memory.Scope{Name: "all"}},
		"last":      {Limit: 20, Scope: &memory.Scope{Name: "current"}},
		"summarize": {Scope: &memory.Scope{Name: "current"}},
		"sessions":  {Limit: 10},
	} {
		got, err := historyChecks[of](question{Query: "q"})
		if err != nil {
			t.Errorf("%s without anything: %v", of, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("defaults of %s (-want +got):\n%s", of, diff)
		}
	}
}

// An empty id is not the same as no scope.
func TestEmptySessionIDIsRefused(t *testing.T) {
	for _, raw := range []string{`{"sessionId":""}`, `{"sessionId":7}`, `{}`, `{"session":"abcd"}`, `7`} {
		var s memory.Scope
		if err := json.Unmarshal([]byte(raw), &s); memory.CodeOf(err) != memory.CodeInvalidInput {
			t.Errorf("scope %s is read as %+v, %v; want it refused", raw, s, err)
		}
	}
}
