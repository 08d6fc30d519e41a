package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// recordSection is a section of the text of a record.
type recordSection struct {
	kind memory.Kind
	// heading is the section's; one is the noun of the summary, and of what follows it.
	heading, one, of string
}

// recordSections are in the order of the text: the summary of a compaction, the sections of
// contract 6, then the memories.
var recordSections = []recordSection{
	{memory.SummaryItem, "Summary", "summary", ""},
	{memory.Rule, "Rules", "rule", ""},
	{memory.Reference, "References", "reference", ""},
	{memory.Tool, "Tools", "tool", ""},
	{memory.Lesson, "Lessons", "lesson", ""},
	{memory.Step, "Steps", "step", ""},
	{memory.Chunk, "Code", "piece", " of code"},
	{memory.Task, "Tasks", "task", ""},
	{memory.Blocker, "Blockers", "blocker", ""},
}

// items returns the items of a section.
func (s recordSection) items(record memory.ContextRecord) []memory.RecordItem {
	return slices.DeleteFunc(slices.Clone(record.Items), func(i memory.RecordItem) bool { return i.Type != s.kind })
}

// Record writes a context's record as contract 6 does. An item whose text has changed or
// is gone says so; the text of an item, if there is one, stands below it. Sections without
// items are left out. Memories follow the tools: lessons, steps, code, tasks, blockers.
func Record(record memory.ContextRecord) string {
	if len(record.Items) == 0 {
		return "Context Used: nothing"
	}
	var b strings.Builder
	b.WriteString("Context Used:")
	for _, s := range recordSections {
		items := s.items(record)
		if len(items) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s (%d):", s.heading, len(items))
		for _, item := range items {
			// The id of a task may have several lines.
			fmt.Fprintf(&b, "\n  • %s [%s]", OneLine(Name(item.ServerName, item.Name)), includeText(item))
			switch item.State {
			case memory.Changed:
				b.WriteString(" (changed since)")
			case memory.Gone:
				b.WriteString(" (gone)")
			}
			for line := range strings.Lines(item.Text) {
				b.WriteString("\n      " + strings.TrimRight(line, "\r\n"))
			}
		}
	}
	return b.String()
}

// includeText writes how an item was included: "Always", "Manual", "Agent - 0.87".
func includeText(item memory.RecordItem) string {
	switch item.IncludeMode {
	case memory.IncludeAlways:
		return "Always"
	case memory.IncludeManual:
		return "Manual"
	}
	if item.SimilarityScore == nil {
		return "Agent"
	}
	return fmt.Sprintf("Agent - %.2f", *item.SimilarityScore)
}

// summaryModes are the modes in the order in which a summary counts them.
var summaryModes = []memory.Include{memory.IncludeAgent, memory.IncludeAlways, memory.IncludeManual}

// RecordSummary counts the items of a record on one line as contract 6 does: "5 rules (3
// agent, 2 always), 3 tools (all manual)". Memories have no include modes.
func RecordSummary(record memory.ContextRecord) string {
	var parts []string
	for _, s := range recordSections {
		items := s.items(record)
		if len(items) == 0 {
			continue
		}
		part := memory.Count(len(items), s.one) + s.of
		switch s.kind {
		case memory.Rule, memory.Reference, memory.Tool:
			part += " (" + modesText(items) + ")"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// modesText counts the modes of items: "3 agent, 2 always", "all manual", and of a
// single item "manual".
func modesText(items []memory.RecordItem) string {
	counts := map[memory.Include]int{}
	for _, item := range items {
		counts[item.IncludeMode]++
	}
	var parts []string
	for _, mode := range summaryModes {
		switch n := counts[mode]; {
		case n == 1 && len(items) == 1:
			return string(mode)
		case n == len(items):
			return "all " + string(mode)
		case n > 0:
			parts = append(parts, fmt.Sprintf("%d %s", n, mode))
		}
	}
	return strings.Join(parts, ", ")
}
