package mcp

import (
	"fmt"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// What status shows at most; the command line shows everything.
const (
	maxStatusProjects = 50
	maxStatusErrors   = 10
)

func statusContent(_ service.None, r *memory.Status) *memory.Status {
	out := *r
	out.ProjectsTotal = max(r.ProjectsTotal, len(r.Projects))
	out.Projects = r.Projects[:min(len(r.Projects), maxStatusProjects)]
	out.Errors = r.Errors[:min(len(r.Errors), maxStatusErrors)]
	return &out
}

func statusText(r *memory.Status) string {
	a := statusContent(service.None{}, r)
	var text strings.Builder
	fmt.Fprintf(&text, "recalld %s is %s: %s, %s, %s.\n", a.Version, a.State,
		memory.Count(a.Records[memory.Lesson], "lesson"), memory.Count(a.Records[memory.Step], "step"), memory.Count(a.Documents, "document"))
	for _, p := range a.Projects {
		fmt.Fprintf(&text, "- %s at %s: %s\n", projectLabel(p.ProjectName, p.Project), inLine(p.Root), indexState(p))
	}
	if more := a.ProjectsTotal - len(a.Projects); more > 0 {
		fmt.Fprintf(&text, "- and %d more\n", more)
	}
	text.WriteString(codeText(&a.Code))
	if a.Savings != nil {
		fmt.Fprintf(&text, "- saved about %d tokens in %s with lessons, against reading their logs\n", a.Savings.Tokens, memory.Count(a.Savings.Answers, "answer"))
	}
	for _, space := range a.Collections {
		fmt.Fprintf(&text, "- vectors %s: %s, %d of %d embedded\n", space.Name, space.Text(), space.Embedded, space.Documents)
	}
	fmt.Fprintf(&text, "- queue: %d waiting, %d running, %d given up\n", a.Queue.Waiting, a.Queue.Running, a.Queue.Dead)
	for _, note := range a.Notes {
		fmt.Fprintf(&text, "- note: %s\n", inLine(note))
	}
	var errs strings.Builder // framed: they quote files of repositories
	for _, e := range a.Errors {
		fmt.Fprintf(&errs, "- error in %s at %s: %s\n", e.Part, e.At.UTC().Format("2006-01-02T15:04Z"), render.Printable(e.Message))
	}
	text.WriteString(render.Fence(errs.String()))
	return strings.TrimRight(text.String(), "\n")
}

// codeText says in a line how code memory is doing, and in another one that it is
// held; empty while no folder is indexed.
func codeText(c *memory.CodeState) string {
	var text strings.Builder
	if c.Paused {
		text.WriteString("- all work in the background is held, by `recalld pause`\n")
	}
	if c.Sandboxes == 0 {
		return text.String()
	}
	fmt.Fprintf(&text, "- code: %s, %d stale, %s waiting", memory.Count(c.Sandboxes, "folder"), c.Stale, memory.Count(c.Waiting, "run"))
	if c.Failed > 0 {
		fmt.Fprintf(&text, ", %d of %d failed", c.Failed, c.Runs)
	}
	if c.Asked > 0 {
		fmt.Fprintf(&text, "; of %s %s found code, %s fell back", memory.Count(c.Asked, "question"),
			memory.Percent(c.Hits, c.Asked), memory.Percent(c.Fallbacks, c.Asked))
	}
	text.WriteByte('\n')
	return text.String()
}

// indexState says in a few words how far the index of a sandbox is, and what it
// holds or why it does not.
func indexState(p memory.SandboxState) string {
	state := p.IndexState()
	switch state {
	case "failed":
		return "failed: " + inLine(p.LastError)
	case "gone":
		return "its folder is missing since " + p.GoneAt.UTC().Format("2006-01-02T15:04Z")
	case "ready", "stale", "paused":
		state = fmt.Sprintf("%s, %s, %s", state, memory.Count(p.Files, "file"), memory.Count(p.Chunks, "chunk"))
	}
	if p.Pruned > 0 {
		state += fmt.Sprintf(", %s pruned", memory.Count(p.Pruned, "file"))
	}
	return state
}
