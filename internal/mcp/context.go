package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// whichInput says whose session a call is about; by default it is the one that the
// connection has started.
type whichInput struct {
	SessionID *string `json:"sessionId"`
	Project   string  `json:"project"`
}

func (in *whichInput) which(c call) (memory.SessionRef, error) {
	id, err := sessionID("sessionId", in.SessionID)
	return memory.SessionRef{SessionID: id, Project: c.agent.project(in.Project), Caller: c.caller}, err
}

func (s *Server) sessionContext(ctx context.Context, c call, in whichInput) (string, any, error) {
	which, err := in.which(c)
	if err != nil {
		return "", nil, err
	}
	return contextAnswer(service.SessionContext.Do(ctx, s.svc, memory.ContextRequest{SessionRef: which}))
}

// changeInput is what change_context takes.
type changeInput struct {
	Add    []addInput   `json:"add"`
	Remove []memory.Ref `json:"remove"`
	whichInput
}

// addInput is an entry that is added by hand.
type addInput struct {
	memory.Ref
	IncludeMode memory.Include `json:"includeMode"`
}

func (s *Server) changeContext(ctx context.Context, c call, in changeInput) (string, any, error) {
	which, err := in.which(c)
	if err != nil {
		return "", nil, err
	}
	request := memory.ChangeContextRequest{RequestID: c.requestID, Remove: in.Remove, SessionRef: which}
	for _, add := range in.Add {
		request.Add = append(request.Add, memory.ContextItem{Ref: add.Ref, IncludeMode: add.IncludeMode})
	}
	return contextAnswer(service.ChangeContext.Do(ctx, s.svc, request))
}

// contextAnswer lists what a session's context holds.
func contextAnswer(held *memory.Context, err error) (string, any, error) {
	if err != nil {
		return "", nil, err
	}
	whole := *held
	whole.Items, whole.Rules = orEmpty(held.Items), orEmpty(held.Rules)
	whole.References, whole.Tools = orEmpty(held.References), orEmpty(held.Tools)
	var names strings.Builder
	for _, item := range held.Items {
		fmt.Fprintf(&names, "- %s %s [%s]\n", item.Type, refName(item.Ref), item.IncludeMode)
	}
	text := fmt.Sprintf("The context of session %s holds %d.\n%s", held.SessionID, len(held.Items), fence(names.String()))
	return strings.TrimRight(text, "\n"), whole, nil
}

// assembleInput is what assemble_context takes.
type assembleInput struct {
	Message         string   `json:"message"`
	TaskType        string   `json:"task_type"`
	RequiresContext *bool    `json:"requires_context"`
	TopK            int      `json:"topK,omitempty" limit:"1-200"`
	TopN            int      `json:"topN,omitempty" limit:"1-50"`
	IncludeScore    *float64 `json:"includeScore"`
	MaxTokens       int      `json:"max_tokens,omitempty" limit:"50-100000"`
	NoSearch        bool     `json:"no_search"`
	Schemas         bool     `json:"schemas"`
	whichInput
}

// assembledAnswer is an assembled context without its text, which stands beside it.
type assembledAnswer struct {
	memory.Assembled
	Text string `json:"text,omitempty"`
}

func (s *Server) assembleContext(ctx context.Context, c call, in assembleInput) (string, any, error) {
	which, err := in.which(c)
	if err != nil {
		return "", nil, err
	}
	assembled, err := service.Assemble.Do(ctx, s.svc, memory.AssembleRequest{
		RequestID: c.requestID, Message: in.Message, TaskType: in.TaskType, RequiresContext: in.RequiresContext,
		TopK: in.TopK, TopN: in.TopN, IncludeScore: in.IncludeScore, MaxTokens: in.MaxTokens, NoSearch: in.NoSearch, Schemas: in.Schemas, SessionRef: which,
	})
	if err != nil {
		return "", nil, err
	}
	answer := assembledAnswer{Assembled: *assembled}
	answer.Items, answer.Memories = orEmpty(assembled.Items), orEmpty(assembled.Memories)
	answer.ActiveTools, answer.Withheld = orEmpty(assembled.ActiveTools), orEmpty(assembled.Withheld)
	answer.Record.Items = orEmpty(assembled.Record.Items)
	if assembled.Window != nil {
		answer.Window = wholeWindow(assembled.Window)
	}
	return assembled.Text, answer, nil
}

