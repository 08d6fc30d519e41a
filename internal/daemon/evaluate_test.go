package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/embedder/ollama/ollamatest"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/eval"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
	"github.com/recalld/recalld/internal/testkit/golden"
)

func openEvaluation(t *testing.T, opts EvaluationOptions) *Evaluation {
	t.Helper()
	opts.Config = config.Default()
	e, err := OpenEvaluation(t.Context(), opts)
	if err != nil {
		t.Fatalf("open evaluation: %v", err)
	}
	t.Cleanup(func() {
		if err := e.core.Indexer.Check(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("check indexes: %v", err)
		}
		if err := e.Close(); err != nil {
			t.Errorf("close evaluation: %v", err)
		}
		if _, err := os.Stat(e.dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the store is still there after Close: %v", err)
		}
	})
	return e
}

func put(t *testing.T, e *Evaluation, project string, docs ...eval.Document) {
	t.Helper()
	if err := e.Put(t.Context(), memory.Project{ID: project, Name: project}, docs); err != nil {
		t.Fatalf("put documents: %v", err)
	}
}

// names asks and returns the documents found, each once.
func names(t *testing.T, e *Evaluation, project, query string) []string {
	t.Helper()
	hits, degraded, err := e.Rank(t.Context(), project, []memory.Kind{memory.Reference}, query)
	if err != nil || len(degraded) > 0 {
		t.Fatalf("ask %q: %v, degraded %v", query, err, degraded)
	}
	var list []string
	for _, h := range hits {
		if !slices.Contains(list, h.Document) {
			list = append(list, h.Document)
		}
	}
	return list
}

// TestGoldenRetrieval holds the figures of a small set of our own, and the rank
// of the first right answer to every question, so that a change of ranking
// shows in review. Run with -update to accept one.
func TestGoldenRetrieval(t *testing.T) {
	const file = "../eval/testdata/parcels.golden"
	set, err := eval.OpenSet("../eval/testdata/parcels")
	if err != nil {
		t.Fatalf("open set: %v", err)
	}
	figures := "retriever  R@5    R@10   MRR@10 nDCG@10\n"
	ranks := map[string][]string{}
	for _, retriever := range []string{EvalLexical, EvalVector, EvalHybrid} {
		var out bytes.Buffer
		e := openEvaluation(t, EvaluationOptions{Retriever: retriever, Depth: 60})
		m, err := eval.Run(t.Context(), set, e, eval.Options{Depth: 60, Out: &out})
		if err != nil {
			t.Fatalf("run %s: %v", retriever, err)
		}
		figures += fmt.Sprintf("%-10s %.4f %.4f %.4f %.4f\n", retriever, m.R5, m.R10, m.MRR10, m.NDCG10)
		for query, rank := range firstRight(set, out.String()) {
			ranks[query] = append(ranks[query], rank)
		}
	}
	figures += "\nrank of the first right answer: lexical, vector, hybrid\n"
	for _, q := range set.Queries {
		figures += fmt.Sprintf("%-12s %s\n", strings.Join(ranks[q.ID], " "), q.Text)
	}
	golden.Equal(t, file, figures)
}

// firstRight reads a run: the rank of the first document that answers, by
// question; "-" where none does.
func firstRight(set *eval.Set, run string) map[string]string {
	first, rank := map[string]string{}, map[string]int{}
	for _, q := range set.Queries {
		first[q.ID] = "-"
	}
	for line := range strings.Lines(run) {
		fields := strings.Split(line, "\t")
		query, document := fields[0], fields[1]
		rank[query]++
		if first[query] == "-" && set.Judged[query][document] > 0 {
			first[query] = fmt.Sprint(rank[query])
		}
	}
	return first
}

// TestEveryDocumentKeepsItsID: equal texts are one document of the index and
// stay two of the set; a secret stays what it is; groups are not mixed.
func TestEveryDocumentKeepsItsID(t *testing.T) {
	for _, retriever := range []string{EvalLexical, EvalVector, EvalHybrid} {
		t.Run(retriever, func(t *testing.T) {
			e := openEvaluation(t, EvaluationOptions{Retriever: retriever, Depth: 10})
			put(t, e, "one",
				eval.Document{ID: "a", Text: "the parcel was scanned in Lisbon"},
				eval.Document{ID: "b", Text: "the parcel was scanned in Lisbon"},
				eval.Document{ID: "key", Text: "aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYzzzzzzKEYabc"})
			put(t, e, "two", eval.Document{ID: "c", Text: "the parcel was scanned in Lisbon"})
			if got := names(t, e, "one", "parcel scanned Lisbon"); len(got) < 2 || !slices.Contains(got[:2], "a") || !slices.Contains(got[:2], "b") {
				t.Errorf("found %v, want a and b first", got)
			}
			if got := names(t, e, "two", "parcel scanned Lisbon"); !slices.Equal(got, []string{"c"}) {
				t.Errorf("found %v in the other group, want c alone", got)
			}
			if got := names(t, e, "one", "wJalrXUtnFEMIK7MDENGbPxRfiCYzzzzzzKEYabc"); len(got) == 0 || got[0] != "key" {
				t.Errorf("found %v by the secret, want key first: texts of a set are not redacted", got)
			}
		})
	}
}

