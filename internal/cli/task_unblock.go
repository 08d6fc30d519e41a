package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// taskUnblockCommand resolves a blocker.
func taskUnblockCommand(a *App) *cobra.Command {
	var r memory.UnblockTaskRequest
	c := &cobra.Command{
		Use:     "unblock ID",
		Short:   "Say that a blocked task can go on",
		Long:    "Say that a blocked task can go on. How it was resolved is kept in the audit log.",
		Example: "  recalld task unblock task-043 --resolution \"The key was renewed\"",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r.TaskID, r.Caller = args[0], a.caller()
			kept, err := call(c, a, &r, service.UnblockTask)
			if err != nil {
				if memory.CodeOf(err) == memory.CodeNotFound {
					return orHint(err, "task_id", "the blockers there are: recalld tasks")
				}
				return err
			}
			return a.answer(kept, func(w io.Writer) { writeKept(w, "unblocked", kept) })
		},
	}
	c.Flags().StringVar(&r.Resolution, "resolution", "", "how it was resolved")
	allowEmpty(c, "resolution")
	a.projectFlag(c, &r.Project)
	c.ValidArgsFunction = a.completeBlocked
	return c
}
