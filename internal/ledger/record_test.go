package ledger

import (
	"flag"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

var update = flag.Bool("update", false, "write the golden files anew")

var testTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

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
