package cli

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// receiptsCommand lists receipts, or explains one.
func receiptsCommand(a *App) *cobra.Command {
	var r memory.ReceiptsRequest
	var since string
	var turn int
	c := &cobra.Command{
		Use:   "receipts [ID]",
		Short: "List what answers held and withheld, and explain why",
		Long: `List the receipts of a project, newest first: one for every answer, every assembled
context and every search for tools. With an id, explain that receipt: its items with
scores and factors, what was withheld and why, the settings, and the feedback.`,
		Example: `  recalld receipts
  recalld receipts --session nightly-42 --turn 2
  recalld receipts --since 2d --limit 50 --json
  recalld receipts rc-4f2a9c01`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return a.explainReceipt(c, args[0])
			}
			var err error
			if r.Since, err = parseSince("since", since, a.opts.Now()); err != nil {
				return err
			}
			r.Turn = given(c, "turn", turn)
			if err := checkSession(c, r.SessionID); err != nil {
				return err
			}
			list, err := ask(c.Context(), a, service.Receipts, r)
			if err != nil {
				return err
			}
			list.Receipts = orEmpty(list.Receipts)
			return a.recorded(list, len(list.Receipts) > 0, func(w io.Writer) { writeReceipts(w, list, a.opts.Now()) })
		},
	}
	flags := c.Flags()
	a.sessionFlag(c, &r.SessionID, "only this session's, by its id")
	flags.IntVar(&turn, "turn", 0, "only this request of the session's, from 1; 0 is what was asked before the first")
	flags.StringVar(&since, "since", "", "nothing older: "+sinceUsage)
	countFlag(c, &r.Limit, "limit", "most receipts", 1, memory.MaxReceipts, memory.DefaultReceipts)
	a.projectFlag(c, &r.Project)
	c.ValidArgsFunction = firstArgument(a.completeReceipts())
	return c
}

// explainReceipt answers with one receipt.
func (a *App) explainReceipt(c *cobra.Command, id string) error {
	if err := memory.Text("receipt", id, 1, memory.MaxNameText); err != nil {
		return err
	}
	// The flags narrow a list. With an id they would have no effect.
	var given error
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			given = memory.Invalid(f.Name, "an id, or flags", "is given beside the id of a receipt")
		}
	})
	if given != nil {
		return given
	}
	receipt, err := ask(c.Context(), a, service.Receipt, memory.ReceiptRequest{ID: id})
	if err != nil {
		if e := memory.AsError(err); e.Code == memory.CodeNotFound && e.Hint == "" {
			named := *e
			named.Hint = "run 'recalld receipts' to list them; the setting receipts.retention_days says how long they are kept"
			return &named
		}
		return err
	}
	receipt.Items, receipt.Withheld = orEmpty(receipt.Items), orEmpty(receipt.Withheld)
	return a.recorded(receipt, true, func(w io.Writer) { render.Receipt(w, receipt) })
}

// writeReceipts lists receipts, with the turn if the session has turns.
func writeReceipts(w io.Writer, list *memory.ReceiptList, now time.Time) {
	if len(list.Receipts) == 0 {
		fmt.Fprintf(w, "No matching receipts in project %s. Each answer of recalld recall leaves one.\n", memory.ProjectLabel(list.ProjectName, list.Project))
		return
	}
	rows := [][]string{{"RECEIPT", "AGE", "OF", "TURN", "ITEMS", "WITHHELD", "TOKENS", "ASKED"}}
	for _, r := range list.Receipts {
		turn := ""
		if r.Turn > 0 {
			turn = strconv.Itoa(r.Turn)
		}
		rows = append(rows, []string{r.ID, render.Age(now.Sub(r.At)), cmp.Or(string(r.Purpose), "recall"), turn, strconv.Itoa(len(r.Items)), strconv.Itoa(len(r.Withheld)),
			strconv.Itoa(r.Tokens), render.ForeignLine(r.Request.Asked(), 200)})
	}
	render.FitTable(w, rows)
	if list.More {
		fmt.Fprintln(w, "There are older ones: use --limit or --since.")
	}
}
