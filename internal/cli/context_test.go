package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// contexts answers for the methods about tasks, the catalogue, contexts and the
// ledger.
func contexts() map[string]any {
	const id = "mm-20260115-abc"
	readFile := memory.ToolRef{ServerName: "filesystem", ToolName: "read_file"}
	readFileRef := memory.Ref{Type: memory.Tool, Name: readFile.ToolName, ServerName: readFile.ServerName}
	kept := &memory.TaskSaved{ID: "t-1", TaskID: "task-042", Project: "p1", ProjectName: "demo", Completed: 100, Blocked: 1, Dropped: 1, Redacted: true,
		AuditFile: "/src/demo/logs/audit.log.jsonl", Warning: "the disk is full", Seq: 5}
	registered := &memory.Registered{Project: "p1", ProjectName: "demo", Added: 1, Changed: 2, Unchanged: 3, Removed: 4, Total: 6, Seq: 7}
	held := &memory.Context{Project: "p1", ProjectName: "demo", SessionID: id, Version: 3, Changed: true,
		Items: []memory.ContextItem{
			{Ref: memory.Ref{Type: memory.Rule, Name: "Authentication Rules"}, IncludeMode: memory.IncludeAlways},
			{Ref: memory.Ref{Type: memory.Reference, Name: "API Documentation"}, IncludeMode: memory.IncludeAlways},
			{Ref: readFileRef, IncludeMode: memory.IncludeManual},
		},
		Rules: []string{"Authentication Rules"}, References: []string{"API Documentation"}, Tools: []memory.ToolRef{readFile}}
	working := &memory.WorkingContext{SessionID: id, Version: 9, Turn: 2, DiscoveredTools: []memory.ToolRef{readFile}, UsedTools: []memory.ToolRef{readFile},
		Entities: []memory.Entity{{ID: "order-17", Type: "order", Name: "the first", Data: json.RawMessage(`{"total":12.50}`)}, {ID: "pr-3"}},
		Summary:  "Order 17 was refunded.\nNext: the invoice.", Compactions: 1, CompactedAt: noon.Add(-time.Hour)}
	withheld := []memory.Withheld{{ID: "u-3", Kind: memory.Rule, Reason: memory.BelowThreshold, NearestScore: .31, Name: "Styling"},
		{ID: "c-1", Kind: memory.Chunk, Reason: memory.Changed, NearestScore: .91, Path: "src/auth/login.ts"},
		{ID: "o-9", Kind: memory.Tool, Reason: memory.OverBudget, NearestScore: .72, Name: "query", Server: "database"}}
	record := &memory.ContextRecord{Timestamp: noon, Items: []memory.RecordItem{{Type: memory.Rule, Name: "Authentication Rules", IncludeMode: memory.IncludeAlways}}}
	receipt := memory.Receipt{ID: "r-1", At: noon.Add(-5 * time.Minute), Request: memory.RecallRequest{Query: "How do I authenticate?"}, Project: "p1",
		Items: []memory.ReceiptItem{
			{ID: "u-1", Kind: memory.Rule, Tokens: 40, Name: "Authentication Rules", Mode: memory.IncludeAlways},
			{ID: "f-2", Kind: memory.Reference, Relevance: .92, Tokens: 80, Name: "Database Schema", Mode: memory.IncludeAgent},
			{ID: "l-1", Kind: memory.Lesson, Relevance: .81, Tokens: 30, RankFactors: &memory.RankFactors{Score: 1, Recency: .97, Success: 1.1, Project: 1, Session: 1, Error: true,
				Retrievers: map[string]memory.RetrieverScore{"vector/builtin": {Score: .6, Relevance: .81}, "lexical": {Score: 4, Relevance: .7}},
				Verdicts:   &memory.VerdictCounts{Worked: 2, Irrelevant: 1}}},
			{ID: "c-2", Kind: memory.Chunk, Relevance: .95, Tokens: 90, RankFactors: &memory.RankFactors{Recency: .999, Success: 1, Project: 1, Session: 1, Definition: "Login", Place: "login.go:12"}},
		},
		Withheld: withheld, Degraded: []memory.Degraded{{Part: "vector/ollama/nomic-embed-text", Reason: "deadline"}}, Tokens: 240, Spaces: []string{"builtin"},
		Calibration: "1", Took: memory.Millis(12345 * time.Microsecond), Seq: 8, Purpose: memory.PurposeContext, Session: id, Turn: 2,
		Settings: &memory.AnswerSettings{MinRelevance: map[memory.Kind]float64{memory.Chunk: .75, memory.Lesson: .5}, VectorWeight: .0583, Embedder: "builtin", Code: 3, CodeBytes: 2048},
		Judged:   []memory.ItemVerdict{{Verdict: memory.Worked, At: noon, Note: "logged in"}, {Item: "l-1", Verdict: memory.Failed, At: noon}}}
	return map[string]any{
		service.CompleteTask.Name: kept, service.BlockTask.Name: kept, service.UnblockTask.Name: kept,
		service.LoadTasks.Name: &memory.TasksLoaded{Project: "p1", ProjectName: "demo", Tasks: 12, Blockers: 1, Known: 3, Dropped: 2, Settled: 4, Redacted: true, AuditFile: "/src/demo/logs/audit.log.jsonl", Warning: "the disk is full"},
		service.TaskHistory.Name: &memory.TaskHistory{Project: "p1", ProjectName: "demo", More: true, Before: 8, Tokens: 60,
			Events: []memory.TaskEvent{{Event: memory.TaskUnblocked, At: noon, Seq: 9, Project: "p1", Client: "cli", Blocker: json.RawMessage(`{"task_id":"task-043","reason":"The key has expired"}`), Resolution: "The key was renewed"},
				{Event: memory.TaskCompleted, At: noon, Seq: 8, Project: "p1", Task: json.RawMessage(`{"task_id":"task-041","validation_report":{"valid":true}}`)}},
			Text: "## Task History\n- 2026-01-15T12:00Z task-043 unblocked: \"The key was renewed\" (was blocked: \"The key has expired\")\n- 2026-01-15T12:00Z task-041 completed, ✓ success\n"},
		service.TaskWindow.Name: &memory.TaskWindow{Project: "p1", ProjectName: "demo", Total: 7, Tokens: 60,
			Tasks:    []memory.CompletedTask{{TaskID: "task-041", CompletedAt: noon, ValidationReport: json.RawMessage(`{"valid":true}`)}},
			Blockers: []memory.BlockedTask{{TaskID: "task-043", Reason: "The key has expired", BlockedAt: noon}},
			Text:     "## Recent Task History\n1. task-041 (completed: 2026-01-15T12:00Z, ✓ success)\n\n## Active Blockers\n- task-043: \"The key has expired\" (blocked: 2026-01-15T12:00Z)\n"},
		service.Register.Name: registered, service.Unregister.Name: registered,
		service.Entries.Name: &memory.EntryList{Project: "p1", ProjectName: "demo", Servers: []memory.Server{{Name: "filesystem", Include: memory.IncludeAgent, Enabled: new(false)}},
			Entries: []memory.EntryState{
				{ID: "u-1", CatalogueEntry: memory.CatalogueEntry{Ref: memory.Ref{Type: memory.Rule, Name: "Errors"}, Content: "Wrap every error.\nName the step."}, Source: "file:AGENTS.md", Version: 2, Mode: memory.IncludeAlways, On: true},
				{ID: "o-1", CatalogueEntry: memory.CatalogueEntry{Ref: readFileRef, Description: "Read a file", Guidance: "Give paths relative to the root.", InputSchema: json.RawMessage(`{"type":"object"}`), Core: true},
					Source: "my-host", Version: 1, Mode: memory.IncludeAgent},
			}},
		service.SearchTools.Name: &memory.ToolMatches{Project: "p1", ProjectName: "demo", SessionID: id, Receipt: "r-2", Version: 9,
			Tools: []memory.FoundTool{{ID: "o-1", ServerName: "filesystem", Name: "read_file", Description: "Read a file", Relevance: .912, Active: true, New: true},
				{ID: "o-2", ServerName: "database", Name: "query", Description: "Ask the database", Relevance: .7}},
			Guidance: "[TOOL GUIDANCE] Instructions for discovered tools\n\nfilesystem:read_file: Give paths relative to the root.",
			Degraded: []memory.Degraded{{Part: "vector/builtin", Reason: "loading"}}},
		service.SessionContext.Name: held, service.ChangeContext.Name: held,
		service.Assemble.Name: &memory.Assembled{Project: "p1", ProjectName: "demo", SessionID: id, Turn: 2, Items: []memory.AssembledItem{{Tokens: 40}}, Memories: []memory.Item{},
			Withheld: withheld, Degraded: []memory.Degraded{{Part: "code", Reason: "deadline"}}, Tokens: 240, MaxTokens: 4000, Record: *record, Receipt: "r-1",
			ActiveTools: []memory.ToolRef{readFile}, Text: "## Rules\n\nAuthentication Rules: use the gateway.\n"},
		service.WorkingContext.Name: working, service.Report.Name: working,
		service.Compact.Name: &memory.Compacted{Project: "p1", ProjectName: "demo", SessionID: id, Summary: "Order 17 was refunded.", Model: "ollama/qwen3", KeepTurns: 3, ClearedTools: 2,
			ClearedEntities: 1, ActiveTools: []memory.ToolRef{readFile}, Version: 10, Redacted: true},
		service.Receipts.Name:  &memory.ReceiptList{Project: "p1", ProjectName: "demo", Receipts: []memory.Receipt{receipt, {ID: "r-0", At: noon.Add(-72 * time.Hour), Request: memory.RecallRequest{Query: "npm error"}}, {ID: "r-00", At: noon.Add(-73 * time.Hour), Request: memory.RecallRequest{IDs: []string{"l-7f3a", "s-91a0bb"}}}}, More: true},
		service.Receipt.Name:   &receipt,
		service.ContextOf.Name: &memory.TurnContext{Project: "p1", ProjectName: "demo", SessionID: id, Turn: 2, Record: record, Withheld: withheld, Receipt: "r-1", Summary: "1 rule (all always)", Text: "Context Used:\nRules (1):\n  • Authentication Rules [Always]\n"},
		service.Feedback.Name: &memory.FeedbackResult{Receipt: "r-1", Verdict: memory.Worked, Replaced: true, Seq: 11,
			Items: []memory.ItemFeedback{{ID: "l-1", Kind: memory.Lesson, SuccessRate: "9/10", Verdicts: &memory.VerdictCounts{Worked: 1, Failed: 2, Irrelevant: 3, Outdated: 4}}, {ID: "c-2", Kind: memory.Chunk}}},
		service.Replay.Name: &memory.Replayed{Project: "p1", ProjectName: "demo", New: memory.AnswerSettings{MinRelevance: map[memory.Kind]float64{memory.Chunk: .6}, VectorWeight: .1}, More: true, Degraded: []memory.Degraded{{Part: "code", Reason: "loading"}},
			Answers: []memory.ReplayedAnswer{
				{Receipt: "r-1", Query: "How do I authenticate?", At: noon, DataChanged: true, SettingsChanged: true, Items: []memory.ReplayedItem{
					{ID: "l-1", Kind: memory.Lesson, Title: "use the gateway", Recorded: 1, Before: 1, After: 1},
					{ID: "c-1", Kind: memory.Chunk, Title: "src/auth/login.ts", Recorded: 2, Before: 2, Reason: memory.BelowThreshold},
					{ID: "l-7", Kind: memory.Lesson, Before: 3, After: 2}}},
				{Receipt: "r-2", Query: "unchanged", At: noon, Items: []memory.ReplayedItem{{ID: "l-1", Recorded: 1, Before: 1, After: 1}}},
				{Receipt: "r-3", Query: "broken", At: noon, Error: "the project is gone"},
			},
			Tally: memory.ReplayCounts{Questions: 3, Failed: 1, Same: 2, DataAdded: 1, SettingsRemoved: 1, SettingsMoved: 1}},
	}
}

