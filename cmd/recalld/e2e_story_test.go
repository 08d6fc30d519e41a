package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"

	"github.com/recalld/recalld/internal/memory"
)

// knowledge calls one of the knowledge tools and reads the result inside its
// envelope.
func knowledge(t *testing.T, c *client.Client, tool string, arguments map[string]any, result any) {
	t.Helper()
	var envelope struct {
		OK     bool
		Result json.RawMessage
	}
	if err := call(c, tool, arguments, &envelope); err != nil {
		t.Fatal(err)
	}
	if !envelope.OK {
		t.Fatalf("%s %v answers ok:false", tool, arguments)
	}
	if err := json.Unmarshal(envelope.Result, result); err != nil {
		t.Fatalf("%s answers %s: %v", tool, envelope.Result, err)
	}
}

// must calls a tool that has to work.
func must(t *testing.T, c *client.Client, tool string, arguments map[string]any, answer any) {
	t.Helper()
	if err := call(c, tool, arguments, answer); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) mustConnect(dir string) *client.Client {
	m.t.Helper()
	c, err := m.connect(dir)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = c.Close() }) // its process may have gone with it
	return c
}

// step is what a browser agent records.
func step(tool, target, screen string, failure string) map[string]any {
	s := map[string]any{
		"tool":        map[string]any{"name": tool, "target": map[string]any{"testId": target}},
		"outcome":     map[string]any{"ok": failure == ""},
		"observation": map[string]any{"state": map[string]any{"currentScreen": screen}, "testIds": []string{target}},
	}
	if failure != "" {
		s["outcome"] = map[string]any{"ok": false, "error": map[string]any{"code": "E_STEP", "message": failure}}
	}
	return s
}

