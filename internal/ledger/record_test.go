package ledger

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/session"
)

var update = flag.Bool("update", false, "write the golden files anew")

var testTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read golden file: %v (write it with -update)", err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

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
		{ID: "s-2", Kind: memory.Step, Relevance: .55}, // found by its relevance, what else
		{ID: "c-3", Kind: memory.Chunk, Mode: agent, Relevance: .999},
		{ID: "t-1", Kind: memory.Task, Name: "task-041", Mode: always},
		{ID: "t-2", Kind: memory.Task, Name: "task-042", Mode: always},
		{ID: "b-1", Kind: memory.Blocker, Name: "task-N", Mode: always},
	}
}

func TestTextOfARecord(t *testing.T) {
	golden(t, "contract.txt", Text(RecordOf(memory.Receipt{Items: contractItems()})))
	golden(t, "memories.txt", Text(RecordOf(memory.Receipt{Items: slices.Concat(memoryItems(), contractItems()[:1])})))
	if got, want := Text(session.ContextRecord{}), "Context Used: nothing"; got != want {
		t.Errorf("the text of an empty record is %q, want %q", got, want)
	}
}

func TestRecordOfAReceipt(t *testing.T) {
	items := append(contractItems()[3:5], memoryItems()[1], memoryItems()[3])
	want := session.ContextRecord{Timestamp: testTime, Items: []session.RecordItem{
		{Type: memory.Tool, Name: "read_file", ServerName: "filesystem", IncludeMode: manual},
		{Type: memory.Rule, Name: "File Operations", IncludeMode: agent, SimilarityScore: new(.8712)},
		{Type: memory.Step, Name: "s-2", IncludeMode: agent, SimilarityScore: new(.55)},
		{Type: memory.Task, Name: "task-041", IncludeMode: always},
	}}
	if diff := cmp.Diff(want, RecordOf(memory.Receipt{At: testTime, Items: items})); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
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
		if got := Summary(RecordOf(memory.Receipt{Items: items})); got != want {
			t.Errorf("summary = %q, want %q", got, want)
		}
	}
}

func TestExplainAReceipt(t *testing.T) {
	factors := &memory.RankFactors{
		Score: .93, Recency: .98, Success: 1.04, Project: 1, Session: 1.1, Error: true, Verdicts: &memory.Verdicted{Worked: 2, Outdated: 1},
		Retrievers: map[string]memory.RetrieverScore{"lexical": {Score: 12.3456, Relevance: .81}, "vector/builtin/hash-v1": {Score: .4, Relevance: .52}},
	}
	r := memory.Receipt{
		ID: "rc-1", At: testTime, Session: "mm-20260102-abc", Turn: 3, Project: "p-1", Tokens: 120, Seq: 42, Calibration: "priors-4",
		Request: memory.RecallRequest{
			Query: "npm \"EACCES\"\nagain", Kinds: []memory.Kind{memory.Lesson, memory.Step}, Repo: "shop", Limit: 5, MaxTokens: 1000,
			Scope: &memory.Scope{Name: memory.ScopeCurrent}, Filters: &memory.Filters{Tag: "npm", SinceHours: 2, Path: "src/**", Since: testTime},
		},
		Settings: &memory.AnswerSettings{MinRelevance: map[memory.Kind]float64{memory.Step: .5, memory.Lesson: .45}, VectorWeight: .0583, Embedder: "builtin"},
		Spaces:   []string{"builtin/hash-v1@256"}, Degraded: []memory.Degraded{{Part: "code", Reason: "not indexed yet"}}, Took: memory.Millis(12345 * time.Microsecond),
		Items: []memory.ReceiptItem{
			{ID: "l-1", Kind: memory.Lesson, Relevance: .81, Tokens: 40, RankFactors: factors},
			{ID: "o-1", Kind: memory.Tool, Name: "read_file", Server: "filesystem", Mode: manual, Tokens: 80},
		},
		Judged: []memory.Judged{
			{Verdict: memory.Failed, At: testTime.Add(time.Hour)},
			{Item: "l-1", Verdict: memory.Worked, At: testTime.Add(2 * time.Hour), Note: "after all"},
		},
	}
	for reason := range reasons {
		r.Withheld = append(r.Withheld, memory.Withheld{ID: "s-1", Kind: memory.Step, Reason: reason, NearestScore: .3})
	}
	slices.SortFunc(r.Withheld, func(a, b memory.Withheld) int { return strings.Compare(string(a.Reason), string(b.Reason)) })
	r.Withheld = append(r.Withheld,
		memory.Withheld{ID: "c-1", Kind: memory.Chunk, Reason: memory.Gone, Path: "src/a.go", NearestScore: .8},
		memory.Withheld{ID: "u-1", Kind: memory.Rule, Name: "Style", Reason: "quite_new", NearestScore: .2})
	golden(t, "explained.txt", Explain(r))
	golden(t, "explained_bare.txt", Explain(memory.Receipt{ID: "rc-2", At: testTime, Request: memory.RecallRequest{Query: "q"}, Purpose: memory.PurposeTools}))
}

// TestEveryReasonIsReadable, also those that are added to the vocabulary: none is told
// by the word that machines know.
func TestEveryReasonIsReadable(t *testing.T) {
	for _, reason := range []memory.Reason{
		memory.BelowFloor, memory.Gone, memory.Outside, memory.Binary, memory.Changed, memory.Unreadable, memory.Duplicate,
		memory.OverBudget, memory.OverLimit, memory.TooSlow,
	} {
		if text := ReasonText(reason); text == string(reason) || !strings.Contains(text, " ") {
			t.Errorf("%s is told as %q, want a few words", reason, text)
		}
	}
}
