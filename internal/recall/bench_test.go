package recall

import (
	"context"
	"fmt"
	"testing"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

// BenchmarkStages measures what recall itself does for one question, without
// retrievers that search: 200 hits of words and 200 of vectors, half of them common,
// fused, resolved, ranked and five shown. B/op is what a recall leaves to the
// collector.
//
//	go test ./internal/recall -run '^$' -bench Stages -benchmem
func BenchmarkStages(b *testing.B) {
	s := newShelf()
	for i := range 300 {
		s.lesson(fmt.Sprintf("l-%03d", i))
	}
	answer := func(first int) index.Retriever {
		var res index.Result
		for i := range 200 {
			res.Hits = append(res.Hits, index.Hit{Doc: uint32(first + i), Score: 1 - float32(i)/1000})
		}
		res.Best, res.Searched, res.Mean, res.Deviation = 2, 100_000, .1, .1
		return retriever(func(context.Context, index.Query) (index.Result, error) { return res, nil })
	}
	s.lexical.Retriever = answer(0)
	s.more = []index.Source{{Name: "vector/builtin", Collection: "builtin", Retriever: answer(100)}}
	service := s.service(b)
	req := memory.RecallRequest{Query: "why does the needle break", MinRelevance: new(0.0)}
	b.ReportAllocs()
	for b.Loop() {
		if a, err := service.Recall(b.Context(), req); err != nil || len(a.Items) == 0 {
			b.Fatalf("recall: %v, %v", a, err)
		}
	}
}
