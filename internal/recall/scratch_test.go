package recall

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// TestAnswersKeepNoScratch: later questions use the memory of earlier ones, and change
// neither their answers nor their receipts.
func TestAnswersKeepNoScratch(t *testing.T) {
	s := newShelf()
	for i := range 40 {
		s.lesson(fmt.Sprintf("l-%02d", i))
	}
	asked := func(query string, limit int) (string, func() string) {
		a, receipt := s.asked(t, memory.RecallRequest{Query: query, Limit: limit, MinRelevance: new(0.0), Explain: true}, AskOptions{})
		text := func() string {
			b, err := json.Marshal([]any{a, receipt})
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		return text(), text
	}
	want, first := asked("needle", 7)
	for i := range 5 {
		asked(fmt.Sprintf("thread %d", i), 1+i)
	}
	if got := first(); got != want {
		t.Errorf("an answer changed after later questions:\n%s\nwas\n%s", got, want)
	}
}

func TestSlab(t *testing.T) {
	var s slab[int]
	var taken [][]int
	for round := range 3 {
		taken = taken[:0]
		for n := range 20 {
			part := s.take(n)
			for i := range part {
				if part[i] != 0 {
					t.Fatalf("round %d: %d values are not zero: %v", round, n, part)
				}
				part[i] = n
			}
			taken = append(taken, part)
		}
		for n, part := range taken {
			for _, v := range part {
				if v != n {
					t.Fatalf("round %d: %v was written over, want %d everywhere", round, part, n)
				}
			}
		}
		s.clear()
	}
}
