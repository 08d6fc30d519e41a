package ingest

import (
	"slices"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// TestRecentOutOfOrder: steps that come side by side are kept by their times.
func TestRecentOutOfOrder(t *testing.T) {
	of, at := memory.SessionKey{Project: "p", ID: "s"}, time.Unix(1_000, 0)
	for name, test := range map[string]struct {
		most int
		want []string
	}{
		"files": {maxTouchedPaths, []string{"b.go", "c.go", "a.go"}}, "errors of one step": {0, []string{"b.go", "c.go"}},
	} {
		var r recent
		r.put(of, at.Add(time.Millisecond), []string{"b.go", "c.go"}, test.most)
		r.put(of, at, []string{"a.go"}, test.most)
		if got := r.by(of, at.Add(time.Second)); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		if got := r.by(of, at.Add(fixWindow+2*time.Millisecond)); got != nil {
			t.Errorf("%s: %q long after, want none", name, got)
		}
	}
}
