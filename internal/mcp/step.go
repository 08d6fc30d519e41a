package mcp

import (
	"fmt"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// recordedContent bounds the advice as its text is bounded.
func recordedContent(_ memory.RecordStepRequest, r *memory.StepRecorded) *memory.StepRecorded {
	out := *r
	if r.Advice != nil {
		out.Advice = within(r.Advice, memory.AdviceTokens, false)
	}
	return &out
}

// recordedText says what became of a step; for one that failed, what is known
// of its error.
func recordedText(r *memory.StepRecorded) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Recorded step %s in session %s", r.ID, r.SessionID)
	if len(r.Labels) > 0 {
		fmt.Fprintf(&text, " (%s)", strings.Join(r.Labels, ", "))
	}
	text.WriteString(".")
	writeNotes(&text, r.Redacted, r.Warning)
	if r.Advice != nil && len(r.Advice.Items) > 0 {
		fmt.Fprintf(&text, "\n\nKnown about this error:\n\n%s", strings.TrimSpace(r.Advice.Text))
	} else if r.Advice != nil && r.Advice.Incomplete {
		fmt.Fprintf(&text, "\n\nLessons about this error could not be searched (%s); ask recall again in a moment.", r.Advice.Why)
	}
	return text.String()
}
