package mcp

import (
	"cmp"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

func recallText(r *memory.RecallResponse) string { return strings.TrimRight(r.Text, "\n") }

// recallContent bounds an answer as recall bounds its text.
func recallContent(request memory.RecallRequest, r *memory.RecallResponse) *memory.RecallResponse {
	budget := cmp.Or(request.MaxTokens, memory.DefaultTokens)
	if len(request.IDs) > 0 {
		budget = cmp.Or(request.MaxTokens, memory.MaxTokens)
	}
	return within(r, budget, request.Explain)
}

// within is an answer as structured content of at most some tokens: its items, and how they
// were ranked and what was withheld only to explain it, if there is room. A lesson has its
// fields, or its line where it was cut or is only told in a line. Items that find no room are
// withheld; the first is named.
func within(answer *memory.RecallResponse, tokens int, explain bool) *memory.RecallResponse {
	out := *answer
	out.Text, out.Items = "", make([]memory.Item, len(answer.Items))
	for i, item := range answer.Items {
		item.Step, item.Task, item.StepEnd = nil, nil, nil // their text says the same
		switch {
		case item.Kind != memory.Lesson || item.Strength == memory.Maybe:
		case item.Cut:
			item.Lesson, item.Context, item.Command = "", "", ""
		default:
			item.Text = ""
		}
		if !explain {
			item.RankFactors = nil
		}
		out.Items[i] = item
	}
	if !explain && (len(out.Items) > 0 || out.NothingRelevant) {
		out.Withheld = nil
	}
	for ; tokensOf(&out) > tokens && len(out.Withheld) > 1; out.Withheld = out.Withheld[:len(out.Withheld)-1] {
	}
	if explain && tokensOf(&out) > tokens {
		return within(answer, tokens, false)
	}
	for last := len(out.Items) - 1; last >= 0 && tokensOf(&out) > tokens; last-- {
		item := out.Items[last]
		out.Items = out.Items[:last]
		out.Withheld = []memory.Withheld{{ID: item.ID, Kind: item.Kind, Reason: memory.OverBudget, NearestScore: item.Relevance, Path: item.Source.Path}}
	}
	return &out
}

// tokensOf counts an answer as structured content.
func tokensOf(answer *memory.RecallResponse) int {
	return render.Tokens(noticed(answer))
}
