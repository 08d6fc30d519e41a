package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// taskLoadCommand takes over the tasks of another program.
func taskLoadCommand(a *App) *cobra.Command {
	var r memory.LoadTasksRequest
	c := &cobra.Command{
		Use:   "load FILE",
		Short: "Take over tasks and blockers from a state file",
		Long: `Take over tasks and blockers from a file of JSON, or with - from standard input: an
object with completed_tasks and active_blockers, or a list of tasks. What is known
already stays as it is, so it can be repeated. A task that does not say whether it
requires context is shown without what it was for.`,
		Example: "  recalld task load state.json\n  curl -s https://example.com/state.json | recalld task load -",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			state, err := a.readInput("file", args[0])
			if err != nil {
				return err
			}
			if !json.Valid(state) {
				return memory.Invalid("file", "JSON", "%s is not JSON", printable(args[0]))
			}
			r.State, r.Caller = state, a.caller()
			loaded, err := call(c, a, &r, service.LoadTasks)
			if err != nil {
				return err
			}
			return a.answer(loaded, func(w io.Writer) {
				fmt.Fprintf(w, "Took over %s and %s into project %s", memory.Count(loaded.Tasks, "task"), memory.Count(loaded.Blockers, "blocker"),
					memory.ProjectLabel(loaded.ProjectName, loaded.Project))
				if loaded.Known > 0 {
					fmt.Fprintf(w, "; %d known already", loaded.Known)
				}
				fmt.Fprintln(w)
				if loaded.Settled > 0 {
					fmt.Fprintf(w, "%s forgotten or resolved here before stay so.\n", memory.Count(loaded.Settled, "task"))
				}
				writeDropped(w, loaded.Dropped)
				writeNotes(w, loaded.Redacted, "audit log", loaded.AuditFile, loaded.Warning)
			})
		},
	}
	a.projectFlag(c, &r.Project)
	return c
}
