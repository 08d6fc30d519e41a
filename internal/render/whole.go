package render

import (
	"fmt"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// Whole writes a numbered item that was asked for by its id.
func Whole(i memory.Item, number int) string {
	head := fmt.Sprintf("%d. %s %s", number, i.ID, i.Kind.Words())
	if i.Kind == memory.Chunk {
		fence := fenceFor(i.Text)
		return fmt.Sprintf("%s %s\n%s%s\n%s\n%s", head, location(i), fence, langOf(i.Source.Path), i.Text, fence)
	}
	return head + " [" + day(i.CreatedAt) + "]" + rateSuffix(i) + anchorMark(i) + originMark(i) + "\n" + i.Text
}

// WholeTokens is the number of tokens that an item takes in an answer by ids.
func WholeTokens(i memory.Item) int { return Tokens(Visible(Whole(i, len("20")))) + 1 }

// wholes writes the items of an answer by ids.
func wholes(a *memory.RecallResponse) string {
	var b strings.Builder
	for n, i := range a.Items {
		if n > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(Whole(i, n+1) + "\n")
	}
	return b.String()
}

// notShown lists the ids that are not shown, with the reasons.
func notShown(ws []memory.Withheld) string {
	var b strings.Builder
	for _, w := range ws {
		fmt.Fprintf(&b, "%s is not shown: %s%s\n", OneLine(w.ID), ReasonText(w.Reason), when(w.Note != "", ", "+OneLine(w.Note)))
	}
	return b.String()
}
