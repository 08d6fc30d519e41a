package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

// TestNothingElseChangesHowSureALessonIs: a lesson is as sure beside an indexed repository,
// steps and the lessons of another project as in a store without them, whether they are asked
// for, too, or not.
func TestNothingElseChangesHowSureALessonIs(t *testing.T) {
	underrace.Skip(t, "scores, of one question after the other")
	s := serve(t, newConfig(t))
	project, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	project = filepath.Join(project, "recall")
	must(t, os.CopyFS(project, os.DirFS("../recall")))
	for _, lesson := range []string{
		"npm ci fails with EACCES when the cache belongs to root", "Run migrations before the tests, otherwise the users table is missing",
		"The staging database needs the VPN", "Docker builds need BuildKit for cache mounts", "Set GOFLAGS before vendoring modules",
	} {
		s.keep(project, lesson)
	}
	ask := func(kinds ...memory.Kind) map[string]memory.Item {
		found := map[string]memory.Item{}
		for _, query := range []string{"permission denied while installing node packages", "why is a table absent from the database", "tests cannot find a relation"} {
			a, err := service.Recall.Do(t.Context(), s, memory.RecallRequest{Query: query, Kinds: kinds, Limit: 10, Caller: memory.Caller{Dir: project}})
			must(t, err)
			for _, i := range a.Items {
				if i.Kind == memory.Lesson {
					found[query+": "+i.ID] = i
				}
			}
		}
		return found
	}
	alone := ask()
	if len(alone) < 3 {
		t.Fatalf("%d lessons were found", len(alone))
	}
	s.indexed(s.index(project))
	_, err = service.StartSession.Do(t.Context(), s, memory.StartSessionRequest{SessionID: "beside", Caller: memory.Caller{Dir: project}})
	must(t, err)
	for i := range 60 {
		_, err := service.RecordStep.Do(t.Context(), s, memory.RecordStepRequest{
			SessionID: "beside", Tool: memory.StepTool{Name: "Bash", Input: json.RawMessage(fmt.Sprintf(`{"command":"npm ci && go test ./table%d"}`, i))},
			Outcome: memory.Outcome{OK: true}, Caller: memory.Caller{Dir: project},
		})
		must(t, err)
	}
	other := t.TempDir()
	for i := range 60 {
		s.keep(other, fmt.Sprintf("The tests of package %d cannot find their table without permission", i))
	}
	for _, kinds := range [][]memory.Kind{nil, {memory.Lesson}} {
		same := 0
		for id, i := range ask(kinds...) {
			if was, ok := alone[id]; ok {
				if same++; i.Strength != was.Strength || i.Relevance != was.Relevance {
					t.Errorf("asked for %v, %s is %s with %v beside all else, %s with %v alone", kinds, id, i.Strength, i.Relevance, was.Strength, was.Relevance)
				}
			}
		}
		if least := min(2+len(kinds), len(alone)); same < least {
			t.Errorf("asked for %v, %d of %d lessons are found beside all else, want %d", kinds, same, len(alone), least)
		}
	}
}
