package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestE2EDayOfUse: what a day of work with recalld leaves in a repository does not show in
// git status, neither there nor in a worktree, until a team shares its lessons.
func TestE2EDayOfUse(t *testing.T) {
	m, dir := newMachine(t), shop(t)
	m.install()
	git := gitIn(t, dir)
	git("init", "-q")
	git("add", "-A")
	git("commit", "-q", "-m", "first")
	tree := filepath.Join(filepath.Dir(dir), "feature")
	git("worktree", "add", "-q", tree)
	clean := func(when string) {
		t.Helper()
		for _, at := range []string{dir, tree} {
			cmd := exec.Command("git", "status", "--porcelain", "--untracked-files=all")
			cmd.Dir = at
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s git status says %v in %s:\n%s", when, err, filepath.Base(at), out)
			}
		}
	}
	for _, client := range []string{"claude-code", "codex", "opencode", "copilot-cli"} {
		m.run(dir, "connect", client)
	}
	clean("after connecting")
	m.run(dir, "up", ".")
	for i, at := range []string{dir, tree} {
		session := "0f3a2c1e-1111-2222-3333-44445555666" + string(rune('0'+i))
		for _, e := range [][2]string{
			{"SessionStart", `,"source":"startup"`}, {"PostToolUse", hookedTool}, {"PostToolUseFailure", hookedFailed},
			{"SessionStart", `,"source":"compact"`}, {"SessionEnd", `,"reason":"exit"`},
		} {
			runHook(t, m.command(at, "hook", "claude-code", e[0]), hookPayload(session, at, e[1]))
		}
		m.run(at, "remember", "Run the migrations before the tests, and the mocks after them: "+filepath.Base(at))
		c := m.mustConnect(at)
		own := "session-of-" + filepath.Base(at)
		must(t, c, "session_start", map[string]any{"sessionId": own, "goal": "pay back an order"}, new(any))
		s := step("click", "refund-button", "orders", "")
		s["sessionId"] = own
		must(t, c, "record_step", s, new(any))
		must(t, c, "complete_task", map[string]any{"task_id": "refund", "validation_report": map[string]any{"valid": true}}, new(any))
		must(t, c, "register_context", map[string]any{"entries": []any{entry("rule", "money", "always", "Amounts are in cents.")}}, new(any))
		must(t, c, "assemble_context", map[string]any{"sessionId": own, "message": "pay back an order"}, new(any))
		must(t, c, "session_end", map[string]any{"sessionId": own}, new(any))
		m.recall(at, "how are orders paid back")
	}
	m.run(dir, "backup")
	m.run(dir, "status")
	for _, made := range []string{"agent-knowledge/logs", "test-artifacts/llm-knowledge"} {
		if _, err := os.Stat(filepath.Join(dir, made)); err != nil {
			t.Errorf("the day left no %s: the test proves nothing about it (%v)", made, err)
		}
	}
	clean("after the day")
	for _, client := range []string{"claude-code", "codex", "opencode", "copilot-cli"} {
		if out := m.run(dir, "connect", client, "--remove"); !strings.Contains(out, "no longer connected") {
			t.Errorf("remove %s: %s", client, out)
		}
	}
	clean("after disconnecting")
}

// install puts the program into the PATH of the machine, where connect has clients find it.
func (m *machine) install() {
	m.t.Helper()
	bin := m.t.TempDir()
	name := "recalld"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if err := os.Symlink(os.Args[0], filepath.Join(bin, name)); err != nil {
		m.t.Skipf("this system makes no links without rights: %v", err)
	}
	i := slices.IndexFunc(m.env, func(v string) bool { return strings.HasPrefix(v, "PATH=") })
	m.env[i] = "PATH=" + bin + string(os.PathListSeparator) + strings.TrimPrefix(m.env[i], "PATH=")
}
