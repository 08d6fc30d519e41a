package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// longAnswer has five long lessons, cut in their text, and much that was withheld.
func longAnswer() *memory.RecallResponse {
	a := &memory.RecallResponse{Project: "p1", ProjectName: "demo", Receipt: "r-1", Text: "1. what was learned", Tokens: 440}
	for i := range 5 {
		item := fullItem("the whole lesson " + strings.Repeat("word ", 700))
		item.ID, item.Text, item.Context = fmt.Sprintf("l-%d", i), "cut "+strings.Repeat("line ", 50)+"… (recall ids: l-0)", "the whole context "+strings.Repeat("c ", 500)
		item.Cut = true
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
	l.Answers[service.Recall.Name] = longAnswer()
	c := connect(t, overHTTP(t, serve(t, l, Options{})))
	schema := outputSchemas(t, c)["recall"]
	for _, tt := range []struct {
		arguments string
		most      int // bytes
		lines     int
		whole     bool
	}{
		{`{"query":"q","max_tokens":500}`, 500 * 7 / 2, 2, false}, // five take more
		{`{"query":"q"}`, memory.DefaultTokens * 7 / 2, 5, false},
		{`{"query":"q","format":"markdown","explain":true}`, memory.DefaultTokens * 7 / 2, 5, false},
		{`{"query":"q","format":"json","max_tokens":8000}`, 8000 * 7 / 2, 5, true},
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
		if n := strings.Count(string(text), `"text":"cut line`); n != tt.lines || strings.Count(string(text), `"timestamp"`) != n {
			t.Errorf("%s: %d lines of lessons, want %d, each with its time", tt.arguments, n, tt.lines)
		}
		for _, word := range []string{"the whole lesson", "the whole context", `"command"`} {
			if strings.Contains(string(text), word) != tt.whole {
				t.Errorf("%s: the structured content has %s, want it: %v", tt.arguments, word, tt.whole)
			}
		}
	}
	few := longAnswer()
	few.Items = few.Items[:2]
	l.Answers[service.Recall.Name] = few
	wide := callTool(t, c, "recall", `{"query":"q","max_tokens":8000}`)
	if withheld := checkStructured(t, schema, wide)["withheld"].([]any); len(withheld) != 50 {
		t.Errorf("%d withheld are told where there is room, want all 50", len(withheld))
	}
}

// TestStructuredContentTellsWhatItDrops: an item of the text that has no room in the
// structured content is withheld there, not missing without a word.
func TestStructuredContentTellsWhatItDrops(t *testing.T) {
	l := newLedger()
	l.Answers[service.Recall.Name] = longAnswer()
	c := connect(t, overHTTP(t, serve(t, l, Options{})))
	schema := outputSchemas(t, c)["recall"]
	first := longAnswer().Items[0]
	content := checkStructured(t, schema, callTool(t, c, "recall", `{"query":"q","max_tokens":50}`))
	items, withheld := content["items"].([]any), content["withheld"].([]any)
	if len(items) != 0 || len(withheld) != 1 {
		t.Fatalf("in 50 tokens: items %v, withheld %v; want none, and one withheld", items, withheld)
	}
	if w := withheld[0].(map[string]any); w["id"] != first.ID || w["reason"] != string(memory.OverBudget) {
		t.Errorf("withheld %v, want %s as %s", w, first.ID, memory.OverBudget)
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
		l.Answers[service.Recall.Name] = &memory.RecallResponse{Project: "p1", Receipt: "r-1", Text: tt.text, Items: make([]memory.Item, tt.items)}
		c := connect(t, overHTTP(t, serve(t, l, Options{})))
		if got := textOf(callTool(t, c, "recall", tt.arguments)); got != tt.want {
			t.Errorf("%s: text %q, want %q", name, got, tt.want)
		}
	}
}

// TestAdviceKeepsToTheBudget: so is the advice on a step that failed.
func TestAdviceKeepsToTheBudget(t *testing.T) {
	l := newLedger()
	l.Answers[service.RecordStep.Name] = &memory.StepRecorded{ID: "s-1", SessionID: "mm-20260115-abc", Project: "p1", Timestamp: noon, Advice: longAnswer()}
	c := connect(t, overHTTP(t, serve(t, l, Options{})))
	r := callTool(t, c, "record_step", `{"tool":{"name":"x"},"outcome":{"ok":false,"error":{"message":"m"}}}`)
	text, err := json.Marshal(checkStructured(t, outputSchemas(t, c)["record_step"], r)["advice"])
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > memory.AdviceTokens*7/2 || strings.Contains(string(text), "the whole") || strings.Count(string(text), `"text":"cut line`) != 2 {
		t.Errorf("the advice takes %d bytes, want at most %d with the cut lines that fit: %.2000s", len(text), memory.AdviceTokens*7/2, text)
	}
}

// TestLessonFieldsInEveryForm: a lesson's fields are there whatever the format; its line
// gives way to them where room is short.
func TestLessonFieldsInEveryForm(t *testing.T) {
	for _, format := range []memory.Format{memory.FormatText, memory.FormatMarkdown, memory.FormatJSON} {
		a := &memory.RecallResponse{Project: "p1", Receipt: "r-1"}
		for i := range 5 {
			item := fullItem(fmt.Sprintf("the whole lesson %d ", i) + strings.Repeat("word ", 40))
			item.RankFactors, item.Kind, item.Text = nil, memory.Lesson, item.Lesson
			a.Items = append(a.Items, item)
		}
		l := newLedger()
		l.Answers[service.Recall.Name] = a
		c := connect(t, overHTTP(t, serve(t, l, Options{})))
		content := checkStructured(t, outputSchemas(t, c)["recall"], callTool(t, c, "recall", fmt.Sprintf(`{"query":"q","format":%q}`, format)))
		items := content["items"].([]any)
		for _, item := range items {
			for _, field := range []string{"lesson", "context", "timestamp", "success_rate", "command"} {
				if item.(map[string]any)[field] == nil {
					t.Errorf("%s: the structured item %v lacks %s", format, item, field)
				}
			}
		}
		if text, err := json.Marshal(content); err != nil || len(items) != 5 || len(text) > memory.DefaultTokens*7/2 {
			t.Errorf("%s: %d items in %d bytes, %v; want 5 in at most %d", format, len(items), len(text), err, memory.DefaultTokens*7/2)
		}
	}
}
