package daemon

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/eval"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testkit/golden"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

const lessonSet = "../eval/testdata/lessons"

// TestGoldenLessons holds what questions in other words find of 170 lessons: by
// each retriever bare, and by recall as agents use it. Run with -update to accept a change.
func TestGoldenLessons(t *testing.T) {
	underrace.Skip(t, "ranks, of one question after the other")
	set, err := eval.OpenSet(lessonSet)
	if err != nil {
		t.Fatalf("open set: %v", err)
	}
	var report strings.Builder
	report.WriteString("retriever  R@1    R@5    R@10   MRR@10 nDCG@10\n")
	ranks := map[string][]string{}
	var answers []eval.Answers
	for _, retriever := range []string{EvalLexical, EvalVector, EvalHybrid} {
		var out bytes.Buffer
		e := openEvaluation(t, EvaluationOptions{Retriever: retriever, Depth: 60})
		m, err := eval.Run(t.Context(), set, e, eval.Options{Depth: 60, Out: &out, Answers: retriever == EvalHybrid})
		if err != nil {
			t.Fatalf("run %s: %v", retriever, err)
		}
		answers = m.Answers
		first := 0
		for query, rank := range firstRight(set, out.String()) {
			ranks[query] = append(ranks[query], rank)
			if rank == "1" {
				first++
			}
		}
		fmt.Fprintf(&report, "%-10s %.4f %.4f %.4f %.4f %.4f\n", retriever, float64(first)/float64(len(set.Queries)), m.R5, m.R10, m.MRR10, m.NDCG10)
	}
	fmt.Fprintf(&report, "\nrecall as agents use it\n%s\n%s", answersTable(answers), draws(t, lessonSet, memory.Lesson, 20, 5))
	report.WriteString("\nrank of the first right lesson: lexical, vector, hybrid\n")
	for _, q := range set.Queries {
		fmt.Fprintf(&report, "%s %s\n", q.ID, strings.Join(ranks[q.ID], " "))
	}
	golden.Equal(t, lessonSet+".golden", report.String())
}

// answersTable writes the figures of answers.
func answersTable(rows []eval.Answers) string {
	var b strings.Builder
	share := func(n, of int) string { return fmt.Sprintf("%5.1f %%", 100*float64(n)/float64(max(of, 1))) }
	fmt.Fprintf(&b, "%-20s questions full    line    not shown  not found tokens\n", "answerable")
	for _, r := range rows {
		if c := r.Answerable; c.Questions > 0 {
			fmt.Fprintf(&b, "%-20s %9d %s %s %s    %s %6.1f\n", rowName(r), c.Questions,
				share(c.Full, c.Questions), share(c.Line, c.Questions), share(c.Ranked, c.Questions), share(c.Lost, c.Questions), c.Tokens)
		}
	}
	fmt.Fprintf(&b, "%-20s questions silent  lines   full text tokens\n", "unanswerable")
	for _, r := range rows {
		if c := r.Unanswerable; c.Questions > 0 {
			fmt.Fprintf(&b, "%-20s %9d %s %s %s   %6.1f\n", rowName(r), c.Questions, share(c.Silent, c.Questions), share(c.Lines, c.Questions), share(c.Full, c.Questions), c.Tokens)
		}
	}
	return b.String()
}

func rowName(r eval.Answers) string { return cmp.Or(r.Split, string(r.Kind), "all") }

// draws measures small stores: n documents drawn from a set with a question for each, once for
// every seed.
func draws(t *testing.T, dir string, kind memory.Kind, n, seeds int) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%d %ss drawn with a question for each\nseed  in full  as a line\n", n, kind)
	for seed := range seeds {
		set := drawSet(t, dir, kind, n, uint64(seed+1))
		e := openEvaluation(t, EvaluationOptions{Retriever: EvalHybrid, Depth: n})
		report, err := eval.Run(t.Context(), set, e, eval.Options{Depth: n, Answers: true})
		if err != nil {
			t.Fatalf("run draw %d: %v", seed+1, err)
		}
		c := report.Answers[0].Answerable
		fmt.Fprintf(&b, "%4d  %7d  %9d\n", seed+1, c.Full, c.Line)
	}
	return b.String()
}

// drawSet writes a set of n questions of another set, drawn by a seed, and of the documents that
// answer them.
func drawSet(t *testing.T, dir string, kind memory.Kind, n int, seed uint64) *eval.Set {
	t.Helper()
	whole, err := eval.OpenSet(dir)
	if err != nil {
		t.Fatalf("open set: %v", err)
	}
	queries := slices.DeleteFunc(whole.Queries, func(q eval.Query) bool {
		return whole.Judged[q.ID] == nil || q.Kind != "" && q.Kind != kind
	})
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(queries), func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
	drawn := filepath.Join(t.TempDir(), filepath.Base(dir))
	files := map[string]*bytes.Buffer{"corpus.jsonl": {}, "queries.jsonl": {}, "qrels.tsv": {}}
	line := func(file string, value any) {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatalf("write set: %v", err)
		}
		files[file].Write(append(text, '\n'))
	}
	right := map[string]bool{}
	for _, q := range queries[:n] {
		line("queries.jsonl", q)
		for _, id := range slices.Sorted(maps.Keys(whole.Judged[q.ID])) {
			right[id] = true
			fmt.Fprintf(files["qrels.tsv"], "%s\t%s\t1\n", q.ID, id)
		}
	}
	for d, err := range whole.Documents() {
		if err != nil {
			t.Fatalf("read set: %v", err)
		}
		if right[d.ID] {
			line("corpus.jsonl", d)
		}
	}
	if err := os.Mkdir(drawn, 0o700); err != nil {
		t.Fatalf("make set: %v", err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(drawn, name), text.Bytes(), 0o600); err != nil {
			t.Fatalf("write set: %v", err)
		}
	}
	set, err := eval.OpenSet(drawn)
	if err != nil {
		t.Fatalf("open drawn set: %v", err)
	}
	return set
}

// openQuiet opens both paths over an empty store that may be lost.
func openQuiet(t *testing.T) *Core {
	return openCore(t, CoreOptions{Dir: t.TempDir(), NoSync: true, Config: config.Default()})
}

// openCore opens both paths and loads them; they are closed when the test ends.
func openCore(tb testing.TB, opts CoreOptions) *Core {
	tb.Helper()
	core, err := OpenCore(tb.Context(), opts)
	must(tb, err)
	tb.Cleanup(func() { must(tb, core.Close()) })
	must(tb, core.Load(tb.Context()))
	return core
}
