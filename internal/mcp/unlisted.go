package mcp

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/recalld/recalld/internal/access"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// Texts of recalld name its tools, and who reads one may not see the tool: then the text
// must say that call_tool reaches it.

// shows says whether tools/list shows a tool to the client of a call.
func (s *Server) shows(ctx context.Context, header http.Header, tool string) bool {
	if tool == CallTool {
		return true
	}
	if !s.permitted(ctx, header, tool) {
		return false
	}
	op := s.ops[tool]
	listed := s.first
	if asked := s.toolsetsOf(header); asked != nil {
		listed = asked
	}
	return listed[tool] || op != nil && slices.Contains(s.foundBy(ctx).groups, op.Group)
}

// permitted says that the client of a call may use a tool, on this connection.
func (s *Server) permitted(ctx context.Context, header http.Header, tool string) bool {
	op := s.ops[tool]
	if onlyReads(header) && (op == nil || !op.ReadOnly) {
		return false
	}
	return op == nil || access.Permits(ctx, op) == nil
}

// onlyReads says that the client of a call may change nothing. A value that is not known
// counts as true: its sender wants something refused.
func onlyReads(header http.Header) bool {
	value := header.Get(HeaderReadOnly)
	only, err := strconv.ParseBool(value)
	return only || err != nil && value != ""
}

// unlisted says how to reach the tools that a text names and its reader does not see;
// empty if there is none, or the text says it.
func (s *Server) unlisted(ctx context.Context, header http.Header, text string) string {
	own := render.OutsideFences(text)
	words := strings.FieldsFunc(own, notInName)
	if slices.Contains(words, CallTool) {
		return ""
	}
	var names []string
	for _, t := range s.tools {
		// Names without _ are words too, such as status.
		if strings.Contains(t.name, "_") && slices.Contains(words, t.name) && !s.shows(ctx, header, t.name) && s.permitted(ctx, header, t.name) {
			names = append(names, t.name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return CallTool + " {name, arguments} calls " + strings.Join(names, ", ")
}

// reachable is an error whose text says how to reach the tools that it names.
func (s *Server) reachable(ctx context.Context, header http.Header, err error) error {
	e := memory.AsError(err)
	how := s.unlisted(ctx, header, e.Error()+"\n"+e.Hint)
	if how == "" {
		return err
	}
	told := *e
	told.Hint = strings.TrimPrefix(e.Hint+"; "+how, "; ")
	return &told
}

// redirect has a call of a tool that does not exist answered by call_tool, which knows
// the names that clients make up and those that are near.
func (s *Server) redirect(_ context.Context, _ any, request *mcpgo.CallToolRequest) {
	name := request.Params.Name
	if _, known := s.handlers[name]; known || name == CallTool || s.mcp.GetTool(name) != nil { // which may have others than ownTools
		return
	}
	request.Params.RawArguments = []byte(render.Compact(callToolArguments{Name: name, Arguments: request.Params.RawArguments}))
	request.Params.Name, request.Params.Arguments = CallTool, nil
}
