package mcp

import (
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// TestNamesInReceiptsAreLines: the id of a task is its host's, and cannot add lines; what was
// asked for by an unknown id has no kind.
func TestNamesInReceiptsAreLines(t *testing.T) {
	text := receiptsText(&memory.ReceiptList{Receipts: []memory.Receipt{{
		ID:    "rc-1",
		Items: []memory.ReceiptItem{{Kind: memory.Task, Name: "one\n- two"}},
		Withheld: []memory.Withheld{
			{Kind: memory.Blocker, Name: "three\n- four", Reason: memory.OverLimit}, {ID: "l-none", Reason: memory.NotFound},
		},
	}}})
	for _, want := range []string{"  - task one - two, relevance", "  - blocker three - four withheld", "  - l-none withheld"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text has no line %q:\n%s", want, text)
		}
	}
}
