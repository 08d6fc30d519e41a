package recall

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// used makes a step of a tool on a target; an error is "CODE: message".
func used(target, failure string, change ...func(*memory.StepContent)) func(*memory.Record) {
	return func(r *memory.Record) {
		r.Step.Tool.Target, _ = json.Marshal(target)
		if failure != "" {
			code, message, _ := strings.Cut(failure, ": ")
			r.Step.Outcome = memory.Outcome{Error: &memory.StepError{Code: code, Message: message}}
		}
		for _, c := range change {
			c(r.Step)
		}
	}
}

func on(screen string, labels ...string) func(*memory.StepContent) {
	return func(st *memory.StepContent) { st.Screen, st.Labels = screen, labels }
}

func TestSummary(t *testing.T) {
	s := newShelf()
	s.session("sess", func(x *memory.Session) { x.Goal = "send hunter2 ether"; x.EndedAt = now })
	s.session("noise")
	s.did("sess", "navigate", used("home", "", on("home", "navigation")))
	s.did("noise", "click", used("send", ""))
	s.did("sess", "click", used("confirm", "E_GONE: the button hunter2 is gone", on("send", "interaction", "error-recovery")))
	s.did("sess", "describe", used("page", "", on("home", "discovery")))
	s.did("sess", "click", used("other", "", on("", "interaction")))
	s.did("sess", "click", used("confirm", "", on("done", "interaction", "confirmation")))
	s.did("sess", "type", used("amount", "E_BAD: not a number"))
	s.did("sess", "type", used("address", ""))
	s.did("sess", "sign", used("message", "E_NO: refused"))
	s.did("sess", "sign", used("message", "E_NO: refused"))
	s.did("sess", "sign", used("message", ""))
	ask := func() *memory.Summary {
		sum, err := s.service(t, func(o *Options) {
			o.Redact = func(text string) (string, int) { return strings.ReplaceAll(text, "hunter2", "[redacted]"), 0 }
		}).SummarizeSession(t.Context(), memory.SummarizeRequest{Scope: scoped("sess")})
		if err != nil {
			t.Fatalf("summarize: %v", err)
		}
		return sum
	}
	want := &memory.Summary{
		SessionID: "sess", StepCount: 10, Goal: "send [redacted] ether", CreatedAt: s.known[0].CreatedAt, EndedAt: now,
		Recipe: []memory.RecipeStep{
			{StepNumber: 1, Tool: "navigate", Notes: "home → ok (screen home)"},
			{StepNumber: 2, Tool: "click", Notes: "confirm → failed: E_GONE: the button [redacted] is gone (screen send)"},
			{StepNumber: 3, Tool: "describe", Notes: "page → ok (screen home)"},
			{StepNumber: 4, Tool: "click", Notes: "other → ok"},
			{StepNumber: 5, Tool: "click", Notes: "confirm → ok (screen done)"},
			{StepNumber: 6, Tool: "type", Notes: "amount → failed: E_BAD: not a number"},
			{StepNumber: 7, Tool: "type", Notes: "address → ok"},
			{StepNumber: 8, Tool: "sign", Notes: "message → failed: E_NO: refused"},
			{StepNumber: 9, Tool: "sign", Notes: "message → failed: E_NO: refused"},
			{StepNumber: 10, Tool: "sign", Notes: "message → ok"},
		},
		Labels:  map[string]int{"navigation": 1, "interaction": 3, "error-recovery": 1, "discovery": 1, "confirmation": 1},
		Screens: []string{"home", "send", "done"},
		Failures: []memory.Failure{
			// The same tool on the same thing, though the tool succeeded before on another.
			{StepNumber: 2, Tool: "click", Error: "E_GONE: the button [redacted] is gone", RecoveredBy: 5,
				Recovery: "3. describe page → ok (screen home); 4. click other → ok; 5. click confirm → ok (screen done)"},
			// The same tool on another thing says nothing.
			{StepNumber: 6, Tool: "type", Error: "E_BAD: not a number"},
			// Another attempt that failed recovered nothing.
			{StepNumber: 8, Tool: "sign", Error: "E_NO: refused", RecoveredBy: 10, Recovery: "10. sign message → ok"},
			{StepNumber: 9, Tool: "sign", Error: "E_NO: refused", RecoveredBy: 10, Recovery: "10. sign message → ok"},
		},
	}
	for range 5 { // always the same
		if diff := cmp.Diff(want, ask()); diff != "" {
			t.Fatalf("summary (-want +got):\n%s", diff)
		}
	}
}

