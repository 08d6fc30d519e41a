package cli

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// history answers for the methods about sessions, steps and files.
func history() map[string]any {
	const goal = "Run send flow smoke test"
	state := &memory.SessionState{
		Session: memory.Session{ID: "mm-20260115-abc", Project: "p1", Client: "cli", CreatedAt: noon, Goal: goal,
			FlowTags: []string{"send"}, Tags: []string{"smoke"}, Git: &memory.Git{Branch: "main", Commit: "abc123"}},
		ProjectName: "demo", Steps: 1, Dir: "/src/demo/test-artifacts/llm-knowledge/mm-20260115-abc", Seq: 4,
	}
	steps := []memory.StepView{
		{ID: "s-2", Timestamp: noon, Tool: "mm_click", Screen: "send", Snippet: "confirm-button: Timeout\n15000 ms exceeded",
			Labels: []string{"interaction", "error-recovery"}, SessionID: "mm-20260115-abc", SessionGoal: goal, MatchedFields: []string{"target"},
			StepEnd: memory.StepEnd{Target: "confirm-button", Error: &memory.StepError{Code: "E_TIMEOUT", Message: "15000 ms exceeded"}}},
		{ID: "s-1", Timestamp: noon.Add(-time.Minute), Tool: "bash", Snippet: "npm test", Labels: []string{"execution"}, SessionID: "mm-20260115-abc", StepEnd: memory.StepEnd{OK: true, Target: "npm test"}},
	}
	return map[string]any{
		service.StartSession.Name: state,
		service.EndSession.Name:   state,
		service.RecordStep.Name: &memory.StepRecorded{ID: "s-1", SessionID: "mm-20260115-abc", Project: "p1", Timestamp: noon, Labels: []string{"execution", "error-recovery"},
			Redacted: true, File: "/src/demo/steps/1-bash.json", Warning: "the picture could not be read",
			Advice: &memory.RecallResponse{Project: "p1", Items: []memory.Item{{ID: "l-1", Kind: memory.Lesson}}, Text: "**Relevant Memories (1):**\n\n1. [2026-01-15] npm: use npm ci\n"}},
		service.SearchSteps.Name: &memory.StepMatches{Query: "confirm", Matches: steps},
		service.LastSteps.Name:   &memory.StepList{Steps: steps},
		service.SummarizeSession.Name: &memory.Summary{SessionID: "mm-20260115-abc", StepCount: 2, Goal: goal, CreatedAt: noon,
			Recipe:  []memory.RecipeStep{{StepNumber: 1, Tool: "bash", Notes: "npm test"}, {StepNumber: 2, Tool: "mm_click"}},
			Labels:  map[string]int{"interaction": 1, "execution": 1},
			Screens: []string{"home", "send"},
			Failures: []memory.Failure{
				{StepNumber: 1, Tool: "bash", Error: "EACCES", RecoveredBy: 2, Recovery: "2. mm_click chown"}, {StepNumber: 2, Tool: "mm_click", Error: "Timeout"}}},
		service.Sessions.Name: &memory.SessionList{Sessions: []memory.SessionView{
			{SessionID: "mm-20260115-abc", CreatedAt: noon.Add(-3 * time.Hour), Goal: goal, FlowTags: []string{"send"}, Tags: []string{"smoke"}, Git: memory.Git{Branch: "main", Commit: "abc123"}},
			{SessionID: "mm-20260114-xyz", CreatedAt: noon.Add(-50 * time.Hour), FlowTags: []string{}, Tags: []string{}},
		}},
		service.Import.Name: &memory.Imported{Project: "p1", ProjectName: "demo", Lessons: 12, Sessions: 1, Steps: 40, Known: 5, Forgotten: 2, Skipped: 3,
			Problems: []memory.ImportProblem{{File: "/src/demo/logs/demo.jsonl", Line: 7, Message: "not JSON"}, {File: "/src/demo/logs/x/session.json", Message: "no sessionId"}}},
		service.Export.Name: &memory.Exported{Project: "p1", ProjectName: "demo", Path: "/src/demo/out", Lessons: 12, Sessions: 1, Steps: 40, Files: 42, LeftOut: 1},
	}
}

