package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// host is a host of contract 6 that speaks to the daemon in one way: do makes a call
// by the name of its tool, and restart ends the daemon and has another one started.
type host struct {
	do      func(tool string, arguments map[string]any, answer any) error
	restart func()
}

// hosts are the ways to speak to the daemon: MCP through the bridge, and the API.
var hosts = map[string]func(m *machine, dir string) host{
	"mcp": func(m *machine, dir string) host {
		c := m.mustConnect(dir)
		return host{
			do:      func(tool string, arguments map[string]any, answer any) error { return call(c, tool, arguments, answer) },
			restart: func() { m.run("", "stop") }, // the bridge starts the next one
		}
	},
	"api": func(m *machine, dir string) host {
		var status memory.Status
		m.ask(&status, dir, "call", "status")
		api := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", status.Socket)
		}}}
		routes := map[string]string{
			"register_context": "/v1/catalogue/register", "session_start": "/v1/sessions/start", "change_context": "/v1/context/change",
			"session_context": "/v1/context", "assemble_context": "/v1/context/assemble", "context_of_turn": "/v1/context/turn",
			"search_tools": "/v1/tools/search", "working_context": "/v1/working", "report_context": "/v1/working/report",
			"compact_session": "/v1/working/compact", "receipts": "/v1/receipts", "feedback": "/v1/feedback",
		}
		return host{
			do: func(tool string, arguments map[string]any, answer any) error {
				arguments["caller"] = map[string]any{"dir": dir, "client": "host"}
				if tool == "feedback" { // a receipt knows its project
					arguments["caller"] = map[string]any{"client": "host"}
				}
				body, err := json.Marshal(arguments)
				if err != nil {
					return err
				}
				resp, err := api.Post("http://recalld"+routes[tool], "application/json", bytes.NewReader(body))
				if err != nil {
					return err
				}
				defer resp.Body.Close()
				text, err := io.ReadAll(resp.Body)
				if err != nil || resp.StatusCode != http.StatusOK {
					return fmt.Errorf("%s answers %s: %s %w", tool, resp.Status, text, err)
				}
				return json.Unmarshal(text, answer)
			},
			restart: func() {
				m.run("", "stop")
				m.ask(&status, dir, "call", "status")
			},
		}
	},
}

// entry is one entry of a catalogue as a host registers it.
func entry(kind, name, include, content string) map[string]any {
	return map[string]any{"type": kind, "name": name, "include": include, "content": content}
}

// recorded writes a record's entries as the contract does: [A, X, B].
func recorded(r *memory.ContextRecord) string {
	if r == nil {
		return "no record"
	}
	var names []string
	for _, item := range r.Items {
		names = append(names, item.Name)
	}
	return strings.Join(names, ", ")
}

