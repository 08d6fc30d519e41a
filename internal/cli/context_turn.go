package cli

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// contextTurnCommand shows what one request was given.
func contextTurnCommand(a *App) *cobra.Command {
	var r memory.ContextOfRequest
	c := &cobra.Command{
		Use:   "turn [N]",
		Short: "Show what a request was given",
		Long: `Show what the request N of a session was given, counted from 1, by default the last
one: names, how each got in and with what score, and what was withheld and why. What
is no longer as it was handed out is marked; with --texts all other texts are shown.`,
		Example: "  recalld context turn\n  recalld context turn 2 --session nightly-42 --json\n  recalld context turn --texts",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				turn, err := strconv.Atoi(args[0])
				if err != nil || turn < 1 {
					return memory.Invalid("turn", "1 or more", "%s is not the number of a turn", memory.Quote(args[0]))
				}
				r.Turn = turn
			}
			if err := a.which(c, &r.SessionRef); err != nil {
				return err
			}
			turn, err := call(c, a, &r, service.ContextOf)
			if err != nil {
				return err
			}
			turn.Withheld = orEmpty(turn.Withheld)
			return a.recorded(turn, turn.Record != nil, func(w io.Writer) { writeTurn(w, turn) })
		},
	}
	a.whichFlags(c, &r.SessionRef)
	c.Flags().BoolVar(&r.Texts, "texts", false, "with the texts that were handed out, where they are as they were")
	return c
}

// writeTurn writes contract 6's text and, for people, what it leaves out. A turn without
// a record is its one line.
func writeTurn(w io.Writer, t *memory.TurnContext) {
	writeLines(w, "", t.Text)
	if t.Record == nil {
		return
	}
	fmt.Fprintf(w, "\nTurn %d of session %s, %s: %s\n", t.Turn, t.SessionID, timeText(t.Record.Timestamp, "?"), t.Summary)
	if len(t.Withheld) > 0 {
		fmt.Fprintln(w)
		table(w, render.WithheldRows(t.Withheld))
	}
	if t.Receipt != "" {
		fmt.Fprintf(w, "\nMore of it: recalld receipts %s\n", t.Receipt)
	}
}
