package metrics_test

import (
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/metrics"
)

func TestCodeQueries(t *testing.T) {
	chunk := []memory.Item{{Kind: memory.Lesson}, {Kind: memory.Chunk}}
	light := []memory.Degraded{{Part: "code", Reason: "searched by file names only: not indexed yet"}}
	for _, c := range []struct {
		name   string
		kinds  []memory.Kind
		answer memory.RecallResponse
		want   memory.CodeState
	}{
		{"lessons only", []memory.Kind{memory.Lesson}, memory.RecallResponse{Items: chunk[:1]}, memory.CodeState{}},
		{"all kinds, no code", nil, memory.RecallResponse{Items: chunk[:1]}, memory.CodeState{Asked: 1}},
		{"all kinds, code", nil, memory.RecallResponse{Items: chunk}, memory.CodeState{Asked: 1, Hits: 1}},
		{"code by the light index", []memory.Kind{memory.Chunk}, memory.RecallResponse{Items: chunk, Degraded: light}, memory.CodeState{Asked: 1, Hits: 1, Fallbacks: 1}},
		{"code late", nil, memory.RecallResponse{Degraded: light}, memory.CodeState{Asked: 1, Fallbacks: 1}},
		{"a model missing", nil, memory.RecallResponse{Degraded: []memory.Degraded{{Part: "vector/ollama/x"}}}, memory.CodeState{Asked: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var counted metrics.CodeQueries
			counted.Answer(memory.RecallRequest{Kinds: c.kinds}, &c.answer)
			var got memory.CodeState
			if counted.Fill(&got); got != c.want {
				t.Errorf("counted %+v, want %+v", got, c.want)
			}
		})
	}
}
