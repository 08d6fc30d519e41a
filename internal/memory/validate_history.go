package memory

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Limits of contract 1.
const (
	MaxStepQuery    = 200 // characters of a search for steps
	DefaultMatches  = 20
	MaxMatches      = 100
	DefaultLast     = 20
	MaxLast         = 200
	DefaultSessions = 10
	MaxSessions     = 50
)

// ValidateSearch checks the limits of SearchSteps and fills in its defaults.
func (r *HistoryRequest) ValidateSearch() error {
	r.Query = strings.TrimSpace(r.Query)
	if err := Text("query", r.Query, 1, MaxStepQuery); err != nil {
		return err
	}
	if err := r.count("limit", DefaultMatches, MaxMatches); err != nil {
		return err
	}
	return r.narrowed(ScopeAll)
}

// ValidateLast checks the limits of LastSteps and fills in its defaults. Its
// limit is called n on the wire.
func (r *HistoryRequest) ValidateLast() error {
	if err := r.count("n", DefaultLast, MaxLast); err != nil {
		return err
	}
	return r.narrowed(ScopeCurrent)
}

// ValidateSummary checks the scope of SummarizeSession and fills in its default.
func (r *HistoryRequest) ValidateSummary() error {
	if err := r.narrowed(ScopeCurrent); err != nil {
		return err
	}
	if r.Scope.Name == ScopeAll {
		return Invalid("scope", "current or {sessionId}", "a summary is of one session")
	}
	return nil
}

// ValidateSessions checks the limits of Sessions and fills in its defaults.
func (r *HistoryRequest) ValidateSessions() error {
	if err := r.count("limit", DefaultSessions, MaxSessions); err != nil {
		return err
	}
	return r.narrowed(ScopeAll)
}

// count checks how many answers are wanted; field is what the wire calls it.
func (r *HistoryRequest) count(field string, usual, most int) error {
	switch {
	case r.Limit == 0:
		r.Limit = usual
	case r.Limit < 1 || r.Limit > most:
		return Invalid(field, fmt.Sprintf("1–%d", most), "%d is out of range", r.Limit)
	}
	return nil
}

// narrowed checks project, scope and filters, which all questions share.
func (r *HistoryRequest) narrowed(scope string) error {
	if err := Text("project", r.Project, 0, MaxPathText); err != nil {
		return err
	}
	if r.Scope == nil || *r.Scope == (Scope{}) {
		r.Scope = &Scope{Name: scope}
	}
	if err := r.Scope.relations("scope."); err != nil {
		return err
	}
	if r.Filters == nil {
		return nil
	}
	return checkStruct(reflect.ValueOf(r.Filters).Elem(), "filters.")
}

// Sessions returns the sessions that the filters choose at a time; nil filters
// let all pass.
func (f *StepFilters) Sessions(now time.Time) SessionFilter {
	if f == nil {
		return SessionFilter{}
	}
	value := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	out := SessionFilter{
		FlowTag: value(f.FlowTag), Tag: value(f.Tag), GitBranch: value(f.GitBranch), Screen: value(f.Screen),
	}
	if f.SinceHours != nil {
		out.Since = now.Add(-time.Duration(*f.SinceHours) * time.Hour)
	}
	return out
}