// TestHistoryRequests: every flag reaches the service.
func TestHistoryRequests(t *testing.T) {
	dir := func(b *bench) memory.Caller { return memory.Caller{Dir: b.opts.Dir, Client: "cli"} }
	filters := []string{"--flow-tag", "send", "--tag", "smoke", "--screen", "home", "--branch", "main", "--since-hours", "720", "--project", "p"}
	all := &memory.StepFilters{FlowTag: new("send"), Tag: new("smoke"), Screen: new("home"), GitBranch: new("main"), SinceHours: new(720)}
	for _, tt := range []struct {
		args   []string
		method string
		want   func(*bench) any
	}{
		{append([]string{"sessions", "--limit", "50"}, filters...), service.Sessions.Name, func(b *bench) any {
			return memory.SessionsRequest{Limit: 50, Filters: all, Project: "p", Caller: dir(b)}
		}},
		{append([]string{"steps", "a", "b", "--limit", "100", "--scope", "current"}, filters...), service.SearchSteps.Name, func(b *bench) any {
			return memory.SearchStepsRequest{Query: "a b", Limit: 100, Filters: all, Scope: &memory.Scope{Name: "current"}, Project: "p", Caller: dir(b)}
		}},
		{append([]string{"last", "-n", "200", "--session", "abcd"}, filters...), service.LastSteps.Name, func(b *bench) any {
			return memory.LastStepsRequest{N: 200, Filters: all, Scope: &memory.Scope{Session: "abcd"}, Project: "p", Caller: dir(b)}
		}},
		{[]string{"last"}, service.LastSteps.Name, func(b *bench) any {
			return memory.LastStepsRequest{N: 20, Scope: &memory.Scope{Name: "current"}, Caller: dir(b)}
		}},
		{[]string{"summarize"}, service.SummarizeSession.Name, func(b *bench) any {
			return memory.SummarizeRequest{Scope: &memory.Scope{Name: "current"}, Caller: dir(b)}
		}},
		{[]string{"summarize", "abcd", "--project", "p"}, service.SummarizeSession.Name, func(b *bench) any {
			return memory.SummarizeRequest{Scope: &memory.Scope{Session: "abcd"}, Project: "p", Caller: dir(b)}
		}},
		{[]string{"summarize", "--session", "abcd"}, service.SummarizeSession.Name, func(b *bench) any {
			return memory.SummarizeRequest{Scope: &memory.Scope{Session: "abcd"}, Caller: dir(b)}
		}},
		{[]string{"summarize", "--scope", "current"}, service.SummarizeSession.Name, func(b *bench) any {
			return memory.SummarizeRequest{Scope: &memory.Scope{Name: "current"}, Caller: dir(b)}
		}},
		{[]string{"import", "logs", "--project", "p"}, service.Import.Name, func(b *bench) any {
			return memory.ImportRequest{Path: filepath.Join(b.opts.Dir, "logs"), Project: "p", Caller: dir(b)}
		}},
		{[]string{"export", "../out"}, service.Export.Name, func(b *bench) any {
			return memory.ExportRequest{Path: filepath.Join(filepath.Dir(b.opts.Dir), "out"), Caller: dir(b)}
		}},
		{[]string{"recall", "q", "--session", "abcd", "--flow-tag", "send", "--screen", "home", "--branch", "main", "--since-hours", "1"}, service.Recall.Name, func(b *bench) any {
			return memory.RecallRequest{Query: "q", Kinds: memory.DefaultKinds, Scope: &memory.Scope{Session: "abcd"}, Format: memory.FormatText,
				Filters: &memory.Filters{FlowTag: "send", Screen: "home", GitBranch: "main", SinceHours: 1}, Caller: dir(b)}
		}},
	} {
		b := newBench(t, sample())
		b.ok(tt.args...)
		if diff := cmp.Diff(tt.want(b), request[any](t, b, tt.method)); diff != "" {
			t.Errorf("recalld %q (-want +got):\n%s", tt.args, diff)
		}
	}
}