// TestLongDocumentsAreFoundByTheirParts: what stands at the end of a long text
// counts as what stands at its beginning does.
func TestLongDocumentsAreFoundByTheirParts(t *testing.T) {
	e := openEvaluation(t, EvaluationOptions{Retriever: EvalHybrid, Depth: 1})
	filler := strings.Repeat("Nothing of note was said about the depot that day.\n", 2*memory.MaxReferenceText/50)
	put(t, e, "p",
		eval.Document{ID: "long", Text: filler + "The harbour crane needs a new gearbox."},
		eval.Document{ID: "short", Text: "The depot has a crane."})
	if got := names(t, e, "p", "harbour crane gearbox"); len(got) == 0 || got[0] != "long" {
		t.Errorf("found %v, want long first", got)
	}
}

func TestEvaluationOptionsAreChecked(t *testing.T) {
	for _, test := range []struct {
		name  string
		opts  EvaluationOptions
		field string
	}{
		{"no retriever", EvaluationOptions{Depth: 1}, "retriever"},
		{"unknown retriever", EvaluationOptions{Retriever: "psychic", Depth: 1}, "retriever"},
		{"no depth", EvaluationOptions{Retriever: EvalLexical}, "depth"},
		{"depth over the limit", EvaluationOptions{Retriever: EvalLexical, Depth: eval.MaxDepth + 1}, "depth"},
	} {
		_, err := OpenEvaluation(t.Context(), test.opts)
		if bad, ok := errors.AsType[*memory.Error](err); !ok || bad.Field != test.field {
			t.Errorf("%s: error is %v, want one about %s", test.name, err, test.field)
		}
	}
}

// TestUnreachableModelIsAnError: figures of another model than the one asked
// for would be worse than none.
func TestUnreachableModelIsAnError(t *testing.T) {
	cfg := config.Default()
	cfg.Embedding.Ollama.URL = "http://127.0.0.1:1" // nothing listens there
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	_, err := OpenEvaluation(t.Context(), EvaluationOptions{Config: cfg, Retriever: EvalVector, Embedder: "some-model", Depth: 1})
	if err == nil || !strings.Contains(err.Error(), "some-model") {
		t.Errorf("error is %v, want one that names the model", err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestEvaluationOfAnOllamaModel: the documents are embedded by the server's model before
// the first question, and a vector run is of that model alone.
func TestEvaluationOfAnOllamaModel(t *testing.T) {
	server := ollamatest.Start(t)
	cfg := config.Default()
	cfg.Embedding.Ollama.URL = server.URL
	for _, retriever := range []string{EvalVector, EvalHybrid} {
		e, err := OpenEvaluation(t.Context(), EvaluationOptions{Config: cfg, Retriever: retriever, Embedder: ollamatest.Model, Depth: 5})
		if err != nil {
			t.Fatalf("open evaluation: %v", err)
		}
		defer e.Close()
		put(t, e, "p",
			eval.Document{ID: "parcel", Text: "parcel scanned in Lisbon"},
			eval.Document{ID: "bread", Text: "sourdough bread"})
		embedded := 0
		if err := e.Settle(t.Context(), func(n int) { embedded += n }); err != nil || embedded != 2 {
			t.Fatalf("settle: %d documents embedded, %v; want 2", embedded, err)
		}
		if got := names(t, e, "p", "parcel Lisbon"); len(got) == 0 || got[0] != "parcel" {
			t.Errorf("%s found %v, want parcel first", retriever, got)
		}
		var parts []string
		for _, s := range (part{e.core.Indexer, retriever, "vector/" + e.background}).Sources() {
			parts = append(parts, s.Name)
		}
		want := map[string][]string{
			EvalVector: {"vector/ollama/tiny"},
			EvalHybrid: {"lexical", "vector/" + builtin.Name, "vector/ollama/tiny"},
		}[retriever]
		if !slices.Equal(parts, want) {
			t.Errorf("%s asks %v, want %v", retriever, parts, want)
		}
	}
}

// TestVectorWeightDefaultsAgree: the settings of the file are those that recall
// has without one.
func TestVectorWeightDefaultsAgree(t *testing.T) {
	got, want := recallSettings(config.Default().Recall).VectorWeight, recall.DefaultSettings().VectorWeight
	if diff := got - want; diff > 1e-4 || diff < -1e-4 {
		t.Errorf("the settings' default vector weight is %v, recall's %v", got, want)
	}
}
