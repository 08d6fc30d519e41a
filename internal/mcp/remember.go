package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// rememberInput is what remember takes: the fields of a lesson's log line.
type rememberInput struct {
	Lesson      string           `json:"lesson"`
	Context     string           `json:"context"`
	Command     string           `json:"command"`
	EventType   memory.EventType `json:"event_type"`
	Type        memory.EventType `json:"type"` // the same as event_type
	SuccessRate string           `json:"success_rate"`
	Tags        []string         `json:"tags"`
	Repo        string           `json:"repo"`
	Project     string           `json:"project"`
	AgentID     string           `json:"agent_id"`
	Supersedes  []string         `json:"supersedes"`
	Retracts    []string         `json:"retracts"`
}

func (s *Server) remember(ctx context.Context, c call, in rememberInput) (string, any, error) {
	kept, err := service.Remember.Do(ctx, s.svc, memory.RememberRequest{
		RequestID: c.requestID,
		Repo:      in.Repo, Type: in.EventType, AlsoType: in.Type, Context: in.Context, Command: in.Command, Lesson: in.Lesson,
		SuccessRate: in.SuccessRate, Tags: in.Tags, AgentID: in.AgentID,
		Supersedes: in.Supersedes, Retracts: in.Retracts, Project: c.agent.project(in.Project), Caller: c.caller,
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
	fmt.Fprintf(&text, "%s: %s in project %s.", verb, kept.ID, memory.ProjectLabel(kept.ProjectName, kept.Project))
	writeNotes(&text, kept.Redacted, kept.Warning)
	return text.String()
}

// writeNotes adds what the writer of a memory should know of it.
func writeNotes(text *strings.Builder, redacted bool, warning string) {
	if redacted {
		text.WriteString(" A secret was taken out of the text.")
	}
	if warning != "" {
		fmt.Fprintf(text, " Warning: %s.", strings.TrimSuffix(warning, "."))
	}
}
