package mcp

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	mcpclient "github.com/mark3labs/mcp-go/client"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/service/servicetest"
)

// ledger answers as servicetest does, but refuses what the service would refuse
// and tells sessions apart.
type ledger struct {
	*servicetest.Service
	// broken, if set, is what every question fails with.
	broken error
}

// Call implements service.Service.
func (l *ledger) Call(ctx context.Context, op *service.Spec, request any, progress func(any)) (any, error) {
	return servicetest.With(l.Service, service.Bind(service.StartSession, l.StartSession), service.Bind(service.EndSession, l.EndSession),
		service.Bind(service.RecordStep, l.RecordStep), service.Bind(service.SearchSteps, l.SearchSteps), service.Bind(service.LastSteps, l.LastSteps),
		service.Bind(service.SummarizeSession, l.SummarizeSession), service.Bind(service.Sessions, l.Sessions)).Call(ctx, op, request, progress)
}

func (l *ledger) StartSession(ctx context.Context, req memory.StartSessionRequest) (*memory.SessionState, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	if _, err := service.StartSession.Do(ctx, l.Service, req); err != nil {
		return nil, err
	}
	state := fullState()
	if req.SessionID != "" {
		state.ID = req.SessionID
	}
	return state, nil
}

func (l *ledger) EndSession(ctx context.Context, req memory.EndSessionRequest) (*memory.SessionState, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	if _, err := service.EndSession.Do(ctx, l.Service, req); err != nil {
		return nil, err
	}
	state := fullState()
	if state.ID = req.SessionID; state.ID == "" {
		state.ID = req.Caller.Session
	}
	if state.ID == "" {
		return nil, &memory.Error{Code: memory.CodeInvalidInput, Field: "sessionId", Message: "no session is open", Hint: "session_start opens one"}
	}
	state.EndedAt = noon.Add(time.Hour)
	return state, nil
}

func (l *ledger) RecordStep(ctx context.Context, req memory.RecordStepRequest) (*memory.StepRecorded, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	return service.RecordStep.Do(ctx, l.Service, req)
}

func (l *ledger) SearchSteps(ctx context.Context, r memory.SearchStepsRequest) (*memory.StepMatches, error) {
	return ask(ctx, l, service.SearchSteps, &r)
}

func (l *ledger) LastSteps(ctx context.Context, r memory.LastStepsRequest) (*memory.StepList, error) {
	return ask(ctx, l, service.LastSteps, &r)
}

func (l *ledger) SummarizeSession(ctx context.Context, r memory.SummarizeRequest) (*memory.Summary, error) {
	return ask(ctx, l, service.SummarizeSession, &r)
}

func (l *ledger) Sessions(ctx context.Context, r memory.SessionsRequest) (*memory.SessionList, error) {
	return ask(ctx, l, service.Sessions, &r)
}

// ask has a request answered, as the service does: only when it was valid.
func ask[Request, Response any](ctx context.Context, l *ledger, op service.Operation[Request, Response], r *Request) (*Response, error) {
	if err := memory.Check(r); err != nil {
		return nil, err
	}
	if l.broken != nil {
		return nil, l.broken
	}
	return op.Do(ctx, l.Service, *r)
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
