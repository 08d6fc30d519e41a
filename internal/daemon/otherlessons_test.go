package daemon

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/eval"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// otherLessonsEnv is the corpus of a retrieval set: lines of JSON with a title and a text.
const otherLessonsEnv = "RECALLD_OTHER_LESSONS"

// TestLessonsBesideOtherProjects asks the questions of the set of lessons in their project,
// before and after another project has as many lessons as the corpus has lines.
func TestLessonsBesideOtherProjects(t *testing.T) {
	path := os.Getenv(otherLessonsEnv)
	if path == "" {
		t.Skipf("set %s to the corpus.jsonl of a retrieval set, whose documents become the lessons of another project", otherLessonsEnv)
	}
	corpus, err := os.ReadFile(path)
	must(t, err)
	pairs, err := eval.LessonPairs()
	must(t, err)
	s, own, other := serve(t, newConfig(t)), t.TempDir(), t.TempDir()
	ids := map[string]string{}
	for _, p := range pairs {
		if ids[p.Lesson] == "" {
			ids[p.Lesson] = s.keep(own, p.Lesson).ID
		}
	}
	shown := func() (full, lines int) {
		for _, p := range pairs {
			a, err := service.Recall.Do(t.Context(), s, memory.RecallRequest{Query: p.Question, Caller: memory.Caller{Dir: own}})
			must(t, err)
			for _, i := range a.Items {
				switch {
				case i.ID != ids[p.Lesson]:
				case i.Strength == memory.Maybe:
					lines++
				default:
					full++
				}
			}
		}
		t.Logf("of %d questions, the right lesson is shown in full for %d and in a line for %d", len(pairs), full, lines)
		return full, lines
	}
	full, lines := shown()
	others := 0
	for line := range strings.Lines(string(corpus)) {
		var d struct{ Title, Text string }
		must(t, json.Unmarshal([]byte(line), &d))
		if text := strings.TrimSpace(d.Title + "\n" + d.Text); text != "" {
			s.keep(other, strings.ToValidUTF8(text[:min(len(text), 1500)], ""))
			others++
		}
	}
	t.Logf("another project has %d lessons", others)
	besideFull, besideLines := shown()
	if lost := full + lines - besideFull - besideLines; lost > len(pairs)/20 {
		t.Errorf("%d of %d right lessons are hidden by those of another project", lost, len(pairs))
	}
}
