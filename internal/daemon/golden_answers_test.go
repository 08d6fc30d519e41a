package daemon

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/eval"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testkit/golden"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

// TestGoldenAnswers holds what agents get in a store of lessons, steps and code: 150 questions that
// something answers and 150 that nothing does, half of them dev and half test. Run with -update to
// accept a change, and tune nothing on test.
func TestGoldenAnswers(t *testing.T) {
	underrace.Skip(t, "ranks, of one question after the other")
	const dir = "../eval/testdata/ferry"
	set, err := eval.OpenSet(dir)
	if err != nil {
		t.Fatalf("open set: %v", err)
	}
	var out bytes.Buffer
	e := openEvaluation(t, EvaluationOptions{Retriever: EvalHybrid, Depth: 100})
	r, err := eval.Run(t.Context(), set, e, eval.Options{Depth: 100, Out: &out, Answers: true})
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	if all := r.Answers[0]; all.Answerable.Questions != 150 || all.Unanswerable.Questions != 150 {
		t.Errorf("asked %d questions with an answer and %d without, want 150 of each", all.Answerable.Questions, all.Unanswerable.Questions)
	}
	var report strings.Builder
	fmt.Fprintf(&report, "R@5 %.4f R@10 %.4f MRR@10 %.4f nDCG@10 %.4f\n\n%s\n%s\nrank of the right memory\n",
		r.R5, r.R10, r.MRR10, r.NDCG10, answersTable(r.Answers), draws(t, dir, memory.Lesson, 20, 5))
	ranks := firstRight(set, out.String())
	for _, q := range set.Queries {
		fmt.Fprintf(&report, "%s %s\n", q.ID, ranks[q.ID])
	}
	golden.Equal(t, dir+".golden", report.String())
}
