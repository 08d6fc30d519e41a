package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/api"
	"github.com/recalld/recalld/internal/client"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/service/servicetest"
)

// made is the id of requests whose caller has made one.
const made = "made by the caller"

// What several methods carry, with every field set.
var (
	caller   = memory.Caller{Dir: "/d", Client: "c", Session: "abcd", Window: "w-1", Hook: true}
	which    = memory.SessionRef{SessionID: "abcd", Project: "p", Caller: caller}
	toolRef  = memory.Ref{Type: memory.Tool, Name: "read_file", ServerName: "filesystem"}
	tool     = memory.ToolRef{ServerName: "filesystem", ToolName: "read_file"}
	from     = memory.Provenance{Origin: memory.OriginFollowed, Agent: "a", Session: "abcd", Path: "/p/f.jsonl"}
	schema   = raw(`{"type":"object","n":1.50,"a":"<b>"}`)
	entry    = memory.CatalogueEntry{Ref: toolRef, Description: "größe <b> \u2028", Content: "c", Guidance: "g", InputSchema: schema, Core: true, Include: memory.IncludeAgent, Enabled: new(false)}
	server   = memory.Server{Name: "filesystem", Include: memory.IncludeManual, Enabled: new(true)}
	inside   = memory.ContextItem{Ref: toolRef, IncludeMode: memory.IncludeAgent, SimilarityScore: new(0.0)}
	settings = memory.AnswerSettings{MinRelevance: map[memory.Kind]float64{memory.Chunk: .75}, Sure: map[memory.Kind]float64{memory.Chunk: .85}, Maybe: map[memory.Kind]float64{memory.Chunk: .5}, VectorWeight: .0583, Embedder: "builtin", Code: 3, CodeBytes: 2048, TopK: 20, TopN: 5, IncludeScore: .7}
	withheld = []memory.Withheld{{ID: "2", Kind: memory.Tool, Reason: memory.OverBudget, NearestScore: .1, Path: "a.go", Title: "t", Name: "n", Server: "s", Note: "o"}}
	ran      = memory.StepContent{Tool: memory.StepTool{Name: "edit", Input: schema, Target: schema}, Outcome: memory.Outcome{OK: true, Error: &memory.StepError{Code: "c", Message: "m", Details: schema}},
		Observation: schema, Environment: schema, Build: schema, Git: &memory.Git{Branch: "b", Commit: "c", Dirty: true}, DurationMs: 1, Screenshot: "s", Labels: []string{"l"},
		Screen: "s", Fingerprints: []string{"f"}, Extra: map[string]json.RawMessage{"x": schema}}
	finished = memory.TaskContent{TaskID: "t", Type: "y", RequiresContext: true, Intent: "i", Summary: "s", Report: schema, Reason: "r"}
	degraded = []memory.Degraded{{Part: "index", Reason: "loading"}}
	done     = memory.CompletedTask{TaskID: "t", CompletedAt: at, TaskType: "y", RequiresContext: true, Intent: "i", Summary: "s", ValidationReport: raw(`{"valid":true,"z":1.50}`)}
	blocked  = memory.BlockedTask{TaskID: "t", Reason: "r", BlockedAt: at}
	window   = memory.TaskWindow{Project: "p", ProjectName: "demo", Tasks: []memory.CompletedTask{done}, Blockers: []memory.BlockedTask{blocked}, Total: 9, Shortened: 1, LeftOut: 2, Tokens: 8, Text: "x"}
	kept     = memory.TaskSaved{ID: "t-1", TaskID: "t", Project: "p", ProjectName: "demo", Completed: 1, Blocked: 2, Dropped: 3, Redacted: true, NotKept: []string{"intent"}, AuditFile: "/f", Warning: "w", Seq: 4}
	known    = memory.Registered{Project: "p", ProjectName: "demo", Added: 1, Changed: 2, Unchanged: 3, Removed: 4, Total: 5, JoinLater: 1, Redacted: true, Seq: 6}
	thing    = memory.Entity{ID: "o-1", Type: "order", Name: "first", Data: raw(`{"b":1,"a":[null]}`)}
	held     = memory.Context{Project: "p", ProjectName: "demo", SessionID: "abcd", Items: []memory.ContextItem{inside}, Rules: []string{"A"}, References: []string{"X"},
		Tools: []memory.ToolRef{tool}, Changed: true, Version: 7}
	working = memory.WorkingContext{SessionID: "abcd", Version: 7, Turn: 2, Added: []memory.ContextItem{inside}, Removed: []memory.Ref{toolRef},
		DiscoveredTools: []memory.ToolRef{tool}, UsedTools: []memory.ToolRef{tool}, Entities: []memory.Entity{thing}, ToolUse: []memory.ToolUse{{ToolRef: tool, Count: 2, LastUsed: at}}, Guided: []memory.ToolRef{tool},
		Summary: "s", Compactions: 1, CompactedAt: at, Extra: map[string]json.RawMessage{"x": raw(`{"b":1,"a":2}`)}}
	record = memory.ContextRecord{Timestamp: at, Items: []memory.RecordItem{{Type: memory.Tool, Name: "n", ServerName: "s", IncludeMode: memory.IncludeAgent, SimilarityScore: new(.87), State: memory.Changed, Text: "t"}}}
)

