package recall

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// TestExcerptShowsWhatMatches: of a long line the stretch around the words is
// shown, and what was left out is marked.
func TestExcerptShowsWhatMatches(t *testing.T) {
	line := strings.Repeat("filler text ", 40) + "the needle is here" + strings.Repeat(" more filler", 40)
	got := excerpt(line, 60, lexical.Analyze("needle"), lexical.Analyze)
	if !strings.Contains(got, "needle") || !strings.HasPrefix(got, render.Ellipsis) || !strings.HasSuffix(got, render.Ellipsis) || len(got) > 60 {
		t.Errorf("excerpt of %d bytes: %q", len(got), got)
	}
	if got := excerpt("short needle", 60, lexical.Analyze("needle"), lexical.Analyze); got != "short needle" {
		t.Errorf("what fits is shown as %q", got)
	}
}

// FuzzStepView shows foreign steps: what is shown is valid, on one line, and
// never longer than it may be.
func FuzzStepView(f *testing.F) {
	f.Add("click", `{"testId":"send"}`, `"typed"`, "no such element", `{"state":{"currentScreen":"home"},"testIds":["a"]}`, "send")
	f.Add("Bash", "", `{"command":"npm install","env":[1,null,{"a":true}]}`, "", `"done\nwell"`, "npm done")
	f.Add("ü", `[[[[`, `{"a":`, strings.Repeat("é", 300), strings.Repeat(`"x`, 200), "é")
	f.Fuzz(func(t *testing.T, tool, target, input, failure, observation, query string) {
		tool, failure = strings.ToValidUTF8(tool, ""), strings.ToValidUTF8(failure, "")
		st := &memory.StepContent{
			Tool:    memory.StepTool{Name: tool, Target: json.RawMessage(target), Input: json.RawMessage(input)},
			Outcome: memory.Outcome{OK: failure == "", Error: &memory.StepError{Message: failure}}, Observation: json.RawMessage(observation),
		}
		// Imported values are checked to be JSON; a text that is not must do no harm.
		if !utf8.ValidString(target + input + observation) {
			return
		}
		s := newShelf()
		s.session("sess")
		v := viewer{s: s.service(t), project: "p-own", query: lexical.Analyze(query), sessions: map[string]memory.Session{}}
		view := v.view(memory.Record{ID: "s-1", Kind: memory.Step, Session: "sess", Step: st})
		for what, text := range map[string]string{"snippet": view.Snippet, "line": render.Shorten(render.Step(st), render.StepLine)} {
			if !utf8.ValidString(text) || strings.ContainsAny(text, "\n\r") {
				t.Errorf("the %s is not one valid line: %q", what, text)
			}
		}
		if len(view.Snippet) > stepSnippet {
			t.Errorf("the snippet has %d bytes, want at most %d", len(view.Snippet), stepSnippet)
		}
	})
}