// TestHistoryEmpty: nothing found is an answer; JSON says [], not null.
func TestHistoryEmpty(t *testing.T) {
	answers := map[string]any{service.Sessions.Name: &memory.SessionList{}, service.SearchSteps.Name: &memory.StepMatches{}, service.LastSteps.Name: &memory.StepList{}}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"sessions"}, "No sessions yet. Agents open them; run 'recalld call session_start' to open one yourself.\n"},
		{[]string{"sessions", "--tag", "x"}, "No matching sessions.\n"},
		{[]string{"steps", "q"}, "No matching steps.\n"},
		{[]string{"last"}, "No matching steps.\n"},
	} {
		b := newBench(t, answers)
		if out := b.ok(tt.args...); out != tt.want {
			t.Errorf("recalld %q says %q, want %q", tt.args, out, tt.want)
		}
		if out := b.ok(append(tt.args, "--json")...); strings.Contains(out, "null") || !strings.Contains(out, "[]") {
			t.Errorf("recalld %q --json says %s, want an empty list", tt.args, out)
		}
	}
}

// TestNoSessionOpen: the hint says how to name a session on the command line.
func TestNoSessionOpen(t *testing.T) {
	for _, tt := range []struct{ command, hint string }{
		{"last", "hint: ask with --scope all"}, {"summarize", "hint: name one: run 'recalld sessions' to list them"},
	} {
		b := newBench(t, nil)
		b.fake.Err = &memory.Error{Code: memory.CodeInvalidInput, Field: "scope", Message: "no session is open", Hint: `{"sessionId": "…"}`}
		if _, errs, code := b.run(tt.command); code != ExitUsage || !strings.Contains(errs, "scope: no session is open") || !strings.Contains(errs, tt.hint) {
			t.Errorf("recalld %s: exit %d, %q, want exit %d and %q", tt.command, code, errs, ExitUsage, tt.hint)
		}
		b.fake.Err = &memory.Error{Code: memory.CodeNotFound, Field: "project", Message: "no such project", Hint: "its own"}
		if _, errs, code := b.run(tt.command); code != ExitNotFound || !strings.Contains(errs, "hint: its own") {
			t.Errorf("recalld %s: exit %d, %q, want exit %d and the error's own hint", tt.command, code, errs, ExitNotFound)
		}
	}
}

// TestNewestSession: without an open session, the newest one of the project is meant, unless a
// scope or session was named.
func TestNewestSession(t *testing.T) {
	for _, command := range []string{"last", "summarize"} {
		for _, tt := range []struct {
			args, sessions []string
			want           string // the session of the answer
		}{
			{nil, []string{"mm-2", "mm-1"}, "mm-2"},
			{nil, nil, ""},
			{[]string{"--scope", "current"}, []string{"mm-2"}, ""},
			{[]string{"--session", "mm-old"}, []string{"mm-2"}, ""},
		} {
			list := &memory.SessionList{}
			for _, id := range tt.sessions {
				list.Sessions = append(list.Sessions, memory.SessionView{SessionID: id})
			}
			b := newBench(t, map[string]any{service.Sessions.Name: list})
			b.fake.Before = func(context.Context, string) {
				b.fake.Err = nil
				if len(b.fake.Calls()) == 1 {
					b.fake.Err = &memory.Error{Code: memory.CodeInvalidInput, Field: "scope", Message: "no session of yours is open"}
				}
			}
			_, errs, code := b.run(append([]string{command}, tt.args...)...)
			if tt.want == "" {
				if code != ExitUsage {
					t.Errorf("recalld %s %q with sessions %q: exit %d, want %d", command, tt.args, tt.sessions, code, ExitUsage)
				}
				continue
			}
			calls := b.fake.Calls()
			var scope *memory.Scope
			switch r := calls[len(calls)-1].Request.(type) {
			case memory.LastStepsRequest:
				scope = r.Scope
			case memory.SummarizeRequest:
				scope = r.Scope
			}
			if code != ExitOK || scope == nil || scope.Session != tt.want || !strings.Contains(errs, "the newest of the project: "+tt.want) {
				t.Errorf("recalld %s %q: exit %d, scope %+v, %q; want the session %s, named", command, tt.args, code, scope, errs, tt.want)
			}
		}
	}
}