// TestE2EContexts is the flow of contract 6, and the life of a discovered tool, as a
// host sees them.
func TestE2EContexts(t *testing.T) {
	for way, speak := range hosts {
		t.Run(way, func(t *testing.T) {
			m, dir := newMachine(t), filepath.Join(t.TempDir(), "shop")
			write(t, filepath.Join(dir, "README.md"), "A shop.\n")
			h := speak(m, dir)
			do := func(tool string, arguments map[string]any, answer any) {
				t.Helper()
				if err := h.do(tool, arguments, answer); err != nil {
					t.Fatal(err)
				}
			}
			do("register_context", map[string]any{"source": "e2e", "entries": []any{
				entry("rule", "A", "always", "Keep functions short and write a test for each."),
				entry("rule", "B", "manual", "Releases are tagged by the person on duty."),
				entry("rule", "C", "agent", "Authentication: users authenticate with a password and a one-time code; never log either."),
				entry("reference", "X", "always", "The shop has a web front end and one service."),
				entry("reference", "Y", "agent", "Database schema: table orders has the columns id, customer and total."),
				map[string]any{"type": "tool", "name": "refund_order", "serverName": "shop", "include": "manual",
					"description": "Refund an order and give the customer the money back.", "guidance": "Ask the person before money is moved."},
				map[string]any{"type": "tool", "name": "list_stock", "serverName": "shop", "include": "manual",
					"description": "List how many articles are in the warehouse."},
			}}, new(memory.Registered))
			do("session_start", map[string]any{"sessionId": "flow-1", "goal": "Mend the login"}, new(memory.SessionState))
			do("change_context", map[string]any{"add": []any{map[string]any{"type": "rule", "name": "B"}}, "sessionId": "flow-1"}, new(memory.Context))
			var held memory.Context
			do("session_context", map[string]any{"sessionId": "flow-1"}, &held)
			if got := recorded(&memory.ContextRecord{Items: recordItems(held.Items)}); got != "A, X, B" {
				t.Errorf("the session holds [%s], want [A, X, B]", got)
			}
			for turn, ask := range []struct{ message, want string }{
				{"How do I authenticate?", "A, X, B, C"},
				{"Which columns does the table orders have in the database?", "A, X, B, Y"},
			} {
				var a memory.Assembled
				do("assemble_context", map[string]any{"message": ask.message, "sessionId": "flow-1"}, &a)
				if got := recorded(&a.Record); got != ask.want || a.Turn != turn+1 {
					t.Errorf("turn %d: %q is answered with [%s], want turn %d and [%s]", a.Turn, ask.message, got, turn+1, ask.want)
				}
				if last := a.Record.Items[len(a.Record.Items)-1]; last.IncludeMode != memory.IncludeAgent || last.SimilarityScore == nil || *last.SimilarityScore < .5 {
					t.Errorf("turn %d: the relevant item is recorded as %+v", a.Turn, last)
				}
			}

			// A tool that is found in one turn is active in the next, and after a restart.
			var found memory.ToolMatches
			do("search_tools", map[string]any{"query": "give a customer the money back", "sessionId": "flow-1"}, &found)
			if len(found.Tools) == 0 || found.Tools[0].Name != "refund_order" || !found.Tools[0].Active ||
				!strings.HasPrefix(found.Guidance, memory.GuidanceHeading) {
				t.Fatalf("search_tools finds %+v with guidance %q", found.Tools, found.Guidance)
			}
			do("report_context", map[string]any{"entities": []any{map[string]any{"id": "order-7", "type": "order"}}, "sessionId": "flow-1"}, new(memory.WorkingContext))
			active := func(when string, want bool) {
				t.Helper()
				var a memory.Assembled
				do("assemble_context", map[string]any{"message": "Go on with the refund", "sessionId": "flow-1"}, &a)
				if got := slices.Contains(a.ActiveTools, memory.ToolRef{ServerName: "shop", ToolName: "refund_order"}); got != want {
					t.Errorf("%s: the found tool is active: %v, want %v", when, got, want)
				}
			}
			active("in the next turn", true)
			var before, after memory.WorkingContext
			do("working_context", map[string]any{"sessionId": "flow-1"}, &before)
			h.restart()
			do("working_context", map[string]any{"sessionId": "flow-1"}, &after)
			if one, two := toJSON(t, before), toJSON(t, after); one != two {
				t.Errorf("a restart changes the working context:\n%s\n%s", one, two)
			}
			active("after a restart", true)
			for turn, want := range []string{"A, X, B, C", "A, X, B, Y"} {
				var of memory.TurnContext
				do("context_of_turn", map[string]any{"turn": turn + 1, "sessionId": "flow-1"}, &of)
				if got := recorded(of.Record); got != want {
					t.Errorf("turn %d is read back as [%s], want [%s]", turn+1, got, want)
				}
			}

			// A summary that names a tool is refused, and nothing is cleared.
			if err := h.do("compact_session", map[string]any{"summary": "Called refund_order for order-7.", "sessionId": "flow-1"}, new(memory.Compacted)); err == nil ||
				!strings.Contains(err.Error(), "refund_order") {
				t.Errorf("a summary that names a tool: %v", err)
			}
			active("after a refused compaction", true)
			do("compact_session", map[string]any{"summary": "Order order-7 was paid back; the customer knows.", "sessionId": "flow-1"}, new(memory.Compacted))
			active("after the compaction", false)
			var clean memory.WorkingContext
			do("working_context", map[string]any{"sessionId": "flow-1"}, &clean)
			if len(clean.Entities) != 0 || clean.Version <= after.Version {
				t.Errorf("after the compaction: %+v, before it the version was %d", clean, after.Version)
			}
			do("search_tools", map[string]any{"query": "give a customer the money back", "sessionId": "flow-1"}, &found)
			if found.Guidance == "" {
				t.Error("guidance is not told again after a compaction")
			}
			active("when it is found again", true)
		})
	}
}

// recordItems are a session's items as a record has them.
func recordItems(items []memory.ContextItem) []memory.RecordItem {
	var out []memory.RecordItem
	for _, i := range items {
		out = append(out, memory.RecordItem{Type: i.Type, Name: i.Name, ServerName: i.ServerName, IncludeMode: i.IncludeMode})
	}
	return out
}

func toJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
