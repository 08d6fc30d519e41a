package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// contextText lists what a session's context holds.
func contextText(held *memory.Context) string {
	var names strings.Builder
	for _, item := range held.Items {
		fmt.Fprintf(&names, "- %s %s [%s]\n", item.Type, refName(item.Ref), item.IncludeMode)
	}
	text := fmt.Sprintf("The context of session %s holds %d.\n%s", held.SessionID, len(held.Items), fence(names.String()))
	return strings.TrimRight(text, "\n")
}

// assembledContent is an assembled context without its text, which stands beside it.
type assembledContent struct {
	memory.Assembled
	Text string `json:"text,omitempty" mcp:"-"`
}

func answerAssemble(_ context.Context, _ *Server, _ call, _ memory.AssembleRequest, r *memory.Assembled) (string, assembledContent) {
	return r.Text, assembledContent{Assembled: *r}
}

// answerReport takes the tools that were found out of the list again where they are
// cleared.
func answerReport(ctx context.Context, s *Server, c call, request, response any) (string, any) {
	if r := request.(memory.ReportRequest); r.ClearDiscovered && c.isOwn(r.SessionID) {
		s.unlist(ctx)
	}
	return answerJSON(ctx, s, c, request, response)
}

// isOwn says that an id is of the connection's session. So is none.
func (c call) isOwn(sessionID string) bool { return sessionID == "" || sessionID == c.agent.ID }

// answerCompact takes the tools that were found out of the list again, as compaction
// does with the host's.
func answerCompact(ctx context.Context, s *Server, c call, request memory.CompactRequest, r *memory.Compacted) (string, *memory.Compacted) {
	if c.isOwn(request.SessionID) {
		s.unlist(ctx)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "Session %s starts from a clean slate: %s and %s cleared. Keep the last %s and this summary; search_tools finds tools again.",
		r.SessionID, memory.Count(r.ClearedTools, "tool"), entities(r.ClearedEntities), memory.Count(r.KeepTurns, "turn"))
	writeNotes(&text, r.Redacted, "")
	fmt.Fprintf(&text, "\n\n%s", fence(r.Summary))
	return text.String(), r
}

// entities counts entities.
func entities(n int) string {
	if n == 1 {
		return "1 entity"
	}
	return fmt.Sprintf("%d entities", n)
}
