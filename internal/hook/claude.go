package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/steptext"
)

// claudeCode is Claude Code's client name over MCP too, so that a session opened by its
// hooks is the current one for its MCP calls.
const claudeCode = "claude-code"

// ownTools is the prefix of recalld's tools in Claude Code. A query to the memory is not a
// step to remember.
const ownTools = "mcp__recalld__"

// Bounds for the parts of a tool's output that a step keeps; steptext.Shorten bounds its
// input. The daemon would refuse longer texts.
const (
	maxTitle    = 120 // characters of a prompt's first line
	outputLines = 20
	maxOutput   = 2000 // characters of an observation
	// An error keeps its head, which names the failure, and its end, where programs print
	// the essential part.
	errorHead = 1500
	errorTail = 6000
)

// claudePayload is Claude Code's payload, see code.claude.com/docs, "Hooks reference".
type claudePayload struct {
	SessionID string          `json:"session_id"`
	Cwd       string          `json:"cwd"`
	ToolName  string          `json:"tool_name"`
	ToolInput json.RawMessage `json:"tool_input"`
	// ToolResponse belongs to PostToolUse. Its form depends on the tool.
	ToolResponse json.RawMessage `json:"tool_response"`
	// Error and IsInterrupt belong to PostToolUseFailure.
	Error       string  `json:"error"`
	IsInterrupt bool    `json:"is_interrupt"`
	DurationMs  float64 `json:"duration_ms"`
	Prompt      string  `json:"prompt"`
}

func parseClaude(event string, payload []byte, env Environment) (Request, error) {
	if len(payload) > MaxPayload {
		return Request{}, fmt.Errorf("the payload has over %d bytes", MaxPayload)
	}
	var p claudePayload
	if err := json.Unmarshal(payload, &p); err != nil {
		return Request{}, fmt.Errorf("read payload: %w", err)
	}
	id, err := sessionID(claudeCode, p.SessionID)
	if err != nil {
		return Request{}, err
	}
	p.SessionID = id
	caller := memory.Caller{Dir: p.Cwd, Client: claudeCode, Session: p.SessionID, Window: env.Window}
	if env.ProjectDir != "" {
		caller.Dir = env.ProjectDir
	}
	if caller.Dir == "" {
		return Request{}, errors.New("the payload has no cwd")
	}
	switch event {
	case "SessionStart":
		return Request{Start: &memory.StartSessionRequest{SessionID: p.SessionID, Resume: true, Caller: caller}}, nil
	case "SessionEnd":
		return Request{End: &memory.EndSessionRequest{SessionID: p.SessionID, Caller: caller}}, nil
	case "PostToolUse", "PostToolUseFailure":
		return p.step(event, caller)
	case "UserPromptSubmit":
		query := strings.TrimSpace(steptext.Cut(p.Prompt, memory.MaxQuery))
		if query == "" || strings.HasPrefix(query, "/") { // a command of the client
			return Request{}, ErrNothing
		}
		return Request{Start: &memory.StartSessionRequest{SessionID: p.SessionID, Goal: Title(query), Resume: true, Caller: caller}, Recall: &memory.RecallRequest{Query: query, Kinds: []memory.Kind{memory.Lesson},
			Limit: promptLessons, MaxTokens: promptTokens, Caller: caller}}, nil
	}
	return Request{}, fmt.Errorf("event %q is unknown", event)
}

// Title is the first line of a prompt, by which people recognise the session.
func Title(prompt string) string {
	line, _, _ := strings.Cut(prompt, "\n")
	return steptext.Cut(strings.TrimSpace(line), maxTitle)
}

// step returns the step of a tool's use.
func (p claudePayload) step(event string, caller memory.Caller) (Request, error) {
	switch {
	case p.ToolName == "":
		return Request{}, errors.New("the payload has no tool_name")
	case strings.HasPrefix(p.ToolName, ownTools):
		return Request{}, ErrNothing
	}
	r := memory.RecordStepRequest{
		SessionID: p.SessionID, Open: true, Caller: caller,
		Tool:        memory.StepTool{Name: steptext.Cut(p.ToolName, memory.MaxNameText)},
		Outcome:     p.outcome(event),
		Observation: p.observation(),
	}
	r.Tool.Input, r.Tool.Target = steptext.Shorten(p.ToolInput)
	if p.DurationMs > 0 && p.DurationMs <= float64(memory.MaxStepDuration.Milliseconds()) {
		r.DurationMs = int64(p.DurationMs)
	}
	// A person who interrupts a tool knows why; a lesson would not help.
	r.Advise = !r.Outcome.OK && r.Outcome.Error.Code != codeInterrupted
	return Request{Step: &r}, nil
}

const codeInterrupted = "interrupted"

