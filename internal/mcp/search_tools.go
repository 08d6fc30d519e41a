package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// searchToolsInput is what search_tools takes.
type searchToolsInput struct {
	Query string `json:"query"`
	Limit int    `json:"limit,omitempty" limit:"1-20"`
	whichInput
}

// toolsAnswer is what a search for tools found, and what is listed since. The text
// stands beside it.
type toolsAnswer struct {
	memory.ToolMatches
	Listed []string `json:"listed,omitempty"`
	Text   string   `json:"text,omitempty"`
}

// listFloor is the relevance from which a tool of recalld's own has its group listed. A
// search tells of tools with less, for who asks chooses; but what is listed costs tokens
// with every request from then on. Beside a host with 20 tools, 47 of 100 queries for
// other tools (queries.txt of internal/daemon) find one of recalld's own, and 3 one of .5
// and more; of 31 phrases for these each does.
const listFloor = 0.5

// searchTools finds tools of the host's catalogue and of recalld. Groups of those of
// recalld are listed from then on, with their schemas, where enough speaks for them.
func (s *Server) searchTools(ctx context.Context, c call, in searchToolsInput) (string, any, error) {
	which, err := in.which(c)
	if err != nil {
		return "", nil, err
	}
	matches, err := service.SearchTools.Do(ctx, s.svc, memory.SearchToolsRequest{
		RequestID: c.requestID, Query: in.Query, Limit: in.Limit, Own: true, SessionRef: which,
	})
	if err != nil {
		return "", nil, err
	}
	var groups []service.Group
	for _, t := range matches.Tools {
		if g := s.groups[t.Name]; t.ServerName == OwnServer && t.Relevance >= listFloor && g != "" && g != service.Core && !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	s.list(ctx, groups...)
	answer := toolsAnswer{ToolMatches: *matches}
	answer.Tools = slices.Clone(orEmpty(matches.Tools))
	for i, t := range answer.Tools {
		if g := s.groups[t.Name]; t.ServerName == OwnServer && (g == service.Core || slices.Contains(groups, g)) {
			answer.Tools[i].InputSchema = nil // the list of tools has it, and would say it again
		}
	}
	for _, t := range s.tools {
		if slices.Contains(groups, t.op.Group) {
			answer.Listed = append(answer.Listed, t.name)
		}
	}
	return foundText(matches, answer.Listed), answer, nil
}

// foundText is the service's text, and what the search has listed. A host that does
// not hear of changed lists can have the tools called all the same.
func foundText(m *memory.ToolMatches, listed []string) string {
	text := strings.TrimSpace(m.Text)
	if len(listed) > 0 {
		text += fmt.Sprintf("\n\nrecalld lists these from now on: %s. If you do not see them among your tools, call them all the same; a wrong argument is answered with the right ones.",
			strings.Join(listed, ", "))
	}
	return text
}