// sessionMethods are the methods of package session.
var sessionMethods = map[string]method{
	service.CompleteTask.Name: {request: memory.CompleteTaskRequest{RequestID: made, TaskID: "t", CompletedAt: at, TaskType: "y", RequiresContext: new(false), Intent: "größe <b>",
		Summary: "s", ValidationReport: raw(`{"valid":false,"z":1.50}`), Project: "p", Caller: caller}, answer: &kept},
	service.BlockTask.Name:   {request: memory.BlockTaskRequest{RequestID: made, TaskID: "t", Reason: "r", BlockedAt: at, Project: "p", Caller: caller}, answer: &kept},
	service.UnblockTask.Name: {request: memory.UnblockTaskRequest{RequestID: made, TaskID: "t", Resolution: "r", Project: "p", Caller: caller}, answer: &kept},
	service.TaskWindow.Name:  {request: memory.TaskWindowRequest{TaskType: "y", Limit: 100, Project: "p", Caller: caller}, answer: &window},
	service.TaskHistory.Name: {request: memory.TaskHistoryRequest{TaskID: "t", Limit: 200, Before: 1 << 60, Project: "p", Caller: caller},
		answer: &memory.TaskHistory{Project: "p", ProjectName: "demo", More: true, Before: 7, Tokens: 8, Text: "x",
			Events: []memory.TaskEvent{{Event: memory.StateLoaded, At: at, Seq: 7, Project: "p", Client: "c", Task: raw(`{"z":1.50}`), Blocker: raw(`{"b":1}`), Resolution: "r",
				Tasks: []json.RawMessage{raw(`{"b":1,"a":2}`)}, Blockers: []json.RawMessage{raw(`{}`)}, GaveWay: []string{"t"}}}}},
	service.LoadTasks.Name: {request: memory.LoadTasksRequest{RequestID: made, State: raw(`[{"task_id":"t","unknown":1.50}]`), Project: "p", Caller: caller},
		answer: &memory.TasksLoaded{Project: "p", ProjectName: "demo", Tasks: 1, Blockers: 2, Known: 3, Dropped: 4, Settled: 5, Redacted: true, AuditFile: "/f", Warning: "w"}},
	service.Register.Name: {request: memory.RegisterRequest{RequestID: made, Source: "host", Entries: []memory.CatalogueEntry{entry}, Servers: []memory.Server{server}, Replace: true,
		Project: "p", Caller: caller}, answer: &known},
	service.Unregister.Name: {request: memory.UnregisterRequest{RequestID: made, Entries: []memory.Ref{toolRef}, Source: "host", Project: "p", Caller: caller}, answer: &known},
	service.Entries.Name: {request: memory.EntriesRequest{Types: []memory.Kind{memory.Rule}, Server: "s", Content: true, Project: "p", Caller: caller},
		answer: &memory.EntryList{Project: "p", ProjectName: "demo", Servers: []memory.Server{server},
			Entries: []memory.EntryState{{ID: "o-1", CatalogueEntry: entry, Source: "host", Version: 3, Mode: memory.IncludeAlways, On: true, Since: at}}}},
	service.SearchTools.Name: {request: memory.SearchToolsRequest{RequestID: made, Query: "größe <b>", Limit: 20, Own: true, SessionRef: which},
		answer: &memory.ToolMatches{Project: "p", ProjectName: "demo", SessionID: "abcd", Guidance: "g", Degraded: degraded, Incomplete: true, Why: "w", Version: 7, Receipt: "rc", Text: "x",
			Tools: []memory.FoundTool{{ID: "o-1", ServerName: "s", Name: "n", Description: "d", InputSchema: schema, Relevance: .9, Strength: memory.Sure, Followed: true, Active: true, New: true}}}},
	service.SessionContext.Name: {request: memory.ContextRequest{SessionRef: which}, answer: &held},
	service.ChangeContext.Name: {request: memory.ChangeContextRequest{RequestID: made, Add: []memory.ContextItem{inside}, Remove: []memory.Ref{toolRef}, SessionRef: which},
		answer: &held},
	service.Assemble.Name: {request: memory.AssembleRequest{RequestID: made, Message: "größe <b>", TaskType: "y", RequiresContext: new(false), TopK: 200, TopN: 50,
		IncludeScore: new(0.0), MaxTokens: 100000, NoSearch: true, Schemas: true, SessionRef: which},
		answer: &memory.Assembled{Project: "p", ProjectName: "demo", SessionID: "abcd", Turn: 3,
			Items: []memory.AssembledItem{{ContextItem: inside, ID: "o-1", Description: "d", Text: "t", InputSchema: schema, Followed: true, Tokens: 9, State: memory.Changed}},
			Memories: []memory.Item{{ID: "1", Kind: memory.Lesson, Strength: memory.Likely, Text: "t", Source: memory.Source{Path: "a", Lines: &[2]int{1, 2}, Session: "abcd", Repo: "r", Sandbox: "/s", Symbol: "F"},
				Project: "p", Relevance: .5, CreatedAt: at, Timestamp: at, Lesson: "l", Context: "c", Command: "x", SuccessRate: "9/10", Team: "ann", Pinned: true, Private: true, Foreign: true, Provenance: &from, State: "moved", Anchors: []memory.AnchorCheck{{Path: "a.go", Symbol: "F", State: memory.AnchorMoved, MovedTo: "b.go:1-2", Changed: .5}}, Similar: 2, Cut: true, Tokens: 7, StepEnd: &ended, Step: &ran, Task: &finished,
				RankFactors: &memory.RankFactors{Score: 1, Recency: 1, Success: 1, Project: 1, Session: 1, Error: true, Followed: true, Definition: "F", Place: "a:1", Neighbours: .1, Named: "F", FileKind: "test", Anchor: memory.AnchorGone,
					Retrievers: map[string]memory.RetrieverScore{"lexical": {Score: 3, Relevance: .5}},
					Verdicts:   &memory.VerdictCounts{Worked: 1, Failed: 2, Irrelevant: 3, Outdated: 4}}}},
			Window: &window, ActiveTools: []memory.ToolRef{tool}, Guidance: "g",
			ToolSchemas: []memory.ActiveTool{{ToolRef: tool, Description: "d", InputSchema: schema, Followed: true, Tokens: 3}}, Withheld: withheld, Degraded: degraded, Incomplete: true, Why: "w", Tokens: 8, MaxTokens: 4000, Record: record,
			Receipt: "rc", Text: "x"}},
	service.WorkingContext.Name: {request: memory.WorkingContextRequest{SessionRef: which}, answer: &working},
	service.Report.Name: {request: memory.ReportRequest{RequestID: made, UsedTools: []memory.ToolRef{tool}, Entities: []memory.Entity{thing}, ClearDiscovered: true, SessionRef: which},
		answer: &working},
	service.Compact.Name: {request: memory.CompactRequest{RequestID: made, Summary: "größe <b>", Transcript: "t", KeepTurns: 100, SessionRef: which},
		answer: &memory.Compacted{Project: "p", ProjectName: "demo", SessionID: "abcd", Summary: "s", Model: "m", KeepTurns: 3, ClearedTools: 1, ClearedEntities: 2,
			ActiveTools: []memory.ToolRef{tool}, Version: 8, Redacted: true}},
	service.Receipts.Name: {request: memory.ReceiptsRequest{SessionID: "abcd", Turn: new(0), Since: at, Before: "rb", Limit: 200, Project: "p", Caller: caller},
		answer: &memory.ReceiptList{Project: "p", ProjectName: "demo", More: true, Receipts: []memory.Receipt{{ID: "rc", At: at, Project: "p",
			Request: memory.RecallRequest{Typing: true, Query: "q", IDs: []string{"l-1"}, Kinds: []memory.Kind{memory.Tool}, Project: "p", Repo: "r", Scope: &memory.Scope{Session: "abcd"},
				Filters: &memory.Filters{FlowTag: "f", Screen: "s", GitBranch: "b", SinceHours: 1, Lang: "go", Path: "a", Tag: "t", Since: at},
				Limit:   3, MaxTokens: 60, MinRelevance: &half, Format: memory.FormatJSON, Explain: true, Caller: caller},
			Items: []memory.ReceiptItem{{ID: "1", Kind: memory.Tool, Strength: memory.Sure, Relevance: .9, Tokens: 5, Name: "n", Server: "s", Mode: memory.IncludeAgent, Active: true, Provenance: &from, Hash: "h", Bytes: 7, Path: "a.go",
				RankFactors: &memory.RankFactors{Score: 1, Recency: 1, Success: 1, Project: 1, Session: 1, Error: true, Followed: true, Definition: "F", Place: "a:1", Neighbours: .1, Named: "F", FileKind: "test", Anchor: memory.AnchorGone,
					Retrievers: map[string]memory.RetrieverScore{"lexical": {Score: 3, Relevance: .5}},
					Verdicts:   &memory.VerdictCounts{Worked: 1, Failed: 2, Irrelevant: 3, Outdated: 4}}}},
			Withheld: withheld, Degraded: degraded, Tokens: 5, Budget: 60, Spaces: []string{"builtin"}, Calibration: "1", Took: 5_000_000, Seq: 1 << 60,
			Purpose: memory.PurposeTools, Session: "abcd", Turn: 3, Settings: &settings, RequestID: made,
			Judged: []memory.ItemVerdict{{Item: "1", Verdict: memory.Worked, At: at, Note: "n"}}}}}},
	service.ContextOf.Name: {request: memory.ContextOfRequest{Turn: 3, Texts: true, SessionRef: which},
		answer: &memory.TurnContext{Project: "p", ProjectName: "demo", SessionID: "abcd", Turn: 3, Record: &record, Withheld: withheld, Receipt: "rc", Summary: "s", Text: "x"}},
	service.Feedback.Name: {request: memory.FeedbackRequest{RequestID: made, Receipt: "rc", Item: "1", Verdict: memory.Outdated, Note: "größe <b>", Caller: caller},
		answer: &memory.FeedbackResult{Receipt: "rc", Verdict: memory.Outdated, Replaced: true, Seq: 9,
			Items: []memory.ItemFeedback{{ID: "1", Kind: memory.Lesson, SuccessRate: "9/10", Verdicts: &memory.VerdictCounts{Worked: 1, Failed: 2, Irrelevant: 3, Outdated: 4}}}}},
	service.Replay.Name: {request: memory.ReplayRequest{SessionID: "abcd", Since: at, Limit: 1000, Embedder: "builtin", MinRelevance: map[memory.Kind]float64{memory.Chunk: 0},
		VectorWeight: new(0.0), Project: "p", Caller: caller},
		answer: &memory.Replayed{Project: "p", ProjectName: "demo", New: settings, Degraded: degraded, More: true, Text: "x",
			Answers: []memory.ReplayedAnswer{{Receipt: "rc", Query: "q", At: at, DataChanged: true, SettingsChanged: true, Error: "e",
				Items: []memory.ReplayedItem{{ID: "1", Kind: memory.Chunk, Title: "a.go", Recorded: 1, Before: 2, After: 3, Reason: memory.BelowThreshold}}}},
			Tally: memory.ReplayCounts{Questions: 1, Failed: 2, Same: 3, DataAdded: 4, DataRemoved: 5, SettingsAdded: 6, SettingsRemoved: 7, SettingsMoved: 8}}},
}

