package agents

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/recalld/recalld/internal/testkit/modelserver"
)

// step is a call that the scripted model makes, and what the answer must hold.
type step struct {
	tool      string
	arguments map[string]any
	want      string
	// own is set for a tool of the client itself.
	own bool
}

// script is the model of one turn: it makes one call after another and notes how each
// was answered.
type script struct {
	prompt string
	steps  []step

	mu sync.Mutex
	// offered are the names of recalld's tools in the first request of the turn.
	offered []string
	begun   bool
	// instructed is set if the client gives recalld's instructions to its model.
	instructed bool
	// briefed is set if the model is told the brief of the session's start.
	briefed bool
	direct  int
	answers []modelserver.Result
	faults  []string
	// deferred are the names of recalld's tools that the client's own search found.
	deferred []string
	searched bool
	retried  bool
	at       int
	results  int
	receipt  string
}

// searches are the tools by which clients find those that they defer.
var searches = map[string]func() map[string]any{
	"ToolSearch":  func() map[string]any { return map[string]any{"query": "recalld", "max_results": 20} },
	"tool_search": func() map[string]any { return map[string]any{"query": "recalld"} },
}

// name returns the name that recalld gave a tool, or "" for another's tool. In a plugin the
// name of the plugin comes before that of the server.
func name(t modelserver.Tool) string {
	full := t.Namespace + t.Name
	at := strings.LastIndex(full, "recalld")
	if at < 0 {
		return ""
	}
	return strings.TrimLeft(full[at+len("recalld"):], "_-.:/")
}

func find(tools []modelserver.Tool, is func(modelserver.Tool) bool) (modelserver.Tool, bool) {
	for _, t := range tools {
		if is(t) {
			return t, true
		}
	}
	return modelserver.Tool{}, false
}

var receipts = regexp.MustCompile(`Receipt, for feedback: ([0-9a-f]+)`)

// answer is the modelserver.Model of the turn. Requests of other conversations, such as
// those for a title, do not have its prompt or its tools.
func (s *script) answer(r modelserver.Request) modelserver.Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if bytes.Contains(r.Body, []byte(`"unproductive_state_confidence"`)) { // Gemini CLI asks whether the turn is a loop
		return modelserver.Reply{Text: `{"unproductive_state_analysis": "each call differs", "unproductive_state_confidence": 0}`}
	}
	said := strings.Join(r.Texts, "\n")
	if !strings.Contains(said, s.prompt) || len(r.Tools) < 8 {
		return modelserver.Reply{Text: "A turn of the script"}
	}
	if !s.begun {
		s.begun = true
		for _, t := range r.Tools {
			if n := name(t); n != "" {
				s.offered = append(s.offered, n)
			}
		}
	}
	s.instructed = s.instructed || bytes.Contains(r.Body, []byte("Ask it with recall before you start a task"))
	s.briefed = s.briefed || bytes.Contains(r.Body, []byte("for the start of this session"))
	if len(r.Results) > s.results {
		s.results = len(r.Results)
		s.check(r.Results[len(r.Results)-1])
	}
	if s.at == len(s.steps) {
		return modelserver.Reply{Text: "done"}
	}
	next := s.steps[s.at]
	if text, ok := next.arguments["receipt"]; ok && text == "" {
		next.arguments["receipt"] = s.receipt
	}
	wanted := func(t modelserver.Tool) bool {
		return next.own && t.Name == next.tool || !next.own && name(t) == next.tool
	}
	if tool, ok := find(r.Tools, wanted); ok && !s.retried {
		s.direct++
		return modelserver.Reply{Calls: []modelserver.Call{{Tool: tool, Arguments: next.arguments}}}
	}
	if tool, ok := find(r.Tools, func(t modelserver.Tool) bool { return name(t) == "call_tool" }); ok && !next.own {
		arguments := map[string]any{"name": next.tool, "arguments": next.arguments}
		return modelserver.Reply{Calls: []modelserver.Call{{Tool: tool, Arguments: arguments}}}
	}
	if call, ok := s.callDeferred(r.Tools, next); ok {
		return modelserver.Reply{Calls: []modelserver.Call{call}}
	}
	if tool, ok := find(r.Tools, func(t modelserver.Tool) bool { return searches[t.Name] != nil }); ok && !s.searched {
		return modelserver.Reply{Calls: []modelserver.Call{{Tool: tool, Arguments: searches[tool.Name]()}}}
	}
	s.faults = append(s.faults, "the model is offered no "+next.tool)
	s.at = len(s.steps)
	return modelserver.Reply{Text: "I cannot go on"}
}

// callDeferred calls one of recalld's tools by the client's own tool for tools that it
// does not list.
func (s *script) callDeferred(tools []modelserver.Tool, next step) (modelserver.Call, bool) {
	through, ok := find(tools, func(t modelserver.Tool) bool { return t.Name == "tool_call" })
	if !ok || next.own {
		return modelserver.Call{}, false
	}
	var found string
	var arguments map[string]any
	for _, full := range s.deferred {
		switch name(modelserver.Tool{Name: full}) {
		case next.tool:
			s.direct++
			return modelserver.Call{Tool: through, Arguments: map[string]any{"name": full, "arguments": next.arguments}}, true
		case "call_tool":
			found, arguments = full, map[string]any{"name": next.tool, "arguments": next.arguments}
		}
	}
	return modelserver.Call{Tool: through, Arguments: map[string]any{"name": found, "arguments": arguments}}, found != ""
}

