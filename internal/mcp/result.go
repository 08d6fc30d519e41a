package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"runtime/debug"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/recalld/recalld/internal/access"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// call is one tool call: who made it, within which agent's session, and the id by
// which a write is made once.
type call struct {
	caller    memory.Caller
	agent     agent
	requestID string
	// assumed is what the call is about if it names no project and no session does.
	assumed assumed
	// hidden are the tools that the client may not call.
	hidden []string
	// onlyReads says that the call may change nothing.
	onlyReads bool
	// report passes on how far the call is; nil if the client did not ask for that.
	report func(any)
}

func (s *Server) call(ctx context.Context, header http.Header) call {
	c := call{caller: s.caller(ctx, header), agent: s.agent(ctx, header), requestID: header.Get(HeaderRequestID)}
	c.caller.Session = c.agent.ID
	c.assumed, c.onlyReads = s.assume(header, c.caller.Dir), onlyReads(header)
	for _, t := range s.tools {
		if access.Permits(ctx, t.op) != nil || c.onlyReads && !t.op.ReadOnly {
			c.hidden = append(c.hidden, t.name)
		}
	}
	return c
}

// project is what a call is about that names no project, empty for that of its folder.
func (c call) project() string { return cmp.Or(c.agent.project(""), c.assumed.project) }

// handler makes the handler of a tool. Whatever goes wrong, a panic included, becomes a
// refusal and never a protocol error.
func (s *Server) handler(t ownTool) server.ToolHandlerFunc {
	tool, refusal := t.name, refusal
	if t.op.Group == service.Knowledge {
		refusal = knowledgeRefusal
	}
	return func(ctx context.Context, request mcpgo.CallToolRequest) (result *mcpgo.CallToolResult, _ error) {
		defer func() {
			if p := recover(); p != nil {
				s.log.ErrorContext(ctx, "tool panicked", slog.String("tool", tool),
					slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
				result = refusal(memory.Errorf(memory.CodeInternal, "%s failed inside recalld", tool))
			}
		}()
		if err := access.Permits(ctx, t.op); err != nil { // before its arguments are looked at
			// The service refuses it as well, and notes that.
			if _, noted := s.svc.Call(ctx, t.op, reflect.Zero(t.op.Request()).Interface(), nil); noted != nil {
				err = noted
			}
			return refusal(err), nil
		}
		if onlyReads(request.Header) && !t.op.ReadOnly {
			return refusal(&memory.Error{Code: memory.CodeForbidden, Field: HeaderReadOnly, Message: tool + " changes the memory, and this connection may only read"}), nil
		}
		c := s.call(ctx, request.Header)
		c.report = reporter(ctx, request)
		text, content, assumed, err := t.call(ctx, s, c, request.Params.RawArguments)
		if err != nil {
			err = s.reachable(ctx, request.Header, explainProject(err, c.caller))
			if memory.CodeOf(err) == memory.CodeInternal && !errors.Is(err, context.Canceled) {
				s.log.ErrorContext(ctx, "tool failed", slog.String("tool", tool), slog.Any("err", err))
			}
			warn(ctx, memory.AsError(err).Error())
			return refusal(err), nil
		}
		// Clients print texts to terminals.
		result = mcpgo.NewToolResultText(render.Visible(text))
		if content != nil {
			result.StructuredContent = content
		}
		// Blocks of their own: the text may be JSON.
		if assumed {
			result.Content = append(result.Content, mcpgo.NewTextContent(render.Visible(render.Escape(c.assumed.note()))))
		}
		if t.op.Group != service.Knowledge {
			if how := s.unlisted(ctx, request.Header, text); how != "" {
				result.Content = append(result.Content, mcpgo.NewTextContent(how+"."))
			}
		}
		// A search has said it itself.
		if notice := s.opts.Notice(); notice != "" && !strings.Contains(text, memory.RepairCommand) {
			result.Content = append(result.Content, mcpgo.NewTextContent(render.Visible(notice)))
			warn(ctx, notice)
		}
		return result, nil
	}
}

// refusal is the result of a call that failed: a text that names the code, the field, the
// limit and the next step.
func refusal(err error) *mcpgo.CallToolResult {
	e := memory.AsError(err)
	text := fmt.Sprintf("%s: %s", e.Code, e.Error())
	if e.Hint != "" {
		text += "\nhint: " + e.Hint
	}
	// Names of projects and paths in it may come from a repository.
	return mcpgo.NewToolResultError(render.Visible(render.Escape(text)))
}
