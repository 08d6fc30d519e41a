package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/eval"
	"github.com/recalld/recalld/internal/memory"
)

// kindsSet is a set with a document of each kind and a question for each.
func kindsSet() map[string]string {
	return map[string]string{
		"corpus.jsonl": `{"id":"ref","title":"Depot","text":"The depot in Lisbon opens at seven."}
{"id":"lesson","kind":"lesson","title":"npm ci in a pipeline","text":"npm ci fails where package-lock.json is out of step; commit the lockfile.\nnpm install --package-lock-only","metadata":{"event_type":"error","tags":["npm"],"success_rate":"3/4"}}
{"id":"step","kind":"step","session":"session-1","tool":"Bash","target":"go vet ./...","text":"result 1 of Close is never used","failed":true}
{"id":"chunk","kind":"chunk","path":"queue/lease.go","text":"func Renew("}
`,
		"queries.jsonl": `{"id":"q1","text":"when does the depot in Lisbon open"}
{"id":"q2","text":"npm ci fails because of package-lock.json"}
{"id":"q3","text":"go vet result of Close is never used"}
{"id":"q4","text":"where is the lease renewed: func Renew"}
`,
		"qrels.tsv":           "q1\tref\t1\nq2\tlesson\t1\nq3\tstep\t1\nq4\tchunk\t1\n",
		"code/queue/lease.go": "package queue\n\n// Renew renews the lease of a job until the deadline.\nfunc Renew(job string, deadline int) error {\n\treturn nil\n}\n",
	}
}

func openKinds(t *testing.T, files map[string]string) *eval.Set {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "kinds")
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatalf("make set: %v", err)
		}
	}
	set, err := eval.OpenSet(dir)
	if err != nil {
		t.Fatalf("open set: %v", err)
	}
	return set
}

// TestAnswersOfEveryKind: a document of each kind is ranked, shown, gone while it is removed, and
// there again afterwards.
func TestAnswersOfEveryKind(t *testing.T) {
	set := openKinds(t, kindsSet())
	e := openEvaluation(t, EvaluationOptions{Retriever: EvalHybrid, Depth: 10})
	report, err := eval.Run(t.Context(), set, e, eval.Options{Depth: 10, Answers: true, Removed: true})
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	if report.R5 != 1 || report.Documents != 4 {
		t.Errorf("R@5 is %v of %d documents, want 1 of 4", report.R5, report.Documents)
	}
	all := report.Answers[0]
	if all.Answerable.Questions != 4 || all.Answerable.Full+all.Answerable.Line != 4 || all.Answerable.Tokens < 20 {
		t.Errorf("answerable: %+v, want all 4 shown", all.Answerable)
	}
	if all.Removed.Questions != 4 {
		t.Errorf("removed: %+v, want 4 questions", all.Removed)
	}
	for _, q := range set.Queries {
		for id := range set.Judged[q.ID] {
			docs := documentsOf(t, set, id)
			p := memory.Project{ID: "set:kinds", Name: "kinds"}
			if err := e.Remove(t.Context(), p, docs); err != nil {
				t.Fatalf("remove %s: %v", id, err)
			}
			if ranksFirst(t, e, q.Text, id) {
				t.Errorf("%s is found while it is removed", id)
			}
			if err := e.Put(t.Context(), p, docs); err != nil {
				t.Fatalf("put %s back: %v", id, err)
			}
			if !ranksFirst(t, e, q.Text, id) {
				t.Errorf("%s is not found first after it was put back", id)
			}
		}
	}
}

func documentsOf(t *testing.T, set *eval.Set, id string) (docs []eval.Document) {
	t.Helper()
	for d, err := range set.Documents() {
		if err != nil {
			t.Fatalf("read set: %v", err)
		}
		if d.ID == id {
			docs = append(docs, d)
		}
	}
	return docs
}

