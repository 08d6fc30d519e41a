package mcp

import (
	"fmt"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// catalogueText says what became of a catalogue.
func catalogueText(r *memory.Registered) string {
	var text strings.Builder
	fmt.Fprintf(&text, "The catalogue of project %s holds %d: %d added, %d changed, %d unchanged, %d removed.",
		projectLabel(r.ProjectName, r.Project), r.Total, r.Added, r.Changed, r.Unchanged, r.Removed)
	if r.JoinLater > 0 {
		fmt.Fprintf(&text, " %s always included from now on: a session that runs holds what is always included when it next starts, or once change_context adds it.", areEntries(r.JoinLater))
	}
	writeNotes(&text, r.Redacted, "")
	return text.String()
}

func areEntries(n int) string {
	if n == 1 {
		return "1 entry is"
	}
	return fmt.Sprintf("%d entries are", n)
}

// entriesText lists a catalogue, or what was asked for of it, in a line for each entry.
func entriesText(l *memory.EntryList) string {
	var text strings.Builder
	for _, e := range l.Entries {
		fmt.Fprintf(&text, "- %s %s [%s", e.Type, render.Name(e.ServerName, e.Name), e.Mode)
		if !e.On {
			text.WriteString(", disabled")
		}
		text.WriteString("]")
		if brief := firstLine(e.Description); brief != "" {
			text.WriteString(": " + brief)
		}
		text.WriteByte('\n')
		if e.Content != "" {
			text.WriteString(e.Content + "\n")
		}
		if e.Guidance != "" {
			text.WriteString(e.Guidance + "\n")
		}
	}
	return strings.TrimRight(fmt.Sprintf("Listed from the catalogue of project %s: %d.\n%s",
		projectLabel(l.ProjectName, l.Project), len(l.Entries), fence(text.String())), "\n")
}

// maxBrief is how much of a description a list shows, in code points.
const maxBrief = 160

// firstLine is the beginning of a description, for a list.
func firstLine(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(text); len(runes) > maxBrief {
		return strings.TrimSpace(string(runes[:maxBrief-1])) + "…"
	}
	return text
}
