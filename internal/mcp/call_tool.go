package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/strict"
	"github.com/recalld/recalld/internal/schema"
)

// CallTool is the tool that reaches every tool of recalld, listed or not: some clients
// offer their model only what was listed when they connected.
const CallTool = "call_tool"

type callToolArguments struct {
	Name      string          `json:"name" limit:"1-200" desc:"Of a tool of recalld."`
	Arguments json.RawMessage `json:"arguments,omitempty" form:"object" desc:"Of that tool."`
}

// describeCallTool is call_tool as tools/list shows it.
func describeCallTool() mcpgo.Tool {
	const title = "Call another tool"
	return mcpgo.Tool{
		Name: CallTool, Title: title,
		Description:    "Call a tool of recalld that is not listed, such as those that search_tools finds. The answer is that of the tool.",
		RawInputSchema: schema.Input(reflect.TypeFor[callToolArguments]()).Brief(false).Raw(),
		Meta:           &mcpgo.Meta{AdditionalFields: map[string]any{metaAlwaysLoad: true}},
		Annotations: mcpgo.ToolAnnotation{
			Title: title, ReadOnlyHint: new(false), DestructiveHint: new(true), IdempotentHint: new(false), OpenWorldHint: new(false),
		},
	}
}

// callTool calls the tool that the arguments name, as if the client had.
func (s *Server) callTool(ctx context.Context, request mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
	var asked callToolArguments
	given := request.Params.RawArguments
	if len(given) == 0 {
		given = json.RawMessage("{}")
	}
	err := strict.Arguments(given, &asked)
	if err == nil {
		err = memory.Text("name", asked.Name, 1, memory.MaxNameText)
	}
	if err != nil {
		return refusal(err), nil
	}
	handle, known := s.handlers[ownName(asked.Name)]
	if !known {
		callable := slices.DeleteFunc(slices.Collect(maps.Keys(s.handlers)), func(name string) bool { return !s.permitted(ctx, request.Header, name) })
		return refusal(s.reachable(ctx, request.Header, &memory.Error{
			Code: memory.CodeNotFound, Field: "name", Message: "recalld has no tool " + memory.Quote(asked.Name),
			Hint: memory.NearNames(ownName(asked.Name), callable) + "; search_tools finds tools by what you want to do",
		})), nil
	}
	request.Params.Name, request.Params.RawArguments, request.Params.Arguments = asked.Name, unquoted(asked.Arguments), nil
	return handle(ctx, request)
}

// ownName is the name of a tool without what clients put before it, as in
// mcp__recalld__status and recalld:status.
func ownName(name string) string {
	for _, before := range []string{"mcp__" + OwnServer + "__", OwnServer + "__", OwnServer + ":", OwnServer + "."} {
		if own, cut := strings.CutPrefix(name, before); cut {
			return own
		}
	}
	return name
}

// unquoted takes the object out of a string: some models write the arguments as text.
func unquoted(arguments json.RawMessage) json.RawMessage {
	var text string
	if !bytes.HasPrefix(arguments, []byte(`"`)) || json.Unmarshal(arguments, &text) != nil {
		return arguments
	}
	return json.RawMessage(text)
}

// static says whether the client of a call offers its model only the tools that were
// listed when it connected. One without sessions has a list that never changes.
func (s *Server) static(ctx context.Context) bool {
	if server.IsModernRequest(ctx) {
		return true
	}
	client, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo)
	return ok && slices.ContainsFunc(s.opts.StaticLists, func(name string) bool {
		return name == "*" || strings.HasPrefix(client.GetClientInfo().Name, name)
	})
}