func ranksFirst(t *testing.T, e *Evaluation, query, id string) bool {
	t.Helper()
	hits, _, err := e.Rank(t.Context(), "set:kinds", eval.Kinds, query)
	if err != nil {
		t.Fatalf("rank: %v", err)
	}
	return len(hits) > 0 && hits[0].Document == id
}

// TestAnswersOfGroups: a question is answered from its group alone, whatever the group is called.
func TestAnswersOfGroups(t *testing.T) {
	set := openKinds(t, map[string]string{
		"corpus.jsonl": `{"id":"a","kind":"lesson","text":"the parcel was scanned in Lisbon","group":"talks/26 ü"}
{"id":"b","kind":"step","session":"session-1","tool":"Bash","target":"scan","text":"the parcel was scanned in Lisbon","group":"talks/26 ü"}
{"id":"c","text":"the parcel was scanned in Lisbon","group":"other"}
`,
		"queries.jsonl": `{"id":"q","text":"where was the parcel scanned","group":"talks/26 ü"}` + "\n",
		"qrels.tsv":     "q\ta\t1\n",
	})
	e := openEvaluation(t, EvaluationOptions{Retriever: EvalHybrid, Depth: 10})
	r, err := eval.Run(t.Context(), set, e, eval.Options{Depth: 10, Answers: true, Removed: true})
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	if a := r.Answers[0]; a.Answerable.Full+a.Answerable.Line != 1 || a.Removed.Questions != 1 {
		t.Errorf("answers are %+v, want the lesson shown", a)
	}
	hits, _, err := e.Rank(t.Context(), "set:kinds%2Fother", eval.Kinds, "parcel")
	if err != nil || len(hits) != 1 || hits[0].Document != "c" {
		t.Errorf("found %v in the other group, %v; want c alone", hits, err)
	}
}

// TestBrokenChunksAreNamed: a judgement of code that is not there must not count as lost.
func TestBrokenChunksAreNamed(t *testing.T) {
	for _, test := range []struct {
		name, from, to string
		want           string
	}{
		{"no such file", "queue/lease.go", "queue/gone.go", filepath.Join("code", "queue", "gone.go") + ": cannot be read"},
		{"no such line", "func Renew(", "func Revoke(", `does not hold "func Revoke(" once`},
		{"two such lines", "func Renew(", "e", `does not hold "e" once`},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := kindsSet()
			files["corpus.jsonl"] = strings.Replace(files["corpus.jsonl"], test.from, test.to, 1)
			e := openEvaluation(t, EvaluationOptions{Retriever: EvalHybrid, Depth: 10})
			_, err := eval.Run(t.Context(), openKinds(t, files), e, eval.Options{Depth: 10})
			if _, ok := errors.AsType[*eval.InputError](err); !ok || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want an input error with %q", err, test.want)
			}
		})
	}
	t.Run("no folder code", func(t *testing.T) {
		files := kindsSet()
		delete(files, "code/queue/lease.go")
		e := openEvaluation(t, EvaluationOptions{Retriever: EvalHybrid, Depth: 10})
		_, err := eval.Run(t.Context(), openKinds(t, files), e, eval.Options{Depth: 10})
		if _, ok := errors.AsType[*eval.InputError](err); !ok {
			t.Errorf("error is %v, want an input error", err)
		}
	})
}

// TestCancelledAnswers: a run that is cancelled between two questions ends with that.
func TestCancelledAnswers(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e := openEvaluation(t, EvaluationOptions{Retriever: EvalHybrid, Depth: 10})
	var phases []string
	_, err := eval.Run(ctx, openKinds(t, kindsSet()), e, eval.Options{Depth: 10, Answers: true, Progress: func(phase string, done, total int) {
		if phases = append(phases, phase); phase == "questions" {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || slices.Index(phases, "questions") != len(phases)-1 {
		t.Errorf("error is %v after phases %v, want the cancellation after the first question", err, phases)
	}
}
