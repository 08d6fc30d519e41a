package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// sessionsCommand lists sessions.
func sessionsCommand(a *App) *cobra.Command {
	var r memory.SessionsRequest
	var n narrowFlags
	c := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions of agents, newest first",
		Long: `List the sessions of a project, newest first: the runs of agents that recorded
steps. Filters choose sessions; --screen keeps sessions with a step on that screen. Run
'recalld summarize SESSION' to read one.`,
		Example: `  recalld sessions
  recalld sessions --flow-tag send --branch main --since-hours 48
  recalld sessions --project demo --limit 50 --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if r.Filters, err = n.filters(); err != nil {
				return err
			}
			list, err := ask(c.Context(), a, service.Sessions, r)
			if err != nil {
				return err
			}
			list.Sessions = orEmpty(list.Sessions)
			return a.recorded(list, len(list.Sessions) > 0, func(w io.Writer) {
				switch {
				case len(list.Sessions) > 0:
					render.List(w, sessionRows(list.Sessions, a.opts.Now()))
				case r.Filters != nil:
					fmt.Fprintln(w, "No matching sessions.")
				default:
					fmt.Fprintln(w, "No sessions yet. Agents open them; run 'recalld call session_start' to open one yourself.")
				}
			})
		},
	}
	a.projectFlag(c, &r.Project)
	countFlag(c, &r.Limit, "limit", "most sessions", 1, memory.MaxSessions, memory.DefaultSessions)
	a.filterFlags(c, &n)
	return c
}

func sessionRows(sessions []memory.SessionView, now time.Time) [][]string {
	rows := [][]string{{"SESSION", "AGE", "GOAL", "TAGS", "BRANCH"}}
	for _, s := range sessions {
		tags := strings.Join(slices.Concat(s.FlowTags, s.Tags), ",")
		rows = append(rows, []string{s.SessionID, render.Age(now.Sub(s.CreatedAt)), followedText(s.Provenance) + render.ShortLine(s.Goal, 60), render.ShortLine(tags, 40), render.ShortLine(s.Git.Branch, 40)})
	}
	return rows
}
