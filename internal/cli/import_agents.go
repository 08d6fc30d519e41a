package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// importAgentsCommand takes in what agents did before the installation.
func importAgentsCommand(a *App) *cobra.Command {
	var r memory.AgentImportRequest
	var yes bool
	var since string
	c := &cobra.Command{
		Use:   "agents",
		Short: "Import what coding agents did before",
		Long: `Find the session logs that coding agents keep on disk, and import their steps with what
failed and what fixed it. It asks once; from then on the daemon follows the logs. Secrets
are taken out. To import again changes nothing, and an import that was interrupted goes on
where it was. A line that cannot be read is listed and skipped.`,
		Example: `  recalld import agents --dry-run
  recalld import agents --client claude-code --since 2026-01-01
  recalld import agents --stop`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if since != "" {
				at, err := time.Parse(time.DateOnly, since)
				if err != nil {
					return memory.Invalid("since", "a date such as 2026-01-31", "%s is no date", memory.Quote(since))
				}
				r.Since = at
			}
			agreed, err := a.agreeToLogs(c, r, yes)
			if err != nil || !agreed {
				return err
			}
			r.Consent = !r.DryRun && !r.Stop
			found, err := a.importAgents(c, r, "importing")
			if err != nil {
				return err
			}
			return a.answer(found, func(w io.Writer) { writeAgentImport(w, found, r.Stop) })
		},
	}
	c.Flags().BoolVar(&r.DryRun, "dry-run", false, "only say what would be imported")
	c.Flags().BoolVar(&yes, "yes", false, "agree without being asked")
	c.Flags().BoolVar(&r.Stop, "stop", false, "no longer follow the logs; what was imported stays")
	c.Flags().StringVar(&r.Client, "client", "", "only logs of this client")
	c.Flags().StringVar(&since, "since", "", "only logs that changed on this date or later")
	c.MarkFlagsMutuallyExclusive("dry-run", "yes", "stop")
	completeFlag(c, "client", cobra.NoFileCompletions)
	completeFlag(c, "since", cobra.NoFileCompletions)
	return c
}

// importAgents has the daemon read the logs.
func (a *App) importAgents(c *cobra.Command, r memory.AgentImportRequest, phase string) (*memory.AgentImported, error) {
	return askLong(c.Context(), a, service.ImportAgents, r, "logs", func(shown *progress, p memory.AgentImportProgress) {
		shown.show(phase, int64(p.Done), int64(p.Total))
	})
}

// agreeToLogs shows what would be imported and asks, unless there is nothing to agree to.
func (a *App) agreeToLogs(c *cobra.Command, r memory.AgentImportRequest, yes bool) (bool, error) {
	if r.DryRun || r.Stop || yes {
		return true, nil
	}
	r.DryRun = true
	found, err := a.importAgents(c, r, "counting")
	if err != nil || found.Consented {
		return err == nil, err
	}
	if !a.opts.Interactive {
		return false, memory.Invalid("yes", "", "nobody can be asked: name --yes to agree, or --dry-run")
	}
	writeAgentImport(a.opts.Err, found, false)
	return a.confirm("Import this, and follow these logs from now on?")
}

// writeAgentImport writes what was found and imported.
func writeAgentImport(w io.Writer, i *memory.AgentImported, stopped bool) {
	if stopped {
		fmt.Fprintln(w, "The logs of agents are no longer read. What was imported stays.")
		return
	}
	if i.Logs == 0 {
		fmt.Fprintln(w, "No logs of agents were found.")
		return
	}
	if len(i.Sources) > 0 {
		rows := [][]string{{"CLIENT", "PROJECT", "FOLDER", "SESSIONS", "STEPS", "FIXES", "FROM", "TO"}}
		for _, s := range i.Sources {
			rows = append(rows, []string{s.Client, render.Printable(s.Project), render.Printable(s.Dir), fmt.Sprint(s.Sessions), fmt.Sprint(s.Steps), fmt.Sprint(s.Fixes),
				s.Oldest.Format(time.DateOnly), s.Newest.Format(time.DateOnly)})
		}
		render.Table(w, rows)
		fmt.Fprintln(w)
	}
	if i.DryRun {
		fmt.Fprintf(w, "%s found; nothing was imported.\n", memory.Count(i.Logs, "log"))
	} else {
		fmt.Fprintf(w, "%s: %s and %s imported, %s already known, %s unchanged.\n", memory.Count(i.Logs, "log"),
			memory.Count(i.Added, "step"), memory.Count(i.Lessons, "lesson"), memory.Count(i.Known, "step"), memory.Count(i.Unchanged, "log"))
	}
	if i.Live > 0 {
		fmt.Fprintf(w, "%s recorded by hooks left out.\n", memory.Count(i.Live, "session"))
	}
	writeProblems(w, i.Problems, i.Skipped)
}