var deferredNames = regexp.MustCompile(`"name":\s*"(mcp__recalld__[a-z_]+)"`)

// check notes the answer to the last call.
func (s *script) check(r modelserver.Result) {
	if searches[r.Tool] != nil {
		s.searched = true
		for _, m := range deferredNames.FindAllStringSubmatch(r.Text, -1) {
			s.deferred = append(s.deferred, m[1])
		}
		return
	}
	// Copilot shows its model tools that have left the list since, and refuses to call them.
	// A model that reads that takes call_tool, and so does this one.
	if strings.Contains(r.Text, "does not exist") && !strings.Contains(r.Text, "<recalld") && !s.retried {
		s.retried = true
		return
	}
	if s.at == len(s.steps) {
		return
	}
	step := s.steps[s.at]
	s.at++
	s.retried = false
	s.answers = append(s.answers, modelserver.Result{Tool: step.tool, Text: r.Text})
	if m := receipts.FindStringSubmatch(r.Text); m != nil {
		s.receipt = m[1]
	}
	if !strings.Contains(r.Text, step.want) {
		s.faults = append(s.faults, fmt.Sprintf("%s answered %.200q", step.tool, r.Text))
	}
}

// end returns what went wrong in the turn.
func (s *script) end() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at < len(s.steps) {
		s.faults = append(s.faults, fmt.Sprintf("the turn ended before %s", s.steps[s.at].tool))
	}
	return s.faults
}

// everyTool calls each of recalld's tools once, with what the answer holds.
func everyTool(c client, lesson string) []step {
	id := "table-" + c.name
	current := map[string]any{"sessionId": id}
	with := func(fields map[string]any) map[string]any {
		fields["sessionId"] = id
		return fields
	}
	task := func(fields map[string]any) map[string]any {
		fields["task_id"] = "task-" + c.name
		return fields
	}
	rule := map[string]any{"type": "rule", "name": "Brief " + c.name, "content": "Be brief.", "include": "manual"}
	named := map[string]any{"type": "rule", "name": "Brief " + c.name}
	return []step{
		{tool: "remember", arguments: map[string]any{"lesson": lesson, "context": "measuring agents", "event_type": "success"}, want: "Remembered"},
		{tool: "recall", arguments: map[string]any{"query": lesson}, want: lesson},
		{tool: "feedback", arguments: map[string]any{"receipt": "", "verdict": "worked"}, want: "worked"},
		{tool: "search_tools", arguments: map[string]any{"query": "start a session"}, want: "session_start"},
		{tool: "session_start", arguments: with(map[string]any{"goal": "call every tool"}), want: id},
		{tool: "record_step", arguments: with(map[string]any{"tool": map[string]any{"name": "make"}, "outcome": map[string]any{"ok": true}}), want: "ecorded"},
		{tool: "mm_knowledge_search", arguments: map[string]any{"query": "make"}, want: `"ok":true`},
		{tool: "mm_knowledge_last", arguments: map[string]any{"n": 2}, want: `"ok":true`},
		{tool: "mm_knowledge_summarize", arguments: map[string]any{"scope": current}, want: `"ok":true`},
		{tool: "mm_knowledge_sessions", arguments: map[string]any{"limit": 2}, want: `"ok":true`},
		{tool: "complete_task", arguments: task(map[string]any{"validation_report": map[string]any{"valid": true}}), want: "Kept task"},
		{tool: "block_task", arguments: task(map[string]any{"reason": "no key"}), want: "Blocked task"},
		{tool: "unblock_task", arguments: task(map[string]any{}), want: "Unblocked task"},
		{tool: "task_window", arguments: map[string]any{}, want: "task-" + c.name},
		{tool: "task_history", arguments: task(map[string]any{}), want: "unblocked"},
		{tool: "load_tasks", arguments: map[string]any{"state": []any{}}, want: "task"},
		{tool: "register_context", arguments: map[string]any{"entries": []any{rule}}, want: "added"},
		{tool: "list_context", arguments: map[string]any{}, want: "Brief " + c.name},
		{tool: "change_context", arguments: with(map[string]any{"add": []any{named}}), want: "Brief " + c.name},
		{tool: "session_context", arguments: with(map[string]any{}), want: "Brief " + c.name},
		{tool: "assemble_context", arguments: with(map[string]any{"message": "measure " + c.title}), want: "Be brief."},
		{tool: "context_of_turn", arguments: with(map[string]any{}), want: "Brief " + c.name},
		{tool: "report_context", arguments: with(map[string]any{"entities": []any{map[string]any{"id": "order-17"}}}), want: "order-17"},
		{tool: "working_context", arguments: with(map[string]any{}), want: "order-17"},
		{tool: "compact_session", arguments: with(map[string]any{"summary": "Every tool was called."}), want: id},
		{tool: "receipts", arguments: map[string]any{"limit": 2}, want: "recall"},
		{tool: "session_end", arguments: current, want: id},
		{tool: "unregister_context", arguments: map[string]any{"entries": []any{named}}, want: "removed"},
		{tool: "index_repo", arguments: map[string]any{}, want: "Queued"},
		{tool: "status", arguments: map[string]any{}, want: "recalld"},
		{tool: c.shell, arguments: c.arguments("echo measured-" + c.name), want: "measured-" + c.name, own: true},
		{tool: c.shell, arguments: c.arguments("cat absent-" + c.name), want: "absent-" + c.name, own: true},
	}
}
