package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// exportCommand writes a project's memories to files.
func exportCommand(a *App) *cobra.Command {
	var r memory.ExportRequest
	c := &cobra.Command{
		Use:   "export DIR",
		Short: "Write lessons and sessions to files",
		Long: `Write a project's lessons as logs, one file for every repository, and its sessions
as a tree, into a folder that is empty or does not exist. The same memories always
give the same files, and recalld import takes them back.`,
		Example: "  recalld export /tmp/demo-memory\n  recalld export backup --project demo",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := memory.Text("path", args[0], 1, memory.MaxPathText); err != nil {
				return err
			}
			r.Path, r.Caller = a.absolute(args[0]), a.caller()
			shown := a.newProgress("files")
			shown.show("exporting", 0, 0)
			exported, err := ask(c.Context(), a, service.Export, r)
			shown.done()
			if err != nil {
				return err
			}
			return a.answer(exported, func(w io.Writer) {
				fmt.Fprintf(w, "Exported project %s to %s: %s, %s, %s in %s\n", memory.ProjectLabel(exported.ProjectName, exported.Project), exported.Path,
					memory.Count(exported.Lessons, "lesson"), memory.Count(exported.Sessions, "session"), memory.Count(exported.Steps, "step"),
					memory.Count(exported.Files, "file"))
				if n := exported.LeftOut; n > 0 {
					fmt.Fprintf(w, "Left out: %s superseded by lessons that no longer exist\n", memory.Count(n, "lesson"))
				}
			})
		},
	}
	a.projectFlag(c, &r.Project)
	return c
}
