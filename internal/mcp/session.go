package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// startInput is what session_start takes. Git facts are filled in by the daemon.
type startInput struct {
	SessionID   *string         `json:"sessionId"`
	Goal        string          `json:"goal"`
	FlowTags    []string        `json:"flowTags"`
	Tags        []string        `json:"tags"`
	Build       json.RawMessage `json:"build"`
	Launch      json.RawMessage `json:"launch"`
	Screenshots bool            `json:"screenshots"`
	Project     string          `json:"project"`
}

// endInput is what session_end takes.
type endInput struct {
	SessionID *string `json:"sessionId"`
	Project   string  `json:"project"`
}

// sessionAnswer is a session as its writer is told of it, without the objects
// that it has just sent.
type sessionAnswer struct {
	SessionID   string      `json:"sessionId"`
	Project     string      `json:"project"`
	ProjectName string      `json:"project_name,omitempty"`
	CreatedAt   time.Time   `json:"createdAt"`
	EndedAt     time.Time   `json:"endedAt,omitzero"`
	Goal        string      `json:"goal,omitempty"`
	FlowTags    []string    `json:"flowTags"`
	Tags        []string    `json:"tags"`
	Git         *memory.Git `json:"git,omitempty"`
	Steps       int         `json:"steps"`
	Dir         string      `json:"dir,omitempty"`
	Redacted    bool        `json:"redacted,omitempty"`
	Warning     string      `json:"warning,omitempty"`
	Seq         uint64      `json:"seq"`
}

func answerOf(state *memory.SessionState) sessionAnswer {
	return sessionAnswer{
		SessionID: state.ID, Project: state.Project, ProjectName: state.ProjectName,
		CreatedAt: state.CreatedAt, EndedAt: state.EndedAt, Goal: state.Goal,
		FlowTags: orEmpty(state.FlowTags), Tags: orEmpty(state.Tags), Git: state.Git,
		Steps: state.Steps, Dir: state.Dir, Redacted: state.Redacted, Warning: state.Warning, Seq: state.Seq,
	}
}

func (s *Server) startSession(ctx context.Context, c call, in startInput) (string, any, error) {
	id, err := sessionID("sessionId", in.SessionID)
	if err != nil {
		return "", nil, err
	}
	c.caller.Window = connectionWindow(server.ClientSessionFromContext(ctx))
	state, err := service.StartSession.Do(ctx, s.svc, memory.StartSessionRequest{
		RequestID: c.requestID, SessionID: id, Goal: in.Goal, FlowTags: in.FlowTags, Tags: in.Tags,
		Build: unlessNull(in.Build), Launch: unlessNull(in.Launch), Screenshots: in.Screenshots,
		Project: in.Project, Caller: c.caller,
	})
	if err != nil {
		return "", nil, err
	}
	s.setAgent(ctx, agent{state.Key(), in.Project != ""})
	s.list(ctx, service.History) // what is needed next, though the call was not listed
	var text strings.Builder
	fmt.Fprintf(&text, "Session %s is open in project %s", state.ID, memory.ProjectLabel(state.ProjectName, state.Project))
	if state.Git != nil && state.Git.Branch != "" {
		fmt.Fprintf(&text, " on branch %s", state.Git.Branch)
	}
	text.WriteString(".")
	writeNotes(&text, state.Redacted, state.Warning)
	return text.String(), answerOf(state), nil
}

func (s *Server) endSession(ctx context.Context, c call, in endInput) (string, any, error) {
	id, err := sessionID("sessionId", in.SessionID)
	if err != nil {
		return "", nil, err
	}
	state, err := service.EndSession.Do(ctx, s.svc, memory.EndSessionRequest{
		RequestID: c.requestID, SessionID: id, Project: c.agent.project(in.Project), Caller: c.caller,
	})
	if err != nil {
		return "", nil, err
	}
	s.endAgent(state.Key())
	var text strings.Builder
	fmt.Fprintf(&text, "Session %s of project %s has ended, with %s.",
		state.ID, memory.ProjectLabel(state.ProjectName, state.Project), memory.Count(state.Steps, "step"))
	writeNotes(&text, state.Redacted, state.Warning)
	return text.String(), answerOf(state), nil
}

// sessionID reads an id that may be left out. The service takes an empty one
// for that; one that was spelled out is refused.
func sessionID(field string, given *string) (string, error) {
	if given == nil {
		return "", nil
	}
	return *given, memory.Text(field, *given, memory.MinSessionID, memory.MaxNameText)
}

// unlessNull is a JSON value, or nil for null, which means the same as leaving
// the field out.
func unlessNull(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// orEmpty makes an absent list an empty one, which JSON tells apart.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