// TestSessionMethodsSayAll: a field that the table leaves out would not be tried.
func TestSessionMethodsSayAll(t *testing.T) {
	for name, m := range sessionMethods {
		for _, value := range []any{m.request, m.answer} {
			for _, path := range unset(reflect.ValueOf(value), name) {
				t.Errorf("%s is not set", path)
			}
		}
	}
}

// unset lists the fields below a value that hold nothing. What is behind a pointer
// may be zero: that it arrives as such is what the pointer is for.
func unset(v reflect.Value, path string) (paths []string) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || v.Elem().Kind() != reflect.Struct {
			break
		}
		return unset(v.Elem(), path)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[memory.Scope]() || !v.Type().Field(0).IsExported() { // one of two, and times
			break
		}
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") == "-" { // it does not travel
				continue
			}
			paths = append(paths, unset(v.Field(i), path+"."+v.Type().Field(i).Name)...)
		}
		return paths
	case reflect.Slice:
		if v.Len() > 0 && v.Type().Elem().Kind() == reflect.Struct {
			return unset(v.Index(0), path)
		}
	}
	if v.IsZero() {
		return []string{path}
	}
	return nil
}

// TestReplayReportsProgressInOrder: progress first, then what it came to, or why it
// failed.
func TestReplayReportsProgressInOrder(t *testing.T) {
	want := []memory.ReplayProgress{{Done: 0, Total: 2}, {Done: 1, Total: 2}, {Done: 2, Total: 2}}
	answer := &memory.Replayed{Project: "p", Answers: []memory.ReplayedAnswer{}, Tally: memory.ReplayCounts{Questions: 2}}
	fake := &servicetest.Service{Progress: map[string][]any{service.Replay.Name: servicetest.Reports(want...)}, Answers: map[string]any{service.Replay.Name: answer}}
	c := connect(t, client.Options{Socket: listen(t, api.NewHandler(fake, api.Options{}))})
	replay := func() (got []memory.ReplayProgress, done *memory.Replayed, err error) {
		done, err = service.Replay.Do(t.Context(), c, memory.ReplayRequest{SessionID: "abcd"}, func(p memory.ReplayProgress) { got = append(got, p) })
		return got, done, err
	}
	got, done, err := replay()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("progress (-sent +received):\n%s", diff)
	}
	if diff := cmp.Diff(answer, done); diff != "" {
		t.Errorf("answer (-sent +received):\n%s", diff)
	}
	if done, err := service.Replay.Do(t.Context(), c, memory.ReplayRequest{}, nil); err != nil || done == nil {
		t.Errorf("without a listener: %v, %v", done, err)
	}
	fake.Err = memory.Errorf(memory.CodeUnavailable, "the index is loading")
	got, done, err = replay()
	if memory.CodeOf(err) != memory.CodeUnavailable || err.Error() != "the index is loading" || done != nil {
		t.Errorf("failure after progress: %v, %v", done, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("progress before the failure (-sent +received):\n%s", diff)
	}
}

