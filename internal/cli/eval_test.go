package cli

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// parcels is the set of the golden file.
const parcels = "../eval/testdata/parcels"

// evalBench is a command line whose working folder is there and may be written.
func evalBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, nil)
	b.absent = true // eval needs no daemon
	b.opts.Dir = t.TempDir()
	return b
}

func absoluteSet(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(parcels)
	if err != nil {
		t.Fatalf("find set: %v", err)
	}
	return dir
}

func TestEvalWritesARunAndItsFigures(t *testing.T) {
	b := evalBench(t)
	out := b.ok("eval", "--set", absoluteSet(t), "--retriever", "lexical", "--depth", "3", "--out", "run.tsv")
	for _, want := range []string{"nDCG@10", "parcels", "lexical"} {
		if !strings.Contains(out, want) {
			t.Errorf("output lacks %q:\n%s", want, out)
		}
	}
	run, err := os.ReadFile(filepath.Join(b.opts.Dir, "run.tsv"))
	if err != nil {
		t.Fatalf("read run: %v", err)
	}
	first, _, _ := strings.Cut(string(run), "\n")
	if fields := strings.Split(first, "\t"); len(fields) != 3 || fields[0] != "q01" || fields[1] != "l01" {
		t.Errorf("the run begins with %q, want q01, l01 and a score", first)
	}
	perQuestion := map[string]int{}
	for line := range strings.Lines(string(run)) {
		question, _, _ := strings.Cut(line, "\t")
		if perQuestion[question]++; perQuestion[question] > 3 {
			t.Fatalf("question %s has more than 3 documents", question)
		}
	}
	if len(b.connects) > 0 {
		t.Errorf("the daemon was asked for %d times", len(b.connects))
	}
}

func TestEvalAnswersAsJSON(t *testing.T) {
	b := evalBench(t)
	var got evalResult
	if err := json.Unmarshal([]byte(b.ok("eval", "--json", "--set", absoluteSet(t), "--out", "run.tsv")), &got); err != nil {
		t.Fatalf("read answer: %v", err)
	}
	if got.Report == nil {
		t.Fatal("the answer has no figures")
	}
	if got.Set != "parcels" || got.Retriever != "hybrid" || got.Embedder != "builtin" || got.Documents != 60 || got.Queries != 30 {
		t.Errorf("answer is %+v", got)
	}
	if math.Abs(got.NDCG10-0.8) > 0.15 {
		t.Errorf("nDCG@10 is %v, far from what the golden file has", got.NDCG10)
	}
}

// TestEvalOfSeveralSets: one table with a mean, and a run for each set.
func TestEvalOfSeveralSets(t *testing.T) {
	b := evalBench(t)
	other := filepath.Join(t.TempDir(), "other")
	if err := os.CopyFS(other, os.DirFS(parcels)); err != nil {
		t.Fatalf("copy set: %v", err)
	}
	args := []string{"eval", "--set", absoluteSet(t), "--set", other, "--retriever", "lexical", "--out", "."}
	out := b.ok(args...)
	if !strings.Contains(out, "\nmacro") || strings.Count(out, "lexical") != 2 {
		t.Errorf("output is\n%s\nwant two sets and their macro", out)
	}
	for _, name := range []string{"parcels.tsv", "other.tsv"} {
		if _, err := os.Stat(filepath.Join(b.opts.Dir, name)); err != nil {
			t.Errorf("no run: %v", err)
		}
	}
	var got evalResults
	if err := json.Unmarshal([]byte(b.ok(append(args, "--json")...)), &got); err != nil {
		t.Fatalf("read answer: %v", err)
	}
	if len(got.Sets) != 2 || got.Macro.Queries != 60 || math.Abs(got.Macro.NDCG10-got.Sets[0].NDCG10) > 1e-9 {
		t.Errorf("answer is %+v, want two equal sets and their mean", got)
	}
}