// TestContextRequests: every flag reaches the service.
func TestContextRequests(t *testing.T) {
	which := func(b *bench) memory.SessionRef {
		return memory.SessionRef{SessionID: "abcd", Project: "p", Caller: memory.Caller{Dir: b.opts.Dir, Client: "cli"}}
	}
	caller := func(b *bench) memory.Caller { return which(b).Caller }
	own := func(b *bench) memory.SessionRef { return memory.SessionRef{Caller: caller(b)} }
	for _, tt := range []struct {
		args   []string
		input  string
		method string
		want   func(*bench) any
	}{
		{[]string{"tasks", "--type", "y", "--limit", "100", "--project", "p"}, "", service.TaskWindow.Name, func(b *bench) any {
			return memory.TaskWindowRequest{TaskType: "y", Limit: 100, Project: "p", Caller: caller(b)}
		}},
		{[]string{"catalogue", "--types", "rule,tool", "--server", "s", "--content", "--project", "p"}, "", service.Entries.Name, func(b *bench) any {
			return memory.EntriesRequest{Types: []memory.Kind{memory.Rule, memory.Tool}, Server: "s", Content: true, Project: "p", Caller: caller(b)}
		}},
		{[]string{"context", "for", "fix", "it"}, "", service.Assemble.Name, func(b *bench) any { return memory.AssembleRequest{Message: "fix it", SessionRef: own(b)} }},
		{[]string{"context", "for", "-", "--task-type", "y", "--requires-context=false", "--top-k", "200", "--top-n", "50", "--include-score", "0", "--max-tokens", "50", "--no-search",
			"--session", "abcd", "--project", "p"}, "fix\nit\n", service.Assemble.Name, func(b *bench) any {
			return memory.AssembleRequest{Message: "fix\nit", TaskType: "y", RequiresContext: new(false), TopK: 200, TopN: 50, IncludeScore: new(0.0), MaxTokens: 50, NoSearch: true, SessionRef: which(b)}
		}},
		{[]string{"receipts", "--session", "abcd", "--turn", "0", "--since", "2d", "--limit", "200", "--project", "p"}, "", service.Receipts.Name, func(b *bench) any {
			return memory.ReceiptsRequest{SessionID: "abcd", Turn: new(0), Since: noon.Add(-48 * time.Hour), Limit: 200, Project: "p", Caller: caller(b)}
		}},
		{[]string{"receipts"}, "", service.Receipts.Name, func(b *bench) any { return memory.ReceiptsRequest{Limit: memory.DefaultReceipts, Caller: caller(b)} }},
		{[]string{"receipts", "r-1"}, "", service.Receipt.Name, func(*bench) any { return memory.ReceiptRequest{ID: "r-1"} }},
		{[]string{"feedback", "r-1", "outdated", "--item", "l-1", "--note", "n"}, "", service.Feedback.Name, func(b *bench) any {
			return memory.FeedbackRequest{Receipt: "r-1", Item: "l-1", Verdict: memory.Outdated, Note: "n", Caller: caller(b)}
		}},
		{[]string{"replay", "--session", "abcd", "--since", "2026-01-01", "--limit", "7", "--embedder", "builtin", "--floor", "chunk=0", "--floor", "lesson=0.4", "--weights", "0", "--project", "p"}, "",
			service.Replay.Name, func(b *bench) any {
				return memory.ReplayRequest{SessionID: "abcd", Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Limit: 7, Embedder: "builtin",
					MinRelevance: map[memory.Kind]float64{memory.Chunk: 0, memory.Lesson: .4}, VectorWeight: new(0.0), Project: "p", Caller: caller(b)}
			}},
		{[]string{"replay", "--session", "abcd"}, "", service.Replay.Name, func(b *bench) any {
			return memory.ReplayRequest{SessionID: "abcd", Limit: memory.MaxReplayed, Caller: caller(b)}
		}},
	} {
		b := newBench(t, sample())
		b.opts.In = strings.NewReader(tt.input)
		b.ok(tt.args...)
		if diff := cmp.Diff(tt.want(b), request[any](t, b, tt.method), cmp.Transformer("nil", emptyIsNil)); diff != "" {
			t.Errorf("recalld %q (-want +got):\n%s", tt.args, diff)
		}
	}
}

