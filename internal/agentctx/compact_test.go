package agentctx

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// Compaction clears what was come across, and keeps what somebody decided.
func TestCompact(t *testing.T) {
	r := newRig(t)
	r.register(toolbox()...)
	id := r.start("x")
	r.search(id, "open an issue in the repository")
	r.report(id, memory.ReportRequest{UsedTools: []memory.ToolRef{toolRef("github", "create_issue"), toolRef("", "Bash")}, Entities: []memory.Entity{{ID: "12"}, {ID: "13"}}})
	byHand := memory.ContextItem{Ref: memory.Ref{Type: memory.Rule, Name: "style"}, IncludeMode: memory.IncludeManual}
	_, err := r.update(t.Context(), r.projectOf(), id, "", func(wc *memory.WorkingContext, _ *memory.Batch) (bool, error) {
		wc.Turn, wc.Added = 3, []memory.ContextItem{byHand}
		return true, nil
	})
	must(t, err)
	before := r.working(id)
	req := memory.CompactRequest{RequestID: "c-1", Summary: "  Filed the bug as number 12; the password is hunter2. ", KeepTurns: 7, SessionRef: r.which(id)}
	c, err := r.Compact(t.Context(), req)
	must(t, err)
	discovered := len(before.DiscoveredTools)
	if c.Summary != "Filed the bug as number 12; the password is [redacted]." || !c.Redacted || c.KeepTurns != 7 || c.ClearedEntities != 2 ||
		c.ClearedTools != discovered+1 || c.Version != before.Version+1 || c.Model != "" || c.SessionID != id {
		t.Errorf("the answer is %+v", c)
	}
	r.reopen()
	wc := r.working(id)
	if len(wc.DiscoveredTools)+len(wc.UsedTools)+len(wc.Entities)+len(wc.Guided) != 0 || wc.Summary != c.Summary || wc.Compactions != 1 ||
		!wc.CompactedAt.Equal(testTime) || wc.Version != c.Version || wc.Turn != 3 || len(wc.Added) != 1 || wc.Added[0].Ref != byHand.Ref {
		t.Errorf("after it the working context is %+v", wc)
	}
	if again, err := r.Compact(t.Context(), req); err != nil || again.Version != c.Version || again.Summary != c.Summary || r.working(id).Compactions != 1 {
		t.Errorf("repeated it is %+v, %v", again, err)
	}
	next, err := r.Compact(t.Context(), memory.CompactRequest{Summary: "Nothing since.", SessionRef: r.which(id)})
	if err != nil || next.Version != c.Version+1 || next.KeepTurns != memory.DefaultKeepTurns {
		t.Errorf("the next one is %+v, %v; want version %d, %d turns", next, err, c.Version+1, memory.DefaultKeepTurns)
	}
}

// A summary that cannot be kept changes nothing.
func TestCompactRefuses(t *testing.T) {
	r := newRig(t)
	entries := toolbox()
	entries[5].Enabled = new(false) // forecast
	r.register(entries...)
	must(t, r.catalogue.RegisterOwn(t.Context(), []memory.CatalogueEntry{tool("recalld", "search_tools", "Find tools.")}))
	id := r.start("x")
	r.report(id, memory.ReportRequest{UsedTools: []memory.ToolRef{toolRef("", "TodoWrite"), toolRef("gone", "old_tool")}})
	before := string(r.stored(id))
	for summary, want := range map[string]string{
		"Used create_issue, then github:merge_pull_request.": `it names "create_issue", "github:merge_pull_request"`,
		"With `forecast`.":           `"forecast"`,
		"With search_tools.":         `"search_tools"`,
		"With TodoWrite.":            `"TodoWrite"`,
		"With old_tool.":             `"old_tool"`,
		strings.Repeat("abc ", 1751): "2001 tokens are too many (limit: at most 2000 tokens)",
	} {
		_, err := r.Compact(t.Context(), memory.CompactRequest{Summary: summary, SessionRef: r.which(id)})
		if memory.CodeOf(err) != memory.CodeInvalidInput || !strings.Contains(err.Error(), want) || memory.AsError(err).Field != "summary" {
			t.Errorf("%.60q: %v, want %s", summary, err, want)
		}
	}
	_, err := r.Compact(t.Context(), memory.CompactRequest{Transcript: "x", SessionRef: r.which(id)})
	if e := memory.AsError(err); e.Code != memory.CodeUnavailable || !strings.Contains(e.Hint, "context.summary_model") {
		t.Errorf("without a model: %v (%s)", err, e.Hint)
	}
	if after := string(r.stored(id)); after != before {
		t.Errorf("a refused compaction made of\n%s\n%s", before, after)
	}
}

