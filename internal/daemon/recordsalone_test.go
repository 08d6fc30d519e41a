package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// TestCodeDoesNotChangeHowSureALessonIs: a lesson is as sure beside an indexed repository as
// in a store without code.
func TestCodeDoesNotChangeHowSureALessonIs(t *testing.T) {
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
	ask := func() map[string]memory.Item {
		found := map[string]memory.Item{}
		for _, query := range []string{"permission denied while installing node packages", "why is a table absent from the database", "tests cannot find a relation"} {
			a, err := service.Recall.Do(t.Context(), s, memory.RecallRequest{Query: query, Limit: 10, Caller: memory.Caller{Dir: project}})
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
	same := 0
	for id, i := range ask() {
		if was, ok := alone[id]; ok {
			if same++; i.Strength != was.Strength || i.Relevance != was.Relevance {
				t.Errorf("%s is %s with %v beside code, %s with %v alone", id, i.Strength, i.Relevance, was.Strength, was.Relevance)
			}
		}
	}
	if same < 2 {
		t.Errorf("%d lessons are found beside code, too", same)
	}
}
