package steptext_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/steptext"
)

func TestFields(t *testing.T) {
	session := memory.Session{Goal: "Run send flow\nsmoke test", FlowTags: []string{"send"}, Tags: []string{"smoke", "ci"}}
	for name, tc := range map[string]struct {
		step memory.StepContent
		want []steptext.Field
	}{
		"a page": {
			memory.StepContent{
				Tool: memory.StepTool{Name: "mm_click", Input: json.RawMessage(`{"timeoutMs":5,"testId":"confirm-button"}`),
					Target: json.RawMessage(`{"testId":"confirm-button"}`)},
				Screen: "confirm-transaction", Labels: []string{"interaction", "confirmation"},
				Outcome: memory.Outcome{Error: &memory.StepError{Code: "MM_TIMEOUT", Message: "no such\x00 element"}},
				Observation: json.RawMessage(`{"state":{"currentScreen":"confirm-transaction","network":"Ganache"},
					"testIds":["send-button",{"testId":"amount","text":"0.1 ETH","visible":true}],
					"a11y":{"nodes":[{"ref":"e1","role":"button","name":"Reject"},{"ref":"e2","role":"button","name":"Reject"}]}}`),
			},
			[]steptext.Field{
				{"tool", "mm_click"}, {"target", `{"testId":"confirm-button"}`}, {"screen", "confirm-transaction"},
				{"error", "MM_TIMEOUT no such element"}, {"goal", "Run send flow smoke test"}, {"flowTags", "send"},
				{"tags", "smoke ci"}, {"labels", "interaction confirmation"}, {"input", "confirm-button"},
				{"testIds", "send-button amount 0.1 ETH"}, {"a11y", "Reject"}, {"observation", "Ganache"},
			},
		},
		"a coding step": {
			memory.StepContent{
				Tool: memory.StepTool{Name: "Bash", Input: json.RawMessage(`{"run_in_background":false,"cwd":"/srv","command":"go test ./..."}`),
					Target: json.RawMessage(`"./..."`)},
				Outcome: memory.Outcome{OK: true}, Observation: json.RawMessage(`"ok  \tgithub.com/x/y\t0.3s\n"`),
			},
			[]steptext.Field{
				{"tool", "Bash"}, {"target", "./..."}, {"goal", "Run send flow smoke test"}, {"flowTags", "send"}, {"tags", "smoke ci"},
				{"input", "go test ./... /srv"}, {"observation", "ok github.com/x/y 0.3s"},
			},
		},
		"data": {
			memory.StepContent{Tool: memory.StepTool{Name: "upload", Input: json.RawMessage(`{"picture":"` + strings.Repeat("QUJD", 100) + `","to":["a","b"]}`)}},
			[]steptext.Field{{"tool", "upload"}, {"goal", "Run send flow smoke test"}, {"flowTags", "send"}, {"tags", "smoke ci"}, {"input", "a b"}},
		},
		"a text without spaces": {
			memory.StepContent{Tool: memory.StepTool{Name: "読む"}, Observation: json.RawMessage(`"` + strings.Repeat("設定を読み込めません。", 8) + `"`)},
			[]steptext.Field{{"tool", "読む"}, {"goal", "Run send flow smoke test"}, {"flowTags", "send"}, {"tags", "smoke ci"}, {"observation", strings.Repeat("設定を読み込めません。", 8)}},
		},
	} {
		got := steptext.Fields(memory.Record{Step: &tc.step}, session)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := steptext.Fields(memory.Record{}, session); got != nil {
		t.Errorf("the fields of no step are %v", got)
	}
}

// TestTextIsBounded: what is most telling is kept when a value is large.
func TestTextIsBounded(t *testing.T) {
	page := `"` + strings.Repeat("käse ", 50_000) + `"`
	r := memory.Record{Step: &memory.StepContent{
		Tool:        memory.StepTool{Name: "fetch", Input: json.RawMessage(`{"content":` + page + `,"url":"https://example.org"}`)},
		Outcome:     memory.Outcome{Error: &memory.StepError{Message: "EACCES " + strings.Repeat("é", 8000)}},
		Observation: json.RawMessage(page),
	}}
	text := steptext.Text(r, memory.Session{Goal: strings.Repeat("ü", 2000), FlowTags: []string{"send"}})
	if len(text) > steptext.Max || len(text) < steptext.Max*9/10 || !utf8.ValidString(text) {
		t.Errorf("the text has %d bytes, valid %v; want nearly %d", len(text), utf8.ValidString(text), steptext.Max)
	}
	for _, want := range []string{"fetch", "EACCES", "send", "käse"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the text", want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add(`{"command":"ls"}`, `{"state":{"currentScreen":"x"},"testIds":["a"],"a11y":{"nodes":[{"name":"b"}]}}`, "goal")
	f.Add(`[[["a",{"b":["c"]}]]]`, `"text"`, "")
	f.Add(`{"a`, `}`, "\xff\x00")
	f.Fuzz(func(t *testing.T, input, observation, goal string) {
		r := memory.Record{Step: &memory.StepContent{
			Tool: memory.StepTool{Name: "t", Input: json.RawMessage(input)}, Observation: json.RawMessage(observation),
		}}
		s := memory.Session{Goal: strings.ToValidUTF8(goal, "")}
		text := steptext.Text(r, s)
		if len(text) > steptext.Max || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			t.Errorf("the text %q is too long, no UTF-8 or holds a NUL", text)
		}
		if again := steptext.Text(r, s); again != text {
			t.Errorf("the text is %q and then %q", text, again)
		}
	})
}
