package eval

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// shelf is an engine that finds every document of a project, those put last
// first, in as many parts as it is told.
type shelf struct {
	docs    map[string][]string // by project
	kinds   []memory.Kind       // of the last question
	code    string              // the folder of the code
	batches []int
	parts   int
	settled bool
	fail    error
}

var _ Engine = (*shelf)(nil)

func (s *shelf) Put(_ context.Context, p memory.Project, docs []Document) error {
	if s.docs == nil {
		s.docs = map[string][]string{}
	}
	s.batches = append(s.batches, len(docs))
	for _, d := range docs {
		s.docs[p.ID] = append(s.docs[p.ID], d.ID)
	}
	return s.fail
}

func (s *shelf) Settle(_ context.Context, done func(int)) error {
	s.settled = true
	done(1)
	return nil
}

func (s *shelf) Code(_ context.Context, _ memory.Project, dir string) error {
	s.code = dir
	return nil
}

func (s *shelf) Remove(_ context.Context, p memory.Project, docs []Document) error {
	for _, d := range docs {
		s.docs[p.ID] = slices.DeleteFunc(s.docs[p.ID], func(id string) bool { return id == d.ID })
	}
	return s.fail
}

// Answer shows the document put last in full and the one before as a line, for 10 tokens each.
func (s *shelf) Answer(_ context.Context, project string, kinds []memory.Kind, query string) (Answer, error) {
	s.kinds = kinds
	var a Answer
	for i, name := range slices.Backward(s.docs[project]) {
		if len(a.Items) == 2 || query == "silent" {
			break
		}
		a.Items, a.Tokens = append(a.Items, Shown{Documents: []string{name}, Line: i < len(s.docs[project])-1}), a.Tokens+10
	}
	return a, nil
}

func (s *shelf) Rank(_ context.Context, project string, _ []memory.Kind, query string) ([]Hit, []memory.Degraded, error) {
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

// shown is a set of 13 documents and a question for each that the shelf answers in another way.
func shown() map[string]string {
	set := map[string]string{
		"queries.jsonl": `{"id":"full","text":"x","kind":"lesson","split":"dev"}` + "\n" + `{"id":"line","text":"x","kind":"step","split":"dev"}` + "\n" +
			`{"id":"ranked","text":"x","split":"test"}` + "\n" + `{"id":"lost","text":"x","split":"test"}` + "\n" + `{"id":"both","text":"x"}` + "\n" +
			`{"id":"none","text":"x","split":"dev"}` + "\n",
		"qrels.tsv":        "full\td13\t1\nline\td12\t1\nline\td13\t0\nranked\td11\t1\nlost\td01\t1\nboth\td13\t1\nboth\td12\t1\n",
		"unanswered.jsonl": `{"id":"quiet","text":"silent","kind":"lesson"}` + "\n",
	}
	for i := range 13 {
		set["corpus.jsonl"] += fmt.Sprintf(`{"id":"d%02d","text":"x","kind":"lesson"}`+"\n", i+1)
	}
	return set
}

// TestAnswersAreCountedByWhatIsShown: every outcome once, by hand.
func TestAnswersAreCountedByWhatIsShown(t *testing.T) {
	engine := &shelf{}
	report, err := Run(t.Context(), openSet(t, shown()), engine, Options{Depth: 20, Answers: true})
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	want := []Answers{
		{Answerable: Answerable{5, 2, 1, 1, 1, 20}, Unanswerable: Unanswerable{2, 1, 0, 1, 10}},
		{Split: "dev", Answerable: Answerable{2, 1, 1, 0, 0, 20}, Unanswerable: Unanswerable{1, 0, 0, 1, 20}},
		{Split: "test", Answerable: Answerable{2, 0, 0, 1, 1, 20}},
		{Kind: memory.Lesson, Answerable: Answerable{1, 1, 0, 0, 0, 20}, Unanswerable: Unanswerable{1, 1, 0, 0, 0}},
		{Kind: memory.Step, Answerable: Answerable{1, 0, 1, 0, 0, 20}},
	}
	if !reflect.DeepEqual(report.Answers, want) {
		t.Errorf("answers are\n%+v\nwant\n%+v", report.Answers, want)
	}
	if report.Queries != 5 || report.Unjudged != 1 {
		t.Errorf("%d questions ranked and %d unjudged, want 5 and 1: those of unanswered.jsonl are not ranked", report.Queries, report.Unjudged)
	}
	if !slices.Equal(engine.kinds, []memory.Kind{memory.Lesson}) {
		t.Errorf("asked for %v, want the kinds of the set's documents", engine.kinds)
	}
}

// TestAnswersAreRemovedAndPutBack: each judged question is asked without its own answers, and
// afterwards nothing is missing.
func TestAnswersAreRemovedAndPutBack(t *testing.T) {
	set := shown()
	set["corpus.jsonl"] = `{"id":"a","text":"x"}` + "\n"
	set["queries.jsonl"] = `{"id":"one","text":"x"}` + "\n" + `{"id":"two","text":"x"}` + "\n"
	set["qrels.tsv"] = "one\ta\t1\ntwo\ta\t1\n"
	engine := &shelf{}
	report, err := Run(t.Context(), openSet(t, set), engine, Options{Depth: 20, Answers: true, Removed: true})
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	want := Answers{Answerable: Answerable{2, 2, 0, 0, 0, 10}, Unanswerable: Unanswerable{1, 1, 0, 0, 0}, Removed: Unanswerable{2, 2, 0, 0, 0}}
	if report.Answers[0] != want {
		t.Errorf("answers are\n%+v\nwant\n%+v", report.Answers[0], want)
	}
	if left := slices.Concat(slices.Collect(maps.Values(engine.docs))...); !slices.Equal(left, []string{"a"}) {
		t.Errorf("the store has %v afterwards, want a", left)
	}
}

func TestSplitIsAskedAlone(t *testing.T) {
	set := openSet(t, shown())
	if err := set.Keep("test"); err != nil || len(set.Queries) != 2 || len(set.Unanswered) != 0 {
		t.Errorf("kept %d and %d questions, %v; want 2 and 0", len(set.Queries), len(set.Unanswered), err)
	}
	if err := set.Keep("tset"); err == nil || !strings.HasSuffix(err.Error(), `queries.jsonl: holds no question of split "tset"`) {
		t.Errorf("error is %v, want one that names the split", err)
	}
}

func TestCodeOfASetIsIndexedAndAskedFor(t *testing.T) {
	set := files()
	set[filepath.Join(codeDir, "a.go")] = "package a\n"
	engine := &shelf{}
	opened := openSet(t, set)
	if _, err := Run(t.Context(), opened, engine, Options{Depth: 1, Answers: true}); err != nil || engine.code != opened.Code() || engine.code == "" {
		t.Errorf("indexed %q, %v; want the folder code of the set", engine.code, err)
	}
	if !slices.Contains(engine.kinds, memory.Chunk) {
		t.Errorf("asked for %v, want code, too", engine.kinds)
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
