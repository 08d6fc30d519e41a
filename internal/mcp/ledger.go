package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

func feedbackText(taken *memory.FeedbackResult) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Noted: %s, on %s of %s.", taken.Verdict, memory.Count(len(taken.Items), "item"), render.ShortReceipt(taken.Receipt))
	for _, item := range taken.Items {
		if item.SuccessRate != "" {
			fmt.Fprintf(&text, " %s is at %s.", item.ID, item.SuccessRate)
		}
	}
	if taken.Replaced {
		text.WriteString(" An earlier verdict no longer counts.")
	}
	return text.String()
}

func turnText(turn *memory.TurnContext) string {
	if turn.Record == nil {
		return turn.Text
	}
	return fence(turn.Text)
}

// receiptsListed is how many receipts are answered where no limit is given: fewer than
// the API's, for each takes a model up to 400 tokens.
const receiptsListed = 5

// ofTurn takes the connection's session where only a turn is given: turns are counted
// within a session.
func ofTurn(_ context.Context, c call, r *memory.ReceiptsRequest) error {
	if r.Turn != nil && r.SessionID == "" {
		r.SessionID = c.agent.ID
	}
	r.Limit = cmp.Or(r.Limit, receiptsListed)
	return nil
}

// receiptLines is how many items, and how many withheld candidates, the text of a receipt has.
const receiptLines = 10

// receiptLine names an item on one line: the id of a task and a path may have several. What was
// asked for by an id that nothing has is of no kind.
func receiptLine(kind memory.Kind, name string) string {
	return render.OneLine(string(kind) + " " + name)
}

// receiptsText lists receipts, each with what it handed out and withheld.
func receiptsText(l *memory.ReceiptList) string {
	if len(l.Receipts) == 0 {
		return "No receipts."
	}
	var text strings.Builder
	for _, r := range l.Receipts {
		fmt.Fprintf(&text, "- %s %s %s", render.ShortReceipt(r.ID), r.At.UTC().Format("2006-01-02T15:04Z"), cmp.Or(string(r.Purpose), "recall"))
		if r.Session != "" {
			fmt.Fprintf(&text, ", session %s turn %d", r.Session, r.Turn)
		}
		fmt.Fprintf(&text, ": %s, %d withheld, %s", memory.Count(len(r.Items), "item"), len(r.Withheld), memory.Count(r.Tokens, "token"))
		if query := firstLine(r.Request.Asked()); query != "" {
			fmt.Fprintf(&text, ", asked %q", query)
		}
		text.WriteByte('\n')
		for i, item := range r.Items {
			if i == receiptLines {
				fmt.Fprintf(&text, "  - and %d more\n", len(r.Items)-i)
				break
			}
			fmt.Fprintf(&text, "  - %s, relevance %.2f", receiptLine(item.Kind, cmp.Or(render.Name(item.Server, item.Name), item.ID)), item.Relevance)
			for _, j := range r.Judged {
				if j.Item == item.ID || j.Item == "" {
					fmt.Fprintf(&text, ", %s", j.Verdict)
				}
			}
			text.WriteByte('\n')
		}
		for i, w := range r.Withheld {
			if i == receiptLines {
				fmt.Fprintf(&text, "  - and %d more withheld\n", len(r.Withheld)-i)
				break
			}
			fmt.Fprintf(&text, "  - %s withheld: %s, relevance %.2f\n", receiptLine(w.Kind, cmp.Or(w.Name, w.Path, w.ID)), render.ReasonText(w.Reason), w.NearestScore)
		}
	}
	list := fence(text.String())
	if l.More {
		list += "\nThere are older ones."
	}
	return list
}
