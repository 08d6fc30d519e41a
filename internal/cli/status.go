package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/buildinfo"
	"github.com/recalld/recalld/internal/client"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// statusCommand shows everything; unlike the MCP tool, people can scroll.
func statusCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "Show the state of the daemon",
		Long:    "Show the state of the daemon: its projects, the progress of each model's vectors, the\nqueue, code memory and the last errors. Prometheus reads the same from GET /metrics.\nstatus starts no daemon: if none runs, it says so and exits with 4.",
		Example: "  recalld status\n  recalld status --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.onlyRunning(c.Context()); err != nil {
				return err
			}
			return answered(c, a, service.Status, service.None{}, func(w io.Writer, status *memory.Status) { writeStatus(w, status, a.opts.Now()) })
		},
	}
}

// onlyRunning has what follows ask a daemon that runs already. If none does, the error
// says how to start one.
func (a *App) onlyRunning(ctx context.Context) error {
	running, err := a.running(ctx)
	if memory.CodeOf(err) == memory.CodeUnavailable && !client.MayNotOpen(err) {
		cfg, _ := a.Config() // running has read it
		return &memory.Error{Code: memory.CodeUnavailable, Message: "the daemon of " + cfg.Data + " is not running",
			Hint: "run 'recalld up' in a repository to start it; every command that asks it starts it too", Cause: err}
	}
	a.daemon = running
	return err
}

// writeStatus writes one table per concern and leaves out those that are empty.
func writeStatus(w io.Writer, s *memory.Status, now time.Time) {
	var rows [][]string
	add := func(name, text string) {
		if text != "" {
			rows = append(rows, []string{name, text})
		}
	}
	add("daemon", fmt.Sprintf("%s, version %s, protocol %d, pid %d, since %s", s.State, s.Version, s.Protocol, s.PID, render.Time(s.StartedAt, "?")))
	add("data", s.Data)
	add("socket", s.Socket)
	add("tcp", s.TCP)
	add("memories", countsText(s))
	if s.RSSBytes > 0 || s.DiskBytes > 0 {
		add("size", fmt.Sprintf("the process takes %s of memory, and %s on disk", render.Bytes(s.RSSBytes), render.Bytes(s.DiskBytes)))
	}
	queue := fmt.Sprintf("%d waiting, %d running", s.Queue.Waiting, s.Queue.Running)
	if s.Queue.Dead > 0 {
		queue += fmt.Sprintf(", %d given up (run 'recalld doctor' to see why)", s.Queue.Dead)
	}
	if s.Queue.Dropped > 0 {
		queue += fmt.Sprintf(", %d dropped", s.Queue.Dropped)
	}
	add("queue", queue)
	addCode(add, &s.Code)
	if h := s.Hooks; h != nil {
		add("hooks", fmt.Sprintf("%d events wait, %d could not be recorded (see the folder spool), %d found no room", h.Waiting, h.Aside, h.Refused))
	}
	if s.Savings != nil {
		add("saved", savingsText(s))
	}
	if s.Adapting != nil {
		add("model", adaptingText(s.Adapting))
	}
	if s.Damage != nil {
		add("damage", s.Damage.Text())
	}
	add("read-only", s.ReadOnly)
	for _, note := range s.Notes {
		add("note", note)
	}
	add("version", versionNote(buildinfo.Version(), service.Greeting{Version: s.Version, Protocol: service.Protocol}))
	addWaiting(add, s.Waiting)
	render.Table(w, rows)

	if len(s.Collections) > 0 {
		fmt.Fprintln(w)
		spaces := [][]string{{"VECTORS", "STATE", "EMBEDDED", "OF", "ERROR"}}
		for _, space := range s.Collections {
			spaces = append(spaces, []string{space.Name, space.Text(), strconv.Itoa(space.Embedded), strconv.Itoa(space.Documents), space.Error})
		}
		render.Table(w, spaces)
	}
	if len(s.Projects) > 0 {
		fmt.Fprintln(w)
		writeRepos(w, s.Projects, now)
		if more := s.ProjectsTotal - len(s.Projects); more > 0 {
			fmt.Fprintf(w, "and %d more; run 'recalld repos' to list them\n", more)
		}
	}
	if len(s.Errors) > 0 {
		fmt.Fprintln(w)
		errors := [][]string{{"ERROR AT", "PART", "MESSAGE"}}
		for _, e := range s.Errors {
			errors = append(errors, []string{render.Time(e.At, "?"), e.Part, e.Message})
		}
		render.Table(w, errors)
	}
}

// savingsText says what answers saved, in all and for the projects with the most.
func savingsText(status *memory.Status) string {
	s := status.Savings
	text := fmt.Sprintf("about %d tokens in %s with lessons, against reading their logs", s.Tokens, memory.Count(s.Answers, "answer"))
	if len(s.Projects) < 2 {
		return text
	}
	var each []string
	labels := render.ProjectLabels(status.Projects)
	for _, p := range s.Projects[:min(len(s.Projects), 3)] {
		each = append(each, fmt.Sprintf("%s %d", cmp.Or(labels[p.Project], memory.ProjectLabel(p.ProjectName, p.Project)), p.Tokens))
	}
	return text + ": " + strings.Join(each, ", ")
}

// addCode says how code memory is doing: what is indexed, how runs went, and how
// many questions it could answer.
func addCode(add func(name, text string), c *memory.CodeState) {
	if c.Paused {
		add("paused", pausedText)
	}
	text := memory.Count(c.Sandboxes, "folder")
	if c.Stale > 0 {
		text += fmt.Sprintf(" (%d stale)", c.Stale)
	}
	text += ", index " + indexSize(c)
	if c.Pruned > 0 {
		text += fmt.Sprintf(" (%s pruned)", memory.Count(c.Pruned, "file"))
	}
	add("code", text)
	text = fmt.Sprintf("%d waiting, %d done", c.Waiting, c.Runs)
	if c.Failed > 0 {
		text += fmt.Sprintf(" (%d failed)", c.Failed)
	}
	if c.Runs > 0 {
		text += fmt.Sprintf(", %s on average", c.MeanRun.Duration().Round(time.Millisecond))
	}
	add("runs", text)
	if c.Asked > 0 {
		add("answers", fmt.Sprintf("%s that code may answer: %s with code, %s where none was near enough; the code index was missing or late for %s",
			memory.Count(c.Asked, "question"), memory.Percent(c.Hits, c.Asked), memory.Percent(c.Asked-c.Hits, c.Asked), memory.Percent(c.Fallbacks, c.Asked)))
	}
}

// countsText lists the records by kind, in the order of answers.
func countsText(s *memory.Status) string {
	var parts []string
	for _, kind := range memory.Kinds {
		if n := s.Records[kind]; n > 0 {
			parts = append(parts, memory.Count(n, kind.Words()))
		}
	}
	return strings.Join(append(parts, memory.Count(s.Documents, "text")), ", ")
}
