package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

func feedbackText(taken *memory.FeedbackResult) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Noted: %s, on %s of %s.", taken.Verdict, memory.Count(len(taken.Items), "item"), taken.Receipt)
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

// turnContent is what a turn was given without its text, which stands beside it.
type turnContent struct {
	memory.TurnContext
	Text string `json:"text,omitempty" mcp:"-"`
}

func answerTurn(_ context.Context, _ *Server, _ call, _ memory.ContextOfRequest, turn *memory.TurnContext) (string, turnContent) {
	content := turnContent{TurnContext: *turn}
	if turn.Record == nil {
		return turn.Text, content
	}
	return fence(turn.Text), content
}

// receiptsListed is how many receipts are answered where no limit is given: fewer than
// the API's, for each takes a model some 600 tokens.
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

// receiptsText lists receipts in a line each.
func receiptsText(l *memory.ReceiptList) string {
	if len(l.Receipts) == 0 {
		return "No receipts."
	}
	var text strings.Builder
	for _, r := range l.Receipts {
		purpose := string(r.Purpose)
		if r.Purpose == memory.PurposeRecall {
			purpose = "recall"
		}
		fmt.Fprintf(&text, "- %s %s %s", r.ID, r.At.UTC().Format("2006-01-02T15:04Z"), purpose)
		if r.Session != "" {
			fmt.Fprintf(&text, ", session %s turn %d", r.Session, r.Turn)
		}
		fmt.Fprintf(&text, ": %s, %d withheld, %s", memory.Count(len(r.Items), "item"), len(r.Withheld), memory.Count(r.Tokens, "token"))
		if query := firstLine(r.Request.Asked()); query != "" {
			fmt.Fprintf(&text, ", asked %q", query)
		}
		text.WriteByte('\n')
	}
	list := fence(text.String())
	if l.More {
		list += "\nThere are older ones."
	}
	return list
}
