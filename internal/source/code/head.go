package code

import (
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/redact"
	"github.com/recalld/recalld/internal/source/code/chunk"
)

// headBytes is how much of a file its head is made from: secrets are looked for in
// more than is kept, or half of one would stay.
const headBytes = 2 << 10

// head is how a text begins, without its secrets and without blank lines above.
func head(src []byte) string {
	text, _ := redact.Code(chunk.Truncate(string(src[:min(len(src), headBytes+4)]), headBytes))
	text = strings.TrimLeft(text, "\uFEFF \t\r\n")
	runes := 0
	for i := range text {
		if runes++; runes > memory.MaxHead {
			text = text[:i]
			break
		}
	}
	return strings.TrimRight(text, " \t\r\n")
}
