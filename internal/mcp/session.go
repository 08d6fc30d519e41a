package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// sessionContent is a session as its writer sees it, without the objects
// that it has just sent.
type sessionContent struct {
	SessionID   string      `json:"sessionId"`
	Project     string      `json:"project"`
	ProjectName string      `json:"project_name,omitempty"`
	CreatedAt   time.Time   `json:"createdAt"`
	EndedAt     time.Time   `json:"endedAt,omitzero" desc:"Absent while it is open."`
	Goal        string      `json:"goal,omitempty"`
	FlowTags    []string    `json:"flowTags"`
	Tags        []string    `json:"tags"`
	Git         *memory.Git `json:"git,omitempty" desc:"Where the repository stood at the start."`
	Steps       int         `json:"steps" desc:"How many are recorded."`
	Dir         string      `json:"dir,omitempty" desc:"The folder of its files."`
	Redacted    bool        `json:"redacted,omitempty" desc:"A secret was taken out."`
	Warning     string      `json:"warning,omitempty" desc:"What could not be done beside; the session is kept."`
	Seq         uint64      `json:"seq" desc:"The committed batch that holds it."`
}

func contentOf(state *memory.SessionState) sessionContent {
	return sessionContent{
		SessionID: state.ID, Project: state.Project, ProjectName: state.ProjectName,
		CreatedAt: state.CreatedAt, EndedAt: state.EndedAt, Goal: state.Goal,
		FlowTags: state.FlowTags, Tags: state.Tags, Git: state.Git,
		Steps: state.Steps, Dir: state.Dir, Redacted: state.Redacted, Warning: state.Warning, Seq: state.Seq,
	}
}

func ofWindow(ctx context.Context, _ call, r *memory.StartSessionRequest) error {
	r.Caller.Window = connectionWindow(server.ClientSessionFromContext(ctx))
	return nil
}

func answerStart(ctx context.Context, s *Server, _ call, request memory.StartSessionRequest, state *memory.SessionState) (string, sessionContent) {
	s.setAgent(ctx, agent{state.Key(), request.Project != ""})
	s.list(ctx, service.History) // what is needed next, though the call was not listed
	var text strings.Builder
	fmt.Fprintf(&text, "Session %s is open in project %s", state.ID, memory.ProjectLabel(state.ProjectName, state.Project))
	if state.Git != nil && state.Git.Branch != "" {
		fmt.Fprintf(&text, " on branch %s", state.Git.Branch)
	}
	text.WriteString(".")
	writeNotes(&text, state.Redacted, state.Warning)
	return text.String(), contentOf(state)
}

func answerEnd(_ context.Context, s *Server, _ call, _ memory.EndSessionRequest, state *memory.SessionState) (string, sessionContent) {
	s.endAgent(state.Key())
	var text strings.Builder
	fmt.Fprintf(&text, "Session %s of project %s has ended, with %s.",
		state.ID, memory.ProjectLabel(state.ProjectName, state.Project), memory.Count(state.Steps, "step"))
	writeNotes(&text, state.Redacted, state.Warning)
	return text.String(), contentOf(state)
}