// emptyIsNil lets a list that a validation has copied be as the one that was given.
func emptyIsNil(refs []memory.Ref) []memory.Ref {
	if len(refs) == 0 {
		return nil
	}
	return refs
}

// TestEmptySession: an unset variable of a script does not stand for the current
// session, whatever the command.
func TestEmptySession(t *testing.T) {
	tried := 0
	for _, c := range commands(t) {
		name := strings.Fields(strings.TrimPrefix(c.CommandPath(), "recalld "))
		if c.Flags().Lookup("session") == nil {
			continue
		}
		tried++
		args := slices.Concat(name, map[string][]string{
			"for": {"m"}, "recall": {"q"}, "steps": {"q"},
		}[c.Name()], []string{"--session", ""})
		b := newBench(t, sample())
		if _, errs, code := b.run(args...); code != ExitUsage || !strings.Contains(errs, "--session: ") {
			t.Errorf("recalld %q: exit %d, %q; want a refusal of the empty session", args, code, errs)
		}
		if calls := b.fake.Calls(); len(calls) > 0 {
			t.Errorf("recalld %q reached the daemon: %+v", args, calls)
		}
	}
	if tried < 7 {
		t.Errorf("%d commands have --session, want at least 7", tried)
	}
}

// TestNothingThere: nothing is an answer that says what to do next; JSON says [],
// not null.
func TestNothingThere(t *testing.T) {
	const id = "abcd"
	for _, tt := range []struct {
		args   []string
		method string
		answer any
		want   string
	}{
		{[]string{"tasks"}, service.TaskWindow.Name, &memory.TaskWindow{ProjectName: "demo"}, "No tasks or blockers in project demo. Run 'recalld call complete_task' to report one.\n"},
		{[]string{"catalogue"}, service.Entries.Name, &memory.EntryList{ProjectName: "demo"}, "No matching entries in project demo. Hosts register them; run 'recalld call register_context' to register one yourself.\n"},
		{[]string{"context", "for", "m"}, service.Assemble.Name, &memory.Assembled{SessionID: id}, ""},
		{[]string{"receipts"}, service.Receipts.Name, &memory.ReceiptList{ProjectName: "demo"}, "No matching receipts in project demo. Each answer of recalld recall leaves one.\n"},
		{[]string{"feedback", "r", "worked"}, service.Feedback.Name, &memory.FeedbackResult{Receipt: "r", Verdict: memory.Worked}, "Noted: worked, on 0 items of receipt r\n"},
		{[]string{"replay", "--since", "1d"}, service.Replay.Name, &memory.Replayed{ProjectName: "demo"}, "No matching questions in project demo.\n"},
	} {
		b := newBench(t, map[string]any{tt.method: tt.answer})
		if out := b.ok(tt.args...); out != tt.want {
			t.Errorf("recalld %q says %q, want %q", tt.args, out, tt.want)
		}
		if out := b.ok(append(tt.args, "--json")...); strings.Contains(out, "null") || !strings.Contains(out, "[]") {
			t.Errorf("recalld %q --json says %s, want an empty list", tt.args, out)
		}
	}
}

