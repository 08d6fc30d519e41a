package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// taskHistoryCommand reads the audit log of tasks.
func taskHistoryCommand(a *App) *cobra.Command {
	var r memory.TaskHistoryRequest
	c := &cobra.Command{
		Use:   "history [ID]",
		Short: "Show all that happened to tasks, newest first",
		Long: `Show what happened to the tasks of a project, or to one of them, newest first: what
was completed and how, what was blocked, how it was resolved, what was loaded. It is
read from the audit log, which also has tasks that gave way to newer ones. With
--json each event is whole, with its report.`,
		Example: "  recalld task history\n  recalld task history task-043\n  recalld task history --limit 100 --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				if err := memory.Text("task_id", args[0], 1, memory.MaxTaskID); err != nil {
					return err
				}
				r.TaskID = args[0]
			}
			if err := counted(c, "limit", "limit", r.Limit, memory.MaxHistory); err != nil {
				return err
			}
			r.Caller = a.caller()
			found, err := call(c, a, &r, service.TaskHistory)
			if err != nil {
				return err
			}
			found.Events = orEmpty(found.Events)
			return a.recorded(found, found.Text != "", func(w io.Writer) { writeHistory(w, found, r.TaskID) })
		},
	}
	flags := c.Flags()
	flags.IntVar(&r.Limit, "limit", 0, fmt.Sprintf("most events, 1–%d (default %d)", memory.MaxHistory, memory.DefaultHistory))
	flags.Uint64Var(&r.Before, "before", 0, "only events older than this number, which the answer before names")
	a.projectFlag(c, &r.Project)
	return c
}

// writeHistory writes a line for each event, and how to ask for older ones.
func writeHistory(w io.Writer, h *memory.TaskHistory, taskID string) {
	if h.Text == "" {
		what := "tasks"
		if taskID != "" {
			what = "the task " + printable(memory.Quote(taskID))
		}
		fmt.Fprintf(w, "Nothing is logged of %s in project %s.\n", what, memory.ProjectLabel(h.ProjectName, h.Project))
	}
	writeLines(w, "", h.Text)
	if h.More {
		fmt.Fprintf(w, "There may be older events: --before %d\n", h.Before)
	}
}
