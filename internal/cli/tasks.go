package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// tasksCommand prints the window of working memory.
func tasksCommand(a *App) *cobra.Command {
	var r memory.TaskWindowRequest
	c := &cobra.Command{
		Use:   "tasks",
		Short: "Show the last tasks and what is blocked",
		Long: `Show the last completed tasks, oldest first, and all active blockers: the text that
every assembled context ends with. Run 'recalld call task_history' for all tasks.`,
		Example: "  recalld tasks\n  recalld tasks --limit 20\n  recalld tasks --type migration --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			window, err := ask(c.Context(), a, service.TaskWindow, r)
			if err != nil {
				return err
			}
			window.Tasks, window.Blockers = orEmpty(window.Tasks), orEmpty(window.Blockers)
			return a.recorded(window, window.Text != "", func(w io.Writer) { writeWindow(w, window) })
		},
	}
	c.Flags().StringVar(&r.TaskType, "type", "", "with the settings of this type of task")
	countFlag(c, &r.Limit, "limit", "most completed tasks", 1, memory.MaxTasks, memory.DefaultWindow)
	a.projectFlag(c, &r.Project)
	return c
}

// writeWindow writes the text that contexts hold, and how much more there is.
func writeWindow(w io.Writer, t *memory.TaskWindow) {
	if t.Text == "" {
		fmt.Fprintf(w, "No tasks or blockers in project %s. Run 'recalld call complete_task' to report one.\n", memory.ProjectLabel(t.ProjectName, t.Project))
		return
	}
	render.WriteLines(w, "", t.Text)
	if more := t.Total - len(t.Tasks); more > 0 {
		fmt.Fprintf(w, "\n%d older; run 'recalld tasks --limit %d' to list them\n", more, min(t.Total, memory.MaxTasks))
	}
}
