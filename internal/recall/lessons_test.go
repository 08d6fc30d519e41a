package recall

import (
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// TestHandoutVerdict: a verdict on a whole answer is on what it showed in full, and not on a
// lesson that it told in a line.
func TestHandoutVerdict(t *testing.T) {
	service := newShelf().service(t)
	receipt := memory.Receipt{
		Items:  []memory.ReceiptItem{{ID: "l-sure", Strength: memory.Sure}, {ID: "l-line", Strength: memory.Maybe}, {ID: "l-judged", Strength: memory.Maybe}},
		Judged: []memory.ItemVerdict{{Item: "l-judged", Verdict: memory.Worked}, {Verdict: memory.Failed}},
	}
	for id, want := range map[string]memory.Verdict{"l-sure": memory.Failed, "l-line": "", "l-judged": memory.Worked} {
		if got := service.handout(&receipt, id); got.Verdict != want {
			t.Errorf("%s has the verdict %q, want %q", id, got.Verdict, want)
		}
	}
}
