package daemon

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/eval"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
)

// codeQuestion is a question and the places that define what it asks about.
type codeQuestion struct {
	text   string
	places []codePlace
}

type codePlace struct {
	path        string
	first, last int
}

// codeQuestions are the questions about one repository.
type codeQuestions struct {
	repo, commit, use string
	list              []codeQuestion
}

func readCodeQuestions(t *testing.T, file string) (q codeQuestions) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch place, isPlace := strings.CutPrefix(line, "\t"); {
		case strings.HasPrefix(line, "# "):
			if _, err := fmt.Sscanf(line, "# %s %s %s", &q.repo, &q.commit, &q.use); err != nil {
				t.Fatalf("%s: %q: %v", file, line, err)
			}
		case isPlace:
			path, lines, _ := strings.Cut(place, ":")
			p := codePlace{path: path}
			if _, err := fmt.Sscanf(lines, "%d-%d", &p.first, &p.last); err != nil {
				t.Fatalf("%s: %q: %v", file, line, err)
			}
			last := &q.list[len(q.list)-1]
			last.places = append(last.places, p)
		default:
			q.list = append(q.list, codeQuestion{text: line})
		}
	}
	return q
}

// answers says whether an item shows a place that defines what the question asks about.
func (q codeQuestion) answers(item memory.Item) bool {
	return item.Kind == memory.Chunk && slices.ContainsFunc(q.places, func(p codePlace) bool {
		return item.Source.Path == p.path && item.Source.Lines[0] <= p.last && p.first <= item.Source.Lines[1]
	})
}

// TestCodeQuestions asks in own words about the code of public repositories and counts
// how often a place that defines the thing comes first, and among five. It needs clones
// at the commits that testdata/codequestions names, in the folder that
// RECALLD_BENCH_QUESTIONS names.
func TestCodeQuestions(t *testing.T) {
	files, err := filepath.Glob("testdata/codequestions/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no questions: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			q := readCodeQuestions(t, file)
			for _, question := range q.list {
				if len(question.places) == 0 {
					t.Errorf("%q has no place", question.text)
				}
			}
			clones := os.Getenv("RECALLD_BENCH_QUESTIONS")
			if clones == "" {
				t.Skip("set RECALLD_BENCH_QUESTIONS to a folder of clones, see testdata/codequestions/README.md")
			}
			root := filepath.Join(clones, name)
			head, err := exec.CommandContext(t.Context(), "git", "-C", root, "rev-parse", "HEAD").Output()
			if err != nil {
				t.Skipf("no clone of %s: %v", q.repo, err)
			}
			if at := strings.TrimSpace(string(head)); at != q.commit {
				t.Fatalf("%s is at %s, want %s", root, at, q.commit)
			}
			measureCodeQuestions(t, root, q)
		})
	}
}

func measureCodeQuestions(t *testing.T, root string, q codeQuestions) {
	cfg := config.Default()
	cfg.Recall.CodeDeadline = recall.MaxCodeDeadline // the machine may be busy
	core := openCore(t, CoreOptions{Dir: t.TempDir(), NoSync: true, Config: cfg})
	chunks := indexTree(t, core, root, cfg.Index)
	if core.History != nil {
		<-core.History.Refresh("box-"+filepath.Base(root), root)
	}
	pairs, err := eval.LessonPairs()
	must(t, err)
	for _, way := range []struct {
		name    string
		req     memory.RecallRequest
		lessons bool // that stand beside the code
	}{
		{"ranked", memory.RecallRequest{Kinds: []memory.Kind{memory.Chunk}, MaxTokens: memory.MaxTokens, MinRelevance: new(0.0)}, false},
		{"answered", memory.RecallRequest{Kinds: []memory.Kind{memory.Chunk}}, false},
		{"answered beside lessons", memory.RecallRequest{}, true},
	} {
		if way.lessons {
			for _, pair := range pairs {
				_, err := core.Ingest.Remember(t.Context(), memory.RememberRequest{Lesson: pair.Lesson, Caller: memory.Caller{Dir: root}})
				must(t, err)
			}
		}
		first, five, full, silent := 0, 0, 0, 0
		for _, question := range q.list {
			req := way.req
			req.Query, req.Limit, req.Caller = question.text, 5, memory.Caller{Dir: root}
			a, err := core.Recall.Recall(t.Context(), req)
			if err != nil {
				t.Fatalf("recall %q: %v", question.text, err)
			}
			if len(a.Degraded) > 0 {
				t.Logf("%q: %v: this counts against it", question.text, a.Degraded)
			}
			at := slices.IndexFunc(a.Items, question.answers)
			if at == 0 {
				first++
			}
			if at >= 0 {
				five++
			}
			if slices.ContainsFunc(a.Items, func(item memory.Item) bool { return item.Strength != memory.Maybe && question.answers(item) }) {
				full++
			}
			if len(a.Items) == 0 {
				silent++
			}
			if at != 0 {
				t.Logf("%s: %d: %s", way.name, at+1, question.text)
				for _, item := range a.Items {
					if item.Kind != memory.Chunk {
						continue
					}
					t.Logf("\t%.2f %s:%d-%d %s", item.Relevance, item.Source.Path, item.Source.Lines[0], item.Source.Lines[1], item.Source.Symbol)
				}
			}
		}
		t.Logf("%s (%s, %d chunks), %s: of %d questions %d first, %d in five, %d in full, %d unanswered",
			q.repo, q.use, chunks, way.name, len(q.list), first, five, full, silent)
	}
}
