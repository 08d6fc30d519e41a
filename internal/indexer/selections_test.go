package indexer

import (
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// TestSelectionsAreShared until the attributes of a document change: then the next question
// finds the change.
func TestSelectionsAreShared(t *testing.T) {
	r := library(t)
	sel := memory.Selection{Project: "p-1", Kinds: []memory.Kind{memory.Lesson}, AllLessons: true}
	allow, universe := r.index.Select(sel)
	again, universeAgain := r.index.Select(sel)
	if again != allow || universeAgain != universe {
		t.Error("the same question selects anew although nothing changed")
	}
	for name, other := range map[string]memory.Selection{
		"another kind":   {Project: "p-1", Kinds: []memory.Kind{memory.Step}, AllLessons: true},
		"one project":    {Project: "p-1", Kinds: []memory.Kind{memory.Lesson}},
		"followed":       {Project: "p-1", Kinds: []memory.Kind{memory.Lesson}, AllLessons: true, Followed: true},
		"a repository":   {Project: "p-1", Kinds: []memory.Kind{memory.Lesson}, AllLessons: true, Repos: []string{"one"}},
		"certain lesson": {Project: "p-1", Kinds: []memory.Kind{memory.Lesson}, AllLessons: true, Only: map[string]bool{"old": true}},
	} {
		if got, _ := r.index.Select(other); got == allow || got.Equals(allow) {
			t.Errorf("%s: selects the same documents", name)
		}
	}
	before := allow.GetCardinality()
	r.remember(lesson("later", "p-1", "topic of tomorrow"))
	if now, _ := r.index.Select(sel); now.GetCardinality() != before+1 || allow.GetCardinality() != before {
		t.Errorf("after a lesson more: %d documents, want %d; what was selected before has %d, want %d", now.GetCardinality(), before+1, allow.GetCardinality(), before)
	}
}
