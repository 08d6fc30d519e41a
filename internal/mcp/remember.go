package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// rememberInput is what remember takes: the fields of a lesson's log line.
type rememberInput struct {
	Lesson      string           `json:"lesson"`
	Context     string           `json:"context"`
	Command     string           `json:"command"`
	EventType   memory.EventType `json:"event_type"`
	SuccessRate string           `json:"success_rate"`
	Tags        []string         `json:"tags"`
	Repo        string           `json:"repo"`
	Project     string           `json:"project"`
	AgentID     string           `json:"agent_id"`
}

func (s *Server) remember(ctx context.Context, c call, in rememberInput) (string, any, error) {
	kept, err := s.svc.Remember(ctx, memory.RememberRequest{
		RequestID: c.requestID,
		Repo:      in.Repo, Type: in.EventType, Context: in.Context, Command: in.Command, Lesson: in.Lesson,
		SuccessRate: in.SuccessRate, Tags: in.Tags, AgentID: in.AgentID, Project: in.Project, Caller: c.caller,
	})
	if err != nil {
		return "", nil, err
	}
	return rememberedText(kept), kept, nil
}

func rememberedText(kept *memory.Remembered) string {
	var text strings.Builder
	verb := "Remembered"
	if kept.Merged {
		verb = "Already known, counted again"
	}
	fmt.Fprintf(&text, "%s: %s in project %s.", verb, kept.ID, projectLabel(kept.ProjectName, kept.Project))
	if kept.Redacted {
		text.WriteString(" A secret was taken out of the text.")
	}
	return text.String()
}

// projectLabel is what people call a project.
func projectLabel(name, id string) string {
	if name != "" {
		return name
	}
	return id
}
