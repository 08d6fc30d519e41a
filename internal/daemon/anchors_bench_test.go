package daemon

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testkit/gosource"
)

// BenchmarkAnchors remembers 200 lessons that name a function of Go's package net, and asks
// for each: while the package is indexed, so that the lessons are anchored, and while it is
// not. An operation is one call. It reports how many lessons are anchored to the very
// declaration, of those that are asked for, and fails below 160.
//
//	go test ./internal/daemon -run '^$' -bench BenchmarkAnchors -benchtime 200x
func BenchmarkAnchors(b *testing.B) {
	root := filepath.Join(gosource.Dir(b), "net")
	names := drawNames(b, root, 200, func(guarded bool) bool { return guarded })
	in := memory.Caller{Dir: root}
	lesson := func(i int) string { return fmt.Sprintf("Attempt %d: %s() must not be called twice", i, names[i].name) }
	for _, state := range []string{"unanchored", "anchored"} {
		core := openCore(b, CoreOptions{Dir: b.TempDir(), NoSync: true, Config: config.Default()})
		if state == "anchored" {
			indexTree(b, core, root, config.Default().Index)
		}
		b.Run("remember/"+state, func(b *testing.B) {
			var ids []string
			for i := 0; b.Loop(); i++ {
				kept, err := core.Ingest.Remember(b.Context(), memory.RememberRequest{Lesson: lesson(i % len(names)), Caller: in})
				if err != nil {
					b.Fatalf("remember: %v", err)
				}
				ids = append(ids, kept.ID)
			}
			right := 0
			for i, id := range ids[:min(len(ids), len(names))] {
				rec, err := core.Store.Record(id)
				if err != nil {
					b.Fatalf("read lesson: %v", err)
				}
				for _, a := range rec.Event.Anchors {
					if a.Path == names[i].path && a.Code.StartLine <= names[i].line && names[i].line <= a.Code.EndLine {
						right++
					}
				}
			}
			b.ReportMetric(float64(right), "right/200")
			if len(ids) >= len(names) && (right >= 160) != (state == "anchored") {
				b.Errorf("%d of %d lessons are anchored", right, len(names))
			}
		})
		b.Run("recall/"+state, func(b *testing.B) {
			anchors, asked := 0, 0
			for ; b.Loop(); asked++ {
				a, err := core.Recall.Recall(b.Context(), memory.RecallRequest{Query: lesson(asked % len(names)), Kinds: []memory.Kind{memory.Lesson}, Caller: in})
				if err != nil {
					b.Fatalf("recall: %v", err)
				}
				for _, item := range a.Items {
					anchors += len(item.Anchors)
				}
			}
			b.ReportMetric(float64(anchors)/float64(asked), "anchors/answer")
		})
	}
}
