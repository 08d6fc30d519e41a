package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// summarizeCommand summarises one session.
func summarizeCommand(a *App) *cobra.Command {
	var r memory.SummarizeRequest
	var n narrowFlags
	c := &cobra.Command{
		Use:   "summarize [SESSION]",
		Short: "Summarise a session",
		Long: `Summarise one session, by default the newest open one of this command line, or else
the newest of the project: its goal, the recipe of its steps, and each failure with
what recovered it. The same session always gives the same summary; no model is asked.`,
		Example: `  recalld summarize mm-20260115-abc
  recalld summarize --session mm-20260115-abc --json
  recalld summarize --scope current`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if r.Scope, err = n.chosenScope(); err != nil {
				return err
			}
			if len(args) > 0 {
				if r.Scope != nil {
					return memory.Invalid("session", "one of SESSION, --session and --scope", "is given twice")
				}
				if err := memory.Text("scope.sessionId", args[0], memory.MinSessionID, memory.MaxNameText); err != nil {
					return err
				}
				r.Scope = &memory.Scope{Session: args[0]}
			}
			summary, err := orNewest(c.Context(), a, r.Project, &r.Scope, func() (*memory.Summary, error) {
				return ask(c.Context(), a, service.SummarizeSession, r)
			})
			if err != nil {
				return orHint(err, "scope", "name one: run 'recalld sessions' to list them")
			}
			return a.recorded(summary, true, func(w io.Writer) { writeSummary(w, summary) })
		},
	}
	a.projectFlag(c, &r.Project)
	a.scopeFlags(c, &n, memory.ScopeCurrent)
	c.ValidArgsFunction = firstArgument(a.completeSessions())
	return c
}

func writeSummary(w io.Writer, s *memory.Summary) {
	fmt.Fprintf(w, "Session %s, %s", s.SessionID, memory.Count(s.StepCount, "step"))
	if !s.CreatedAt.IsZero() {
		fmt.Fprintf(w, ", %s to %s", render.Time(s.CreatedAt, ""), render.Time(s.EndedAt, "now"))
	}
	fmt.Fprintln(w)
	if s.Goal != "" {
		fmt.Fprintf(w, "Goal: %s\n", s.Goal)
	}
	var labels []string
	for _, label := range slices.Sorted(maps.Keys(s.Labels)) {
		labels = append(labels, fmt.Sprintf("%s %d", label, s.Labels[label]))
	}
	if len(labels) > 0 {
		fmt.Fprintf(w, "Labels: %s\n", strings.Join(labels, ", "))
	}
	if len(s.Screens) > 0 {
		fmt.Fprintf(w, "Screens: %s\n", strings.Join(s.Screens, " → "))
	}
	if len(s.Recipe) > 0 {
		fmt.Fprintln(w, "\nRecipe:")
	}
	for _, step := range s.Recipe {
		fmt.Fprintf(w, "%4d. %s\n", step.StepNumber, strings.TrimRight(step.Tool+"  "+step.Notes, " "))
	}
	if s.OmittedSteps > 0 {
		fmt.Fprintf(w, "      and %s more, not in the recipe\n", memory.Count(s.OmittedSteps, "step"))
	}
	if len(s.Failures) > 0 {
		fmt.Fprintln(w, "\nFailures:")
	}
	for _, f := range s.Failures {
		fmt.Fprintf(w, "%4d. %s: %s\n", f.StepNumber, f.Tool, f.Error)
		if f.RecoveredBy > 0 {
			fmt.Fprintf(w, "      recovered: %s\n", f.Recovery) // it begins with the step's number
		}
	}
}
