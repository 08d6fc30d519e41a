package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
)

// forgetCommand removes memories. A whole project wants --yes: there is no way
// back, and a question on a terminal would stop scripts.
func forgetCommand(a *App) *cobra.Command {
	var r memory.ForgetRequest
	var yes bool
	c := &cobra.Command{
		Use:   "forget [ID...]",
		Short: "Remove memories for good",
		Long: `Remove records by id, or a project with all it holds, for good: records, terms,
vectors and the text of receipts. A session's id removes it with its steps. It says
what may still hold the text. Ids are printed by remember, by sessions and by recall
--ids, and are in every answer with --json.`,
		Example: `  recalld forget l-4f2a9c
  recalld forget --project old-service --yes`,
		RunE: func(c *cobra.Command, args []string) error {
			r.IDs = args
			if err := r.Validate(); err != nil {
				return err
			}
			if r.Project != "" && !yes {
				return &memory.Error{Code: memory.CodeInvalidInput, Field: "project",
					Message: fmt.Sprintf("everything of project %s would be removed for good", r.Project),
					Hint:    "say --yes if you mean it"}
			}
			service, err := a.service(c.Context())
			if err != nil {
				return err
			}
			gone, err := service.Forget(c.Context(), r)
			if err != nil {
				return err
			}
			return a.answer(gone, func(w io.Writer) {
				fmt.Fprintf(w, "Forgotten: %s, %s, %s", memory.Count(gone.Records, "record"), memory.Count(gone.Files, "file"), memory.Count(gone.Documents, "text"))
				if gone.Sessions > 0 {
					fmt.Fprint(w, ", ", memory.Count(gone.Sessions, "session"))
				}
				fmt.Fprintln(w)
				if gone.Note != "" {
					fmt.Fprintln(w, gone.Note)
				}
			})
		},
	}
	c.Flags().StringVar(&r.Project, "project", "", "remove this project, by id or name, with all it holds")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	a.completeProjects(c, "project")
	return c
}
