package mcp

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	mcpclient "github.com/mark3labs/mcp-go/client"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/service/servicetest"
)

// ledger answers as servicetest does, but checks requests as the daemon does, and tells
// sessions apart.
type ledger struct {
	*servicetest.Service
	// broken, if set, is what every question about sessions fails with.
	broken error
}

// Call implements service.Service.
func (l *ledger) Call(ctx context.Context, op *service.Spec, request any, progress func(any)) (any, error) {
	checked := reflect.New(op.Request())
	checked.Elem().Set(reflect.ValueOf(request))
	if err := memory.Check(checked.Interface()); err != nil {
		return nil, err
	}
	if l.broken != nil && op.Group == service.Knowledge {
		return nil, l.broken
	}
	request = checked.Elem().Interface()
	answer, err := l.Service.Call(ctx, op, request, progress)
	state, ofSession := answer.(*memory.SessionState)
	if err != nil || !ofSession {
		return answer, err
	}
	own := *state
	switch req := request.(type) {
	case memory.StartSessionRequest:
		if req.SessionID != "" {
			own.ID = req.SessionID
		}
	case memory.EndSessionRequest:
		if own.ID = req.SessionID; own.ID == "" {
			own.ID = req.Caller.Session
		}
		if own.ID == "" {
			return nil, &memory.Error{Code: memory.CodeInvalidInput, Field: "sessionId", Message: "no session is open", Hint: "session_start opens one"}
		}
		own.EndedAt = noon.Add(time.Hour)
	}
	return &own, nil
}

var noon = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

// fullState has every field set, so that the output schema is held against all.
func fullState() *memory.SessionState {
	return &memory.SessionState{
		Session: memory.Session{
			ID: "mm-20260115-abc", Project: "p1", Client: "test-agent", CreatedAt: noon, Goal: "Send flow", FlowTags: []string{"send"},
			Tags: []string{"smoke"}, Git: &memory.Git{Branch: "main", Commit: "abc123", Dirty: true}, Build: []byte(`{"a":1}`), Launch: []byte(`{}`),
		},
		ProjectName: "demo", Steps: 3, Dir: "/w/mm-20260115-abc", Redacted: true, Warning: "no space left", Seq: 9,
	}
}

// newLedger answers everything with every field set.
func newLedger() *ledger {
	view := memory.StepView{ID: "s-1", Timestamp: noon, Tool: "mm_click", Screen: "send", Snippet: "a <b> & c", Labels: []string{"interaction"},
		StepEnd:   memory.StepEnd{Target: "confirm", Error: &memory.StepError{Code: "E1", Message: "disabled"}},
		SessionID: "mm-20260115-abc", SessionGoal: "Send flow", MatchedFields: []string{"tool", "target"}}
	bare := memory.StepView{ID: "s-2", Timestamp: noon, Tool: "bash", SessionID: "mm-20260115-abc"}
	item := fullItem("wait for the fee")
	return &ledger{Service: &servicetest.Service{Answers: map[string]any{
		service.StartSession.Name: fullState(), service.EndSession.Name: fullState(),
		service.Recall.Name: &memory.RecallResponse{Project: "p1", Receipt: "r1", Text: "nothing relevant", NothingRelevant: true},
		service.RecordStep.Name: &memory.StepRecorded{ID: "s-1", SessionID: "mm-20260115-abc", Project: "p1", Timestamp: noon, Labels: []string{"execution", "error-recovery"},
			Redacted: true, File: "/w/s.json", Warning: "no space left.", Seq: 4,
			Advice: &memory.RecallResponse{Project: "p1", Items: []memory.Item{item}, Receipt: "r2", Tokens: 9, Text: "1. wait for the fee\n"}},
		service.SearchSteps.Name: &memory.StepMatches{Query: "confirm", Matches: []memory.StepView{view, bare}},
		service.LastSteps.Name:   &memory.StepList{},
		service.SummarizeSession.Name: &memory.Summary{SessionID: "mm-20260115-abc", StepCount: 2, OmittedSteps: 1, Goal: "Send flow", CreatedAt: noon, EndedAt: noon,
			Recipe: []memory.RecipeStep{{StepNumber: 1, Tool: "bash", Notes: "npm test"}}, Labels: map[string]int{"execution": 1}, Screens: []string{"home"},
			Failures: []memory.Failure{{StepNumber: 1, Tool: "bash", Error: "E1", RecoveredBy: 2, Recovery: "npm ci"}}},
		service.Sessions.Name: &memory.SessionList{Sessions: []memory.SessionView{{SessionID: "mm-20260115-abc", CreatedAt: noon, Goal: "Send flow",
			FlowTags: []string{"send"}, Git: memory.Git{Branch: "main", Commit: "abc123", Dirty: true}}}},
	}}}
}

// lastRequest is the last request of a method.
func lastRequest[Request any](t *testing.T, l *ledger, method string) Request {
	t.Helper()
	calls := l.Calls()
	for i := len(calls) - 1; i >= 0; i-- {
		if calls[i].Operation == method {
			return calls[i].Request.(Request)
		}
	}
	t.Fatalf("%s was not called", method)
	panic("unreachable")
}

// wantTool calls a tool that must work and holds its text.
func wantTool(t *testing.T, c *mcpclient.Client, tool, arguments, want string) {
	t.Helper()
	if r := callTool(t, c, tool, arguments); r.IsError || textOf(r) != want {
		t.Errorf("%s %s: %q (error %v), want %q", tool, arguments, textOf(r), r.IsError, want)
	}
}

// wantEqual compares requests and answers, but for the windows of callers: those of
// connections have names that nobody can foresee. See TestWindows.
func wantEqual(t *testing.T, what string, want, got any) {
	t.Helper()
	windows := cmp.FilterPath(func(p cmp.Path) bool { return strings.HasSuffix(p.String(), "Caller.Window") || p.String() == "Window" }, cmp.Ignore())
	if diff := cmp.Diff(want, got, windows); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