// TestContextForScripts: standard output is the prompt and nothing else; what it came
// to is told beside it, and not at all to programs.
func TestContextForScripts(t *testing.T) {
	b := newBench(t, sample())
	out, errs, _ := b.run("context", "for", "m")
	if out != "## Rules\n\nAuthentication Rules: use the gateway.\n" {
		t.Errorf("standard output is %q, want the text alone", out)
	}
	want := "Turn 2 of session mm-20260115-abc: 1 entry, 0 memories, 3 withheld; 240 of 4000 tokens; receipt r-1\nWithout code: deadline\n"
	if errs != want {
		t.Errorf("standard error is %q, want %q", errs, want)
	}
	if _, errs, _ := b.run("context", "for", "m", "--json"); errs != "" {
		t.Errorf("with --json standard error is %q, want nothing", errs)
	}
}

// TestReplayProgress: a bar on a terminal, lines of JSON with --json, else nothing, and
// nothing of it among the answer.
func TestReplayProgress(t *testing.T) {
	b := newBench(t, sample())
	b.fake.Progress = map[string][]any{service.Replay.Name: {memory.ReplayProgress{Done: 0, Total: 3}, memory.ReplayProgress{Done: 3, Total: 3}}}
	out, errs, _ := b.run("replay", "--since", "2d")
	if errs != "" || strings.Contains(out, "asking") {
		t.Errorf("standard error is %q, standard output %q", errs, out)
	}
	_, errs, _ = b.run("replay", "--since", "2d", "--json")
	if want := `{"progress":{"phase":"asking again","done":0,"total":3,"unit":"questions"}}` + "\n"; errs != want {
		t.Errorf("with --json standard error is %q, want %q", errs, want)
	}
	var bar bytes.Buffer
	opts := b.opts
	opts.Out, opts.Err, opts.Terminal = new(bytes.Buffer), &bar, true
	if code := Run(t.Context(), []string{"replay", "--since", "2d"}, opts); code != ExitOK || !strings.Contains(bar.String(), "asking again") || !strings.Contains(bar.String(), "\r") {
		t.Errorf("on a terminal: exit %d, %q, want a bar", code, bar.String())
	}
}

