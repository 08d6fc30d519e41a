package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// taskBlockCommand raises a blocker.
func taskBlockCommand(a *App) *cobra.Command {
	var r memory.BlockTaskRequest
	var at string
	c := &cobra.Command{
		Use:   "block ID REASON...",
		Short: "Say that a task cannot go on, and why",
		Long: `Say that a task cannot go on, and why. It is shown in every context until it is
unblocked; another reason for the same task replaces the first.`,
		Example: "  recalld task block task-043 \"The deploy key has expired\"\n  recalld task block task-043 waits for review --at 2h",
		Args:    cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if r.BlockedAt, err = parseSince("blocked_at", at, a.opts.Now()); err != nil {
				return err
			}
			r.TaskID, r.Reason, r.Caller = args[0], strings.Join(args[1:], " "), a.caller()
			kept, err := call(c, a, &r, service.BlockTask)
			if err != nil {
				return err
			}
			return a.answer(kept, func(w io.Writer) { writeKept(w, "blocked", kept) })
		},
	}
	c.Flags().StringVar(&at, "at", "", "when it was (default: now): "+sinceUsage)
	a.projectFlag(c, &r.Project)
	return c
}
