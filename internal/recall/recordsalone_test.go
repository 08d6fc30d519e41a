package recall

import (
	"fmt"
	"slices"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// TestLessonsBesideMuchElse: code or steps that fill the whole search hide no lesson, which is
// as sure as in a store without them and comes after the lessons that the whole search found.
func TestLessonsBesideMuchElse(t *testing.T) {
	settings := DefaultSettings()
	settings.Depth = 3
	crowds := map[memory.Kind]func(s *shelf, i int){
		memory.Chunk: func(s *shelf, i int) { s.chunk(fmt.Sprintf("func %d", i), at(fmt.Sprintf("%d.go", i))) },
		memory.Step:  func(s *shelf, i int) { s.step(fmt.Sprintf("t-%d", i), fmt.Sprintf("step %d", i)) },
	}
	for kind, crowd := range crowds {
		for _, want := range [][]string{{"l-hidden"}, {"l-found", "l-hidden"}} {
			s := newShelf()
			for _, id := range want[:len(want)-1] {
				s.lesson(id)
			}
			for i := range settings.Depth {
				crowd(s, i)
			}
			s.lesson("l-hidden")
			lessons := func(kinds ...memory.Kind) []memory.Item {
				req := memory.RecallRequest{Kinds: kinds, Limit: 10, MaxTokens: memory.MaxTokens}
				a := s.ask(t, req, func(o *Options) { o.Settings = &settings })
				return slices.DeleteFunc(a.Items, func(i memory.Item) bool { return i.Kind != memory.Lesson })
			}
			alone := lessons(memory.Lesson)
			beside := lessons(memory.Lesson, kind)
			if len(alone) != len(want) || len(beside) != len(want) {
				t.Errorf("%v: %d alone and %d beside %s, want all", want, len(alone), len(beside), kind)
				continue
			}
			for i, id := range want {
				if a, b := alone[i], beside[i]; b.ID != id || b.Relevance != a.Relevance || b.Strength != a.Strength {
					t.Errorf("beside %s, %s is %s with %v, want %s, %s with %v as alone", kind, b.ID, b.Strength, b.Relevance, id, a.Strength, a.Relevance)
				}
			}
		}
	}
}