// TestSummarizeScopes: all is refused as the service does, and a session is named
// once.
func TestSummarizeScopes(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--scope", "all"}, "scope: a summary is of one session (limit: current or {sessionId})"},
		{[]string{"--session", "abc"}, "--session: 3 characters are too few"},
		{[]string{"abcd", "--session", "abcd"}, "--session: is given twice"},
		{[]string{"abcd", "--scope", "current"}, "SESSION: is given twice"},
	} {
		b := newBench(t, nil)
		if _, errs, code := b.run(append([]string{"summarize"}, tt.args...)...); code != ExitUsage || !strings.Contains(errs, tt.want) {
			t.Errorf("recalld summarize %q: exit %d, %q, want exit %d and %q", tt.args, code, errs, ExitUsage, tt.want)
		}
		if calls := b.fake.Calls(); len(calls) > 0 {
			t.Errorf("recalld summarize %q reached the service: %+v", tt.args, calls)
		}
	}
}

// TestOmittedSteps: a recipe that is not whole says so.
func TestOmittedSteps(t *testing.T) {
	b := newBench(t, map[string]any{service.SummarizeSession.Name: &memory.Summary{SessionID: "abcd", StepCount: 502, OmittedSteps: 2,
		Recipe: []memory.RecipeStep{{StepNumber: 500, Tool: "bash"}}}})
	if out := b.ok("summarize", "abcd"); !strings.Contains(out, " 500. bash\n      and 2 steps more, not in the recipe\n") {
		t.Errorf("recalld summarize says %s", out)
	}
}

// TestImportProblems: as many problems are listed as help, the others counted.
func TestImportProblems(t *testing.T) {
	imported := &memory.Imported{Project: "p1", Skipped: 130}
	for i := range 100 {
		imported.Problems = append(imported.Problems, memory.ImportProblem{File: "a.jsonl", Line: i + 1, Message: "not JSON"})
	}
	b := newBench(t, map[string]any{service.Import.Name: imported})
	out, errs, code := b.run("import", "a.jsonl")
	if code != ExitOK || strings.Count(out, "not JSON") != shownProblems || !strings.Contains(out, "and 110 more") {
		t.Errorf("exit %d, %s", code, out)
	}
	if errs != "" {
		t.Errorf("standard error has %q, want nothing without a terminal", errs)
	}
	if _, errs, _ := b.run("import", "a.jsonl", "--json"); errs != `{"progress":{"phase":"importing","done":0,"total":0,"unit":"files"}}`+"\n" {
		t.Errorf("with --json standard error has %q, want how far it is as a line of JSON", errs)
	}
}

func TestAgeText(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", time.Minute: "1m", 59 * time.Minute: "59m", time.Hour: "1h", 47 * time.Hour: "47h",
		48 * time.Hour: "2d", 1000 * time.Hour: "41d",
	} {
		if got := render.Age(d); got != want {
			t.Errorf("ageText(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestShortText(t *testing.T) {
	for _, tt := range []struct {
		text string
		max  int
		want string
	}{
		{"a\n b\tc", 10, "a b c"}, {"größe", 5, "größe"}, {"größer", 5, "größ…"}, {"", 3, ""}, {"\u65e5\u672c\u8a9e", 2, "\u65e5…"},
	} {
		if got := render.ShortLine(tt.text, tt.max); got != tt.want {
			t.Errorf("shortText(%q, %d) = %q, want %q", tt.text, tt.max, got, tt.want)
		}
	}
}

// TestStepsHaveRoom: on a terminal of 80 columns a long target and a long error leave room for
// what the step did.
func TestStepsHaveRoom(t *testing.T) {
	answers := history()
	answers[service.LastSteps.Name] = &memory.StepList{Steps: []memory.StepView{{ID: "s-1", Timestamp: noon, Tool: "Bash", Snippet: "gradlew test → failed",
		StepEnd: memory.StepEnd{Target: "gradlew :solver:test --tests RosterSolverTest", Error: &memory.StepError{Message: "RosterSolverTest > weekly FAILED: expected 14 but was 13"}}}}}
	b := newBench(t, answers)
	b.onTerminal(80, 40, nil)
	if out := b.ok("last"); !strings.Contains(out, "gradlew test →…") || !strings.Contains(out, "failed: RosterSol") {
		t.Errorf("last in 80 columns says %q, want the step and how it ended", out)
	}
}