// chat is a chat model that answers in turn and remembers what it was asked.
type chat struct {
	answers []func() (string, error)
	prompts []string
}

func (c *chat) Summarize(_ context.Context, prompt string) (string, string, error) {
	c.prompts = append(c.prompts, prompt)
	text, err := c.answers[(len(c.prompts)-1)%len(c.answers)]()
	return text, "tiny-chat", err
}

func says(text string) func() (string, error) { return func() (string, error) { return text, nil } }

func TestCompactWithModel(t *testing.T) {
	long := strings.Repeat("word ", 2000)
	const good = "Continuing our conversation about bugs. Here's where we are: number 12 is open."
	for name, c := range map[string]struct {
		answers []func() (string, error)
		asked   int
		code    memory.Code // empty: it is done
		says    string      // in the error, or in the last prompt
	}{
		"at once":           {[]func() (string, error){says(" " + good + " hunter2\n")}, 1, "", ""},
		"named a tool":      {[]func() (string, error){says("create_issue made 12."), says(good + " hunter2")}, 2, "", `it names "create_issue"`},
		"too long":          {[]func() (string, error){says(long), says(good + " hunter2")}, 2, "", "tokens are too many"},
		"named a tool more": {[]func() (string, error){says("create_issue made 12.")}, 2, memory.CodeInvalidInput, `tiny-chat wrote it twice so that it cannot be kept: it names "create_issue"`},
		"nothing":           {[]func() (string, error){says(" ")}, 1, memory.CodeUnavailable, "it wrote nothing"},
		"down":              {[]func() (string, error){func() (string, error) { return "", errors.New("connection refused") }}, 1, memory.CodeUnavailable, "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			model := &chat{answers: c.answers}
			r := newRig(t, func(_ *rig, o *ContextOptions) { o.Summarizer = model })
			r.register(toolbox()...)
			id := r.start("file the bugs")
			r.report(id, memory.ReportRequest{Entities: []memory.Entity{{ID: "12", Type: "issue", Name: "Login fails"}}})
			before := string(r.stored(id))
			got, err := r.Compact(t.Context(), memory.CompactRequest{Transcript: "user: the password is hunter2", SessionRef: r.which(id)})
			if len(model.prompts) != c.asked {
				t.Errorf("the model was asked %d times, want %d", len(model.prompts), c.asked)
			}
			for _, p := range model.prompts {
				if strings.Contains(p, "hunter2") {
					t.Error("the model was told a secret")
				}
			}
			if c.code != "" {
				if memory.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) || string(r.stored(id)) != before {
					t.Errorf("it ended with %v, want %s and nothing changed", err, c.says)
				}
				return
			}
			must(t, err)
			if got.Summary != good+" [redacted]" || got.Model != "tiny-chat" || got.ClearedEntities != 1 {
				t.Errorf("the answer is %+v", got)
			}
			if last := model.prompts[len(model.prompts)-1]; !strings.Contains(last, c.says) {
				t.Errorf("the model was asked\n%s\nwithout %q", last, c.says)
			}
		})
	}
}

// What is reported while the model writes is not in the summary, and stays.
func TestCompactKeepsWhatTheModelDidNotSee(t *testing.T) {
	model := &chat{}
	r := newRig(t, func(_ *rig, o *ContextOptions) { o.Summarizer = model })
	id := r.start("x")
	r.report(id, memory.ReportRequest{Entities: []memory.Entity{{ID: "seen"}, {ID: "changed"}}})
	model.answers = []func() (string, error){func() (string, error) {
		r.report(id, memory.ReportRequest{Entities: []memory.Entity{{ID: "late"}, {ID: "changed", Name: "now"}}})
		return "All is well.", nil
	}}
	c, err := r.Compact(t.Context(), memory.CompactRequest{SessionRef: r.which(id)})
	must(t, err)
	raw, _ := json.Marshal(r.working(id).Entities)
	if want := `[{"id":"changed","name":"now"},{"id":"late"}]`; string(raw) != want || c.ClearedEntities != 1 {
		t.Errorf("kept are %s, cleared %d; want %s and 1", raw, c.ClearedEntities, want)
	}
}

// A session that ends the caller's patience ends the compaction with it.
func TestCompactIsGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	model := &chat{answers: []func() (string, error){func() (string, error) { cancel(); return "", context.Canceled }}}
	r := newRig(t, func(_ *rig, o *ContextOptions) { o.Summarizer = model })
	id := r.start("x")
	if _, err := r.Compact(ctx, memory.CompactRequest{SessionRef: r.which(id)}); !errors.Is(err, context.Canceled) || r.stored(id) != nil {
		t.Errorf("it ended with %v and stored %s", err, r.stored(id))
	}
}

