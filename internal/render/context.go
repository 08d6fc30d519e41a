package render

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// EntryHeadings are the headings of the sections of catalogue entries.
var EntryHeadings = map[memory.Kind]string{memory.Rule: "## Rules\n", memory.Reference: "## References\n", memory.Tool: "## Tools\n\n"}

// Separator stands between two sections.
const Separator = "\n"

// EntryBody is the content of a rule or reference, or its description if it has no content.
func EntryBody(e *memory.EntryState) string { return cmp.Or(e.Content, e.Description) }

// changedMark marks an entry whose text has changed, in the answer to a repeated request.
const changedMark = " [changed since]"

// ContextEntry is a catalogue entry in a request context.
type ContextEntry struct {
	*memory.EntryState
	// Changed marks an entry whose text is not the text of the first answer.
	Changed bool
}

// Text writes an entry: a rule or reference below its name, a tool on one line. Entries of
// hosts and users are instructions, so they are not fenced; entries from a repository's
// files are marked.
func (e ContextEntry) Text() string {
	mark := when(e.Followed(), " "+memory.FollowedMark) + when(e.Changed, changedMark)
	if e.Type != memory.Tool {
		return Escape(Visible("\n### " + e.Name + mark + "\n\n" + strings.TrimSpace(EntryBody(e.EntryState)) + "\n"))
	}
	line := "- `" + toolName(e.EntryState) + "`" + mark
	if e.Description != "" {
		line += ": " + strings.ReplaceAll(strings.TrimSpace(e.Description), "\n", "\n  ")
	}
	return Escape(Visible(line + "\n"))
}

// toolName is the name of a tool with its server, also of an empty one.
func toolName(e *memory.EntryState) string {
	return memory.ToolRef{ServerName: e.ServerName, ToolName: e.Name}.String()
}

// Guidance writes the guidance of a tool. Guidance of a host is an instruction; guidance
// from a repository's files is fenced.
func Guidance(e *memory.EntryState) string {
	head := Separator + toolName(e) + when(e.Followed(), " "+memory.FollowedMark) + "\n"
	if e.Followed() {
		return Visible(head) + Fence(e.Guidance)
	}
	return Escape(Visible(head + e.Guidance + "\n"))
}

// SchemasHeading stands above the schemas of tools.
const SchemasHeading = Separator + "## Schemas of tools\n\n"

// ToolSchema writes the schema of a tool on one line, marked if the tool is in a file of the
// repository; nothing for a tool without one.
func ToolSchema(tool memory.ToolRef, schema json.RawMessage, followed bool) string {
	var line bytes.Buffer
	if json.Compact(&line, schema) != nil { // there is none
		return ""
	}
	return Escape(Visible("- `" + tool.String() + "`" + when(followed, " "+memory.FollowedMark) + ": " + line.String() + "\n"))
}

// ToolSchemas writes the schemas in a request context as a section, empty without any.
func ToolSchemas(a *memory.Assembled) string {
	var lines strings.Builder
	for _, item := range a.Items {
		lines.WriteString(ToolSchema(memory.ToolRef{ServerName: item.ServerName, ToolName: item.Name}, item.InputSchema, item.Followed))
	}
	for _, tool := range a.ToolSchemas {
		lines.WriteString(ToolSchema(tool.ToolRef, tool.InputSchema, tool.Followed))
	}
	return when(lines.Len() > 0, SchemasHeading) + lines.String()
}

// Compaction writes the summary of a compaction as a section.
func Compaction(summary string) string {
	return "## Summary of the conversation so far\n\n" + Escape(Visible(strings.TrimSpace(summary))) + "\n"
}

// Context writes a request context for a prompt: the summary of the last compaction, rules,
// references and tools, the guidance, and then, fenced as data, the memories (contracts 2
// and 4) and the recent-task summary (contract 3). Empty sections are left out.
func Context(summary string, entries []ContextEntry, guidance string, memories []memory.Item, window *memory.TaskWindow) string {
	var sections []string
	if summary != "" {
		sections = append(sections, Compaction(summary))
	}
	for _, kind := range memory.EntryKinds {
		var section strings.Builder
		for _, e := range entries {
			if e.Type != kind {
				continue
			}
			if section.Len() == 0 {
				section.WriteString(EntryHeadings[kind])
			}
			section.WriteString(e.Text())
		}
		sections = append(sections, section.String())
	}
	stored := []string{Markdown(memories)}
	if window != nil {
		stored = append(stored, window.Text)
	}
	return join(append(sections, guidance, Fence(join(stored...)))...)
}

// join puts sections below one another and leaves out empty ones.
func join(sections ...string) string {
	var text strings.Builder
	for _, section := range sections {
		if section == "" {
			continue
		}
		if text.Len() > 0 {
			text.WriteString(Separator)
		}
		text.WriteString(strings.TrimRight(section, "\n") + "\n")
	}
	return text.String()
}
