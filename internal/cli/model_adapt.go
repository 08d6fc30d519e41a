package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// restartHint is how the daemon comes to use another built-in model.
const restartHint = "The daemon uses it from its next start on: run 'recalld stop', and the next command starts it.\n" +
	"Stored texts are then embedded again in the background; run 'recalld status' to watch it."

// modelAdaptCommand has the built-in model learn from what is remembered.
func modelAdaptCommand(a *App) *cobra.Command {
	var req memory.AdaptRequest
	var limit time.Duration
	c := &cobra.Command{
		Use:   "adapt",
		Short: "Train the built-in model on your code and lessons",
		Long: `Train the built-in model further on the repositories that are indexed and on the
lessons kept: comments and the code below them, names and bodies, headings and
sections. Nothing leaves this machine. Some pairs are held out as a test: the new model
is kept only if it finds more of them, and no less of a general test. It takes
seconds to minutes on one core. ^C ends it and changes nothing.

` + "`recalld model show`" + ` shows the result, ` + "`recalld model reset`" + ` removes it.`,
		Example: "  recalld model adapt\n  recalld model adapt --threads 4 --time-limit 2m",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			req.TimeLimit = memory.Millis(limit)
			out, err := askLong(c.Context(), a, service.AdaptModel, req, "files", func(shown *progress, p memory.AdaptProgress) {
				if p.Phase != "reading" {
					shown.unit = "steps"
				}
				shown.show(p.Phase, int64(p.Done), int64(p.Total))
			})
			if err != nil {
				return err
			}
			return a.answer(out, func(w io.Writer) { writeAdapted(w, out) })
		},
	}
	c.Flags().IntVar(&req.Threads, "threads", 1, "cores to use at once")
	c.Flags().DurationVar(&limit, "time-limit", 10*time.Minute, "how long it trains at most: then it stops with the best so far")
	completeFlag(c, "threads", cobra.NoFileCompletions)
	completeFlag(c, "time-limit", cobra.NoFileCompletions)
	return c
}

// writeAdapted says what came of an adaptation.
func writeAdapted(w io.Writer, m *memory.Adaptation) {
	if m.Kept {
		fmt.Fprintf(w, "The model finds more of yours: %s.\n\n", m.Model)
	} else {
		fmt.Fprintf(w, "Nothing has changed: %s.\n\n", m.Refused)
	}
	writeAdaptation(w, m)
	if m.Kept {
		fmt.Fprintf(w, "\n%s\n", restartHint)
	}
}

// writeAdaptation writes the figures of an adaptation.
func writeAdaptation(w io.Writer, m *memory.Adaptation) {
	row := func(name string, n int, f memory.ModelFigures) []string {
		return []string{name, fmt.Sprint(n), fmt.Sprintf("%.3f", f.R1), fmt.Sprintf("%.3f", f.R10), fmt.Sprintf("%.3f", f.MRR)}
	}
	render.Table(w, [][]string{
		{"FINDS OF", "PAIRS", "FIRST", "IN TEN", "MRR"},
		row("yours, before", m.Judged, m.Before), row("yours, after", m.Judged, m.After),
		row("general, before", m.General, m.GeneralBefore), row("general, after", m.General, m.GeneralAfter),
	})
	fmt.Fprintf(w, "\nLearned from %s of %s in %s; MRR of what was held out %+.3f ± %.3f.\n", memory.Count(m.Pairs, "pair"),
		memory.Count(m.Documents, "document"), m.Took.Duration().Round(time.Second), m.Gain, m.Error)
	if m.OutOfTime {
		fmt.Fprintln(w, "The time limit ended it: with more time it may learn more.")
	}
}
