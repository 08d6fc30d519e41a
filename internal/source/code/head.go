package code

import (
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/redact"
	"github.com/recalld/recalld/internal/source/code/chunk"
)

// headBytes is how much of a file is read for its head. It is more than the head holds,
// so that a secret at its end is found whole.
const headBytes = 2 << 10

// head returns the beginning of a text, without secrets and leading blank lines.
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
