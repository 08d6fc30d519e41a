package mcp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
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

// TestAnswerIsItsText: nothing stands beside the text of an answer, but with the format
// JSON, whose text and structured content are one.
func TestAnswerIsItsText(t *testing.T) {
	l := newLedger()
	c := connect(t, overHTTP(t, serve(t, l, Options{})))
	for _, tt := range []struct{ arguments, text, content string }{
		{`{"query":"q"}`, "1. what was learned\n", ""},
		{`{"query":"q","format":"markdown"}`, "1. what was learned", ""},
		{`{"query":"q","format":"json"}`, `{"notice":"n","items":[]}`, `{"notice":"n","items":[]}`},
		{`{"query":"q","format":"json"}`, "no JSON", ""},
	} {
		l.Answers[service.Recall.Name] = &memory.RecallResponse{Project: "p1", Receipt: "r-1", Text: tt.text, Items: make([]memory.Item, 1)}
		r := callTool(t, c, "recall", tt.arguments)
		content := ""
		if r.StructuredContent != nil {
			encoded, err := json.Marshal(r.StructuredContent)
			if err != nil {
				t.Fatal(err)
			}
			content = string(encoded)
		}
		var same bool
		if tt.content != "" {
			var got, want any
			same = json.Unmarshal([]byte(content), &got) == nil && json.Unmarshal([]byte(tt.content), &want) == nil && reflect.DeepEqual(got, want)
		}
		if text := textOf(r); text != strings.TrimSpace(tt.text) || content != tt.content && !same {
			t.Errorf("%s: %q beside %q, want %q beside %q", tt.arguments, content, text, tt.content, tt.text)
		}
	}
}

// TestStructuredContentKeepsToTheBudget: with the setting a client may hand its model the
// structured content in the place of the text.
func TestStructuredContentKeepsToTheBudget(t *testing.T) {
	l := newLedger()
	l.Answers[service.Recall.Name] = longAnswer()
	c := connect(t, overHTTP(t, serve(t, l, Options{StructuredContent: true})))
	schema := outputSchemas(t, c)["recall"]
	for _, tt := range []struct {
		arguments string
		most      int // tokens
		lines     int
		explained bool
	}{
		{`{"query":"q","max_tokens":50}`, 150, 0, false}, // what an answer without items takes
		{`{"query":"q","max_tokens":500}`, 500, 2, false},
		{`{"query":"q"}`, memory.DefaultTokens, 5, false},
		{`{"query":"q","format":"markdown","explain":true,"max_tokens":4000}`, 4000, 5, true},
		{`{"query":"q","format":"markdown","explain":true}`, memory.DefaultTokens, 5, false},
		{`{"query":"q","format":"json","max_tokens":8000}`, 8000, 5, false},
	} {
		content := checkStructured(t, schema, callTool(t, c, "recall", tt.arguments))
		encoded, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		text := string(encoded)
		if n := render.Tokens(text); n > tt.most {
			t.Errorf("%s: %d tokens of structured content, want at most %d", tt.arguments, n, tt.most)
		}
		if n := strings.Count(text, `"text":"cut line`); n != tt.lines || strings.Count(text, `"timestamp"`) != n {
			t.Errorf("%s: %d lines of lessons, want %d, each with its time", tt.arguments, n, tt.lines)
		}
		// What is dropped is withheld, not missing without a word; other candidates are told to explain.
		withheld := content["withheld"].([]any)
		if dropped := len(longAnswer().Items) - tt.lines; dropped > 0 {
			if len(withheld) != 1 || withheld[0].(map[string]any)["id"] != fmt.Sprintf("l-%d", tt.lines) || withheld[0].(map[string]any)["reason"] != string(memory.OverBudget) {
				t.Errorf("%s: withheld %v, want the first item without room", tt.arguments, withheld)
			}
		} else if (len(withheld) > 0) != tt.explained || strings.Contains(text, "rank_factors") != tt.explained {
			t.Errorf("%s: %d withheld, want ranks and these: %v", tt.arguments, len(withheld), tt.explained)
		}
		for _, word := range []string{"the whole lesson", "the whole context", `"command"`} {
			if strings.Contains(text, word) {
				t.Errorf("%s: the structured content has %s of a lesson that was cut", tt.arguments, word)
			}
		}
	}
}

// TestAdviceKeepsToTheBudget: so is the advice on a step that failed.
func TestAdviceKeepsToTheBudget(t *testing.T) {
	l := newLedger()
	l.Answers[service.RecordStep.Name] = &memory.StepRecorded{ID: "s-1", SessionID: "mm-20260115-abc", Project: "p1", Timestamp: noon, Advice: longAnswer()}
	c := connect(t, overHTTP(t, serve(t, l, Options{StructuredContent: true})))
	r := callTool(t, c, "record_step", `{"tool":{"name":"x"},"outcome":{"ok":false,"error":{"message":"m"}}}`)
	text, err := json.Marshal(checkStructured(t, outputSchemas(t, c)["record_step"], r)["advice"])
	if err != nil {
		t.Fatal(err)
	}
	if render.Tokens(string(text)) > memory.AdviceTokens || strings.Contains(string(text), "the whole") || strings.Count(string(text), `"text":"cut line`) != 1 {
		t.Errorf("the advice takes %d bytes, want at most %d with the one cut line that fits: %.2000s", len(text), memory.AdviceTokens*7/2, text)
	}
}

// TestLineOfALesson: a lesson that may be meant has its line, for it has no fields.
func TestLineOfALesson(t *testing.T) {
	l := newLedger()
	l.Answers[service.Recall.Name] = &memory.RecallResponse{Project: "p1", Receipt: "r-1",
		Items: []memory.Item{{ID: "l-1", Kind: memory.Lesson, Strength: memory.Maybe, Text: "about npm"}}}
	c := connect(t, overHTTP(t, serve(t, l, Options{StructuredContent: true})))
	content := checkStructured(t, outputSchemas(t, c)["recall"], callTool(t, c, "recall", `{"query":"q"}`))
	if item := content["items"].([]any)[0].(map[string]any); item["text"] != "about npm" || item["strength"] != "maybe" {
		t.Errorf("the item is %v, want its line", item)
	}
}

// TestLessonFieldsInEveryForm: a lesson that is not cut has its fields, whatever the format.
func TestLessonFieldsInEveryForm(t *testing.T) {
	for _, format := range []memory.Format{memory.FormatText, memory.FormatMarkdown, memory.FormatJSON} {
		a := &memory.RecallResponse{Project: "p1", Receipt: "r-1"}
		for i := range 5 {
			item := fullItem(fmt.Sprintf("the whole lesson %d ", i) + strings.Repeat("word ", 40))
			item.Kind, item.Text = memory.Lesson, item.Lesson
			a.Items = append(a.Items, item)
		}
		l := newLedger()
		l.Answers[service.Recall.Name] = a
		c := connect(t, overHTTP(t, serve(t, l, Options{StructuredContent: true})))
		content := checkStructured(t, outputSchemas(t, c)["recall"], callTool(t, c, "recall", fmt.Sprintf(`{"query":"q","format":%q}`, format)))
		items := content["items"].([]any)
		for _, item := range items {
			for _, field := range []string{"lesson", "context", "timestamp", "success_rate", "command"} {
				if item.(map[string]any)[field] == nil {
					t.Errorf("%s: the structured item %v lacks %s", format, item, field)
				}
			}
		}
		if len(items) != 5 {
			t.Errorf("%s: %d items, want 5", format, len(items))
		}
	}
}
