package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// listThreshold is the relevance from which a tool of recalld's own has its group listed. A
// search answers with less relevant tools too, because the agent chooses; but what is listed costs tokens
// with every request from then on. Beside a host with 20 tools, 47 of 100 queries for
// other tools (queries.txt of internal/daemon) find one of recalld's own, and 3 one of .5
// and more; of 31 phrases for these each does.
const listThreshold = 0.5

// alsoOwn lets a search find recalld's own tools beside the host's, but for those that the
// client may not call.
func alsoOwn(_ context.Context, c call, r *memory.SearchToolsRequest) error {
	r.Own, r.Hidden, r.ReadOnly = true, c.hidden, c.onlyReads
	return nil
}

// searchToolsText lists groups of recalld's own tools from now on, with their schemas,
// where they are relevant enough.
func searchToolsText(ctx context.Context, s *Server, c call, _ memory.SearchToolsRequest, matches *memory.ToolMatches) string {
	var groups []service.Group
	for _, t := range matches.Tools {
		op := s.ops[t.Name]
		if op != nil && t.ServerName == OwnServer && t.Relevance >= listThreshold && op.Group != service.Core && !slices.Contains(groups, op.Group) {
			groups = append(groups, op.Group)
		}
	}
	text := strings.TrimSpace(matches.Text)
	if s.static(ctx) {
		return text + s.callable(matches.Tools)
	}
	s.list(ctx, groups...)
	var listed []string
	for _, t := range s.tools {
		if slices.Contains(groups, t.op.Group) && !slices.Contains(c.hidden, t.name) {
			listed = append(listed, t.name)
		}
	}
	if len(listed) > 0 {
		text += fmt.Sprintf("\n\nrecalld lists these from now on: %s. If you do not see them among your tools, use %s.",
			strings.Join(listed, ", "), CallTool)
	}
	return text
}

// callable says how a model whose list does not grow calls those of recalld's own tools
// that are relevant enough.
func (s *Server) callable(tools []memory.FoundTool) string {
	var text strings.Builder
	for _, t := range s.tools {
		found := slices.ContainsFunc(tools, func(f memory.FoundTool) bool {
			return f.ServerName == OwnServer && f.Name == t.name && f.Relevance >= listThreshold
		})
		if found && t.op.Group != service.Core {
			fmt.Fprintf(&text, "\n- %s: %s", t.name, t.in.Brief(true).Raw())
		}
	}
	if text.Len() == 0 {
		return ""
	}
	return "\n\nCall these with " + CallTool + " {name, arguments}; the schemas of their arguments:" + text.String()
}
