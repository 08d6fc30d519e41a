package render

import (
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/testkit/golden"
)

// item makes an item of a receipt: "rule", "Name" or "server:name", mode, score.
func item(kind memory.Kind, name string, mode memory.Include, score float64) memory.ReceiptItem {
	server, tool, ok := strings.Cut(name, ":")
	if !ok {
		server, tool = "", name
	}
	return memory.ReceiptItem{ID: string(kind[0]) + "-" + tool, Kind: kind, Name: tool, Server: server, Mode: mode, Relevance: score}
}

const (
	always = memory.IncludeAlways
	manual = memory.IncludeManual
	agent  = memory.IncludeAgent
)

// contractItems are those of contract 6's example, not in the order of its text.
func contractItems() []memory.ReceiptItem {
	return []memory.ReceiptItem{
		item(memory.Rule, "Authentication Rules", always, 0),
		item(memory.Reference, "API Documentation", always, 0),
		item(memory.Rule, "Error Handling", manual, 0),
		item(memory.Tool, "filesystem:read_file", manual, 0),
		item(memory.Rule, "File Operations", agent, .8712),
		item(memory.Reference, "Database Schema", agent, .92),
		item(memory.Tool, "database:query", agent, .85),
	}
}

// memoryItems are what else a context holds.
func memoryItems() []memory.ReceiptItem {
	return []memory.ReceiptItem{
		{ID: "l-17", Kind: memory.Lesson, Mode: agent, Relevance: .8},
		{ID: "s-2", Kind: memory.Step, Mode: agent, Relevance: .55},
		{ID: "c-3", Kind: memory.Chunk, Mode: agent, Relevance: .999},
		{ID: "t-1", Kind: memory.Task, Name: "task-041", Mode: always},
		{ID: "t-2", Kind: memory.Task, Name: "task-042", Mode: always},
		{ID: "b-1", Kind: memory.Blocker, Name: "task-N", Mode: always},
	}
}

func TestTextOfARecord(t *testing.T) {
	golden.Equal(t, "testdata/record_contract.txt", Record(memory.RecordOf(&memory.Receipt{Items: contractItems()})))
	golden.Equal(t, "testdata/record_memories.txt", Record(memory.RecordOf(&memory.Receipt{Items: slices.Concat(memoryItems(), contractItems()[:1])})))
	if got, want := Record(memory.ContextRecord{}), "Context Used: nothing"; got != want {
		t.Errorf("the text of an empty record is %q, want %q", got, want)
	}
}

// TestNamesInARecordAreLines: the id of a task is its host's, and cannot add items.
func TestNamesInARecordAreLines(t *testing.T) {
	text := Record(memory.ContextRecord{Items: []memory.RecordItem{{Type: memory.Task, Name: "one\n  • two [Always]", IncludeMode: always}}})
	if want := "Context Used:\nTasks (1):\n  • one • two [Always] [Always]"; text != want {
		t.Errorf("the text is %q, want %q", text, want)
	}
}

func TestSummaryOfARecord(t *testing.T) {
	of := func(kind memory.Kind, modes string) (items []memory.ReceiptItem) {
		for mode := range strings.FieldsSeq(modes) {
			items = append(items, item(kind, "x", memory.Include(mode), .9))
		}
		return items
	}
	for want, items := range map[string][]memory.ReceiptItem{
		"5 rules (3 agent, 2 always), 2 references (1 agent, 1 manual), 3 tools (all manual)": slices.Concat(
			of(memory.Tool, "manual manual manual"), of(memory.Rule, "always agent agent always agent"), of(memory.Reference, "manual agent")),
		"1 rule (always), 1 reference (agent), 1 tool (manual)": slices.Concat(
			of(memory.Rule, "always"), of(memory.Reference, "agent"), of(memory.Tool, "manual")),
		"3 tools (1 agent, 1 always, 1 manual)":                             of(memory.Tool, "manual always agent"),
		"2 rules (all agent)":                                               of(memory.Rule, "agent agent"),
		"1 lesson, 1 step, 1 piece of code, 2 tasks, 1 blocker":             memoryItems(),
		"1 rule (always), 2 lessons, 2 steps, 2 pieces of code, 2 blockers": slices.Concat(of(memory.Lesson, "agent agent"), of(memory.Step, "agent agent"), of(memory.Chunk, "agent agent"), of(memory.Blocker, "always always"), of(memory.Rule, "always")),
		"nothing": nil,
	} {
		if got := RecordSummary(memory.RecordOf(&memory.Receipt{Items: items})); got != want {
			t.Errorf("summary = %q, want %q", got, want)
		}
	}
}