// TestEvalOfAnswers: tables for questions with and without an answer, and the same as JSON.
func TestEvalOfAnswers(t *testing.T) {
	b := evalBench(t)
	out := b.ok("eval", "--set", absoluteSet(t), "--without-answers")
	for _, want := range []string{"ANSWERABLE", "A LINE", "UNANSWERABLE", "all, answers removed"} {
		if !strings.Contains(out, want) {
			t.Errorf("output lacks %q:\n%s", want, out)
		}
	}
	var got evalResult
	if err := json.Unmarshal([]byte(b.ok("eval", "--set", absoluteSet(t), "--answers", "--json")), &got); err != nil {
		t.Fatalf("read answer: %v", err)
	}
	if len(got.Answers) != 1 {
		t.Fatalf("there are %d rows of answers, want 1", len(got.Answers))
	}
	if c := got.Answers[0].Answerable; c.Questions != 30 || c.Full+c.Line+c.Ranked+c.Lost != 30 || got.Answers[0].Removed.Questions != 0 {
		t.Errorf("answers are %+v, want 30 answerable questions and none with answers removed", got.Answers[0])
	}
}

func TestEvalRefusesWhatItCannotUse(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.CopyFS(broken, os.DirFS(parcels)); err != nil {
		t.Fatalf("copy set: %v", err)
	}
	if err := os.WriteFile(filepath.Join(broken, "corpus.jsonl"), []byte("{\"id\":\"a\",\"text\":\"x\"}\nnonsense\n"), 0o600); err != nil {
		t.Fatalf("break set: %v", err)
	}
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"no set", []string{"--out", "x.tsv"}, "--set: is required"},
		{"neither", nil, "--set: is required"},
		{"retriever before the set", []string{"--set", "nowhere", "--out", "x.tsv", "--retriever", "psychic"}, "lexical, vector or hybrid"},
		{"bad line", []string{"--set", broken, "--out", "x.tsv"}, "corpus.jsonl:2: is not a JSON object"},
		{"unknown retriever", []string{"--set", absoluteSet(t), "--out", "x.tsv", "--retriever", "psychic"}, "lexical, vector or hybrid"},
		{"depth", []string{"--set", absoluteSet(t), "--out", "x.tsv", "--depth", "0"}, "1–1000"},
		{"one set twice", []string{"--set", absoluteSet(t), "--set", absoluteSet(t)}, "two sets are called parcels"},
		{"no such split", []string{"--set", absoluteSet(t), "--split", "tset"}, `holds no question of split "tset"`},
		{"file for the runs of two sets", []string{"--set", absoluteSet(t), "--set", "other", "--out", "x.tsv"}, "there is no folder"},
		{"folder of the run", []string{"--set", absoluteSet(t), "--out", filepath.Join("nowhere", "x.tsv")}, "there is no folder"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := evalBench(t)
			_, errs, code := b.run(append([]string{"eval"}, test.args...)...)
			if code != ExitUsage || !strings.Contains(errs, test.want) {
				t.Errorf("exit %d, %q; want exit %d and %q", code, errs, ExitUsage, test.want)
			}
			if left, err := os.ReadDir(b.opts.Dir); err != nil || len(left) > 0 {
				t.Errorf("left behind in the working folder: %v, %v", left, err)
			}
		})
	}
}

// TestEvalWithoutServer: an embedder that cannot be reached is said to be, with
// what to do.
func TestEvalWithoutServer(t *testing.T) {
	b := evalBench(t)
	getenv := b.opts.Getenv
	b.opts.Getenv = func(name string) string {
		if name == "OLLAMA_HOST" {
			return "127.0.0.1:1"
		}
		return getenv(name)
	}
	_, errs, code := b.run("eval", "--set", absoluteSet(t), "--out", "x.tsv", "--retriever", "vector", "--embedder", "nomic-embed-text")
	if code != ExitUnavailable || !strings.Contains(errs, "hint: ") {
		t.Errorf("exit %d, %q; want exit %d and a hint", code, errs, ExitUnavailable)
	}
}
