package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// knowledgeCode is the code by which a knowledge tool says why it failed:
// MM_ and the service's own in capitals, whatever the prefix of the names.
//
//	MM_INVALID_INPUT  a field is unknown, malformed or over its limit, the scope
//	                  is "current" and no session is open, or names an unknown one
//	MM_NOT_FOUND      no such project
//	MM_CONFLICT       the caller's folder lies above several repositories
//	MM_FORBIDDEN      the caller may not
//	MM_UNAVAILABLE    the daemon, or a part it needs, cannot answer for now
//	MM_CORRUPT        stored data failed its checksum
//	MM_INCOMPATIBLE   another protocol, or a newer store
//	MM_INTERNAL       a fault of ours
func knowledgeCode(code memory.Code) string { return "MM_" + strings.ToUpper(string(code)) }

// knowledgeAnswer is what a knowledge tool answers: its result, or what went
// wrong. A refusal is {ok: false, error: {code, message, …}} as that of every other
// tool. Two things differ, as contract 1 has them: the codes, and that an answer is in
// "result" where the other tools' fields stand by themselves.
type knowledgeAnswer struct {
	OK     bool            `json:"ok"`
	Notice string          `json:"notice,omitempty"` // with a result
	Result any             `json:"result,omitempty"`
	Error  *knowledgeError `json:"error,omitempty"`
}

// knowledgeError says why a knowledge tool failed. Message holds field and
// limit as well, for clients that know code and message only.
type knowledgeError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
	Limit   string `json:"limit,omitempty"`
	Hint    string `json:"hint,omitempty"`
}

// knowledge binds a method to a knowledge tool. Text and structured content say the
// same: hosts read one or the other.
func knowledge[In any](do func(*Server, context.Context, call, In) (any, error)) binder {
	return func(s *Server, name string) server.ToolHandlerFunc {
		return handlerRefusing(s, name, knowledgeRefusal, func(ctx context.Context, c call, in In) (string, any, error) {
			result, err := do(s, ctx, c, in)
			if err != nil {
				return "", nil, err
			}
			answer := knowledgeAnswer{OK: true, Notice: render.Notice, Result: result}
			text, err := plainJSON(answer)
			if err != nil {
				return "", nil, fmt.Errorf("encode answer: %w", err)
			}
			return text, answer, nil
		})
	}
}

// knowledgeRefusal is the result of a knowledge tool that failed.
func knowledgeRefusal(err error) *mcpgo.CallToolResult {
	e := memory.AsError(err)
	code := e.Code
	if code == memory.CodeNotFound && strings.HasSuffix(e.Field, "sessionId") {
		code = memory.CodeInvalidInput // every refused input is, in contract 1
	}
	answer := knowledgeAnswer{Error: &knowledgeError{
		Code: knowledgeCode(code), Message: e.Error(), Field: e.Field, Limit: e.Limit, Hint: e.Hint,
	}}
	text, err := plainJSON(answer)
	if err != nil { // strings only: cannot happen
		text = knowledgeCode(code)
	}
	result := mcpgo.NewToolResultStructured(answer, text)
	result.IsError = true
	return result
}

// plainJSON writes a value in one line, without the escapes that HTML needs: they
// cost tokens. What a terminal would act on is escaped.
func plainJSON(value any) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", err
	}
	return render.JSON(strings.TrimSuffix(text.String(), "\n")), nil
}

// searchInput is what knowledge_search takes.
type searchInput struct {
	Query   string              `json:"query"`
	Scope   *scopeInput         `json:"scope"`
	Filters *memory.StepFilters `json:"filters"`
	Limit   *int                `json:"limit"`
}

func (s *Server) searchSteps(ctx context.Context, c call, in searchInput) (any, error) {
	limit, err := within("limit", in.Limit, 1, memory.MaxMatches)
	if err != nil {
		return nil, err
	}
	found, err := service.SearchSteps.Do(ctx, s.svc, memory.HistoryRequest{
		Query: in.Query, Scope: in.Scope.scope(), Filters: in.Filters, Limit: limit,
		Project: c.agent.project(""), Caller: c.caller,
	}.Search())
	if err != nil {
		return nil, err
	}
	return memory.StepMatches{
		Query: found.Query, Matches: stepViews(found.Matches), Incomplete: found.Incomplete, Why: found.Why,
	}, nil
}

// lastInput is what knowledge_last takes.
type lastInput struct {
	N       *int                `json:"n"`
	Scope   *scopeInput         `json:"scope"`
	Filters *memory.StepFilters `json:"filters"`
}

func (s *Server) lastSteps(ctx context.Context, c call, in lastInput) (any, error) {
	n, err := within("n", in.N, 1, memory.MaxLast)
	if err != nil {
		return nil, err
	}
	last, err := service.LastSteps.Do(ctx, s.svc, memory.HistoryRequest{
		Scope: in.Scope.scope(), Filters: in.Filters, Limit: n, Project: c.agent.project(""), Caller: c.caller,
	}.Last())
	if err != nil {
		return nil, err
	}
	return memory.StepList{Steps: stepViews(last.Steps)}, nil
}

// summarizeInput is what knowledge_summarize takes.
type summarizeInput struct {
	Scope     *scopeInput `json:"scope"`
	SessionID *string     `json:"sessionId"` // deprecated
}

func (s *Server) summarize(ctx context.Context, c call, in summarizeInput) (any, error) {
	request := memory.HistoryRequest{Scope: in.Scope.scope(), Project: c.agent.project(""), Caller: c.caller}
	if in.SessionID != nil { // it wins, even over "all"
		id, err := sessionID("sessionId", in.SessionID)
		if err != nil {
			return nil, err
		}
		request.Scope = &memory.Scope{Session: id}
	}
	summary, err := service.SummarizeSession.Do(ctx, s.svc, request.Summarize())
	if err != nil {
		return nil, err
	}
	whole := *summary
	whole.Recipe, whole.Screens, whole.Failures = orEmpty(whole.Recipe), orEmpty(whole.Screens), orEmpty(whole.Failures)
	if whole.Labels == nil {
		whole.Labels = map[string]int{}
	}
	return whole, nil
}

// sessionsInput is what knowledge_sessions takes.
type sessionsInput struct {
	Limit   *int                `json:"limit"`
	Filters *memory.StepFilters `json:"filters"`
}

func (s *Server) listSessions(ctx context.Context, c call, in sessionsInput) (any, error) {
	limit, err := within("limit", in.Limit, 1, memory.MaxSessions)
	if err != nil {
		return nil, err
	}
	list, err := service.Sessions.Do(ctx, s.svc, memory.HistoryRequest{
		Filters: in.Filters, Limit: limit, Project: c.agent.project(""), Caller: c.caller,
	}.Sessions())
	if err != nil {
		return nil, err
	}
	sessions := make([]memory.SessionView, len(list.Sessions))
	for i, view := range list.Sessions {
		view.FlowTags, view.Tags = orEmpty(view.FlowTags), orEmpty(view.Tags)
		sessions[i] = view
	}
	return memory.SessionList{Sessions: sessions}, nil
}

// stepViews makes the lists in an answer lists.
func stepViews(views []memory.StepView) []memory.StepView {
	whole := make([]memory.StepView, len(views))
	for i, view := range views {
		view.Labels = orEmpty(view.Labels)
		whole[i] = view
	}
	return whole
}