func TestPrompt(t *testing.T) {
	steps := &memory.Summary{Recipe: []memory.RecipeStep{{StepNumber: 1, Tool: "read_file", Notes: "src/a.go"}, {StepNumber: 2, Tool: "Bash"}},
		Failures: []memory.Failure{{StepNumber: 2, Tool: "Bash", Error: "exit 1"}, {StepNumber: 1, Tool: "Bash", Error: "x", RecoveredBy: 3}}}
	got := strings.TrimPrefix(prompt(summaryInput{
		goal: "ship it", before: "It began.", steps: steps, entities: []memory.Entity{{ID: "12", Type: "issue", Name: "Login"}, {ID: "b"}}, transcript: "user: go on",
	}), instructions)
	want := `
# Goal
ship it

# Before this conversation
It began.

# Steps that were taken
1. src/a.go
Step 2 failed and was not recovered: exit 1

# What it dealt with
- issue 12 Login
- b

# Conversation
user: go on
`
	if got != want {
		t.Errorf("the material is written as\n%s, want\n%s", got, want)
	}
	if got := prompt(summaryInput{steps: &memory.Summary{}}); got != instructions {
		t.Errorf("without material the prompt is\n%s", got)
	}
	for _, asked := range []string{
		"Continuing our conversation about [topic]. Here's where we are:", "accomplished", "current state", "half done", "user prefers",
		"options were rejected", "comes next", "questions are open", "technical ids", "states of errors",
	} {
		if !strings.Contains(instructions, asked) {
			t.Errorf("the instructions do not ask for %q", asked)
		}
	}
}

func TestNewest(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 3, ""}, {"abc", 3, "abc"}, {"äöü", 3, "äöü"},
		{"abcdef", 3, "[what came before is left out]\ndef"}, {"ab\ncdef\ngh", 8, "[what came before is left out]\ncdef\ngh"},
		{"x\xff\xffä", 2, "[what came before is left out]\n\xffä"}, {"abcdef\n", 3, "[what came before is left out]\nef\n"},
	} {
		if got := newest(c.text, c.most); got != c.want {
			t.Errorf("newest(%q, %d) = %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

func TestActive(t *testing.T) {
	entry := func(name string, core, on bool) memory.EntryState {
		e := tool("s", name, "")
		e.Core = core
		return memory.EntryState{CatalogueEntry: e, On: on}
	}
	rule := memory.EntryState{CatalogueEntry: memory.CatalogueEntry{Ref: memory.Ref{Type: memory.Rule, Name: "r"}}, On: true}
	items := []memory.EntryState{entry("found", false, true), rule, entry("core", true, true), entry("off", true, false), entry("idle", false, true), entry("stopped", false, false)}
	wc := newWorkingContext("x")
	wc.DiscoveredTools = []memory.ToolRef{toolRef("s", "gone"), toolRef("s", "stopped"), toolRef("s", "found"), toolRef("s", "core")}
	want := []memory.ToolRef{toolRef("s", "core"), toolRef("s", "found")}
	if got := active(items, wc); !slices.Equal(got, want) {
		t.Errorf("active are %v, want %v", got, want)
	}
}

// The errors of a summary name few tools of many.
func TestCheckSummaryNamesFew(t *testing.T) {
	var tools []memory.ToolRef
	var words []string
	for i := range 12 {
		tools = append(tools, toolRef("s", fmt.Sprintf("tool_%d", i)))
		words = append(words, tools[i].ToolName)
	}
	err := checkSummary(strings.Join(words, " "), tools)
	if err == nil || !strings.Contains(err.Error(), `"tool_9" and 2 more`) || strings.Contains(err.Error(), "tool_10") {
		t.Errorf("the error is %v", err)
	}
}

// TestRepeatedCompactionAsksNoModel: the summary of a repeated request is there, also when the model
// has gone since.
func TestRepeatedCompactionAsksNoModel(t *testing.T) {
	gone := func() (string, error) { return "", errors.New("connection refused") }
	model := &chat{answers: []func() (string, error){gone, says("Twelve bugs were filed."), gone}}
	r := newRig(t, func(_ *rig, o *ContextOptions) { o.Summarizer = model })
	req := memory.CompactRequest{RequestID: "c-1", Transcript: "x", SessionRef: r.which(r.start("x"))}
	if _, err := r.Compact(t.Context(), req); memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("without a model: %v, want it unavailable", err)
	}
	first, err := r.Compact(t.Context(), req)
	must(t, err)
	again, err := r.Compact(t.Context(), req)
	if err != nil || again.Summary != first.Summary || again.Version != first.Version || len(model.prompts) != 2 {
		t.Errorf("again: %+v, %v after %d prompts; want %+v after 2", again, err, len(model.prompts), first)
	}
}
