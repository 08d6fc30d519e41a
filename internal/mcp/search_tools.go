package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory/session"
)

// searchToolsInput is what search_tools takes.
type searchToolsInput struct {
	Query string `json:"query"`
	Limit int    `json:"limit" given:"1–20"`
	whichInput
}

// toolsAnswer is what a search for tools found, and what is listed since. The text
// stands beside it.
type toolsAnswer struct {
	session.ToolMatches
	Listed []string `json:"listed,omitempty"`
	Text   string   `json:"text,omitempty"`
}

// searchTools finds tools of the host's catalogue and of recalld. Groups of those of
// recalld are listed from then on.
func (s *Server) searchTools(ctx context.Context, c call, in searchToolsInput) (string, any, error) {
	which, err := in.which(c)
	if err != nil {
		return "", nil, err
	}
	matches, err := s.svc.SearchTools(ctx, session.SearchToolsRequest{
		RequestID: c.requestID, Query: in.Query, Limit: in.Limit, Own: true, Which: which,
	})
	if err != nil {
		return "", nil, err
	}
	var groups []group
	for _, t := range matches.Tools {
		if g := s.groups[t.Name]; t.ServerName == OwnServer && g != "" && g != groupCore && !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	s.list(ctx, groups...)
	answer := toolsAnswer{ToolMatches: *matches}
	answer.Tools = orEmpty(matches.Tools)
	for _, t := range s.tools {
		if slices.Contains(groups, t.group) {
			answer.Listed = append(answer.Listed, t.name)
		}
	}
	return foundText(matches, answer.Listed), answer, nil
}

// foundText names what was found in a line each, as it is called: recalld's own
// without their server. It is written here because only the transport knows that.
func foundText(m *session.ToolMatches, listed []string) string {
	var text strings.Builder
	if len(m.Tools) == 0 {
		text.WriteString("No tool fits. Try other words for what you want to do.")
	}
	inactive := false
	for i, t := range m.Tools {
		if i > 0 {
			text.WriteByte('\n')
		}
		name := session.ToolRef{ServerName: t.ServerName, ToolName: t.Name}.String()
		if t.ServerName == OwnServer {
			name = t.Name
		} else if !t.Active {
			inactive = true
		}
		fmt.Fprintf(&text, "- %s: %s", name, firstLine(t.Description))
	}
	if len(listed) > 0 {
		fmt.Fprintf(&text, "\n\nListed from now on: %s. If your client does not show them, call them all the same; a wrong argument is answered with the right ones.",
			strings.Join(listed, ", "))
	}
	if inactive {
		fmt.Fprintf(&text, "\n\nNo session is open, so tools of other servers were found but not activated: open one with %s and search again.", startTool)
	}
	if m.Guidance != "" {
		fmt.Fprintf(&text, "\n\n%s", strings.TrimSpace(m.Guidance))
	}
	for _, d := range m.Degraded {
		fmt.Fprintf(&text, "\n\nDegraded: %s (%s).", d.Part, d.Reason)
	}
	return text.String()
}
