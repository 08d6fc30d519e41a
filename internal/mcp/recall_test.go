package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// longAnswer has five long lessons, cut in their text, and much that was withheld.
func longAnswer() *memory.Answer {
	a := &memory.Answer{Project: "p1", ProjectName: "demo", Receipt: "r-1", Text: "1. what was learned", Tokens: 440}
	for i := range 5 {
		item := fullItem("the whole lesson " + strings.Repeat("word ", 700))
		item.ID, item.Text, item.Context = fmt.Sprintf("l-%d", i), "cut "+strings.Repeat("line ", 50), "the whole context "+strings.Repeat("c ", 500)
		a.Items = append(a.Items, item)
	}
	for i := range 50 {
		a.Withheld = append(a.Withheld, memory.Withheld{ID: fmt.Sprintf("c-%d", i), Kind: memory.Chunk, Reason: memory.OverLimit, NearestScore: .8, Path: strings.Repeat("p/", 40)})
	}
	return a
}

// TestStructuredContentKeepsToTheBudget: a client may hand its model the structured
// content in the place of the text.
func TestStructuredContentKeepsToTheBudget(t *testing.T) {
	l := newLedger()
	l.Answers["Recall"] = longAnswer()
	c := connect(t, overHTTP(t, serve(t, l, Options{})))
	schema := outputSchemas(t, c)["recall"]
	for _, tt := range []struct {
		arguments string
		most      int // bytes
		whole     bool
	}{
		{`{"query":"q","max_tokens":500}`, 5 * 700, false}, // what five items take at least
		{`{"query":"q"}`, memory.DefaultTokens * 7 / 2, false},
		{`{"query":"q","format":"markdown","explain":true}`, memory.DefaultTokens * 7 / 2, false},
		{`{"query":"q","max_tokens":4000}`, 4000 * 7 / 2, false},
		{`{"query":"q","format":"json","max_tokens":8000}`, 8000 * 7 / 2, true},
	} {
		r := callTool(t, c, "recall", tt.arguments)
		content := checkStructured(t, schema, r)
		text, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > tt.most {
			t.Errorf("%s: %d bytes of structured content, want at most %d", tt.arguments, len(text), tt.most)
		}
		if n := strings.Count(string(text), `"text":"cut line`); n != 5 {
			t.Errorf("%s: %d lines of lessons, want all five", tt.arguments, n)
		}
		for _, word := range []string{"the whole lesson", "the whole context", `"command"`, `"timestamp"`} {
			if strings.Contains(string(text), word) != tt.whole {
				t.Errorf("%s: the structured content has %s, want it: %v", tt.arguments, word, tt.whole)
			}
		}
	}
	wide := callTool(t, c, "recall", `{"query":"q","max_tokens":8000}`)
	if withheld := checkStructured(t, schema, wide)["withheld"].([]any); len(withheld) != 50 {
		t.Errorf("%d withheld are told where there is room, want all 50", len(withheld))
	}
}

// TestReceiptInText: feedback needs the receipt, which many clients show nowhere else.
func TestReceiptInText(t *testing.T) {
	const line = "\n\nReceipt, for feedback: r-1"
	long := strings.Repeat("x", 7*memory.MinTokens/2-len(line))
	for name, tt := range map[string]struct {
		text, arguments, want string
		items                 int
	}{
		"an answer":             {"1. what was learned\n", `{"query":"q"}`, "1. what was learned" + line, 1},
		"markdown":              {"1. what was learned", `{"query":"q","format":"markdown"}`, "1. what was learned" + line, 1},
		"nothing relevant":      {"nothing relevant in demo\n", `{"query":"q"}`, "nothing relevant in demo\n", 0},
		"JSON":                  {`{"receipt":"r-1"}`, `{"query":"q","format":"json"}`, `{"receipt":"r-1"}`, 1},
		"one that has it":       {"project demo, receipt r-1\n", `{"query":"q","explain":true}`, "project demo, receipt r-1\n", 1},
		"a budget that is full": {long + "x", `{"query":"q","max_tokens":50}`, long + "x", 1},
		"one with room for it":  {long, `{"query":"q","max_tokens":50}`, long + line, 1},
	} {
		l := newLedger()
		l.Answers["Recall"] = &memory.Answer{Project: "p1", Receipt: "r-1", Text: tt.text, Items: make([]memory.Item, tt.items)}
		c := connect(t, overHTTP(t, serve(t, l, Options{})))
		if got := textOf(callTool(t, c, "recall", tt.arguments)); got != tt.want {
			t.Errorf("%s: text %q, want %q", name, got, tt.want)
		}
	}
}

// TestAdviceKeepsToTheBudget: so is the advice on a step that failed.
func TestAdviceKeepsToTheBudget(t *testing.T) {
	l := newLedger()
	l.Answers["RecordStep"] = &memory.StepRecorded{ID: "s-1", SessionID: "mm-20260115-abc", Project: "p1", Timestamp: noon, Advice: longAnswer()}
	c := connect(t, overHTTP(t, serve(t, l, Options{})))
	r := callTool(t, c, "record_step", `{"tool":{"name":"x"},"outcome":{"ok":false,"error":{"message":"m"}}}`)
	text, err := json.Marshal(checkStructured(t, outputSchemas(t, c)["record_step"], r)["advice"])
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 5*700 || strings.Contains(string(text), "the whole") || strings.Count(string(text), `"text":"cut line`) != 5 {
		t.Errorf("the advice takes %d bytes, want five cut lines: %.2000s", len(text), text)
	}
}
