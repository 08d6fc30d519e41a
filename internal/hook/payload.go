package hook

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/steptext"
)

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

// payload is what a client's hook says, in the form that Claude Code has brought up and most
// others have taken over; see code.claude.com/docs, "Hooks reference".
type payload struct {
	SessionID string          `json:"session_id"`
	Cwd       string          `json:"cwd"`
	ToolName  string          `json:"tool_name"`
	ToolUseID string          `json:"tool_use_id"`
	ToolInput json.RawMessage `json:"tool_input"`
	// ToolResponse belongs to a tool that was used. Its form depends on client and tool.
	ToolResponse json.RawMessage `json:"tool_response"`
	// Error and IsInterrupt belong to one that failed.
	Error       string  `json:"error"`
	IsInterrupt bool    `json:"is_interrupt"`
	DurationMs  float64 `json:"duration_ms"`
	Prompt      string  `json:"prompt"`
	// Source says why a session starts.
	Source     string `json:"source"`
	Transcript string `json:"transcript_path"`
}

func (c client) parse(event string, text []byte, env Environment) (Request, error) {
	if len(text) > MaxPayload {
		return Request{}, fmt.Errorf("the payload has over %d bytes", MaxPayload)
	}
	moment, ok := c.events[event]
	if !ok {
		return Request{}, fmt.Errorf("event %q is unknown", event)
	}
	var p payload
	var err error
	if c.read != nil {
		p, err = c.read(text)
	} else {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return Request{}, fmt.Errorf("read payload: %w", err)
	}
	if p.SessionID, err = sessionID(c.name, p.SessionID); err != nil {
		return Request{}, err
	}
	caller := memory.Caller{Dir: cmp.Or(env.ProjectDir, p.Cwd), Client: c.name, Session: p.SessionID, Window: env.Window, Hook: true}
	if caller.Dir == "" {
		return Request{}, errors.New("the payload has no cwd")
	}
	switch moment {
	case starts:
		brief := &memory.BriefRequest{Caller: caller}
		if p.Source == "compact" {
			brief.Compacted, brief.MaxTokens = true, compactedTokens
		}
		return Request{Start: &memory.StartSessionRequest{SessionID: p.SessionID, Resume: true, Caller: caller}, Brief: brief}, nil
	case ends:
		return Request{End: &memory.EndSessionRequest{SessionID: p.SessionID, Caller: caller}}, nil
	case asks:
		prompt := p.Prompt
		if strings.HasPrefix(prompt, "<hook_context>") { // Gemini CLI puts what a hook has added before it
			_, prompt, _ = strings.Cut(prompt, "</hook_context>")
		}
		query := strings.TrimSpace(steptext.Cut(withoutNUL(prompt), memory.MaxQuery))
		if query == "" || steptext.IsCommand(query) {
			return Request{}, ErrNothing
		}
		return Request{Start: &memory.StartSessionRequest{SessionID: p.SessionID, Goal: Title(query), Resume: true, Caller: caller}, Recall: &memory.RecallRequest{Query: query, Kinds: []memory.Kind{memory.Lesson},
			Limit: promptLessons, MaxTokens: promptTokens, Caller: caller}}, nil
	}
	switch {
	case p.ToolName == "":
		return Request{}, errors.New("the payload has no tool_name")
	case isOwn(p.ToolName):
		return Request{}, ErrNothing
	}
	r := c.result(p, moment == fails, env)
	if !r.outcome.OK && r.outcome.Error == nil {
		return Request{}, errors.New("the payload does not say how the tool ended")
	}
	return Request{Step: p.step(r, caller)}, nil
}

// Title is the first line of a prompt, by which people recognise the session.
func Title(prompt string) string {
	line, _, _ := strings.Cut(withoutNUL(prompt), "\n")
	return steptext.Cut(strings.TrimSpace(line), maxTitle)
}

// step returns the step of a tool's use.
func (p payload) step(r result, caller memory.Caller) *memory.RecordStepRequest {
	step := memory.RecordStepRequest{
		SessionID: p.SessionID, Open: true, Caller: caller,
		Tool:        memory.StepTool{Name: steptext.Cut(withoutNUL(p.ToolName), memory.MaxNameText)},
		Outcome:     r.outcome,
		Observation: observation(r.output),
	}
	step.Tool.Input, step.Tool.Target = steptext.Shorten(p.ToolInput)
	if p.DurationMs > 0 && p.DurationMs <= float64(memory.MaxStepDuration.Milliseconds()) {
		step.DurationMs = int64(p.DurationMs)
	}
	// A person who interrupts a tool knows why; a lesson would not help.
	step.Advise = !step.Outcome.OK && step.Outcome.Error.Code != codeInterrupted
	return &step
}

// result is how a tool ended, and the output of a command.
type result struct {
	outcome memory.Outcome
	output  string
}

// ended is the result of a command with an exit code.
func ended(output string, code int) result {
	if code == 0 {
		return result{memory.Outcome{OK: true}, output}
	}
	failed := failure(output)
	failed.Code = fmt.Sprintf("exit %d", code)
	return result{outcome: memory.Outcome{Error: failed}}
}

// failed is the result of a tool with an error.
func failed(text string, interrupted bool) result {
	e := failure(text)
	if interrupted {
		e.Code = codeInterrupted
	}
	return result{outcome: memory.Outcome{Error: e}}
}

const codeInterrupted = "interrupted"

// failure parses an error: a command's error begins with a line "Exit code 1".
func failure(text string) *memory.StepError {
	text = strings.TrimSpace(strings.ReplaceAll(withoutNUL(text), "\r\n", "\n"))
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

// withoutNUL replaces NUL, which the daemon takes in no text: commands print it behind names.
func withoutNUL(text string) string { return strings.ReplaceAll(text, "\x00", "\ufffd") }

// observation keeps the part of an output that helps to find the step again: its last
// lines. The content of a file or page is not kept.
func observation(output string) json.RawMessage {
	output = strings.TrimSpace(output)
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
func Advice(client, event string, a *memory.RecallResponse) ([]byte, error) {
	switch {
	case a == nil:
		return nil, nil
	case len(a.Items) == 0 && a.Incomplete:
		line := "recalld could not search all of its memory (" + render.Visible(strings.Join(strings.Fields(a.Why), " ")) + "): what it knows of this may be missing; ask recall."
		return additional(client, event, line)
	case len(a.Items) == 0 || strings.TrimSpace(a.Text) == "":
		return nil, nil
	}
	intro := "recalld, from earlier work in this project:\n\n"
	if c, _ := clientOf(client); c.events[event] != asks {
		intro = "recalld, from earlier work in this project, about this error:\n\n"
	}
	return additional(client, event, intro+strings.TrimSpace(render.Fence(render.Bare(a.Text))))
}

// Brief formats a brief for the model; nil if there is none.
func Brief(client, event string, b *memory.Brief) ([]byte, error) {
	if b == nil || b.Text == "" {
		return nil, nil
	}
	return additional(client, event, strings.TrimSpace(b.Text))
}

// additional formats a text as context that the client passes to its model.
func additional(client, event, text string) ([]byte, error) {
	type context struct {
		Event string `json:"hookEventName,omitempty"`
		Text  string `json:"additionalContext"`
	}
	var answer any = map[string]context{"hookSpecificOutput": {event, text}}
	if c, _ := clientOf(client); c.flat {
		answer = context{Text: text}
	}
	out, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("encode advice: %w", err)
	}
	return append(out, '\n'), nil
}
