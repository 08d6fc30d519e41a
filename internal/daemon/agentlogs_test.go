package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/hook"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// agentHome is a home with a log of Claude Code and one of Codex about a repository.
func agentHome(t *testing.T, repo string) string {
	t.Helper()
	home := t.TempDir()
	for client, to := range map[string]string{"claude-code": ".claude/projects/shop/one.jsonl", "codex": ".codex/sessions/2026/01/15/rollout-one.jsonl"} {
		text, err := os.ReadFile(filepath.Join("..", "source", "agentlog", "testdata", client+".jsonl"))
		must(t, err)
		dir, err := json.Marshal(repo)
		must(t, err)
		putLog(t, filepath.Join(home, filepath.FromSlash(to)), strings.ReplaceAll(string(text), `"/src/shop"`, string(dir)))
	}
	return home
}

func putLog(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

func importLogs(t *testing.T, s *served, r memory.AgentImportRequest) (*memory.AgentImported, error) {
	t.Helper()
	return service.ImportAgents.Do(t.Context(), s, r, func(memory.AgentImportProgress) {})
}

// TestImportAgents: the logs of agents are imported after consent, once, without secrets,
// and what fixed an error is found.
func TestImportAgents(t *testing.T) {
	repo, cfg := t.TempDir(), newConfig(t)
	home := agentHome(t, repo)
	claude := filepath.Join(home, ".claude", "projects", "shop", "one.jsonl")
	text, err := os.ReadFile(claude)
	must(t, err)
	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	putLog(t, claude, "not json\n"+strings.ReplaceAll(string(text), "added 3 packages", "token "+secret))
	// A fork repeats the steps in a session of its own.
	putLog(t, filepath.Join(home, ".claude", "projects", "shop", "two.jsonl"), strings.ReplaceAll(string(text), "0f3a2c1e-1111", "0f3a2c1e-9999"))
	s := serve(t, cfg, func(o *Options) { o.home = home })

	if _, err := importLogs(t, s, memory.AgentImportRequest{}); memory.CodeOf(err) != memory.CodeForbidden {
		t.Errorf("without consent the error is %v, want forbidden", err)
	}
	dry, err := importLogs(t, s, memory.AgentImportRequest{DryRun: true})
	must(t, err)
	if dry.Logs != 3 || dry.Consented || len(dry.Sources) != 2 || dry.Sources[0].Steps != 3 || dry.Sources[1].Steps != 3 || dry.Known != 3 || dry.Sources[1].Fixes != 1 {
		t.Errorf("the dry run says %+v, want 3 logs with 3 steps of each client", dry)
	}
	done, err := importLogs(t, s, memory.AgentImportRequest{Consent: true})
	must(t, err)
	if done.Added != 6 || done.Known != 3 || done.Lessons != 2 || done.Skipped != 1 || done.Problems[0].Line != 1 || done.Problems[0].File != claude {
		t.Errorf("the import says %+v, want 6 steps, 3 repeated, 2 lessons and one problem in line 1 of %s", done, claude)
	}
	answer := s.ask(repo, "npm ERR! code EACCES")
	if !strings.Contains(answer.Text, "sudo chown -R me ~/.npm") || !strings.Contains(answer.Text, memory.HistoryMark) {
		t.Errorf("the answer is %q, want the fix, marked as from history", answer.Text)
	}
	for _, i := range answer.Items {
		if i.Kind == memory.Lesson && i.Strength == memory.Sure {
			t.Errorf("the lesson %q from history is sure, want likely at most", i.Text)
		}
	}
	steps, err := service.LastSteps.Do(t.Context(), s, memory.LastStepsRequest{N: 20, Scope: &memory.Scope{Name: "all"}, Caller: memory.Caller{Dir: repo}})
	must(t, err)
	if all := fmt.Sprintf("%+v", steps); len(steps.Steps) != 6 || strings.Contains(all, secret) {
		t.Errorf("there are %d steps, want 6 without the secret: %s", len(steps.Steps), all)
	}

	again, err := importLogs(t, s, memory.AgentImportRequest{})
	must(t, err)
	if again.Added != 0 || again.Lessons != 0 || again.Unchanged != 3 {
		t.Errorf("the second import says %+v, want 3 logs unchanged", again)
	}
	must(t, os.Remove(filepath.Join(cfg.Paths().Data, "agent-logs.json"))) // as after a kill
	again, err = importLogs(t, s, memory.AgentImportRequest{Consent: true})
	must(t, err)
	if again.Added != 0 || again.Lessons != 0 || again.Known != 9 {
		t.Errorf("without its state the import says %+v, want all known", again)
	}
	if _, err := importLogs(t, s, memory.AgentImportRequest{Stop: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := importLogs(t, s, memory.AgentImportRequest{}); memory.CodeOf(err) != memory.CodeForbidden {
		t.Errorf("after the consent was taken back the error is %v, want forbidden", err)
	}
}

// TestImportedStepIsLikeLive: a call is the same step whether a hook recorded it or a log
// told it, and a session that hooks recorded is not imported again.
func TestImportedStepIsLikeLive(t *testing.T) {
	repo, live := t.TempDir(), t.TempDir()
	s := serve(t, newConfig(t), func(o *Options) { o.home = agentHome(t, repo) })
	const session = "0f3a2c1e-1111-2222-3333-444455556666"
	payload := fmt.Appendf(nil, `{"session_id":%q,"cwd":%q,"tool_name":"Bash","tool_input":{"command":"npm install","description":"Install"},"error":"Exit code 243\nnpm ERR! code EACCES"}`, session, live)
	r, err := hook.Parse("claude-code", "PostToolUseFailure", payload, hook.Environment{})
	must(t, err)
	recorded, err := service.RecordStep.Do(t.Context(), s, *r.Step)
	must(t, err)
	_, err = importLogs(t, s, memory.AgentImportRequest{Consent: true, Client: "claude-code"})
	must(t, err)
	views := map[string]memory.StepView{}
	for _, dir := range []string{repo, live} {
		got, err := service.LastSteps.Do(t.Context(), s, memory.LastStepsRequest{N: 20, Scope: &memory.Scope{Name: "all"}, Caller: memory.Caller{Dir: dir}})
		must(t, err)
		last := got.Steps[len(got.Steps)-1]
		views[dir] = memory.StepView{Tool: last.Tool, Snippet: last.Snippet, Labels: last.Labels}
	}
	if diff := cmp.Diff(views[live], views[repo]); diff != "" {
		t.Errorf("the imported step differs from the recorded one (-recorded +imported):\n%s", diff)
	}
	if recorded.ID == "" {
		t.Error("the live step has no id")
	}
}

// TestForgottenSessionIsNotImported: a session that hooks recorded and a user has forgotten does
// not come back with the log of its agent.
func TestForgottenSessionIsNotImported(t *testing.T) {
	repo := t.TempDir()
	s := serve(t, newConfig(t), func(o *Options) { o.home = agentHome(t, repo) })
	const session = "0f3a2c1e-1111-2222-3333-444455556666"
	payload := fmt.Appendf(nil, `{"session_id":%q,"cwd":%q,"tool_name":"Bash","tool_input":{"command":"npm install"},"error":"Exit code 243\nnpm ERR! code EACCES"}`, session, repo)
	r, err := hook.Parse("claude-code", "PostToolUseFailure", payload, hook.Environment{})
	must(t, err)
	_, err = service.RecordStep.Do(t.Context(), s, *r.Step)
	must(t, err)
	_, err = service.Forget.Do(t.Context(), s, memory.ForgetRequest{IDs: []string{session}})
	must(t, err)
	done, err := importLogs(t, s, memory.AgentImportRequest{Consent: true, Client: "claude-code"})
	must(t, err)
	if done.Added != 0 || done.Lessons != 0 || len(done.Problems) != 1 || !strings.Contains(done.Problems[0].Message, "forgotten") {
		t.Errorf("the import says %+v, want that the session was forgotten and nothing of it", done)
	}
}

// TestSubAgentLog: the log of a sub-agent is read, and is of the session that it names.
func TestSubAgentLog(t *testing.T) {
	const session = "0f3a2c1e-1111-2222-3333-444455556666"
	repo := t.TempDir()
	home := agentHome(t, repo)
	folder := filepath.Join(home, ".claude", "projects", "shop")
	text, err := os.ReadFile(filepath.Join(folder, "one.jsonl"))
	must(t, err)
	below := strings.NewReplacer(`"cwd"`, `"isSidechain":true,"cwd"`, "toolu_", "toolu_9", "12:00:0", "12:01:0", `"isSidechain":false,`, "").Replace(string(text))
	putLog(t, filepath.Join(folder, session, "subagents", "agent-1.jsonl"), below)
	s := serve(t, newConfig(t), func(o *Options) { o.home = home })
	done, err := importLogs(t, s, memory.AgentImportRequest{Consent: true, Client: "claude-code"})
	must(t, err)
	if len(done.Sources) != 1 || done.Sources[0].Sessions != 1 || done.Added != 6 {
		t.Errorf("the import says %+v, want one session with 6 steps", done)
	}
	sessions, err := service.Sessions.Do(t.Context(), s, memory.SessionsRequest{Caller: memory.Caller{Dir: repo}})
	must(t, err)
	if len(sessions.Sessions) != 1 || sessions.Sessions[0].SessionID != session || sessions.Sessions[0].Goal != "install the packages" {
		t.Errorf("the sessions are %+v, want %s with its goal", sessions.Sessions, session)
	}
}

// TestFutureTimeOfALog: a time that only a wrong clock can write does not move the session or its
// other steps there.
func TestFutureTimeOfALog(t *testing.T) {
	const session = "0f3a2c1e-1111-2222-3333-444455556666"
	for written, want := range map[string]string{
		`"2026-01-15T12:00:00.000Z"`: "12:00:02 12:00:04 12:00:06", // where it begins
		`"2026-01-15T12:00:02.000Z"`: "12:00:00 12:00:04 12:00:06",
		`"2026-01-15T12:00:04.000Z"`: "12:00:02 12:00:02 12:00:06",
	} {
		repo := t.TempDir()
		home := agentHome(t, repo)
		log := filepath.Join(home, ".claude", "projects", "shop", "one.jsonl")
		text, err := os.ReadFile(log)
		must(t, err)
		putLog(t, log, strings.Replace(string(text), written, `"2987-01-15T12:00:00Z"`, 1))
		s := serve(t, newConfig(t), func(o *Options) { o.home = home })
		_, err = importLogs(t, s, memory.AgentImportRequest{Consent: true, Client: "claude-code"})
		must(t, err)
		list, err := service.LastSteps.Do(t.Context(), s, memory.LastStepsRequest{N: 20, Scope: &memory.Scope{Session: session}, Caller: memory.Caller{Dir: repo}})
		must(t, err)
		var got []string
		for _, step := range slices.Backward(list.Steps) {
			got = append(got, step.Timestamp.Format(time.TimeOnly))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("where %s is far in the future, the steps are at %v, want %s", written, got, want)
		}
		sessions, err := service.Sessions.Do(t.Context(), s, memory.SessionsRequest{Caller: memory.Caller{Dir: repo}})
		must(t, err)
		if at := sessions.Sessions[0].CreatedAt; at.Year() != 2026 {
			t.Errorf("where %s is far in the future, the session is of %v", written, at)
		}
	}
}

// TestFollowAgentLogs: once the user has agreed, what a log has more is imported: also when
// its last line was torn, or another log took its place.
func TestFollowAgentLogs(t *testing.T) {
	repo := t.TempDir()
	home := agentHome(t, repo)
	log := filepath.Join(home, ".claude", "projects", "shop", "one.jsonl")
	text, err := os.ReadFile(log)
	must(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	// The first call with its result, and half of the next line.
	cut := 0
	for i, line := range lines {
		if strings.Contains(line, `"tool_use_id":"toolu_1"`) {
			cut = i + 1
		}
	}
	whole := strings.Join(lines[:cut], "")
	putLog(t, log, whole+lines[cut][:len(lines[cut])/2])
	ticks := make(chan time.Time)
	s := serve(t, newConfig(t), func(o *Options) { o.home, o.pauses.logs = home, ticks })
	steps := func() []string {
		list, err := service.LastSteps.Do(t.Context(), s, memory.LastStepsRequest{N: 100, Scope: &memory.Scope{Name: "all"}, Caller: memory.Caller{Dir: repo}})
		must(t, err)
		var ids []string
		for _, step := range list.Steps {
			ids = append(ids, step.ID)
		}
		return ids
	}
	reaches := func(n int, when string) {
		t.Helper()
		for range 2 { // the second is taken when the first was carried out
			ticks <- time.Time{}
		}
		if got := steps(); len(got) != n {
			t.Fatalf("%s there are the steps %v, want %d", when, got, n)
		}
	}
	reaches(0, "before the user has agreed")
	done, err := importLogs(t, s, memory.AgentImportRequest{Consent: true, Client: "claude-code"})
	must(t, err)
	if done.Added != 1 || len(done.Problems) > 0 {
		t.Fatalf("of a log that is being written it takes %+v", done)
	}
	reaches(4, "with the log of Codex")
	first := steps()
	putLog(t, log, string(text))
	reaches(6, "when the log is whole")
	putLog(t, log, "")
	putLog(t, log, strings.NewReplacer("0f3a2c1e-1111", "0f3a2c1e-2222", "toolu_", "toolu_9").Replace(string(text)))
	reaches(9, "when another log took its place")
	for _, id := range first {
		if !slices.Contains(steps(), id) {
			t.Errorf("step %s is gone", id)
		}
	}
}
