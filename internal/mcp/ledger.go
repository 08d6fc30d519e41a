package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// feedbackInput is what feedback takes.
type feedbackInput struct {
	Receipt string         `json:"receipt"`
	Item    string         `json:"item"`
	Verdict memory.Verdict `json:"verdict"`
	Note    string         `json:"note"`
}

func (s *Server) feedback(ctx context.Context, c call, in feedbackInput) (string, any, error) {
	taken, err := service.Feedback.Do(ctx, s.svc, memory.FeedbackRequest{
		RequestID: c.requestID, Receipt: in.Receipt, Item: in.Item, Verdict: in.Verdict, Note: in.Note, Caller: c.caller,
	})
	if err != nil {
		return "", nil, err
	}
	whole := *taken
	whole.Items = orEmpty(taken.Items)
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
	return text.String(), whole, nil
}

// turnInput is what context_of_turn takes.
type turnInput struct {
	Turn  int  `json:"turn,omitempty" limit:"1-1000000"`
	Texts bool `json:"texts"`
	whichInput
}

// turnAnswer is what a turn was given without its text, which stands beside it.
type turnAnswer struct {
	memory.TurnContext
	Text string `json:"text,omitempty"`
}

func (s *Server) contextOfTurn(ctx context.Context, c call, in turnInput) (string, any, error) {
	which, err := in.which(c)
	if err != nil {
		return "", nil, err
	}
	turn, err := service.ContextOf.Do(ctx, s.svc, memory.ContextOfRequest{Turn: in.Turn, Texts: in.Texts, SessionRef: which})
	if err != nil {
		return "", nil, err
	}
	whole := turnAnswer{TurnContext: *turn}
	whole.Withheld = orEmpty(turn.Withheld)
	if turn.Record != nil {
		whole.Record = &memory.ContextRecord{Items: orEmpty(turn.Record.Items), Timestamp: turn.Record.Timestamp}
	}
	if turn.Record == nil {
		return turn.Text, whole, nil
	}
	return fence(turn.Text), whole, nil
}

// receiptsListed is how many receipts are answered where no limit is given: fewer than
// the API's, for each takes a model some 600 tokens.
const receiptsListed = 5

// receiptsInput is what receipts takes.
type receiptsInput struct {
	SessionID *string   `json:"sessionId"`
	Turn      *int      `json:"turn"`
	Since     time.Time `json:"since"`
	Limit     int       `json:"limit,omitempty" limit:"1-200"`
	Project   string    `json:"project"`
}

func (s *Server) receipts(ctx context.Context, c call, in receiptsInput) (string, any, error) {
	id, err := sessionID("sessionId", in.SessionID)
	if err != nil {
		return "", nil, err
	}
	if in.Turn != nil && id == "" {
		id = c.agent.ID // turns are those of a session
	}
	found, err := service.Receipts.Do(ctx, s.svc, memory.ReceiptsRequest{
		SessionID: id, Turn: in.Turn, Since: in.Since, Limit: cmp.Or(in.Limit, receiptsListed), Project: c.agent.project(in.Project), Caller: c.caller,
	})
	if err != nil {
		return "", nil, err
	}
	whole := *found
	whole.Receipts = make([]memory.Receipt, len(found.Receipts))
	for i, r := range found.Receipts {
		r.Items, r.Withheld = orEmpty(r.Items), orEmpty(r.Withheld)
		whole.Receipts[i] = r
	}
	return receiptsText(found), whole, nil
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
	told := fence(text.String())
	if l.More {
		told += "\nThere are older ones."
	}
	return told
}
