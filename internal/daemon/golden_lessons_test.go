package daemon

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/eval"
	"github.com/recalld/recalld/internal/memory"
)

const lessonSet = "../eval/testdata/lessons"

// TestGoldenLessons holds what questions in other words find of 170 lessons: by
// each retriever bare, and by recall as agents use it, with its threshold. Run with
// -update to accept a change.
func TestGoldenLessons(t *testing.T) {
	set, err := eval.OpenSet(lessonSet)
	if err != nil {
		t.Fatalf("open set: %v", err)
	}
	var report strings.Builder
	report.WriteString("retriever  R@1    R@5    R@10   MRR@10 nDCG@10\n")
	ranks := map[string][]string{}
	for _, retriever := range []string{EvalLexical, EvalVector, EvalHybrid} {
		var out bytes.Buffer
		e := openEvaluation(t, EvaluationOptions{Retriever: retriever, Depth: 60})
		m, err := eval.Run(t.Context(), set, e, eval.Options{Depth: 60, Out: &out})
		if err != nil {
			t.Fatalf("run %s: %v", retriever, err)
		}
		first := 0
		for query, rank := range firstRight(set, out.String()) {
			ranks[query] = append(ranks[query], rank)
			if rank == "1" {
				first++
			}
		}
		fmt.Fprintf(&report, "%-10s %.4f %.4f %.4f %.4f %.4f\n", retriever, float64(first)/float64(len(set.Queries)), m.R5, m.R10, m.MRR10, m.NDCG10)
	}
	report.WriteString(lessonFloor(t, set))
	report.WriteString("\nrank of the first right lesson: lexical, vector, hybrid\n")
	for _, q := range set.Queries {
		fmt.Fprintf(&report, "%s %s\n", q.ID, strings.Join(ranks[q.ID], " "))
	}
	golden(t, lessonSet+".golden", report.String())
}

// lessonFloor asks recall, with the settings that it ships with, what the set
// answers and what it does not.
func lessonFloor(t *testing.T, set *eval.Set) string {
	about := t.TempDir()
	core, names := rememberSet(t, lessonSet, about)
	ask := func(query string) *memory.RecallResponse {
		a, err := core.Recall.Recall(t.Context(), memory.RecallRequest{
			Query: query, Kinds: []memory.Kind{memory.Lesson}, Caller: memory.Caller{Dir: about},
		})
		if err != nil {
			t.Fatalf("recall %q: %v", query, err)
		}
		return a
	}
	shown, right, items := 0, 0, 0
	for _, q := range set.Queries {
		a := ask(q.Text)
		items += len(a.Items)
		if len(a.Items) > 0 {
			shown++
		}
		for _, item := range a.Items {
			if set.Judged[q.ID][names[item.ID]] > 0 {
				right++
				break
			}
		}
	}
	share := func(n, of int) string { return fmt.Sprintf("%d of %d (%.0f %%)", n, of, 100*float64(n)/float64(of)) }
	var b strings.Builder
	fmt.Fprintf(&b, "\nrecall with its floor\nanswered at all: %s, with the right lesson: %s, lessons an answer: %.2f\n",
		share(shown, len(set.Queries)), share(right, len(set.Queries)), float64(items)/float64(len(set.Queries)))
	kinds := []string{"close in vocabulary", "about programming", "everyday"}
	silent := make([]int, len(kinds))
	asked := 0
	for line := range setLines(t, filepath.Join(lessonSet, "unanswered.jsonl")) {
		if len(ask(line.Text).Items) == 0 {
			silent[asked/20]++
		}
		asked++
	}
	b.WriteString("questions that nothing answers, answered with nothing:")
	total := 0
	for i, kind := range kinds {
		fmt.Fprintf(&b, " %s %s,", kind, share(silent[i], 20))
		total += silent[i]
	}
	fmt.Fprintf(&b, " all %s\n", share(total, asked))
	return b.String()
}

// setLine is a line of the set's files.
type setLine struct {
	ID       string `json:"_id"`
	Title    string `json:"title"`
	Text     string `json:"text"`
	Metadata struct {
		Type string   `json:"event_type"`
		Tags []string `json:"tags"`
		Rate string   `json:"success_rate"`
	} `json:"metadata"`
}

func setLines(t *testing.T, path string) func(yield func(setLine) bool) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read set: %v", err)
	}
	return func(yield func(setLine) bool) {
		for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
			var l setLine
			if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
				t.Fatalf("read set: %v", err)
			}
			if !yield(l) {
				return
			}
		}
	}
}

// rememberSet remembers the lessons of a set as an agent would, in a project of
// the folder about, and returns their names in the set by id.
func rememberSet(t *testing.T, dir, about string) (core *Core, names map[string]string) {
	t.Helper()
	core = openQuiet(t)
	names = map[string]string{}
	for l := range setLines(t, filepath.Join(dir, "corpus.jsonl")) {
		lesson, command, _ := strings.Cut(l.Text, "\n")
		r, err := core.Ingest.Remember(t.Context(), memory.RememberRequest{
			Type: memory.EventType(l.Metadata.Type), Context: l.Title, Lesson: lesson, Command: command,
			Tags: l.Metadata.Tags, SuccessRate: l.Metadata.Rate, Caller: memory.Caller{Dir: about},
		})
		if err != nil {
			t.Fatalf("remember %s: %v", l.ID, err)
		}
		names[r.ID] = l.ID
	}
	return core, names
}

// openQuiet opens both paths over an empty store that may be lost.
func openQuiet(t *testing.T) *Core {
	t.Helper()
	core, err := OpenCore(t.Context(), CoreOptions{Dir: t.TempDir(), NoSync: true, Config: config.Default()})
	if err != nil {
		t.Fatalf("open core: %v", err)
	}
	t.Cleanup(func() {
		if err := core.Close(); err != nil {
			t.Errorf("close core: %v", err)
		}
	})
	if err := core.Load(t.Context()); err != nil {
		t.Fatalf("load: %v", err)
	}
	return core
}