// outcome returns how a tool ended. A separate event reports failures; some tools also
// report a failure in an ordinary response.
func (p claudePayload) outcome(event string) memory.Outcome {
	if event == "PostToolUseFailure" {
		failed := failure(p.Error)
		if p.IsInterrupt {
			failed.Code = codeInterrupted
		}
		return memory.Outcome{Error: failed}
	}
	var r struct {
		IsError     bool   `json:"is_error"`
		MCPError    bool   `json:"isError"`
		Success     *bool  `json:"success"`
		Interrupted bool   `json:"interrupted"`
		ExitCode    int    `json:"exit_code"`
		Error       string `json:"error"`
		Stderr      string `json:"stderr"`
	}
	if json.Unmarshal(p.ToolResponse, &r) != nil { // a text or a list: no failure
		return memory.Outcome{OK: true}
	}
	switch {
	case r.Interrupted:
		return memory.Outcome{Error: &memory.StepError{Code: codeInterrupted}}
	case r.IsError, r.MCPError, r.Success != nil && !*r.Success, r.ExitCode != 0:
		failed := failure(firstText(r.Error, r.Stderr, contentText(p.ToolResponse)))
		if r.ExitCode != 0 && failed.Code == "" {
			failed.Code = fmt.Sprintf("exit %d", r.ExitCode)
		}
		return memory.Outcome{Error: failed}
	}
	return memory.Outcome{OK: true}
}

// failure parses an error: a command's error begins with a line "Exit code 1".
func failure(text string) *memory.StepError {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	e := &memory.StepError{}
	first, rest, _ := strings.Cut(text, "\n")
	if code, ok := strings.CutPrefix(first, "Exit code "); ok && len(code) < 12 {
		e.Code, text = "exit "+strings.TrimSpace(code), strings.TrimSpace(rest)
	}
	runes := []rune(strings.ToValidUTF8(text, "\ufffd"))
	if len(runes) > errorHead+errorTail {
		text = string(runes[:errorHead]) + "\n…\n" + string(runes[len(runes)-errorTail:])
	} else {
		text = string(runes)
	}
	e.Message = text
	return e
}

// contentText returns the text of an MCP tool's response.
func contentText(response json.RawMessage) string {
	var r struct {
		Content []struct{ Text string } `json:"content"`
	}
	if json.Unmarshal(response, &r) != nil {
		return ""
	}
	var parts []string
	for _, c := range r.Content {
		parts = append(parts, c.Text)
	}
	return strings.Join(parts, "\n")
}

func firstText(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return ""
}

// observation keeps the part of a response that helps to find the step again: the last
// lines of a command's output. The content of a file or page is not kept.
func (p claudePayload) observation() json.RawMessage {
	if p.ToolName != "Bash" {
		return nil
	}
	var r struct {
		Stdout string `json:"stdout"`
		Stderr string `json:"stderr"`
	}
	if json.Unmarshal(p.ToolResponse, &r) != nil {
		return nil
	}
	output := strings.TrimSpace(strings.TrimSpace(r.Stdout) + "\n" + strings.TrimSpace(r.Stderr))
	if output == "" {
		return nil
	}
	lines := strings.Split(output, "\n")
	tail := []rune(strings.Join(lines[max(0, len(lines)-outputLines):], "\n"))
	return steptext.Encode(map[string]string{"output": string(tail[max(0, len(tail)-maxOutput):])})
}

// Advice formats an answer for the model: the answer to a failed step or to a prompt, in
// the form in which the client takes context from a hook. It is nil if a complete search
// found nothing. If the search was not complete, a line says so; an answer with items
// contains that line already.
func Advice(event string, a *memory.RecallResponse) ([]byte, error) {
	switch {
	case a == nil:
		return nil, nil
	case len(a.Items) == 0 && a.Incomplete:
		line := "recalld could not search all of its memory (" + render.Visible(strings.Join(strings.Fields(a.Why), " ")) + "): what it knows of this may be missing; ask recall."
		return additional(event, line)
	case len(a.Items) == 0 || strings.TrimSpace(a.Text) == "":
		return nil, nil
	}
	intro := "recalld, from earlier work in this project:\n\n"
	if event != "UserPromptSubmit" {
		intro = "recalld, from earlier work in this project, about this error:\n\n"
	}
	return additional(event, intro+strings.TrimSpace(render.Fence(render.Bare(a.Text))))
}

// additional formats a text as context that the client passes to its model.
func additional(event, text string) ([]byte, error) {
	type specific struct {
		Event   string `json:"hookEventName"`
		Context string `json:"additionalContext"`
	}
	out, err := json.Marshal(map[string]specific{"hookSpecificOutput": {event, text}})
	if err != nil {
		return nil, fmt.Errorf("encode advice: %w", err)
	}
	return append(out, '\n'), nil
}
