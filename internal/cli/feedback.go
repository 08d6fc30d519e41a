package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// feedbackCommand takes a verdict.
func feedbackCommand(a *App) *cobra.Command {
	var r memory.FeedbackRequest
	c := &cobra.Command{
		Use:   "feedback RECEIPT VERDICT",
		Short: "Say whether an answer helped",
		Long: `Say whether an answer or a context helped. VERDICT is worked, failed, irrelevant or
outdated. In the success rate of its items worked counts as a success, failed and
outdated as failures; irrelevant does not count, nor does to be found. Another verdict on
the same item replaces the first. RECEIPT is the id of a receipt, or its end as answers
name it; 'recalld receipts' lists them.`,
		Example: "  recalld feedback 8ab8b9 worked\n  recalld feedback 8ab8b9 outdated --item l-17ab --note \"npm 12 has no such flag\"",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			r.Receipt, r.Verdict = args[0], memory.Verdict(args[1])
			taken, err := ask(c.Context(), a, service.Feedback, r)
			if err != nil {
				return orHint(err, "receipt", "run 'recalld receipts' to list them")
			}
			taken.Items = orEmpty(taken.Items)
			return a.answer(taken, func(w io.Writer) { writeFeedback(w, taken) })
		},
	}
	c.Flags().StringVar(&r.Item, "item", "", "only this item, by its id (default: all that the receipt holds)")
	c.Flags().StringVar(&r.Note, "note", "", "why")
	allowEmpty(c, "note")
	c.ValidArgsFunction = func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 1 {
			return fixed(verdicts)(c, nil, typed)
		}
		return firstArgument(a.completeReceipts())(c, args, typed)
	}
	return c
}

func verdicts() (words []string) {
	for _, v := range memory.Verdicts {
		words = append(words, string(v))
	}
	return words
}

// writeFeedback says what a verdict came to. Code, and what is gone, has no counts: the
// verdict stands on the receipt alone.
func writeFeedback(w io.Writer, f *memory.FeedbackResult) {
	fmt.Fprintf(w, "Noted: %s, on %s of receipt %s", f.Verdict, memory.Count(len(f.Items), "item"), f.Receipt)
	if f.Replaced {
		fmt.Fprint(w, ", in the place of an earlier verdict")
	}
	fmt.Fprintln(w)
	if len(f.Items) == 0 {
		return
	}
	rows := [][]string{{"ID", "KIND", "SUCCESS", "VERDICTS"}}
	for _, i := range f.Items {
		rows = append(rows, []string{i.ID, string(i.Kind), i.SuccessRate, render.Verdicts(i.Verdicts)})
	}
	render.Table(w, rows)
}
