package mcp

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client/transport"
	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

// refusing refuses some operations as the daemon does, with hints that name tools.
type refusing struct{ *ledger }

func (r refusing) Call(ctx context.Context, op *service.Spec, request any, progress func(any)) (any, error) {
	switch op {
	case service.RecordStep.Spec, service.EndSession.Spec, service.WorkingContext.Spec:
		return nil, &memory.Error{Code: memory.CodeNotFound, Field: "sessionId", Message: "no session is open", Hint: "open one with session_start, or name one"}
	}
	return r.ledger.Call(ctx, op, request, progress)
}

// TestTextsNameOnlyWhatIsReachable: whatever a client is told, by descriptions, answers and
// refusals, names no tool that the client does not see without saying that call_tool
// reaches it, and no knowledge tool under another prefix than it has.
func TestTextsNameOnlyWhatIsReachable(t *testing.T) {
	underrace.Skip(t, "its hundreds of calls come one after the other")
	for name, kind := range map[string]struct {
		opts     Options
		toolsets string
	}{
		"list that changes":  {opts: Options{}},
		"static list":        {opts: Options{StaticLists: []string{"*"}}},
		"static, some tools": {opts: Options{StaticLists: []string{"*"}}, toolsets: "record_step,compact_session,tasks"},
		"all":                {opts: Options{Toolsets: []string{allTools}}},
		"another prefix":     {opts: Options{KnowledgePrefix: new("x-")}},
		"no prefix":          {opts: Options{KnowledgePrefix: new("")}},
		"structured":         {opts: Options{StructuredContent: true}},
	} {
		t.Run(name, func(t *testing.T) {
			var headers transport.StreamableHTTPCOption = transport.WithHTTPHeaders(nil)
			if kind.toolsets != "" {
				headers = transport.WithHTTPHeaders(map[string]string{HeaderToolsets: kind.toolsets})
			}
			c := connect(t, overHTTP(t, serve(t, refusing{fullContexts()}, kind.opts), headers))
			prefix := DefaultKnowledgePrefix
			if kind.opts.KnowledgePrefix != nil {
				prefix = *kind.opts.KnowledgePrefix
			}
			var names []string
			for _, tool := range ownTools(prefix, nil) {
				names = append(names, tool.name)
			}
			wantReachable := func(where, text string) {
				t.Helper()
				var listed []string // asked for when a tool is named: each answer may change it
				unseen := func(tool string) bool {
					if listed == nil {
						listed = namesOf(listTools(t, c))
					}
					return !slices.Contains(listed, tool)
				}
				words := strings.FieldsFunc(render.OutsideFences(text), notInName)
				for _, word := range words {
					if strings.Contains(word, "_") && slices.Contains(names, word) && !slices.Contains(words, CallTool) && unseen(word) {
						t.Errorf("%s names %s, which its reader does not see:\n%s", where, word, text)
					}
					if knowledgeName.MatchString(word) && !slices.Contains(names, word) {
						t.Errorf("%s names %s, which does not exist:\n%s", where, word, text)
					}
				}
			}
			wantReachable("instructions", instructions(prefix))
			for _, tool := range listTools(t, c) {
				wantReachable("description of "+tool.Name, tool.Description+"\n"+string(tool.RawInputSchema))
			}
			calls := map[string][]string{}
			for _, call := range contextCalls {
				calls[call.tool] = []string{call.full, call.short}
			}
			for _, tool := range append(names, "session_begin", "mm_knowledge_find", "mcp__recalld__task_windw") {
				for _, arguments := range append(calls[tool], `{}`, `{"unknown":1}`, `{"step":{"name":"n"}}`, `{"name":"record_stp"}`) {
					r := callTool(t, c, tool, arguments)
					wantReachable(tool+" "+arguments, blocksOf(r))
				}
			}
			wantReachable("near names", blocksOf(callTool(t, c, CallTool, `{"name":"record_stp"}`)))
		})
	}
}

// knowledgeName finds what is meant as a knowledge tool.
var knowledgeName = regexp.MustCompile(`^(mm_|x-)?knowledge_(search|last|summarize|sessions)$`)

// blocksOf is the text of a result, with breaks between its blocks.
func blocksOf(r *mcpgo.CallToolResult) string {
	var blocks []string
	for _, c := range r.Content {
		if part, ok := c.(mcpgo.TextContent); ok {
			blocks = append(blocks, part.Text)
		}
	}
	return strings.Join(blocks, "\n")
}

// TestUnlistedHints: a hint that names a tool says how it is reached, to those alone who
// do not see it.
func TestUnlistedHints(t *testing.T) {
	url := serve(t, refusing{fullContexts()}, Options{})
	const how = "call_tool {name, arguments} calls session_start"
	call := func(headers map[string]string) string {
		c := connect(t, overHTTP(t, url, transport.WithHTTPHeaders(headers)))
		return textOf(callTool(t, c, "session_end", `{}`))
	}
	if text := call(nil); !strings.Contains(text, how) {
		t.Errorf("core: %s", text)
	}
	if text := call(map[string]string{HeaderToolsets: "history"}); strings.Contains(text, how) {
		t.Errorf("history: %s", text)
	}
	c := connect(t, overHTTP(t, url, transport.WithHTTPHeaders(map[string]string{HeaderReadOnly: "true"})))
	if text := textOf(callTool(t, c, "working_context", `{}`)); !strings.Contains(text, "no session is open") || strings.Contains(text, how) {
		t.Errorf("a connection that may only read is sent to a tool that is refused to it: %s", text)
	}
	if text := textOf(callTool(t, c, "sesion_start", `{}`)); !strings.Contains(text, "near names") || strings.Contains(text, "session_start") {
		t.Errorf("a connection that may only read is told of a tool that is refused to it: %s", text)
	}
}

// TestUnknownTool: a call of what is no tool is answered with the names that are near, and
// one of a tool under a name that a client made up is carried out.
func TestUnknownTool(t *testing.T) {
	c := connect(t, overHTTP(t, serve(t, fullContexts(), Options{})))
	for tool, want := range map[string]string{
		"task_windw":              `"task_window"`,
		"nonsense":                "search_tools finds tools by what you want to do",
		"mcp__recalld__task_wind": `"task_window"`,
		"":                        "name: ",
	} {
		if r := callTool(t, c, tool, `{"a":1}`); !r.IsError || !strings.Contains(textOf(r), want) {
			t.Errorf("%s: error %v, %q; want a refusal with %q", tool, r.IsError, textOf(r), want)
		}
	}
	if r := callTool(t, c, "recalld__task_window", `{}`); r.IsError || !strings.Contains(textOf(r), "task-1") {
		t.Errorf("recalld__task_window: %s", textOf(r))
	}
	var bare mcpgo.CallToolRequest
	bare.Params.Name = "recalld__task_window"
	if r, err := c.CallTool(t.Context(), bare); err != nil || r.IsError {
		t.Errorf("recalld__task_window without arguments: %v, %v", r, err)
	}
}