// TestSummaryOfNothing: lists are there, though empty, and a session that is not
// known is an error.
func TestSummaryOfNothing(t *testing.T) {
	s := newShelf()
	s.session("quiet")
	sum, err := s.service(t).SummarizeSession(t.Context(), memory.SummarizeRequest{Caller: memory.Caller{Session: "quiet"}})
	if err != nil {
		t.Fatalf("summarize: %v", err)
	}
	raw, err := json.Marshal(sum)
	if err != nil || strings.Contains(string(raw), "null") || sum.StepCount != 0 || sum.Goal != "goal of quiet" {
		t.Errorf("a session without steps is summarised as %s, %v", raw, err)
	}
	for name, test := range map[string]struct {
		scope *memory.Scope
		code  memory.Code
	}{
		"all":        {&memory.Scope{Name: "all"}, memory.CodeInvalidInput},
		"unknown":    {scoped("nobody"), memory.CodeNotFound},
		"no current": {nil, memory.CodeInvalidInput},
	} {
		if _, err := s.service(t).SummarizeSession(t.Context(), memory.SummarizeRequest{Scope: test.scope}); memory.CodeOf(err) != test.code {
			t.Errorf("%s: %v, want code %s", name, err, test.code)
		}
	}
}

// TestSummaryIsBounded: counts are of all, lists stop.
func TestSummaryIsBounded(t *testing.T) {
	s := newShelf()
	s.session("long")
	for i := range maxRecipe + 1 {
		failure := ""
		if i < maxFailures+1 {
			failure = "E: " + strings.Repeat("é", 500)
		}
		s.did("long", "click", used("t", failure, on(fmt.Sprint("screen", i), fmt.Sprint("label", i), "every")))
	}
	sum, err := s.service(t).SummarizeSession(t.Context(), memory.SummarizeRequest{Scope: scoped("long")})
	if err != nil {
		t.Fatalf("summarize: %v", err)
	}
	if sum.StepCount != maxRecipe+1 || len(sum.Recipe) != maxRecipe || len(sum.Failures) != maxFailures || len(sum.Screens) != maxScreens || len(sum.Labels) != maxLabels {
		t.Errorf("%d steps, %d in the recipe, %d failures, %d screens, %d labels", sum.StepCount, len(sum.Recipe), len(sum.Failures), len(sum.Screens), len(sum.Labels))
	}
	if sum.OmittedSteps != 1 {
		t.Errorf("the recipe says that it leaves out %d steps, want one", sum.OmittedSteps)
	}
	if sum.Labels["every"] != maxRecipe+1 {
		t.Errorf("the label of every step is counted %d times, want %d", sum.Labels["every"], maxRecipe+1)
	}
	for _, f := range sum.Failures {
		if len(f.Error) > notesBytes || len(f.Recovery) > (betweenSteps+2)*notesBytes || strings.HasPrefix(f.Recovery, render.Ellipsis) != (f.StepNumber < 96) {
			t.Errorf("failure %d is told in %d and %d bytes: %q", f.StepNumber, len(f.Error), len(f.Recovery), f.Recovery)
		}
	}
}

func TestOutline(t *testing.T) {
	ok := memory.Outcome{OK: true}
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	for want, st := range map[string]memory.StepContent{
		"→ ok": {Outcome: ok},
		"npm install, /repo → failed: 1: EACCES": {Tool: memory.StepTool{Input: raw(`{"command":"npm  install","cwd":"/repo","env":null}`)}, Outcome: memory.Outcome{Error: &memory.StepError{Code: "1", Message: "EACCES"}}},
		"button → failed":                        {Tool: memory.StepTool{Target: raw(`"button"`), Input: raw(`"typed"`)}},
		"a, 1, 2.50, true, b → ok: done":         {Tool: memory.StepTool{Target: raw(`{"x":["a",1,2.50],"y":{"z":true,"w":"b"}}`)}, Outcome: ok, Observation: raw(`"done"`)},
		"→ ok (screen home)":                     {Outcome: ok, Screen: "home", Observation: raw(`{"state":{"currentScreen":"home"}}`)},
		"→ ok: line one line two":                {Outcome: ok, Observation: raw(`"line one\nline two"`)},
		"broken → ok":                            {Tool: memory.StepTool{Target: raw(`["broken", {`)}, Outcome: ok},
	} {
		if got := render.StepOutline(&st); got != want {
			t.Errorf("outline is %q, want %q", got, want)
		}
	}
}

func TestShorten(t *testing.T) {
	for _, test := range []struct {
		line string
		n    int
		want string
	}{
		{"short", 5, "short"},
		{"one two three", 12, "one two…"},
		{"one two three", 10, "one two…"},
		{"First sentence. Second one here", 24, "First sentence.…"},
		{"A. Second sentence here", 20, "A. Second…"},
		{"éééééééééé", 10, "ééé…"},
		{"one, two", 7, "one…"},
		{"a " + strings.Repeat("b", 40), 20, "a " + strings.Repeat("b", 15) + "…"},
	} {
		if got := render.Shorten(test.line, test.n); got != test.want || len(got) > test.n {
			t.Errorf("render.Shorten(%q, %d) = %q, want %q", test.line, test.n, got, test.want)
		}
	}
}