// TestE2EStory: agent A learns something in a session, agent B, in another
// session, finds the session, the steps and the lesson, and not the noise.
func TestE2EStory(t *testing.T) {
	m, dir := newMachine(t), shop(t)
	gitIn(t, dir)("init", "-q", "-b", "feature/foo")
	a := m.mustConnect(dir)

	// Noise first: a session of another flow with much the same steps.
	var noise, session memory.SessionState
	must(t, a, "session_start", map[string]any{"goal": "Try the swap flow", "flowTags": []string{"swap"}, "tags": []string{"nightly"}}, &noise)
	for i := range 5 {
		must(t, a, "record_step", step("mm_click", fmt.Sprintf("amount-input-%d", i), "swap", ""), new(memory.StepRecorded))
	}
	must(t, a, "session_end", nil, new(memory.SessionState))

	must(t, a, "session_start", map[string]any{
		"goal": "Run send flow smoke test", "flowTags": []string{"send"}, "tags": []string{"smoke"},
		"build": map[string]any{"buildType": "build:test"},
	}, &session)
	if session.Git == nil || session.Git.Branch != "feature/foo" {
		t.Errorf("the session's git is %+v, want branch feature/foo", session.Git)
	}
	const failure = "Timeout 15000 ms exceeded while waiting for [data-testid=confirm-footer-button] to be enabled"
	recorded := []memory.StepRecorded{}
	for _, s := range []map[string]any{
		step("mm_navigate", "home", "home", ""),
		step("mm_click", "amount-input", "send", ""),
		step("mm_click", "confirm-footer-button", "confirm-transaction", failure),
		step("mm_describe_screen", "gas-banner", "confirm-transaction", ""),
		step("mm_click", "confirm-footer-button", "confirm-transaction", ""),
	} {
		var r memory.StepRecorded
		must(t, a, "record_step", s, &r)
		recorded = append(recorded, r)
	}
	if got := recorded[2].Labels; !slices.Contains(got, "interaction") || !slices.Contains(got, "confirmation") || !slices.Contains(got, "error-recovery") {
		t.Errorf("the failed confirmation has labels %v, want interaction, confirmation and error-recovery", got)
	}
	var lesson memory.Remembered
	must(t, a, "remember", map[string]any{
		"event_type": "error", "context": "the confirm button stays disabled in the send flow",
		"lesson": "Wait until the fee estimate has loaded before clicking confirm", "success_rate": "3/3",
	}, &lesson)
	must(t, a, "session_end", nil, new(memory.SessionState))

	folder := filepath.Join(dir, "test-artifacts", "llm-knowledge", session.ID)
	if _, err := os.Stat(filepath.Join(folder, "session.json")); err != nil {
		t.Errorf("the session has no file: %v", err)
	}
	if files, err := filepath.Glob(filepath.Join(folder, "steps", "*.json")); err != nil || len(files) != len(recorded) {
		t.Errorf("the session has %d step files, want %d (%v)", len(files), len(recorded), err)
	}
	log, err := os.ReadFile(filepath.Join(dir, "agent-knowledge", "logs", "shop.jsonl"))
	if err != nil || strings.Count(string(log), "\n") != 1 || !strings.Contains(string(log), "fee estimate") {
		t.Errorf("the lesson's log holds %q (%v), want its line", log, err)
	}

	b := m.mustConnect(dir)
	var own memory.SessionState
	must(t, b, "session_start", map[string]any{"goal": "Send some ether", "flowTags": []string{"send"}}, &own)

	t.Run("search crosses sessions", func(t *testing.T) {
		var found memory.StepMatches
		knowledge(t, b, "mm_knowledge_search", map[string]any{"query": "click amount input"}, &found)
		sessions := map[string]bool{}
		for _, s := range found.Matches {
			sessions[s.SessionID] = true
		}
		if !sessions[session.ID] || !sessions[noise.ID] {
			t.Errorf("a search without filters finds sessions %v, want %s and %s", sessions, session.ID, noise.ID)
		}
	})
	for name, filters := range map[string]map[string]any{
		"flow tag":  {"flowTag": "send"},
		"tag":       {"tag": "smoke"},
		"all of it": {"flowTag": "send", "tag": "smoke", "gitBranch": "feature/foo", "sinceHours": 1},
	} {
		t.Run("search by "+name, func(t *testing.T) {
			var found memory.StepMatches
			knowledge(t, b, "mm_knowledge_search", map[string]any{"query": "click amount input", "filters": filters}, &found)
			if len(found.Matches) == 0 {
				t.Fatal("nothing is found")
			}
			for _, s := range found.Matches {
				if s.SessionID != session.ID {
					t.Errorf("finds a step of session %s, which the filter keeps out", s.SessionID)
				}
			}
			if first := found.Matches[0]; first.Screen != "send" || first.SessionGoal != "Run send flow smoke test" || len(first.MatchedFields) == 0 {
				t.Errorf("the best match is %+v, want the step on the screen send", first)
			}
		})
	}
	t.Run("sessions", func(t *testing.T) {
		var list memory.SessionList
		knowledge(t, b, "mm_knowledge_sessions", map[string]any{"filters": map[string]any{"tag": "smoke"}}, &list)
		if len(list.Sessions) != 1 || list.Sessions[0].SessionID != session.ID || list.Sessions[0].Git.Branch != "feature/foo" {
			t.Errorf("by tag smoke: %+v, want session %s on feature/foo", list.Sessions, session.ID)
		}
		knowledge(t, b, "mm_knowledge_sessions", map[string]any{"filters": map[string]any{"flowTag": "nonsense"}}, &list)
		if len(list.Sessions) != 0 {
			t.Errorf("an unknown flow tag finds %+v", list.Sessions)
		}
	})
	t.Run("last", func(t *testing.T) {
		var list memory.StepList
		knowledge(t, b, "mm_knowledge_last", nil, &list) // of b's own session
		if len(list.Steps) != 0 {
			t.Errorf("the new session has steps %+v", list.Steps)
		}
		knowledge(t, b, "mm_knowledge_last", map[string]any{"n": 2, "scope": map[string]any{"sessionId": session.ID}}, &list)
		if len(list.Steps) != 2 || list.Steps[0].Tool != "mm_click" || list.Steps[1].Tool != "mm_describe_screen" {
			t.Errorf("the last two steps are %+v, want mm_click, then mm_describe_screen", list.Steps)
		}
	})
	t.Run("summary", func(t *testing.T) {
		var sum memory.Summary
		knowledge(t, b, "mm_knowledge_summarize", map[string]any{"scope": map[string]any{"sessionId": session.ID}}, &sum)
		if sum.StepCount != 5 || len(sum.Recipe) != 5 || sum.Goal != "Run send flow smoke test" {
			t.Errorf("the summary is %+v, want five steps and the goal", sum)
		}
		if len(sum.Failures) != 1 || sum.Failures[0].StepNumber != 3 || sum.Failures[0].RecoveredBy != 5 {
			t.Errorf("the failures are %+v, want step 3, recovered by step 5", sum.Failures)
		}
		if want := []string{"home", "send", "confirm-transaction"}; !slices.Equal(sum.Screens, want) {
			t.Errorf("the screens are %v, want %v", sum.Screens, want)
		}
	})
	t.Run("the lesson", func(t *testing.T) {
		var found memory.RecallResponse
		must(t, b, "recall", map[string]any{"query": "confirm button stays disabled", "kinds": []string{"lesson"}}, &found)
		if len(found.Items) == 0 || found.Items[0].ID != lesson.ID || found.Items[0].SuccessRate != "3/3" {
			t.Errorf("recall finds %+v, want lesson %s", found.Items, lesson.ID)
		}
	})
	t.Run("the lesson by its error", func(t *testing.T) {
		// B fails as A did, with other figures, and gets A's lesson.
		var found memory.RecallResponse
		must(t, b, "recall", map[string]any{"query": strings.ReplaceAll(failure, "15000", "9000"), "kinds": []string{"lesson"}}, &found)
		if len(found.Items) == 0 || found.Items[0].ID != lesson.ID {
			t.Errorf("recall by the error text finds %+v, want lesson %s", found.Items, lesson.ID)
		}
	})
	t.Run("refusals", func(t *testing.T) {
		for name, tc := range map[string]struct {
			tool      string
			arguments map[string]any
		}{
			"an empty query":      {"mm_knowledge_search", map[string]any{"query": ""}},
			"a long query":        {"mm_knowledge_search", map[string]any{"query": strings.Repeat("x", 201)}},
			"an unknown filter":   {"mm_knowledge_search", map[string]any{"query": "x", "filters": map[string]any{"branch": "x"}}},
			"721 hours":           {"mm_knowledge_last", map[string]any{"filters": map[string]any{"sinceHours": 721}}},
			"201 steps":           {"mm_knowledge_last", map[string]any{"n": 201}},
			"51 sessions":         {"mm_knowledge_sessions", map[string]any{"limit": 51}},
			"a summary of all":    {"mm_knowledge_summarize", map[string]any{"scope": "all"}},
			"a short session id":  {"mm_knowledge_last", map[string]any{"scope": map[string]any{"sessionId": "abc"}}},
			"another flow tag":    {"session_start", map[string]any{"goal": "g", "flowTags": []string{"bridge"}}},
			"a step without tool": {"record_step", map[string]any{"outcome": map[string]any{"ok": true}}},
		} {
			if err := call(b, tc.tool, tc.arguments, new(any)); err == nil {
				t.Errorf("%s: %s %v is accepted", name, tc.tool, tc.arguments)
			} else if strings.HasPrefix(tc.tool, "mm_") && !strings.Contains(err.Error(), "MM_INVALID_INPUT") {
				t.Errorf("%s: %v, want MM_INVALID_INPUT", name, err)
			}
		}
	})
}
