package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// What status shows at most; the command line shows everything.
const (
	maxStatusProjects = 50
	maxStatusErrors   = 10
)

// statusInput is what status takes: nothing.
type statusInput struct{}

// statusAnswer is the daemon's status with its lists bounded.
type statusAnswer struct {
	memory.Status
	// ProjectsTotal counts the projects, of which at most 50 are listed.
	ProjectsTotal int `json:"projects_total"`
}

func (s *Server) status(ctx context.Context, _ call, _ statusInput) (string, any, error) {
	status, err := s.svc.Status(ctx)
	if err != nil {
		return "", nil, err
	}
	answer := statusAnswer{Status: *status, ProjectsTotal: len(status.Projects)}
	answer.Projects = status.Projects[:min(len(status.Projects), maxStatusProjects)]
	answer.Errors = status.Errors[:min(len(status.Errors), maxStatusErrors)]
	if answer.Projects == nil {
		answer.Projects = []memory.SandboxState{}
	}
	if answer.Spaces == nil {
		answer.Spaces = []memory.SpaceState{}
	}
	if answer.Records == nil {
		answer.Records = map[memory.Kind]int{}
	}
	return statusText(answer), answer, nil
}

func statusText(a statusAnswer) string {
	var text strings.Builder
	fmt.Fprintf(&text, "recalld %s is %s: %d lessons, %d steps, %d documents.\n",
		a.Version, a.State, a.Records[memory.Lesson], a.Records[memory.Step], a.Documents)
	for _, p := range a.Projects {
		fmt.Fprintf(&text, "- %s at %s: %s\n", projectLabel(p.ProjectName, p.Project), p.Root, indexState(p))
	}
	if more := a.ProjectsTotal - len(a.Projects); more > 0 {
		fmt.Fprintf(&text, "- and %d more\n", more)
	}
	for _, space := range a.Spaces {
		fmt.Fprintf(&text, "- vectors %s: %s, %d of %d embedded\n", space.Name, space.State, space.Embedded, space.Documents)
	}
	fmt.Fprintf(&text, "- queue: %d waiting, %d running, %d given up\n", a.Queue.Waiting, a.Queue.Running, a.Queue.Dead)
	for _, e := range a.Errors {
		fmt.Fprintf(&text, "- error in %s at %s: %s\n", e.Part, e.At.UTC().Format("2006-01-02T15:04Z"), e.Message)
	}
	return strings.TrimRight(text.String(), "\n")
}

// indexState says in a few words how far the index of a sandbox is.
func indexState(p memory.SandboxState) string {
	switch {
	case p.Progress != nil && p.Progress.Phase != "done" && p.Progress.Phase != "failed":
		return fmt.Sprintf("%s, %d of %d files", p.Progress.Phase, p.Progress.FilesDone, p.Progress.FilesTotal)
	case p.LastError != "" && p.LastErrorAt.After(p.IndexedAt):
		return "failed: " + p.LastError
	case p.IndexedAt.IsZero():
		return "not indexed yet"
	case p.Stale:
		return fmt.Sprintf("stale, %d files, %d chunks", p.Files, p.Chunks)
	}
	return fmt.Sprintf("indexed, %d files, %d chunks", p.Files, p.Chunks)
}
