package memory_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

// The questions about history, by what checks them.
var historyChecks = map[string]func(*memory.HistoryRequest) error{
	"search":    (*memory.HistoryRequest).ValidateSearch,
	"last":      (*memory.HistoryRequest).ValidateLast,
	"summarize": (*memory.HistoryRequest).ValidateSummary,
	"sessions":  (*memory.HistoryRequest).ValidateSessions,
}

// Every limit of the knowledge tools from both sides; the error names the field
// as the wire does.
func TestHistoryLimits(t *testing.T) {
	query := func(n int) memory.HistoryRequest { return memory.HistoryRequest{Query: repeat(n)} }
	limit := func(n int) memory.HistoryRequest { return memory.HistoryRequest{Query: "q", Limit: n} }
	session := func(n int) memory.HistoryRequest {
		return memory.HistoryRequest{Query: "q", Scope: &memory.Scope{Session: repeat(n)}}
	}
	scope := func(name string) memory.HistoryRequest {
		return memory.HistoryRequest{Query: "q", Scope: &memory.Scope{Name: name}}
	}
	filters := func(f memory.StepFilters) memory.HistoryRequest {
		return memory.HistoryRequest{Query: "q", Filters: &f}
	}
	all := []string{"search", "last", "summarize", "sessions"}
	for _, test := range []struct {
		name  string
		of    []string
		good  []memory.HistoryRequest
		bad   []memory.HistoryRequest
		field string
	}{
		{"query", []string{"search"}, []memory.HistoryRequest{query(1), query(200), {Query: " q "}},
			[]memory.HistoryRequest{query(0), query(201), {Query: " \t"}, {Query: "a\x00"}, {Query: "a\xff"}}, "query"},
		{"limit of a search", []string{"search"}, []memory.HistoryRequest{limit(1), limit(100)},
			[]memory.HistoryRequest{limit(-1), limit(101)}, "limit"},
		{"n", []string{"last"}, []memory.HistoryRequest{limit(1), limit(200)}, []memory.HistoryRequest{limit(-1), limit(201)}, "n"},
		{"limit of sessions", []string{"sessions"}, []memory.HistoryRequest{limit(1), limit(50)},
			[]memory.HistoryRequest{limit(-1), limit(51)}, "limit"},
		{"session", all, []memory.HistoryRequest{session(4), session(200)},
			[]memory.HistoryRequest{session(1), session(3), session(201)}, "scope.sessionId"},
		{"scope", all, []memory.HistoryRequest{scope("current")}, []memory.HistoryRequest{scope("mine"), scope("All")}, "scope"},
		{"scope of a summary", []string{"summarize"}, nil, []memory.HistoryRequest{scope("all")}, "scope"},
		{"flow tag", all, []memory.HistoryRequest{filters(memory.StepFilters{FlowTag: new(repeat(1))}), filters(memory.StepFilters{FlowTag: new(repeat(200))})},
			[]memory.HistoryRequest{filters(memory.StepFilters{FlowTag: new("")}), filters(memory.StepFilters{FlowTag: new(repeat(201))})}, "filters.flowTag"},
		{"tag", all, []memory.HistoryRequest{filters(memory.StepFilters{Tag: new(repeat(1))}), filters(memory.StepFilters{Tag: new(repeat(200))})},
			[]memory.HistoryRequest{filters(memory.StepFilters{Tag: new("")}), filters(memory.StepFilters{Tag: new(repeat(201))})}, "filters.tag"},
		{"screen", all, []memory.HistoryRequest{filters(memory.StepFilters{Screen: new(repeat(1))}), filters(memory.StepFilters{Screen: new(repeat(200))})},
			[]memory.HistoryRequest{filters(memory.StepFilters{Screen: new("")}), filters(memory.StepFilters{Screen: new(repeat(201))})}, "filters.screen"},
		{"branch", all, []memory.HistoryRequest{filters(memory.StepFilters{GitBranch: new(repeat(1))}), filters(memory.StepFilters{GitBranch: new(repeat(200))})},
			[]memory.HistoryRequest{filters(memory.StepFilters{GitBranch: new("")}), filters(memory.StepFilters{GitBranch: new(repeat(201))})}, "filters.gitBranch"},
		{"hours", all, []memory.HistoryRequest{filters(memory.StepFilters{SinceHours: new(1)}), filters(memory.StepFilters{SinceHours: new(720)})},
			[]memory.HistoryRequest{filters(memory.StepFilters{SinceHours: new(0)}), filters(memory.StepFilters{SinceHours: new(721)}), filters(memory.StepFilters{SinceHours: new(-1)})},
			"filters.sinceHours"},
		{"project", all, []memory.HistoryRequest{{Query: "q", Project: repeat(4096)}}, []memory.HistoryRequest{{Query: "q", Project: repeat(4097)}}, "project"},
	} {
		for _, of := range test.of {
			for i, r := range test.good {
				if err := historyChecks[of](&r); err != nil {
					t.Errorf("%s: %s: good request %d is refused: %v", of, test.name, i, err)
				}
			}
			for i, r := range test.bad {
				err := historyChecks[of](&r)
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
	for of, want := range map[string]memory.HistoryRequest{
		"search":    {Query: "q", Limit: 20, Scope: &memory.Scope{Name: "all"}},
		"last":      {Query: "q", Limit: 20, Scope: &memory.Scope{Name: "current"}},
		"summarize": {Query: "q", Scope: &memory.Scope{Name: "current"}},
		"sessions":  {Query: "q", Limit: 10, Scope: &memory.Scope{Name: "all"}},
	} {
		got := memory.HistoryRequest{Query: "q"}
		if err := historyChecks[of](&got); err != nil {
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

func TestSessionsThatFiltersChoose(t *testing.T) {
	now := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	full := &memory.StepFilters{FlowTag: new("f"), Tag: new("t"), Screen: new("s"), GitBranch: new("b"), SinceHours: new(3)}
	want := memory.SessionFilter{FlowTag: "f", Tag: "t", Screen: "s", GitBranch: "b", Since: now.Add(-3 * time.Hour)}
	if got := full.Sessions(now); got != want {
		t.Errorf("filters choose %+v, want %+v", got, want)
	}
	for name, f := range map[string]*memory.StepFilters{"none": nil, "empty": {}} {
		if got := f.Sessions(now); !got.IsZero() {
			t.Errorf("%s choose %+v, want all", name, got)
		}
	}
}
