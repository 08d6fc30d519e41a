package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// lastCommand lists the newest steps.
func lastCommand(a *App) *cobra.Command {
	var r memory.LastStepsRequest
	var n narrowFlags
	c := &cobra.Command{
		Use:   "last",
		Short: "List the newest steps",
		Long: `List the newest steps that pass the filters, newest first: of the current session,
which is the newest open one of this command line, or else of the newest session of
the project, unless --scope or --session says otherwise.`,
		Example: `  recalld last -n 5
  recalld last --scope all --tag smoke
  recalld last --session mm-20260115-abc --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if r.Scope, r.Filters, err = n.narrow(); err != nil {
				return err
			}
			last, err := orNewest(c.Context(), a, r.Project, &r.Scope, func() (*memory.StepList, error) {
				return ask(c.Context(), a, service.LastSteps, r)
			})
			if err != nil {
				return err
			}
			last.Steps = orEmpty(last.Steps)
			return a.recorded(last, len(last.Steps) > 0, func(w io.Writer) {
				if len(last.Steps) == 0 {
					fmt.Fprintln(w, "No matching steps.")
					return
				}
				render.List(w, stepRows(last.Steps, cells(w, wideSteps)))
			})
		},
	}
	a.projectFlag(c, &r.Project)
	countFlag(c, &r.N, "n", "most steps", 1, memory.MaxLast, memory.DefaultLast)
	a.scopeFlags(c, &n, memory.ScopeCurrent)
	a.filterFlags(c, &n)
	return c
}
