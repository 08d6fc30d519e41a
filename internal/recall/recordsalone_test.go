package recall

import (
	"fmt"
	"slices"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// TestLessonsBesideMuchElse: what fills the whole search hides no lesson, which is as sure as
// in a store without it and comes after the lessons that the whole search found.
func TestLessonsBesideMuchElse(t *testing.T) {
	settings := DefaultSettings()
	settings.Depth = 3
	crowds := map[memory.Kind]func(s *shelf, i int){
		memory.Chunk: func(s *shelf, i int) { s.chunk(fmt.Sprintf("func %d", i), at(fmt.Sprintf("%d.go", i))) },
		memory.Step:  func(s *shelf, i int) { s.step(fmt.Sprintf("t-%d", i), fmt.Sprintf("step %d", i)) },
		memory.Lesson: func(s *shelf, i int) {
			s.lesson(fmt.Sprintf("l-other-%d", i), func(r *memory.Record) { r.Project, r.Repo = "p-other", "other" })
		},
		memory.Task: func(s *shelf, i int) { // session summaries are asked for with tasks
			text := fmt.Sprintf("session %d", i)
			s.add(memory.Record{ID: fmt.Sprintf("y-%d", i), Kind: memory.SessionSummary, Project: "p-own", Created: now, Text: text})
		},
	}
	for kind, crowd := range crowds {
		for _, want := range [][]string{{"l-hidden"}, {"l-found", "l-hidden"}} {
			beside, alone := newShelf(), newShelf()
			for _, id := range want[:len(want)-1] {
				beside.lesson(id)
				alone.lesson(id)
			}
			for i := range settings.Depth {
				crowd(beside, i)
			}
			beside.lesson("l-hidden")
			alone.lesson("l-hidden")
			own := func(s *shelf) []memory.Item {
				req := memory.RecallRequest{Kinds: []memory.Kind{memory.Lesson, kind}, Limit: 10, MaxTokens: memory.MaxTokens}
				a := s.ask(t, req, func(o *Options) { o.Settings = &settings })
				return slices.DeleteFunc(a.Items, func(i memory.Item) bool { return !slices.Contains(want, i.ID) })
			}
			got, as := own(beside), own(alone)
			if len(got) != len(want) || len(as) != len(want) {
				t.Errorf("%v: %d alone and %d beside %s, want all", want, len(as), len(got), kind)
				continue
			}
			for i, id := range want {
				if a, b := as[i], got[i]; b.ID != id || b.Relevance != a.Relevance || b.Strength != a.Strength {
					t.Errorf("beside %s, %s is %s with %v, want %s, %s with %v as alone", kind, b.ID, b.Strength, b.Relevance, id, a.Strength, a.Relevance)
				}
			}
		}
	}
}
