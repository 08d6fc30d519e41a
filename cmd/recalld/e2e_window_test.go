package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/recalld/recalld/internal/memory"
)

// asWindow makes the test binary be one window of Claude Code: a process that runs the
// hook of its session and then the bridge. It holds the session's id, or noHooks.
const (
	asWindow = "RECALLD_TEST_AS_WINDOW"
	noHooks  = "none"
)

// runWindow opens the session by its hook, if the window has hooks, and then is the
// bridge's parent for as long as that lives.
func runWindow(id string) int {
	os.Unsetenv(asWindow)
	dir, err := os.Getwd()
	if err != nil {
		return 1
	}
	for n := 0; id != noHooks; n++ {
		hook := exec.Command(os.Args[0], "hook", "claude-code", "SessionStart")
		hook.Stdin = strings.NewReader(hookPayload(id, dir, ""))
		_ = hook.Run()
		// On a loaded machine a hook may give up; the client would not wait for it.
		if list, err := exec.Command(os.Args[0], "sessions", "--json").Output(); err == nil && strings.Contains(string(list), id) {
			break
		}
		if n == attempts {
			return 1
		}
	}
	bridge := exec.Command(os.Args[0], "mcp")
	bridge.Stdin, bridge.Stdout, bridge.Stderr = os.Stdin, os.Stdout, os.Stderr
	if bridge.Run() != nil {
		return 1
	}
	return 0
}

// window opens a window of Claude Code in a folder.
func (m *machine) window(dir, hooked string) *client.Client {
	m.t.Helper()
	c := client.NewClient(transport.NewStdioWithOptions(os.Args[0], nil, nil,
		transport.WithCommandFunc(func(context.Context, string, []string, []string) (*exec.Cmd, error) {
			cmd := m.command(dir)
			cmd.Env = append(cmd.Env, asWindow+"="+hooked)
			return cmd, nil
		})))
	if err := c.Start(context.Background()); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { c.Close() })
	_, err := c.Initialize(m.t.Context(), mcp.InitializeRequest{Params: mcp.InitializeParams{
		ProtocolVersion: "2025-06-18", ClientInfo: mcp.Implementation{Name: "claude-code", Version: "1"},
	}})
	if err != nil {
		m.t.Fatal(err)
	}
	return c
}

// refusedCall calls a tool that must be refused, and returns what it says.
func refusedCall(t *testing.T, c *client.Client, name string, arguments map[string]any) string {
	t.Helper()
	result, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: name, Arguments: arguments}})
	if err != nil {
		t.Fatal(err)
	}
	text := result.Content[0].(mcp.TextContent).Text
	if !result.IsError {
		t.Errorf("%s is answered %q, want it refused", name, text)
	}
	return text
}

// TestE2ETwoWindows: two windows of one client in one folder, each with a real bridge,
// never touch one another's session: neither those that they start, nor those that
// their hooks opened, nor through a restart of the daemon.
func TestE2ETwoWindows(t *testing.T) {
	m := newMachine(t)
	dir := shop(t)
	m.run(dir, "repos")
	step := map[string]any{"tool": map[string]any{"name": "Edit"}, "outcome": map[string]any{"ok": true}}
	var answer struct {
		SessionID string `json:"sessionId"`
	}
	must := func(c *client.Client, tool string, arguments map[string]any) string {
		t.Helper()
		answer.SessionID = ""
		if err := call(c, tool, arguments, &answer); err != nil {
			t.Fatal(err)
		}
		return answer.SessionID
	}

	a, b := m.window(dir, noHooks), m.window(dir, noHooks)
	must(a, "session_start", map[string]any{"sessionId": "window-a", "goal": "of a"})
	for tool, arguments := range map[string]map[string]any{
		"session_end": {}, "compact_session": {"summary": "We moved the shop."}, "record_step": step, "working_context": {}, "report_context": {"clearDiscovered": true},
	} {
		if text := refusedCall(t, b, tool, arguments); !strings.Contains(text, "no session of yours is open") {
			t.Errorf("%s of the other window says %q, want that it has no session", tool, text)
		}
	}
	must(b, "session_start", map[string]any{"sessionId": "window-b"})
	host := []any{map[string]any{"type": "tool", "serverName": "git", "name": "blame_line", "description": "Show who changed a line of a file last"}}
	must(a, "register_context", map[string]any{"entries": host})
	must(a, "search_tools", map[string]any{"query": "who changed this line of the file last"})
	check := func(when string) {
		t.Helper()
		for id, c := range map[string]*client.Client{"window-a": a, "window-b": b} {
			if got := must(c, "record_step", step); got != id {
				t.Errorf("%s: a step of %s is recorded in %q", when, id, got)
			}
			var wc memory.WorkingContext
			if err := call(c, "working_context", nil, &wc); err != nil {
				t.Fatal(err)
			}
			if found := len(wc.DiscoveredTools) > 0; wc.SessionID != id || found != (id == "window-a") {
				t.Errorf("%s: the working context of %s is of %q with the tools %v, want those that it found itself", when, id, wc.SessionID, wc.DiscoveredTools)
			}
		}
	}
	check("side by side")
	m.run(dir, "stop")
	check("after a restart of the daemon")
	must(b, "session_end", map[string]any{})
	if text := refusedCall(t, b, "session_end", map[string]any{}); !strings.Contains(text, "no session of yours") {
		t.Errorf("ending again says %q", text)
	}
	if got := must(a, "record_step", step); got != "window-a" {
		t.Errorf("after the other window has ended its session, a step of window-a is recorded in %q", got)
	}

	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		return // the window of a hook is unknown there
	}
	c, d := m.window(dir, "hooked-c"), m.window(dir, "hooked-d")
	for id, w := range map[string]*client.Client{"hooked-c": c, "hooked-d": d} {
		var wc memory.WorkingContext
		if err := call(w, "working_context", nil, &wc); err != nil || wc.SessionID != id {
			t.Errorf("the current session of the window of %s is %q, %v", id, wc.SessionID, err)
		}
	}
	must(c, "compact_session", map[string]any{"summary": "We moved the shop."})
	must(d, "session_end", map[string]any{})
	var list memory.SessionList
	m.ask(&list, dir, "sessions")
	if len(list.Sessions) != 4 {
		t.Errorf("%d sessions are known, want 4: %+v", len(list.Sessions), list.Sessions)
	}
	if got := must(c, "record_step", step); got != "hooked-c" {
		t.Errorf("after the other window has ended its session, a step of hooked-c is recorded in %q", got)
	}

	// Scripts have no windows: two of their sessions are told apart by their ids.
	m.run(dir, "call", "session_start", `{"sessionId": "script-1"}`)
	m.run(dir, "call", "session_start", `{"sessionId": "script-2"}`)
	out, err := m.command(dir, "call", "session_end").CombinedOutput()
	if !errors.As(err, new(*exec.ExitError)) || !strings.Contains(string(out), "script-2, script-1") {
		t.Errorf("ending one of two sessions of scripts: %v, %q; want a refusal with both ids", err, out)
	}
	m.run(dir, "call", "session_end", `{"sessionId": "script-1"}`)
	m.run(dir, "call", "session_end")
}
