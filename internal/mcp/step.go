package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

func answerStep(_ context.Context, _ *Server, _ call, _ memory.RecordStepRequest, r *memory.StepRecorded) (string, memory.StepRecorded) {
	content := *r
	if r.Advice != nil {
		content.Advice = structured(r.Advice, memory.AdviceTokens)
	}
	return recordedText(r), content
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
