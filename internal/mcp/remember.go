package mcp

import (
	"fmt"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

func rememberedText(kept *memory.Remembered) string {
	var text strings.Builder
	verb := "Remembered"
	if kept.Merged {
		verb = "Already known, counted again"
	}
	fmt.Fprintf(&text, "%s: %s in project %s.", verb, kept.ID, projectLabel(kept.ProjectName, kept.Project))
	writeNotes(&text, kept.Redacted, kept.Warning)
	return text.String()
}

// writeNotes adds what the writer of a memory should know of it.
func writeNotes(text *strings.Builder, redacted bool, warning string) {
	if redacted {
		text.WriteString(" Secrets were taken out of the text.")
	}
	if warning != "" {
		fmt.Fprintf(text, " Warning: %s.", strings.TrimSuffix(inLine(warning), "."))
	}
}

// projectLabel names a project, which is called as its folder is.
func projectLabel(name, id string) string { return inLine(memory.ProjectLabel(name, id)) }

// inLine is a text with what may be a name from a disk, such as a path or an error with one, on
// a single line and without marks of the frame: it stands outside of that.
func inLine(text string) string { return render.Escape(render.Printable(text)) }
