package daemon

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// TestHistoryOverRealPaths writes what an agent does through the write path and
// looks back at it through the read path: steps and lessons of sessions, the same
// error from another machine, and noise that every filter has to keep out.
func TestHistoryOverRealPaths(t *testing.T) {
	core := openQuiet(t)
	ctx := t.Context()
	agent := memory.Caller{Dir: t.TempDir(), Client: "claude-code", Session: "mm-send-smoke"}
	start := func(id, flow, tag, goal string) {
		t.Helper()
		_, err := core.Ingest.StartSession(ctx, memory.StartSessionRequest{
			SessionID: id, Goal: goal, FlowTags: []string{flow}, Tags: []string{tag}, Caller: agent,
		})
		if err != nil {
			t.Fatalf("start %s: %v", id, err)
		}
	}
	at := time.Now()
	step := func(session, tool, target, failure string) {
		t.Helper()
		at = at.Add(time.Second)
		req := memory.RecordStepRequest{SessionID: session, Timestamp: at, Tool: memory.StepTool{Name: tool}, Caller: agent}
		req.Tool.Target, _ = json.Marshal(target)
		req.Observation = json.RawMessage(`{"state":{"currentScreen":"` + flowScreen[session] + `"}}`)
		if req.Outcome.OK = failure == ""; failure != "" {
			req.Outcome.Error = &memory.StepError{Message: failure}
		}
		if _, err := core.Ingest.RecordStep(ctx, req); err != nil {
			t.Fatalf("record %s: %v", tool, err)
		}
	}
	const failure = "npm ERR! Error: EACCES: permission denied, mkdir '/usr/lib/node_modules/left-pad'"
	start("mm-noise-swap", "swap", "nightly", "swap tokens")
	step("mm-noise-swap", "mm_click", "confirm-button", "")
	start("mm-send-smoke", "send", "smoke", "run the send flow")
	step("mm-send-smoke", "mm_navigate", "send page", "")
	step("mm-send-smoke", "mm_click", "confirm-button", "element is covered by a dialog")
	step("mm-send-smoke", "mm_click", "confirm-button", "")
	step("mm-send-smoke", "Bash", "npm install", failure)
	lesson, err := core.Ingest.Remember(ctx, memory.RememberRequest{
		Context: "npm install -g as a user: " + failure, Lesson: "point the prefix at a folder of your own", Tags: []string{"npm"}, Caller: agent,
	})
	if err != nil {
		t.Fatalf("remember: %v", err)
	}

	// Another session asks.
	other := memory.Caller{Dir: agent.Dir, Client: "codex"}
	send := &memory.StepFilters{FlowTag: new("send")}
	for name, test := range map[string]struct {
		filters  *memory.StepFilters
		sessions []string
	}{
		"nothing narrows":  {nil, []string{"mm-noise-swap", "mm-send-smoke"}},
		"flow tag":         {send, []string{"mm-send-smoke"}},
		"tag":              {&memory.StepFilters{Tag: new("smoke")}, []string{"mm-send-smoke"}},
		"screen":           {&memory.StepFilters{Screen: new("send")}, []string{"mm-send-smoke"}},
		"hours":            {&memory.StepFilters{SinceHours: new(1)}, []string{"mm-noise-swap", "mm-send-smoke"}},
		"a tag of lessons": {&memory.StepFilters{Tag: new("npm")}, nil},
	} {
		m, err := core.Recall.SearchSteps(ctx, memory.SearchStepsRequest{Query: "confirm button", Filters: test.filters, Caller: other})
		if err != nil {
			t.Fatalf("%s: search: %v", name, err)
		}
		var got []string
		for _, s := range m.Matches {
			got = append(got, s.SessionID)
			if s.Tool != "mm_click" || !slices.Contains(s.MatchedFields, "target") {
				t.Errorf("%s: found %+v, want the clicks on the button", name, s)
			}
		}
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, test.sessions) {
			t.Errorf("%s: steps of %v, want of %v", name, got, test.sessions)
		}
	}
	if m, err := core.Recall.SearchSteps(ctx, memory.SearchStepsRequest{Query: "sourdough bread", Caller: other}); err != nil || len(m.Matches) != 0 {
		t.Errorf("bread finds %+v, %v", m, err)
	}
	last, err := core.Recall.LastSteps(ctx, memory.LastStepsRequest{N: 2, Caller: agent})
	if err != nil || len(last.Steps) != 2 || last.Steps[0].Tool != "Bash" || last.Steps[1].Snippet != "confirm-button → ok (screen send)" {
		t.Errorf("the last two steps of the current session: %+v, %v", last, err)
	}
	if _, err := core.Recall.LastSteps(ctx, memory.LastStepsRequest{Caller: other}); memory.CodeOf(err) != memory.CodeInvalidInput {
		t.Errorf("the last steps of a client without a session: %v, want invalid input", err)
	}
	sum, err := core.Recall.SummarizeSession(ctx, memory.SummarizeRequest{Scope: &memory.Scope{Session: "mm-send-smoke"}, Caller: other})
	if err != nil || sum.StepCount != 4 || len(sum.Failures) != 2 || sum.Failures[0].RecoveredBy != 3 || sum.Failures[1].RecoveredBy != 0 {
		t.Errorf("summary %+v, %v; want four steps, the click recovered by the third", sum, err)
	}

	// The same error on another machine: the lesson first, then the step.
	a, err := core.Recall.Recall(ctx, memory.RecallRequest{
		Query: strings.ReplaceAll(failure, "/usr/lib/node_modules/left-pad", "/opt/homebrew/lib/node_modules/yarn"), Explain: true, Caller: other,
	})
	if err != nil || len(a.Items) < 2 || a.Items[0].ID != lesson.ID || a.Items[1].Kind != memory.Step {
		t.Fatalf("recall of the error: %+v, %v; want the lesson, then the step", a, err)
	}
	for _, item := range a.Items[:2] {
		if !item.RankFactors.Error || item.Relevance != 1 {
			t.Errorf("%s is not marked as the same error: %+v", item.ID, item.RankFactors)
		}
	}
	// Filters of sessions hold for recall too, and keep another session's lesson out.
	a, err = core.Recall.Recall(ctx, memory.RecallRequest{
		Query: "confirm button", Filters: &memory.Filters{FlowTag: "swap"}, MinRelevance: new(0.0), Caller: other,
	})
	if err != nil || len(a.Items) != 1 || a.Items[0].Source.Session != "mm-noise-swap" {
		t.Errorf("recall of one flow: %+v, %v; want its one step", a, err)
	}
}

var flowScreen = map[string]string{"mm-noise-swap": "swap", "mm-send-smoke": "send"}
