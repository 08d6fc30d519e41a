package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
)

// taskCommand holds the commands that report tasks and blockers.
func taskCommand(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "task",
		Short: "Report tasks that are done or blocked",
		Long: `Report what was done and what is blocked, for hosts and scripts. The last tasks and
every active blocker are what recalld tasks shows, and what each assembled context
ends with.`,
		Example: "  recalld task done task-042 --type feature --valid=false\n  recalld task block task-043 \"The key has expired\"",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(taskDoneCommand(a), taskBlockCommand(a), taskUnblockCommand(a), taskLoadCommand(a), taskHistoryCommand(a))
	return c
}

// writeKept says what became of a task or a blocker.
func writeKept(w io.Writer, what string, k *memory.TaskSaved) {
	fmt.Fprintf(w, "%s is %s in project %s: %d completed, %d blocked\n", printable(k.TaskID), what,
		memory.ProjectLabel(k.ProjectName, k.Project), k.Completed, k.Blocked)
	writeDropped(w, k.Dropped)
	if len(k.NotKept) > 0 {
		fmt.Fprintf(w, "Not kept: %s, because the task requires no context; --requires-context keeps it.\n", strings.Join(k.NotKept, " and "))
	}
	writeNotes(w, k.Redacted, "audit log", k.AuditFile, k.Warning)
}

// writeDropped says that older tasks gave way.
func writeDropped(w io.Writer, n int) {
	if n > 0 {
		fmt.Fprintf(w, "%s gave way to the bounds, %d tasks and %d KB; recalld task history still has it all.\n", memory.Count(n, "older task"), memory.MaxTasks, memory.MaxTaskState/1000)
	}
}