// TestReplayInterrupted: a replay that hangs ends with the command.
func TestReplayInterrupted(t *testing.T) {
	b := newBench(t, sample())
	ctx, cancel := context.WithCancel(t.Context())
	b.fake.Before = func(ctx context.Context, _ string) {
		cancel()
		<-ctx.Done()
	}
	b.fake.Err = context.Canceled
	b.opts.Out, b.opts.Err = new(bytes.Buffer), new(bytes.Buffer)
	if code := Run(ctx, []string{"replay", "--since", "2d"}, b.opts); code != ExitInterrupted {
		t.Errorf("exit code = %d, want %d", code, ExitInterrupted)
	}
}

// TestForeignTextIsShown: what hosts and repositories have written is shown and not
// acted on by a terminal.
func TestForeignTextIsShown(t *testing.T) {
	const odd = "a\x1b[2Jb\u202ec"
	b := newBench(t, map[string]any{
		service.Entries.Name: &memory.EntryList{Entries: []memory.EntryState{{Source: odd, CatalogueEntry: memory.CatalogueEntry{
			Ref: memory.Ref{Type: memory.Tool, Name: odd, ServerName: odd}, Description: odd, Content: odd, Guidance: odd}}}},
		service.Receipt.Name: &memory.Receipt{Request: memory.RecallRequest{Query: odd}, Items: []memory.ReceiptItem{{Name: odd, Server: odd}}, Withheld: []memory.Withheld{{Path: odd}},
			Judged: []memory.ItemVerdict{{Note: odd}}},
		service.Receipts.Name: &memory.ReceiptList{Receipts: []memory.Receipt{{Request: memory.RecallRequest{Query: odd}}}},
		service.Replay.Name: &memory.Replayed{Tally: memory.ReplayCounts{Questions: 1}, Answers: []memory.ReplayedAnswer{{Query: odd, DataChanged: true,
			Items: []memory.ReplayedItem{{Title: odd, Recorded: 1}}}}},
	})
	for _, args := range [][]string{{"catalogue"}, {"catalogue", "--content"}, {"receipts", "r"}, {"receipts"}, {"replay", "--since", "1d"}} {
		if out := b.ok(args...); strings.ContainsAny(out, "\x1b\u202e") || !strings.Contains(out, "a") {
			t.Errorf("recalld %q hands on what a terminal acts on: %q", args, out)
		}
	}
}

