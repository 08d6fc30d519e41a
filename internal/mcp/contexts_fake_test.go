package mcp

import (
	"encoding/json"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// fullContexts answers every method with every field set, so that the output schemas
// are held against all.
func fullContexts() *ledger {
	l := newLedger()
	rule := memory.Ref{Type: memory.Rule, Name: "Authentication Rules"}
	tool := memory.Ref{Type: memory.Tool, Name: "query", ServerName: "database"}
	items := []memory.ContextItem{{Ref: rule, IncludeMode: memory.IncludeAlways}, {Ref: tool, IncludeMode: memory.IncludeAgent, SimilarityScore: new(.85)}}
	record := memory.ContextRecord{Timestamp: noon, Items: []memory.RecordItem{
		{Type: memory.Tool, Name: "query", ServerName: "database", IncludeMode: memory.IncludeAgent, SimilarityScore: new(.85)}}}
	withheld := []memory.Withheld{{ID: "u-2", Kind: memory.Rule, Reason: memory.BelowThreshold, NearestScore: .3, Path: "a.go", Name: "Old", Server: "s"}}
	degraded := []memory.Degraded{{Part: "vector", Reason: "loading"}}
	kept := &memory.TaskSaved{ID: "t-1", TaskID: "task-1", Project: "p1", ProjectName: "demo", Completed: 2, Blocked: 1, Dropped: 1,
		Redacted: true, AuditFile: "/w/audit.log.jsonl", Warning: "no space left.", Seq: 7}
	registered := &memory.Registered{Project: "p1", ProjectName: "demo", Added: 1, Changed: 2, Unchanged: 3, Removed: 4, Total: 6, Redacted: true, Seq: 7}
	held := &memory.Context{Project: "p1", ProjectName: "demo", SessionID: "mm-1", Items: items, Rules: []string{rule.Name}, References: nil,
		Tools: []memory.ToolRef{{ServerName: "database", ToolName: "query"}}, Changed: true, Version: 3}
	window := &memory.TaskWindow{Project: "p1", ProjectName: "demo", Total: 9, Tokens: 12, Text: "## Recent Task History\n1. task-1",
		Tasks: []memory.CompletedTask{{TaskID: "task-1", CompletedAt: noon, TaskType: "code", RequiresContext: true, Intent: "i", Summary: "s",
			ValidationReport: json.RawMessage(`{"valid":true}`)}},
		Blockers: []memory.BlockedTask{{TaskID: "task-N", Reason: "r", BlockedAt: noon}}}
	working := &memory.WorkingContext{SessionID: "mm-1", Version: 4, Turn: 2, Added: items[:1], Removed: []memory.Ref{tool},
		DiscoveredTools: []memory.ToolRef{{ServerName: "database", ToolName: "query"}}, Guided: []memory.ToolRef{{ServerName: "database", ToolName: "query"}},
		Entities: []memory.Entity{{ID: "o-1", Type: "order", Name: "Order", Data: json.RawMessage(`{"n":1.50}`)}},
		Summary:  "Continuing", Compactions: 1, CompactedAt: noon}
	for method, answer := range map[string]any{
		service.CompleteTask.Name: kept, service.BlockTask.Name: kept, service.UnblockTask.Name: kept, service.TaskWindow.Name: window,
		service.TaskHistory.Name: &memory.TaskHistory{Project: "p1", ProjectName: "demo", More: true, Before: 8, Tokens: 9, Text: "## Task History\n- task-1 completed\n",
			Events: []memory.TaskEvent{{Event: memory.TaskCompleted, At: noon, Seq: 9, Project: "p1", Client: "test", Task: json.RawMessage(`{"task_id":"task-1"}`), GaveWay: []string{"task-0"}},
				{Event: memory.TaskUnblocked, At: noon, Seq: 8, Project: "p1", Blocker: json.RawMessage(`{"task_id":"task-N"}`), Resolution: "r"},
				{Event: memory.StateLoaded, At: noon, Seq: 8, Project: "p1", Tasks: []json.RawMessage{json.RawMessage(`{}`)}, Blockers: []json.RawMessage{json.RawMessage(`{}`)}}}},
		service.LoadTasks.Name: &memory.TasksLoaded{Project: "p1", ProjectName: "demo", Tasks: 2, Blockers: 1, Known: 3, Dropped: 4, Settled: 5, Redacted: true, AuditFile: "/w/audit.log.jsonl", Warning: "no space left."},
		service.Register.Name:  registered, service.Unregister.Name: registered,
		service.Entries.Name: &memory.EntryList{Project: "p1", ProjectName: "demo", Servers: []memory.Server{{Name: "database", Include: memory.IncludeAgent, Enabled: new(true)}},
			Entries: []memory.EntryState{
				{ID: "u-1", CatalogueEntry: memory.CatalogueEntry{Ref: rule, Description: "How to sign in\nand out", Content: "Use tokens.", Include: memory.IncludeAlways}, Source: "host", Version: 1, Mode: memory.IncludeAlways, On: true},
				{ID: "o-1", CatalogueEntry: memory.CatalogueEntry{Ref: tool, Guidance: "Ask once.", InputSchema: json.RawMessage(`{"type":"object"}`), Core: true, Enabled: new(false)}, Version: 2, Mode: memory.IncludeAgent},
			}},
		service.SearchTools.Name: &memory.ToolMatches{Project: "p1", ProjectName: "demo", SessionID: "mm-1", Version: 3, Receipt: "r-5", Degraded: degraded,
			Guidance: memory.GuidanceHeading + "\nAsk once.", Text: "**Tools (1):**\n\n1. database:query: Ask\n",
			Tools: []memory.FoundTool{{ID: "o-1", ServerName: "database", Name: "query", Description: "Ask", InputSchema: json.RawMessage(`{"type":"object"}`), Relevance: .9, Active: true, New: true}}},
		service.SessionContext.Name: held, service.ChangeContext.Name: held,
		service.Assemble.Name: &memory.Assembled{Project: "p1", ProjectName: "demo", SessionID: "mm-1", Turn: 2, Memories: []memory.Item{fullItem("wait")}, Window: window,
			Items:       []memory.AssembledItem{{ContextItem: items[1], ID: "o-1", Description: "Ask", Text: "t", InputSchema: json.RawMessage(`{"type":"object"}`), Tokens: 9}},
			ActiveTools: []memory.ToolRef{{ServerName: "database", ToolName: "query"}}, Guidance: "g", Withheld: withheld, Degraded: degraded,
			Tokens: 20, MaxTokens: 4000, Record: record, Receipt: "r-1", Text: "# Rules"},
		service.WorkingContext.Name: working, service.Report.Name: working,
		service.Compact.Name: &memory.Compacted{Project: "p1", ProjectName: "demo", SessionID: "mm-1", Summary: "Continuing", Model: "llama3.2", KeepTurns: 3, ClearedTools: 2,
			ClearedEntities: 1, ActiveTools: []memory.ToolRef{{ServerName: "database", ToolName: "query"}}, Version: 5, Redacted: true},
		service.Receipts.Name: &memory.ReceiptList{Project: "p1", ProjectName: "demo", More: true, Receipts: []memory.Receipt{{
			ID: "r-1", At: noon, Project: "p1", Request: memory.RecallRequest{Query: "q", Limit: 5}, Withheld: withheld, Degraded: degraded, Tokens: 20,
			Items:  []memory.ReceiptItem{{ID: "o-1", Kind: memory.Tool, Relevance: .9, RankFactors: fullItem("").RankFactors, Tokens: 9, Name: "query", Server: "database", Mode: memory.IncludeAgent}},
			Spaces: []string{"builtin"}, Calibration: "v1", Took: 3, Seq: 6, Purpose: memory.PurposeContext, Session: "mm-1", Turn: 2,
			Settings: &memory.AnswerSettings{VectorWeight: .35}, Judged: []memory.ItemVerdict{{Item: "o-1", Verdict: memory.Worked, At: noon, Note: "n"}},
		}, {ID: "r-0", At: noon, Project: "p1", Request: memory.RecallRequest{Query: "npm error"}}}},
		service.ContextOf.Name: &memory.TurnContext{Project: "p1", ProjectName: "demo", SessionID: "mm-1", Turn: 2, Record: &record, Withheld: withheld, Receipt: "r-1",
			Summary: "1 tool (agent)", Text: "Context Used:\nTools (1):"},
		service.Feedback.Name: &memory.FeedbackResult{Receipt: "r-1", Verdict: memory.Worked, Replaced: true, Seq: 8,
			Items: []memory.ItemFeedback{{ID: "l-1", Kind: memory.Lesson, SuccessRate: "9/10", Verdicts: &memory.VerdictCounts{Worked: 9, Failed: 1, Irrelevant: 2, Outdated: 3}}}},
	} {
		l.Answers[method] = answer
	}
	return l
}

// emptyContexts answers every method with what has no lists.
func emptyContexts() *ledger {
	l := newLedger()
	for method, answer := range map[string]any{
		service.TaskWindow.Name: &memory.TaskWindow{Project: "p1"}, service.TaskHistory.Name: &memory.TaskHistory{Project: "p1"}, service.Entries.Name: &memory.EntryList{Project: "p1"},
		service.SearchTools.Name:    &memory.ToolMatches{Project: "p1", Receipt: "r-1", Text: "No tool has to do with this.\n"},
		service.SessionContext.Name: &memory.Context{Project: "p1", SessionID: "mm-1"}, service.ChangeContext.Name: &memory.Context{Project: "p1", SessionID: "mm-1"},
		service.Assemble.Name:       &memory.Assembled{Project: "p1", SessionID: "mm-1", Turn: 1, Window: &memory.TaskWindow{Project: "p1"}, Receipt: "r-1"},
		service.WorkingContext.Name: &memory.WorkingContext{SessionID: "mm-1"}, service.Report.Name: &memory.WorkingContext{SessionID: "mm-1"},
		service.Compact.Name:  &memory.Compacted{Project: "p1", SessionID: "mm-1", Summary: "s", KeepTurns: 1},
		service.Receipts.Name: &memory.ReceiptList{Project: "p1"}, service.ContextOf.Name: &memory.TurnContext{Project: "p1", SessionID: "mm-1", Summary: "No context data available", Text: "No context data available"},
		service.Feedback.Name: &memory.FeedbackResult{Receipt: "r-1", Verdict: memory.Failed},
	} {
		l.Answers[method] = answer
	}
	return l
}
