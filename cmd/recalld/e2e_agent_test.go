package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// agent is an MCP client that speaks to `recalld mcp` line by line.
type agent struct {
	t     *testing.T
	in    io.WriteCloser
	lines *bufio.Scanner
	// notified are the methods of the notifications so far.
	notified []string
	next     int
}

// newAgent starts the bridge in a folder and initialises.
func newAgent(t *testing.T, m *machine, dir string) *agent {
	t.Helper()
	cmd := m.command(dir, "mcp")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a := &agent{t: t, in: in, lines: bufio.NewScanner(out)}
	a.lines.Buffer(nil, 8<<20)
	t.Cleanup(func() {
		in.Close() // the client has gone: the bridge ends
		if err := cmd.Wait(); err != nil {
			t.Errorf("mcp: %v\n%s", err, errs.String())
		}
	})
	a.call("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}`)
	a.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return a
}

func (a *agent) send(message string) {
	a.t.Helper()
	if _, err := io.WriteString(a.in, message+"\n"); err != nil {
		a.t.Fatalf("write to the bridge: %v", err)
	}
}

// call sends a request and returns its result.
func (a *agent) call(method, params string) json.RawMessage {
	a.t.Helper()
	a.next++
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, a.next, method, params))
	for a.lines.Scan() {
		var message struct {
			ID     int
			Method string
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := json.Unmarshal(a.lines.Bytes(), &message); err != nil {
			a.t.Fatalf("the bridge wrote something else than JSON-RPC: %v in %q", err, a.lines.Text())
		}
		switch {
		case message.ID != a.next:
			a.notified = append(a.notified, message.Method)
		case message.Error != nil:
			a.t.Fatalf("%s: %s", method, message.Error)
		default:
			return message.Result
		}
	}
	a.t.Fatalf("the bridge ended without an answer to %s: %v", method, a.lines.Err())
	return nil
}

// toolResult is what a tool answered.
type toolResult struct {
	IsError bool
	Content []struct{ Text string }
}

func (a *agent) tool(name, arguments string) toolResult {
	a.t.Helper()
	var result toolResult
	raw := a.call("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments))
	if err := json.Unmarshal(raw, &result); err != nil || len(result.Content) == 0 {
		a.t.Fatalf("%s answered %s: %v", name, raw, err)
	}
	return result
}

func TestE2EAgents(t *testing.T) {
	m, dir := newMachine(t), shop(t)
	first, second := newAgent(t, m, dir), newAgent(t, m, dir)

	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(first.call("tools/list", `{}`), &list); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"recall", "remember", "feedback", "search_tools"} {
		if !slices.ContainsFunc(list.Tools, func(tool struct{ Name string }) bool { return tool.Name == want }) {
			t.Errorf("tools/list lacks %s: %v", want, list.Tools)
		}
	}
	if r := first.tool("remember", `{"context":"flaky checkout test","lesson":"freeze the clock before the coupon expires"}`); r.IsError {
		t.Fatalf("remember: %s", r.Content[0].Text)
	}
	if r := second.tool("recall", `{"query":"checkout test is flaky"}`); !strings.Contains(r.Content[0].Text, "freeze the clock") {
		t.Errorf("the second agent does not find what the first one stored:\n%s", r.Content[0].Text)
	}
	if r := second.tool("recall", `{"query":"q","limit":51}`); !r.IsError || !strings.Contains(r.Content[0].Text, "limit") {
		t.Errorf("a limit over 50 is answered with %+v, want an error that names it", r)
	}

	raw := first.call("tools/call", `{"name":"index_repo","arguments":{"wait":true},"_meta":{"progressToken":7}}`)
	if !strings.Contains(string(raw), "Indexed "+dir) || !slices.Contains(first.notified, "notifications/progress") {
		t.Errorf("indexing answers %s after %v", raw, first.notified)
	}

	// The daemon goes away under both, and comes back with what it knew.
	m.run(dir, "stop")
	m.recall(dir, "anything") // loaded again
	if r := first.tool("recall", `{"query":"checkout test is flaky"}`); !strings.Contains(r.Content[0].Text, "freeze the clock") {
		t.Errorf("after a restart the lesson is not found:\n%s", r.Content[0].Text)
	}
}
