package finder

import (
	"fmt"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/recalld/recalld/internal/memory"
)

// BenchmarkKey is what a key costs until it is painted: the model changes, and a full
// screen is drawn. It does not depend on how much is remembered, because answers come
// from the background and have 50 rows at most.
func BenchmarkKey(b *testing.B) {
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			screen := tcell.NewSimulationScreen("UTF-8")
			if err := screen.Init(); err != nil {
				b.Fatal(err)
			}
			defer screen.Fini()
			screen.SetSize(size[0], size[1])
			m := newModel(Options{Now: time.Now})
			query := []rune("npm cache EACCES")
			m.edit(query, len(query))
			var rows []row
			for i := range memory.MaxLimit {
				rows = append(rows, newRow(memory.Item{ID: fmt.Sprintf("l-%d", i), Kind: memory.Lesson, Strength: memory.Sure, Relevance: 0.9,
					Lesson: "npm fails with EACCES when its cache belongs to root: use a cache inside the project, and give the old one back"}))
			}
			m.receive(answered{number: m.number, rows: rows})
			keys := []*tcell.EventKey{tcell.NewEventKey(tcell.KeyRune, 'x', 0), tcell.NewEventKey(tcell.KeyDown, 0, 0), tcell.NewEventKey(tcell.KeyBackspace, 0, 0), tcell.NewEventKey(tcell.KeyUp, 0, 0)}
			at := 0
			for b.Loop() {
				m.key(keys[at%len(keys)])
				draw(screen, m)
				screen.Show()
				at++
			}
		})
	}
}
