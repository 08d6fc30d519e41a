package eval

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// shelf is an engine that finds every document of a project, those put last
// first, in as many parts as it is told.
type shelf struct {
	docs    map[string][]string // by project
	batches []int
	parts   int
	settled bool
	fail    error
}

var _ Engine = (*shelf)(nil)

func (s *shelf) PutReferences(_ context.Context, p memory.Project, docs []memory.ReferenceDoc) error {
	if s.docs == nil {
		s.docs = map[string][]string{}
	}
	s.batches = append(s.batches, len(docs))
	for _, d := range docs {
		s.docs[p.ID] = append(s.docs[p.ID], d.Name)
	}
	return s.fail
}

func (s *shelf) Settle(_ context.Context, done func(int)) error {
	s.settled = true
	done(1)
	return nil
}

func (s *shelf) Rank(_ context.Context, project, query string) ([]Hit, []memory.Degraded, error) {
	var found []Hit
	for i, name := range s.docs[project] {
		for part := range max(s.parts, 1) {
			found = append(found, Hit{name, float64(10*i - part)})
		}
	}
	return found, []memory.Degraded{{Part: "vector/x", Reason: "partial"}}, nil
}

func openSet(t *testing.T, files map[string]string) *Set {
	t.Helper()
	s, err := OpenSet(writeSet(t, files))
	if err != nil {
		t.Fatalf("open set: %v", err)
	}
	return s
}

func TestRunAsksWithinTheGroupAndScoresBestParts(t *testing.T) {
	set := files()
	set["corpus.jsonl"] += `{"id":"c","text":"three","group":"g"}` + "\n"
	set["queries.jsonl"] += `{"id":"lost","text":"nobody knows"}` + "\n"
	engine := &shelf{parts: 3}
	var out bytes.Buffer
	report, err := Run(t.Context(), openSet(t, set), engine, Options{Depth: 5, Out: &out})
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	want := "q\ta\t0\nr\tc\t10\nr\tb\t0\nlost\ta\t0\n"
	if out.String() != want {
		t.Errorf("the run is\n%swant\n%s", out.String(), want)
	}
	if !engine.settled {
		t.Error("questions were asked before the documents had settled")
	}
	if report.Documents != 3 || report.Queries != 2 || report.Unjudged != 1 {
		t.Errorf("report counts %d documents, %d questions, %d unjudged; want 3, 2, 1", report.Documents, report.Queries, report.Unjudged)
	}
	if report.MRR10 != 0.75 { // 1 for q, 1/2 for r
		t.Errorf("MRR@10 is %v, want 0.75", report.MRR10)
	}
	if report.Degraded["vector/x: partial"] != 3 {
		t.Errorf("degraded is %v, want it named for 3 questions", report.Degraded)
	}
}

func TestRunKeepsDepthAndBreaksTiesByDocument(t *testing.T) {
	ranked := best([]Hit{{"b", 1}, {"a", 1}, {"c", 2}, {"a", 0.5}, {"d", 0}}, 3)
	if got := fmt.Sprint(ranked); got != "[{c 2} {a 1} {b 1}]" {
		t.Errorf("ranked %s", got)
	}
}

func TestRunWritesInBatches(t *testing.T) {
	set := files()
	var corpus strings.Builder
	for i := range 2*writeDocuments + 50 {
		fmt.Fprintf(&corpus, `{"id":"d%d","text":"x","group":"g%d"}`+"\n", i, i%2)
	}
	set["corpus.jsonl"], set["qrels.tsv"] = corpus.String(), "q\td0\t1\n"
	engine := &shelf{}
	report, err := Run(t.Context(), openSet(t, set), engine, Options{Depth: 1})
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	if got := fmt.Sprint(engine.batches); got != "[200 200 25 25]" || report.Documents != 450 {
		t.Errorf("%d documents went in batches of %s, want 450 in [200 200 25 25]", report.Documents, got)
	}
}

func TestLargeDocumentsAreNotGathered(t *testing.T) {
	set := files()
	big := strings.Repeat("x", writeBytes/2)
	set["corpus.jsonl"] = ""
	for _, id := range []string{"a", "b", "c", "d"} {
		set["corpus.jsonl"] += `{"id":"` + id + `","text":"` + big + `"}` + "\n"
	}
	engine := &shelf{}
	if _, err := Run(t.Context(), openSet(t, set), engine, Options{Depth: 1}); err != nil {
		t.Fatalf("run: %v", err)
	}
	if got := fmt.Sprint(engine.batches); got != "[3 1]" {
		t.Errorf("batches are %s, want [3 1]", got)
	}
}

func TestRunEndsWithTheFirstError(t *testing.T) {
	full := errors.New("disk full")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	broken := files()
	broken["corpus.jsonl"] += "{"
	for _, test := range []struct {
		name   string
		ctx    context.Context
		set    map[string]string
		engine *shelf
		opts   Options
		want   func(error) bool
	}{
		{"write path", t.Context(), files(), &shelf{fail: full}, Options{Depth: 1}, func(err error) bool { return errors.Is(err, full) }},
		{"cancelled", stopped, files(), &shelf{}, Options{Depth: 1}, func(err error) bool { return errors.Is(err, context.Canceled) }},
		{"run file", t.Context(), files(), &shelf{}, Options{Depth: 1, Out: fullDisk{full}}, func(err error) bool { return errors.Is(err, full) }},
		{"bad corpus", t.Context(), broken, &shelf{}, Options{Depth: 1}, func(err error) bool { _, ok := errors.AsType[*InputError](err); return ok }},
		{"depth 0", t.Context(), files(), &shelf{}, Options{}, func(err error) bool { return memory.CodeOf(err) == memory.CodeInvalidInput }},
		{"depth over the limit", t.Context(), files(), &shelf{}, Options{Depth: MaxDepth + 1}, func(err error) bool { return memory.CodeOf(err) == memory.CodeInvalidInput }},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := Run(test.ctx, openSet(t, test.set), test.engine, test.opts); err == nil || !test.want(err) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

// fullDisk takes nothing.
type fullDisk struct{ err error }

func (d fullDisk) Write([]byte) (int, error) { return 0, d.err }
