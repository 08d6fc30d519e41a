package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// contextText lists what a session's context holds.
func contextText(held *memory.Context) string {
	var names strings.Builder
	for _, item := range held.Items {
		fmt.Fprintf(&names, "- %s %s [%s]\n", item.Type, render.Name(item.ServerName, item.Name), item.IncludeMode)
	}
	text := fmt.Sprintf("The context of session %s holds %d.\n%s", held.SessionID, len(held.Items), fence(names.String()))
	return strings.TrimRight(text, "\n")
}

// assembledText is the context, with the schemas of its tools if they were asked for, and
// with its receipt if the budget has room for it.
func assembledText(_ context.Context, _ *Server, _ call, request memory.AssembleRequest, r *memory.Assembled) string {
	var text strings.Builder
	text.WriteString(r.Text)
	if request.Schemas {
		text.WriteString(render.ToolSchemas(r))
	}
	line := fmt.Sprintf("\nTurn %d, receipt for feedback: %s\n", r.Turn, render.ShortReceipt(r.Receipt))
	if whole := text.String() + line; r.Receipt != "" && render.Tokens(whole) <= r.MaxTokens {
		return strings.TrimRight(whole, "\n")
	}
	return strings.TrimRight(text.String(), "\n")
}

// reportText takes the tools that were found out of the list again where they are
// cleared.
func reportText(ctx context.Context, s *Server, c call, request memory.ReportRequest, r *memory.WorkingContext) string {
	if request.ClearDiscovered && c.isOwn(request.SessionID) {
		s.unlist(ctx)
	}
	return noticed(r)
}

// isOwn says that an id is of the connection's session. So is none.
func (c call) isOwn(sessionID string) bool { return sessionID == "" || sessionID == c.agent.ID }

// compactedText takes the tools that were found out of the list again, as compaction
// does with the host's.
func compactedText(ctx context.Context, s *Server, c call, request memory.CompactRequest, r *memory.Compacted) string {
	if c.isOwn(request.SessionID) {
		s.unlist(ctx)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "Session %s starts from a clean slate: %s and %s cleared. Keep the last %s and this summary; search_tools finds tools again.",
		r.SessionID, memory.Count(r.ClearedTools, "tool"), memory.Count(r.ClearedEntities, "entity"), memory.Count(r.KeepTurns, "turn"))
	writeNotes(&text, r.Redacted, "")
	fmt.Fprintf(&text, "\n\n%s", fence(r.Summary))
	return text.String()
}