// TestReplayGivenUp: a caller that gives up ends the work in the daemon, also when
// the work hangs after it has reported progress.
func TestReplayGivenUp(t *testing.T) {
	hung, ended := make(chan struct{}), make(chan error, 1)
	fake := &servicetest.Service{
		Progress: map[string][]any{service.Replay.Name: {memory.ReplayProgress{Done: 1, Total: 2}}},
		Before: func(ctx context.Context, _ string) {
			close(hung)
			<-ctx.Done()
			ended <- ctx.Err()
		},
	}
	c := connect(t, client.Options{Socket: listen(t, api.NewHandler(fake, api.Options{}))})
	ctx, cancel := context.WithCancel(t.Context())
	reported := make(chan struct{})
	go func() {
		<-reported
		<-hung
		cancel()
	}()
	done, err := service.Replay.Do(ctx, c, memory.ReplayRequest{SessionID: "abcd"}, func(memory.ReplayProgress) { close(reported) })
	if done != nil || !errors.Is(err, context.Canceled) || memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("given up: %v, %v; want an error that is context.Canceled and unavailable", done, err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) { // hangs if the work goes on
		t.Errorf("the work ended with %v, want context.Canceled", err)
	}
	if n := len(fake.Calls()); n != 1 {
		t.Errorf("%d calls, want 1: what the caller gave up is not repeated", n)
	}
}