// TestContextsFit: what people read by default fits a terminal, whatever others have
// called things and written of them.
func TestContextsFit(t *testing.T) {
	name, text := strings.Repeat("name", 20), strings.Repeat("text ", 100)
	tool := memory.Ref{Type: memory.Tool, Name: name, ServerName: name}
	b := newBench(t, map[string]any{
		service.Entries.Name:  &memory.EntryList{Entries: []memory.EntryState{{CatalogueEntry: memory.CatalogueEntry{Ref: tool, Description: text}, Mode: memory.IncludeAlways, On: true}}},
		service.Receipts.Name: &memory.ReceiptList{Receipts: []memory.Receipt{{ID: "rc-01a1fe9f3735aaadbbdf", Purpose: memory.PurposeContext, Request: memory.RecallRequest{Query: text}}}},
		service.Replay.Name: &memory.Replayed{Tally: memory.ReplayCounts{Questions: 1}, Answers: []memory.ReplayedAnswer{{Receipt: "rc-1", DataChanged: true,
			Items: []memory.ReplayedItem{{Title: text, Kind: memory.Reference, Recorded: 1, Reason: memory.BelowThreshold}}}}},
	})
	for _, args := range [][]string{{"catalogue"}, {"receipts"}, {"replay", "--since", "1d"}} {
		for line := range strings.Lines(b.ok(args...)) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > render.TerminalWidth+render.MinLast {
				t.Errorf("recalld %q writes a line of %d characters: %q", args, n, line)
			}
		}
	}
}

func TestParseSince(t *testing.T) {
	for text, want := range map[string]time.Time{
		"": {}, "2026-01-02": time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), "2026-01-15T12:00:00Z": noon,
		"2d": noon.Add(-48 * time.Hour), "0d": noon, "3w": noon.Add(-21 * 24 * time.Hour), "36h": noon.Add(-36 * time.Hour), "1h30m": noon.Add(-90 * time.Minute),
		"36500d": noon.Add(-36500 * 24 * time.Hour),
	} {
		if got, err := parseSince("since", text, noon); err != nil || !got.Equal(want) {
			t.Errorf("parseSince(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"d", "-2d", "2 d", "36501d", "5215w", "99999999999999999999d", "-1h", "900000h", "yesterday", "2026-13-01", "2"} {
		if got, err := parseSince("since", text, noon); err == nil || !strings.Contains(err.Error(), "since: ") {
			t.Errorf("parseSince(%q) = %v, %v; want an error that names the field", text, got, err)
		}
	}
}
