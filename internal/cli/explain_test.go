package cli

import (
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// TestReceiptIsBelowTheFrame: as over MCP, the frame has what is stored, and the receipt is
// recalld's own.
func TestReceiptIsBelowTheFrame(t *testing.T) {
	answer := &memory.RecallResponse{ProjectName: "demo", Receipt: "rc-1", Items: []memory.Item{{ID: "l-1", Kind: memory.Lesson, Text: "use npm ci", Lesson: "use npm ci", Relevance: .9}}}
	render.Answer(answer, memory.RecallRequest{Format: memory.FormatText, MaxTokens: memory.MaxTokens})
	for _, args := range [][]string{{"recall", "npm"}, {"recall", "npm", "--explain"}, {"recall", "npm", "--ids"}, {"show", "l-1234"}} {
		out := newBench(t, map[string]any{service.Recall.Name: answer}).ok(args...)
		if own := render.OutsideFences(out); !strings.Contains(own, "Receipt, for feedback: rc-1\n") || strings.Count(out, "Receipt") != 1 || strings.Contains(own, "npm ci") {
			t.Errorf("recalld %q: outside of the frame is %q, want the receipt alone:\n%s", args, own, out)
		}
	}
}

// TestRecallExplainDrawsOnce: in the terminal the parts are drawn below the answer, and its text
// does not repeat them; a format that was asked for stays as it is.
func TestRecallExplainDrawsOnce(t *testing.T) {
	answer := &memory.RecallResponse{ProjectName: "demo", Receipt: "rc-1", Items: []memory.Item{{
		ID: "l-1", Kind: memory.Lesson, Text: "use npm ci", Lesson: "use npm ci", Relevance: .9,
		RankFactors: &memory.RankFactors{Score: 1, Success: 1.1, Retrievers: map[string]memory.RetrieverScore{"lexical": {Relevance: .9}}},
	}}, Withheld: []memory.Withheld{{ID: "l-2", Kind: memory.Lesson, Reason: memory.BelowThreshold, NearestScore: .4, Title: "use npm install"}}}
	answer.Text = "   l-1: the text of the daemon\n"
	ask := func(args ...string) string {
		return newBench(t, map[string]any{service.Recall.Name: answer}).ok(append([]string{"recall", "npm", "--explain"}, args...)...)
	}
	out := ask()
	for _, want := range []string{"use npm ci", "ITEM", "×1.10", "NOT SHOWN", "below the threshold", "use npm install"} {
		if strings.Count(out, want) != 1 {
			t.Errorf("the output has %q %d times, want it once:\n%s", want, strings.Count(out, want), out)
		}
	}
	if strings.Contains(out, "l-1:") {
		t.Errorf("the text explains what is drawn below it:\n%s", out)
	}
	if out := ask("--format", "markdown"); !strings.Contains(out, "the text of the daemon") || strings.Contains(out, "ITEM") {
		t.Errorf("in markdown:\n%s", out)
	}
	answer.Items = nil
	for _, args := range [][]string{nil, {"--json"}} {
		if out := ask(args...); !strings.Contains(out, render.Notice) {
			t.Errorf("%q: titles of what is withheld are stored text, and are not marked as data:\n%s", args, out)
		}
	}
}
