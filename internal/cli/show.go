package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// showCommand shows memories in full.
func showCommand(a *App) *cobra.Command {
	var r memory.RecallRequest
	c := &cobra.Command{
		Use:   "show ID...",
		Short: "Show memories in full",
		Long: `Show lessons, steps, tasks, entries of the catalogue and code in full. ID is an id or its
unique beginning. An answer of recall names the ids of what it shortened; recall --ids
and --json print all ids. Code is read from disk again. For steps and code of another
project, name it with --project. Of a lesson that was superseded or retracted, the text
stands below the reason, but not with --json.`,
		Example: `  recalld show l-4f2a9c
  recalld show s-91a0bb c-77d0e1f2 --project shop`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r.IDs = args
			answer, err := ask(c.Context(), a, service.Recall, r)
			if err != nil {
				return err
			}
			text, below := render.SplitFence(answer.Text)
			withdrawn := a.withdrawnLessons(c.Context(), r.Project, answer.Withheld)
			err = a.recordedAbove(answer, len(answer.Items)+len(withdrawn) > 0, below, func(w io.Writer) {
				fmt.Fprintln(w, strings.TrimRight(text, "\n"))
				for _, l := range withdrawn {
					fmt.Fprintf(w, "The withdrawn lesson %s:\n", l.ID)
					render.WriteLines(w, "  ", l.Text)
				}
			})
			if slices.ContainsFunc(answer.Withheld, func(w memory.Withheld) bool { return slices.Contains(namesNothing, w.Reason) }) {
				err = errors.Join(err, errNothing)
			}
			return err
		},
	}
	c.ValidArgsFunction = a.completeLessons()
	a.projectFlag(c, &r.Project)
	countFlag(c, &r.MaxTokens, "max_tokens", "most tokens", memory.MinTokens, memory.MaxTokens, memory.MaxTokens)
	return c
}

// namesNothing are the reasons why an id is that of no single memory of the project.
var namesNothing = []memory.Reason{memory.NotFound, memory.Ambiguous, memory.OtherProject}

// withdrawnLessons are the lessons among what was withheld that were superseded or retracted.
// No answer has them, but a person may read what they said.
func (a *App) withdrawnLessons(ctx context.Context, project string, withheld []memory.Withheld) (lessons []memory.Item) {
	for _, w := range withheld {
		if a.json || w.Reason != memory.Superseded && w.Reason != memory.Retracted {
			continue
		}
		// One of another project is refused: the reason alone is shown.
		if h, err := ask(ctx, a, service.Lesson, memory.LessonRequest{ID: w.ID, Project: project}); err == nil {
			lessons = append(lessons, h.Lesson)
		}
	}
	return lessons
}
