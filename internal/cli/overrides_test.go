package cli

import (
	"slices"
	"strings"
	"testing"
)

// TestSetIsNeverIgnored runs every example of every command with a setting of the daemon:
// while one runs the command refuses it in words, before it asks for anything.
func TestSetIsNeverIgnored(t *testing.T) {
	// serve and eval are what the settings are for; context alone shows its help; hook fails open, token asks no daemon, and mcp answers its client, see below.
	exempt := []string{"serve", "eval", "context", "hook", "mcp", "token"}
	for _, c := range commands(t) {
		name := strings.TrimPrefix(c.CommandPath(), "recalld ")
		if slices.Contains(exempt, name) {
			continue
		}
		for _, line := range examples(c) {
			if !strings.HasPrefix(strings.Join(line, " ")+" ", name+" ") || slices.Contains(line, "#") {
				continue // beside the command's own
			}
			if name == "config" || name == "config get" || name == "config list" {
				continue // they show what it does
			}
			if len(line) == 1 && name == "completion" || slices.Contains(line, "--repair") {
				continue // without its argument; on the store itself, with these settings
			}
			b := newBench(t, sample())
			b.opts.In = strings.NewReader(`{}`)
			args := append(slices.Clone(line), "--set", "recall.max_tokens=500")
			_, errs, code := b.run(args...)
			if code == ExitNotFound && strings.Contains(errs, "there is no file") {
				continue // of what the example reads
			}
			if code != ExitUsage || !strings.Contains(errs, "--set") || !strings.Contains(errs, "recall.max_tokens") {
				t.Errorf("recalld %q ends with %d, %q; want %d and words on --set recall.max_tokens", args, code, errs, ExitUsage)
			}
			if calls := b.fake.Calls(); len(calls) > 0 {
				t.Errorf("recalld %q asked the daemon %v before it refused", args, calls)
			}
		}
	}
	for _, line := range [][]string{{"mcp"}, {"hook", "claude-code", "UserPromptSubmit"}} {
		b := mcpBench(t)
		b.opts.In = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}},"session_id":"abcd","prompt":"why does npm fail","cwd":"/src","hook_event_name":"UserPromptSubmit"}` + "\n")
		out, _, _ := b.run(append(line, "--set", "recall.max_tokens=500")...)
		if calls := b.fake.Calls(); len(calls) > 0 {
			t.Errorf("recalld %v asked the daemon %v with a --set that it ignores", line, calls)
		}
		if line[0] == "mcp" && !strings.Contains(out, "would ignore recall.max_tokens") {
			t.Errorf("recalld mcp answers its client %q, want why it does not go on", out)
		}
	}
}

// TestSetForTheDaemonThatIsStarted: with none running, the setting goes to the one that
// the command starts; what a command uses itself is never refused, nor is a setting of a former
// version.
func TestSetForTheDaemonThatIsStarted(t *testing.T) {
	b := newBench(t, sample())
	b.absent = true
	if _, errs, code := b.run("repos", "--set", "recall.max_tokens=500"); code != ExitUnavailable || !slices.Equal(b.connects, []bool{false, true}) {
		t.Errorf("repos ends with %d, %q, after connecting %v; want one look for a daemon, then a start", code, errs, b.connects)
	}
	for _, set := range []string{"daemon.autostart=false", "daemon.start_timeout=3s", "queue.lease=30s", "data=" + t.TempDir(), "socket=" + t.TempDir() + "/s"} {
		newBench(t, sample()).ok("status", "--set", set)
	}
}
