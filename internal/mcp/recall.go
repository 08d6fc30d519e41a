package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

func answerRecall(_ context.Context, _ *Server, _ call, request memory.RecallRequest, r *memory.RecallResponse) (string, *memory.RecallResponse) {
	budget := cmp.Or(request.MaxTokens, memory.DefaultTokens)
	if len(request.IDs) > 0 {
		budget = cmp.Or(request.MaxTokens, memory.MaxTokens)
	}
	return withReceipt(r, request.Format, budget), structured(r, budget)
}

// withReceipt is an answer's text with the receipt that feedback asks for: many clients
// show the model nothing but the text. It is left out where the text has it, and where
// the budget has no room for it.
func withReceipt(answer *memory.RecallResponse, format memory.Format, tokens int) string {
	text := strings.TrimRight(answer.Text, "\n")
	line := "\n\nReceipt, for feedback: " + answer.Receipt
	if len(answer.Items) == 0 || answer.Receipt == "" || format == memory.FormatJSON || strings.Contains(text, answer.Receipt) ||
		len(text)+len(line) > maxBytes(tokens) {
		return answer.Text
	}
	return text + line
}

// maxBytes is the longest text of so many tokens, as recall counts them.
func maxBytes(tokens int) int { return tokens * 7 / 2 }

// structured is an answer as structured content, which a client may hand to its
// model as it does the text: it keeps to the budget too. The answer's text is left out.
// A lesson has its fields, so its line goes first where room is short; then the fields
// of a lesson that was cut, whose line is what the budget has room for; then the last
// items, which are withheld. How items were ranked and what was withheld is included as far
// as there is room beside them. Where no item has room, the first that was withheld is
// included in any case: without it the content reads as if nothing were there.
func structured(answer *memory.RecallResponse, tokens int) *memory.RecallResponse {
	out := *answer
	out.Text, out.Withheld = "", []memory.Withheld{}
	out.Items = make([]memory.Item, len(answer.Items))
	for i, item := range answer.Items {
		item.RankFactors = nil
		out.Items[i] = item
	}
	most := maxBytes(tokens) - render.NoticeBytes
	room := most - size(out)
	shorten := func(change func(*memory.Item)) {
		for i := len(out.Items) - 1; i >= 0 && room < 0; i-- {
			before := size(out.Items[i])
			change(&out.Items[i])
			room += before - size(out.Items[i])
		}
	}
	shorten(func(item *memory.Item) {
		item.Step, item.Task, item.StepEnd = nil, nil, nil // their text says the same
		if item.Kind == memory.Lesson && !item.Cut {
			item.Text = ""
		}
	})
	shorten(func(item *memory.Item) {
		if item.Kind == memory.Lesson && item.Cut {
			item.Lesson, item.Context, item.Command = "", "", ""
		}
	})
	for last := len(out.Items) - 1; room < 0 && last >= 0; last-- {
		out.Items = out.Items[:last]
		room = most - size(out)
	}
	for i, item := range answer.Items[:len(out.Items)] {
		if n := size(item.RankFactors) + len(`,"rank_factors":`); item.RankFactors != nil && n <= room {
			out.Items[i].RankFactors = item.RankFactors
			room -= n
		}
	}
	var withheld []memory.Withheld
	for _, item := range answer.Items[len(out.Items):] {
		withheld = append(withheld, memory.Withheld{
			ID: item.ID, Kind: item.Kind, Reason: memory.OverBudget, NearestScore: item.Relevance, Path: item.Source.Path,
		})
	}
	for i, w := range append(withheld, answer.Withheld...) {
		room -= size(w) + len(",")
		if isEmpty := len(out.Items) == 0 && !out.NothingRelevant; room < 0 && (i > 0 || !isEmpty) {
			break
		}
		out.Withheld = append(out.Withheld, w)
	}
	return &out
}

// size is how long a value is as JSON, in bytes.
func size(value any) int {
	text, err := json.Marshal(value)
	if err != nil { // never: texts, flags and finite numbers
		return 0
	}
	return len(text)
}
