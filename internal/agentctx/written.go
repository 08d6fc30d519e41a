package agentctx

import (
	"cmp"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// headings are those of the sections of entries.
var headings = map[memory.Kind]string{memory.Rule: "## Rules\n", memory.Reference: "## References\n", memory.Tool: "## Tools\n\n"}

// separator stands between two sections.
const separator = "\n"

// entryBody is what a rule or reference says: its content, or its description if it has
// nothing else.
func entryBody(e *memory.EntryState) string { return cmp.Or(e.Content, e.Description) }

// changedMark is that of an entry whose text is another one than that of then, in the
// answer to a repeated request.
const changedMark = " [changed since]"

// entryText writes one entry of a section: a rule or reference under its name, a tool
// in a line. What a host or its user registered is meant as it is said, so it is not
// fenced; what comes from the repository's files says so.
func entryText(e *memory.EntryState, mark string) string {
	if e.Followed() {
		mark = " " + memory.FollowedMark + mark
	}
	return render.Escape(render.Visible(markedEntry(e, mark)))
}

func markedEntry(e *memory.EntryState, mark string) string {
	if e.Type != memory.Tool {
		return "\n### " + e.Name + mark + "\n\n" + strings.TrimSpace(entryBody(e)) + "\n"
	}
	line := "- `" + toolOf(*e).String() + "`" + mark
	if e.Description != "" {
		line += ": " + strings.ReplaceAll(strings.TrimSpace(e.Description), "\n", "\n  ")
	}
	return line + "\n"
}

// guidanceText is how guide writes the guidance of one tool. A host's tells the model
// what to do; one from the repository's files is fenced.
func guidanceText(e *memory.EntryState) string {
	head := separator + guidedName(e) + "\n"
	if e.Followed() {
		return render.Visible(head) + render.Fence(e.Guidance)
	}
	return render.Escape(render.Visible(head + e.Guidance + "\n"))
}

// compactedText writes the summary of a compaction as a section.
func compactedText(summary string) string {
	return "## Summary of the conversation so far\n\n" + render.Escape(render.Visible(strings.TrimSpace(summary))) + "\n"
}

// writeContext writes a request context out for a prompt: the summary of the last
// compaction, rules, references and tools, the guidance, and then, fenced as data, the
// memories as contracts 2 and 4 do and the window as contract 3 does. Sections without
// anything are left out.
func writeContext(summary string, entries []placed, guidance string, memories []memory.Item, window *memory.TaskWindow) string {
	var sections []string
	if summary != "" {
		sections = append(sections, compactedText(summary))
	}
	for _, kind := range memory.EntryKinds {
		var section strings.Builder
		for _, e := range entries {
			if e.Type != kind {
				continue
			}
			if section.Len() == 0 {
				section.WriteString(headings[kind])
			}
			mark := ""
			if e.state != "" {
				mark = changedMark
			}
			section.WriteString(entryText(e.EntryState, mark))
		}
		sections = append(sections, section.String())
	}
	stored := []string{render.Markdown(memories)}
	if window != nil {
		stored = append(stored, window.Text)
	}
	return join(append(sections, guidance, render.Fence(join(stored...)))...)
}

// join puts sections below one another; an empty one is left out.
func join(sections ...string) string {
	var text strings.Builder
	for _, section := range sections {
		if section == "" {
			continue
		}
		if text.Len() > 0 {
			text.WriteString(separator)
		}
		text.WriteString(strings.TrimRight(section, "\n") + "\n")
	}
	return text.String()
}
