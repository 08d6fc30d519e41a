package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
)

// statusCommand shows everything; unlike the MCP tool, people can scroll.
func statusCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "Show how the daemon is doing",
		Long:    "Show the daemon, its projects, how far each model's vectors are, the queue and the last errors.",
		Example: "  recalld status\n  recalld status --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			service, err := a.service(c.Context())
			if err != nil {
				return err
			}
			status, err := service.Status(c.Context())
			if err != nil {
				return err
			}
			return a.answer(status, func(w io.Writer) { writeStatus(w, status) })
		},
	}
}

// writeStatus writes one table per concern and leaves out those that are empty.
func writeStatus(w io.Writer, s *memory.Status) {
	rows := [][]string{
		{"daemon", fmt.Sprintf("%s, version %s, protocol %d, pid %d, since %s", s.State, s.Version, s.Protocol, s.PID, timeText(s.StartedAt, "?"))},
		{"data", s.Data},
		{"socket", s.Socket},
	}
	if s.TCP != "" {
		rows = append(rows, []string{"tcp", s.TCP})
	}
	rows = append(rows, []string{"memories", countsText(s)})
	if s.RSSBytes > 0 || s.DiskBytes > 0 {
		rows = append(rows, []string{"size", fmt.Sprintf("%s in memory, %s on disk", bytesText(s.RSSBytes), bytesText(s.DiskBytes))})
	}
	queue := fmt.Sprintf("%d waiting, %d running", s.Queue.Waiting, s.Queue.Running)
	if s.Queue.Dead > 0 {
		queue += fmt.Sprintf(", %d given up (see: recalld doctor)", s.Queue.Dead)
	}
	if s.Queue.Dropped > 0 {
		queue += fmt.Sprintf(", %d dropped", s.Queue.Dropped)
	}
	rows = append(rows, []string{"queue", queue})
	for _, note := range s.Notes {
		rows = append(rows, []string{"note", note})
	}
	table(w, rows)

	if len(s.Spaces) > 0 {
		fmt.Fprintln(w)
		spaces := [][]string{{"VECTORS", "STATE", "EMBEDDED", "OF", "ERROR"}}
		for _, space := range s.Spaces {
			spaces = append(spaces, []string{space.Name, space.State, strconv.Itoa(space.Embedded), strconv.Itoa(space.Documents), space.Error})
		}
		table(w, spaces)
	}
	if len(s.Projects) > 0 {
		fmt.Fprintln(w)
		table(w, repoRows(s.Projects))
		if more := s.ProjectsTotal - len(s.Projects); more > 0 {
			fmt.Fprintf(w, "and %d more; see: recalld repos\n", more)
		}
	}
	if len(s.Errors) > 0 {
		fmt.Fprintln(w)
		errors := [][]string{{"ERROR AT", "PART", "MESSAGE"}}
		for _, e := range s.Errors {
			errors = append(errors, []string{timeText(e.At, "?"), e.Part, e.Message})
		}
		table(w, errors)
	}
}

// countsText lists the records by kind, in the order of answers.
func countsText(s *memory.Status) string {
	kinds := slices.SortedFunc(maps.Keys(s.Records), func(a, b memory.Kind) int {
		return slices.Index(memory.Kinds, a) - slices.Index(memory.Kinds, b)
	})
	var parts []string
	for _, kind := range kinds {
		if n := s.Records[kind]; n > 0 {
			parts = append(parts, memory.Count(n, string(kind)))
		}
	}
	return strings.Join(append(parts, memory.Count(s.Documents, "text")), ", ")
}
