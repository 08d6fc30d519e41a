package ledger

import (
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// BenchmarkReplay asks a hundred questions again, each twice.
//
//	go test ./internal/ledger -run '^$' -bench Replay
func BenchmarkReplay(b *testing.B) {
	r := newReplayRig(b)
	questions := r.docker()
	for i := range 100 {
		r.ask(memory.RecallRequest{Query: questions[i%len(questions)]})
	}
	for b.Loop() {
		if out := r.replay(memory.ReplayRequest{MinRelevance: map[memory.Kind]float64{memory.Lesson: .9}}); out.Tally.Questions != 100 {
			b.Fatalf("replayed %+v", out.Tally)
		}
	}
}
