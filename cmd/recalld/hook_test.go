package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// hookPayload is what Claude Code says at an event in a folder.
func hookPayload(session, dir, rest string) string {
	return fmt.Sprintf(`{"session_id":%q,"transcript_path":"/t.jsonl","cwd":%q%s}`, session, dir, rest)
}

const (
	hookedTool   = `,"tool_name":"Bash","tool_input":{"command":"go test ./..."},"tool_response":{"stdout":"ok","stderr":"","interrupted":false},"duration_ms":7`
	hookedFailed = `,"tool_name":"Bash","tool_input":{"command":"npm install"},"error":"Exit code 243\nnpm ERR! code EACCES\nnpm ERR! Error: EACCES: permission denied, mkdir '/usr/lib/node_modules/left-pad'","is_interrupt":false`
)

// runHook runs a hook as a client does: the payload on standard input, silence on
// standard error, the exit code 0.
func runHook(tb testing.TB, cmd *exec.Cmd, payload string) (out string, took time.Duration) {
	tb.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(payload), &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	took = time.Since(began)
	if err != nil || stderr.Len() > 0 {
		tb.Fatalf("%s: %v, %s", strings.Join(cmd.Args, " "), err, stderr.String())
	}
	return stdout.String(), took
}

// TestE2EHooks: Claude Code's steps are found by every client, and a failure is
// answered with the lesson about it. How long a hook takes is reported, and held
// against a bound that a machine under load keeps too.
func TestE2EHooks(t *testing.T) {
	m := newMachine(t)
	repo := shop(t)
	m.run(repo, "remember", "--type", "error", "--context", "npm install fails with EACCES: permission denied, mkdir '/usr/lib/node_modules/x'", "Run sudo chown -R $USER on the folder first")
	const session = "0f3a2c1e-1111-2222-3333-444455556666"
	fire := func(event, rest string) (string, time.Duration) {
		return runHook(t, m.command(repo, "hook", "claude-code", event), hookPayload(session, repo, rest))
	}
	fire("SessionStart", `,"source":"startup"`)
	var advice string
	// On a loaded machine a hook may give up: then it has said nothing.
	for range attempts {
		if advice, _ = fire("PostToolUseFailure", hookedFailed); advice != "" {
			break
		}
	}
	if !strings.Contains(advice, "additionalContext") || !strings.Contains(advice, "sudo chown") {
		t.Errorf("a failure is answered with %q", advice)
	}
	var took []time.Duration
	for range 100 {
		_, d := fire("PostToolUse", hookedTool)
		took = append(took, d)
	}
	p50, p95 := median(took), percentile(took, 95)
	t.Logf("a whole hook, its process included: p50 %v, p95 %v", p50, p95)
	if p50 > time.Second {
		t.Errorf("half of the hooks took over %v", p50)
	}
	var list memory.StepList
	m.ask(&list, repo, "last", "--scope", session, "-n", "200")
	// A machine under load costs some: a hook that is late gives up.
	if n := len(list.Steps); n == 0 || p50 < 40*time.Millisecond && n < 50 {
		t.Errorf("%d steps were recorded of 101", n)
	}
	var summary memory.Summary
	for range attempts {
		fire("SessionEnd", `,"reason":"exit"`)
		if m.ask(&summary, repo, "summarize", session); !summary.EndedAt.IsZero() {
			break
		}
	}
	if summary.EndedAt.IsZero() || len(summary.Failures) == 0 {
		t.Errorf("the summary is %+v, want one of a session that ended and failed once", summary)
	}
}

// BenchmarkHook takes the time of a whole hook, from the start of its process to
// its end, beside a command that does nothing: x_version is how much longer the
// hook takes.
func BenchmarkHook(b *testing.B) {
	newDaemon(b)
	dir := b.TempDir()
	const session = "0f3a2c1e-1111-2222-3333-444455556666"
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(os.Args[0], args...)
		cmd.Dir = dir
		return cmd
	}
	for _, event := range []struct{ name, rest string }{{"PostToolUse", hookedTool}, {"PostToolUseFailure", hookedFailed}} {
		b.Run(event.name, func(b *testing.B) {
			payload := hookPayload(session, dir, event.rest)
			var hooks, versions []time.Duration
			for b.Loop() {
				_, took := runHook(b, command("hook", "claude-code", event.name), payload)
				hooks = append(hooks, took)
				_, took = runHook(b, command("version"), "")
				versions = append(versions, took)
			}
			b.ReportMetric(milliseconds(median(hooks)), "p50-ms")
			b.ReportMetric(milliseconds(percentile(hooks, 95)), "p95-ms")
			b.ReportMetric(milliseconds(median(versions)), "version-p50-ms")
			b.ReportMetric(float64(median(hooks))/float64(median(versions)), "x_version")
		})
	}
}
