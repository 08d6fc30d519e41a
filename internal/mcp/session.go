package mcp

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

func ofWindow(ctx context.Context, _ call, r *memory.StartSessionRequest) error {
	if window := connectionWindow(ctx); window != "" {
		r.Caller.Window = window
	}
	return nil
}

func startedText(ctx context.Context, s *Server, c call, request memory.StartSessionRequest, state *memory.SessionState) string {
	s.setAgent(ctx, agent{state.Key(), request.Project != ""})
	s.list(ctx, service.History) // what is needed next, though the call was not listed
	var text strings.Builder
	fmt.Fprintf(&text, "Session %s is open in project %s", state.ID, projectLabel(state.ProjectName, state.Project))
	// The name of a branch has no space: what has some is a text that somebody wrote there.
	if state.Git != nil && state.Git.Branch != "" && !strings.ContainsFunc(state.Git.Branch, unicode.IsSpace) {
		fmt.Fprintf(&text, " on branch %s", inLine(state.Git.Branch))
	}
	text.WriteString(".")
	if connectionOf(ctx) == "" && c.caller.Window == "" { // nothing joins the calls to come to it
		text.WriteString(" Give its id as sessionId in later calls.")
	}
	writeNotes(&text, state.Redacted, state.Warning)
	return text.String()
}

func endedText(ctx context.Context, s *Server, _ call, _ memory.EndSessionRequest, state *memory.SessionState) string {
	s.endAgent(ctx, state.Key())
	var text strings.Builder
	fmt.Fprintf(&text, "Session %s of project %s has ended, with %s.",
		state.ID, projectLabel(state.ProjectName, state.Project), memory.Count(state.Steps, "step"))
	writeNotes(&text, state.Redacted, state.Warning)
	return text.String()
}
