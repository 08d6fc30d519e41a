package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// privateUsage is the usage of --private.
const privateUsage = "keep it on this machine: not in the repository's log, not for the team"

// markCommand pins a lesson or keeps it private.
func markCommand(a *App) *cobra.Command {
	var r memory.MarkLessonRequest
	var pinned, private bool
	c := &cobra.Command{
		Use:   "mark ID",
		Short: "Pin a lesson, or keep it private",
		Long: `Pin a lesson, or keep it on this machine. What an agent is told at the start of each
session has the newest three pinned lessons before all others. Of a private lesson the
team's copy is taken back, and telling it again writes no line into the repository's log of
lessons. A flag with =false takes the mark back. ID is printed by lessons and remember.`,
		Example: `  recalld mark l-4f2a9c --pinned
  recalld mark l-4f2a9c --pinned=false --private`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r.ID = args[0]
			r.Pinned, r.Private = given(c, "pinned", pinned), given(c, "private", private)
			return answered(c, a, service.MarkLesson, r, func(w io.Writer, marked *memory.MarkedLesson) {
				marks := []string{"not pinned", "not private"}
				if marked.Pinned {
					marks[0] = "pinned"
				}
				if marked.Private {
					marks[1] = "private"
				}
				fmt.Fprintf(w, "%s is %s\n", marked.ID, strings.Join(marks, ", "))
				if marked.Note != "" {
					fmt.Fprintln(w, marked.Note)
				}
			})
		},
	}
	flags := c.Flags()
	flags.BoolVar(&pinned, "pinned", false, "the newest three pinned lessons come first in each brief of the project")
	flags.BoolVar(&private, "private", false, privateUsage)
	a.projectFlag(c, &r.Project)
	c.ValidArgsFunction = a.completeLessons()
	return c
}