// TestBrokenLines: an answer of lines that ends early, or is not what it should be,
// is an error and never half an answer.
func TestBrokenLines(t *testing.T) {
	progress := `{"progress":{"done":1,"total":2}}` + "\n"
	for name, tc := range map[string]struct {
		body  string
		abort bool // the connection, after the body
		code  memory.Code
	}{
		"no last line":       {progress, false, memory.CodeUnavailable},
		"nothing":            {"", false, memory.CodeUnavailable},
		"a daemon that died": {progress + `{"done":{"project":`, true, memory.CodeUnavailable},
		"half a line":        {progress + `{"done":{"project":`, false, memory.CodeIncompatible},
		"not JSON":           {progress + "busy\n", false, memory.CodeIncompatible},
		"an endless line":    {strings.Repeat("x", 65<<20), false, memory.CodeInternal},
		"of another shape":   {`{"progress":7}` + "\n", false, memory.CodeIncompatible},
	} {
		t.Run(name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.HandleFunc(service.Hello.Path, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"protocol": %d}`, service.Protocol) })
			mux.HandleFunc(service.Replay.Path, func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, tc.body)
				if tc.abort {
					_ = http.NewResponseController(w).Flush()
					panic(http.ErrAbortHandler)
				}
			})
			c := connect(t, client.Options{Socket: listen(t, mux)})
			done, err := service.Replay.Do(t.Context(), c, memory.ReplayRequest{}, nil)
			if done != nil || memory.CodeOf(err) != tc.code {
				t.Errorf("answer %v, error %v (%s), want %s", done, err, memory.CodeOf(err), tc.code)
			}
		})
	}
}
