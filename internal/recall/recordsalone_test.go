package recall

import (
	"fmt"
	"slices"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// TestRecordsBesideMuchCode: code that fills the whole search hides no lesson, which is as
// sure as in a store without code and comes after the lessons that the whole search found.
func TestRecordsBesideMuchCode(t *testing.T) {
	settings := DefaultSettings()
	settings.Depth = 3
	for name, want := range map[string][]string{"no lesson is found": {"l-hidden"}, "one is found": {"l-found", "l-hidden"}} {
		s := newShelf()
		for _, id := range want[:len(want)-1] {
			s.lesson(id)
		}
		for i := range settings.Depth {
			path := fmt.Sprintf("%d.go", i)
			s.chunk("func "+path, at(path))
		}
		s.lesson("l-hidden")
		lessons := func(kinds ...memory.Kind) []memory.Item {
			req := memory.RecallRequest{Kinds: kinds, Limit: 10, MaxTokens: memory.MaxTokens}
			a := s.ask(t, req, func(o *Options) { o.Settings = &settings })
			return slices.DeleteFunc(a.Items, func(i memory.Item) bool { return i.Kind != memory.Lesson })
		}
		alone := lessons(memory.Lesson)
		beside := lessons(memory.Lesson, memory.Chunk)
		if len(alone) != len(want) || len(beside) != len(want) {
			t.Errorf("%s: %d lessons alone and %d beside code, want %d", name, len(alone), len(beside), len(want))
			continue
		}
		for i, id := range want {
			if a, b := alone[i], beside[i]; b.ID != id || b.Relevance != a.Relevance || b.Strength != a.Strength {
				t.Errorf("%s: %s is %s with %v beside code, want %s, %s with %v as alone", name, b.ID, b.Strength, b.Relevance, id, a.Strength, a.Relevance)
			}
		}
	}
}