// workingContext answers with what is stored, as JSON: it is for hosts.
func (s *Server) workingContext(ctx context.Context, c call, in whichInput) (string, any, error) {
	which, err := in.which(c)
	if err != nil {
		return "", nil, err
	}
	return workingAnswer(service.WorkingContext.Do(ctx, s.svc, memory.WorkingContextRequest{SessionRef: which}))
}

// reportInput is what report_context takes.
type reportInput struct {
	UsedTools       []memory.ToolRef `json:"usedTools"`
	Entities        []memory.Entity  `json:"entities"`
	ClearDiscovered bool             `json:"clearDiscovered"`
	whichInput
}

func (s *Server) reportContext(ctx context.Context, c call, in reportInput) (string, any, error) {
	which, err := in.which(c)
	if err != nil {
		return "", nil, err
	}
	for i := range in.Entities {
		in.Entities[i].Data = unlessNull(in.Entities[i].Data)
	}
	kept, err := service.Report.Do(ctx, s.svc, memory.ReportRequest{
		RequestID: c.requestID, UsedTools: in.UsedTools, Entities: in.Entities, ClearDiscovered: in.ClearDiscovered, SessionRef: which,
	})
	if err == nil && in.ClearDiscovered && in.ofConnection(c) {
		s.unlist(ctx)
	}
	return workingAnswer(kept, err)
}

// ofConnection says that a call is about the session of its connection.
func (in *whichInput) ofConnection(c call) bool {
	return in.SessionID == nil || *in.SessionID == c.agent.ID
}

func workingAnswer(kept *memory.WorkingContext, err error) (string, any, error) {
	if err != nil {
		return "", nil, err
	}
	// In one text and one object: its own encoding is canonical.
	encoded, err := json.Marshal(kept)
	if err != nil {
		return "", nil, fmt.Errorf("encode working context: %w", err)
	}
	text := render.JSON(string(render.WithNotice(encoded)))
	return text, json.RawMessage(text), nil
}

// compactInput is what compact_session takes.
type compactInput struct {
	Summary    string `json:"summary"`
	Transcript string `json:"transcript"`
	KeepTurns  int    `json:"keepTurns,omitempty" limit:"1-100"`
	whichInput
}

// compactSession takes the tools that were found out of the list again, as it does
// with those of the host.
func (s *Server) compactSession(ctx context.Context, c call, in compactInput) (string, any, error) {
	which, err := in.which(c)
	if err != nil {
		return "", nil, err
	}
	compacted, err := service.Compact.Do(ctx, s.svc, memory.CompactRequest{
		RequestID: c.requestID, Summary: in.Summary, Transcript: in.Transcript, KeepTurns: in.KeepTurns, SessionRef: which,
	})
	if err != nil {
		return "", nil, err
	}
	if in.ofConnection(c) {
		s.unlist(ctx)
	}
	whole := *compacted
	whole.ActiveTools = orEmpty(compacted.ActiveTools)
	var text strings.Builder
	fmt.Fprintf(&text, "Session %s starts from a clean slate: %s and %s cleared. Keep the last %s and this summary; search_tools finds tools again.",
		compacted.SessionID, memory.Count(compacted.ClearedTools, "tool"), entities(compacted.ClearedEntities), memory.Count(compacted.KeepTurns, "turn"))
	writeNotes(&text, compacted.Redacted, "")
	fmt.Fprintf(&text, "\n\n%s", fence(compacted.Summary))
	return text.String(), whole, nil
}

// entities counts entities.
func entities(n int) string {
	if n == 1 {
		return "1 entity"
	}
	return fmt.Sprintf("%d entities", n)
}
