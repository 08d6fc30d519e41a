package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/recalld/recalld/internal/memory"
)

// patience is when a test gives up what never comes.
const patience = 3 * time.Minute

// connect has a real MCP client start the bridge in a folder, over stdio, and
// initialise.
func (m *machine) connect(dir string) (*client.Client, error) {
	stdio := transport.NewStdioWithOptions(os.Args[0], nil, []string{"mcp"},
		transport.WithCommandFunc(func(context.Context, string, []string, []string) (*exec.Cmd, error) {
			return m.command(dir, "mcp"), nil
		}))
	c := client.NewClient(stdio)
	if err := c.Start(context.Background()); err != nil {
		return nil, fmt.Errorf("start the bridge: %w", err)
	}
	_, err := c.Initialize(m.t.Context(), mcp.InitializeRequest{Params: mcp.InitializeParams{
		ProtocolVersion: "2025-06-18", ClientInfo: mcp.Implementation{Name: "e2e", Version: "1"},
	}})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("initialise: %w", err), c.Close())
	}
	return c, nil
}

// call calls a tool that must answer, and reads its structured content.
func call(c *client.Client, name string, arguments map[string]any, answer any) error {
	result, err := c.CallTool(context.Background(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: name, Arguments: arguments}})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	text, err := json.Marshal(result.StructuredContent)
	if err == nil && !result.IsError {
		err = json.Unmarshal(text, answer)
	}
	if err != nil || result.IsError {
		return fmt.Errorf("%s answers %+v: %w", name, result.Content, err)
	}
	return nil
}

// shown is the text of all items of an answer.
func shown(a memory.RecallResponse) string {
	var texts []string
	for _, i := range a.Items {
		texts = append(texts, i.Text)
	}
	return strings.Join(texts, "\n")
}

// TestE2ESixteenClients: so many agents that start at once on an empty machine
// get one daemon, and each is served.
func TestE2ESixteenClients(t *testing.T) {
	m, dir := newMachine(t), shop(t)
	const clients = 16
	pids, ids := make([]int, clients), make([]string, clients)
	agents := make([]*client.Client, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			c, err := m.connect(dir)
			if err != nil {
				t.Errorf("client %d: %v", i, err)
				return
			}
			agents[i] = c
			var kept memory.Remembered
			var st memory.Status
			err = errors.Join(
				call(c, "remember", map[string]any{"lesson": fmt.Sprintf("Agent number %d prefers tabs", i)}, &kept),
				call(c, "status", nil, &st))
			if err != nil {
				t.Errorf("client %d: %v", i, err)
			}
			pids[i], ids[i] = st.PID, kept.ID
		})
	}
	all.Wait()
	for _, c := range agents {
		if c != nil {
			_ = c.Close()
		}
	}
	if slices.Sort(pids); pids[0] == 0 || pids[0] != pids[clients-1] {
		t.Errorf("%d clients starting at once see daemons %v, want one", clients, slices.Compact(pids))
	}
	found := m.recall(dir, "which agent prefers tabs", "--limit", "50", "--max-tokens", "8000", "--min-relevance", "0")
	for i, id := range ids {
		if !slices.ContainsFunc(found.Items, func(item memory.Item) bool { return item.ID == id }) &&
			!slices.ContainsFunc(found.Withheld, func(w memory.Withheld) bool { return w.ID == id }) {
			t.Errorf("what client %d stored is not found", i)
		}
	}
}

// TestE2EClientSession is a session of one agent with all tools, on a repository
// that it edits.
func TestE2EClientSession(t *testing.T) {
	m, dir := newMachine(t), shop(t)
	c, err := m.connect(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	ask := func(query string) memory.RecallResponse {
		t.Helper()
		for start := time.Now(); time.Since(start) < patience; {
			var answer memory.RecallResponse
			if err := call(c, "recall", map[string]any{"query": query, "kinds": []string{"chunk"}}, &answer); err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(answer.Degraded, func(d memory.Degraded) bool { return d.Reason == "loading" }) {
				return answer
			}
		}
		t.Fatal("the daemon is still loading")
		return memory.RecallResponse{}
	}
	var queued memory.IndexQueued
	if err := call(c, "index_repo", map[string]any{"path": "."}, &queued); err != nil {
		t.Fatal(err)
	}
	if queued.Root != dir || queued.ProjectName != "shop" {
		t.Errorf("queued %+v, want %s", queued, dir)
	}
	indexed := false
	for start := time.Now(); !indexed && time.Since(start) < patience; {
		var st memory.Status
		if err := call(c, "status", nil, &st); err != nil {
			t.Fatal(err)
		}
		indexed = len(st.Projects) == 1 && !st.Projects[0].IndexedAt.IsZero()
	}
	if !indexed {
		t.Fatal("the repository is never indexed")
	}
	const question = "send the customer an e-mail that confirms the order"
	if a := ask(question); !strings.Contains(shown(a), "confirms the order") || !slices.Contains(paths(a), "mail/mail.go") {
		t.Fatalf("found %+v, want mail/mail.go", a.Items)
	}

	// The agent edits the file: the old line is never shown again, and the new
	// one is found without a request to index it.
	write(t, filepath.Join(dir, "mail", "mail.go"), "package mail\n\n// Refund returns the money to a buyer whose parcel went astray.\nfunc Refund() {}\n")
	first := ask(question)
	if strings.Contains(shown(first), "confirms the order") || !first.Stale {
		t.Errorf("after the edit the answer, stale %v, shows\n%s", first.Stale, shown(first))
	}
	found := false
	for start := time.Now(); !found && time.Since(start) < patience; {
		found = strings.Contains(shown(ask("return the money to a buyer whose parcel went astray")), "func Refund")
	}
	if !found {
		t.Error("the new text is not found by itself")
	}

	for _, bad := range []struct {
		tool      string
		arguments map[string]any
		says      string
	}{
		{"recall", map[string]any{"query": strings.Repeat("x", memory.MaxQuery+1)}, "1000000"},
		{"recall", map[string]any{"query": "q", "limt": 3}, "limt"},
		{"recall", map[string]any{"query": "q", "filters": map[string]any{"colour": "red"}}, "colour"},
		{"remember", map[string]any{"lesson": "x", "success_rate": "9/1"}, "success_rate"},
		{"remember", map[string]any{"lesson": " \n"}, "lesson"},
		{"index_repo", map[string]any{"path": "nowhere"}, "nowhere"},
	} {
		result, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: bad.tool, Arguments: bad.arguments}})
		if err != nil || !result.IsError {
			t.Errorf("%s of %.60v: %+v, %v, want a refusal", bad.tool, bad.arguments, result, err)
			continue
		}
		if text := fmt.Sprint(result.Content); !strings.Contains(text, bad.says) {
			t.Errorf("%s of %.60v says %s, which lacks %q", bad.tool, bad.arguments, text, bad.says)
		}
	}
}

// TestE2EGitRepository: what git ignores is not indexed, and a worktree shares
// the lessons of its repository.
func TestE2EGitRepository(t *testing.T) {
	m, dir := newMachine(t), shop(t)
	write(t, filepath.Join(dir, ".gitignore"), "private/\n")
	write(t, filepath.Join(dir, "private", "notes.go"), "package private\n\n// Ransom tells where the crown jewels are buried.\nfunc Ransom() {}\n")
	git := gitIn(t, dir)
	git("init", "-q")
	git("add", "-A")
	git("commit", "-q", "-m", "first")
	tree := filepath.Join(filepath.Dir(dir), "feature")
	git("worktree", "add", "-q", tree)

	if text := m.run(dir, "up", "."); !strings.Contains(text, "Question: ") || strings.Contains(text, "not in the answer") {
		t.Errorf("up does not end with a right answer:\n%s", text)
	}
	if a := m.recall(dir, "where are the crown jewels buried", "--min-relevance", "0"); slices.Contains(paths(a), "private/notes.go") {
		t.Errorf("what git ignores is found:\n%s", a.Text)
	}
	var kept, other memory.Remembered
	m.ask(&kept, dir, "remember", "Run the migrations before the tests")
	m.ask(&other, tree, "remember", "Regenerate the mocks after the migrations")
	if kept.Project != other.Project {
		t.Errorf("a worktree is of project %s, its repository of %s", other.Project, kept.Project)
	}
	if a := m.recall(tree, "run the migrations before the tests"); len(a.Items) == 0 || a.Items[0].ID != kept.ID {
		t.Errorf("the worktree does not find the lesson of its repository: %+v", a.Items)
	}
}

// gitIn returns what runs git in a folder; it skips the test where git is
// missing.
func gitIn(t *testing.T, dir string) func(args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is needed: install it and put it on PATH")
	}
	return func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
}

// TestE2EJSON: with --json every command writes one value, and what it cannot do
// is one as well.
func TestE2EJSON(t *testing.T) {
	m, dir := newMachine(t), shop(t)
	const (
		refunds = `{"type": "rule", "name": "Refunds"}`
		entries = `{"entries": [{"type": "rule", "name": "Refunds", "content": "Ask first."},
		{"type": "tool", "serverName": "shop", "name": "refund_order", "description": "Refund an order", "guidance": "In cents."}]}`
		state = `{"state": [{"task_id": "t-0", "completed_at": "2026-01-11T09:55:00Z", "validation_report": {"valid": true}}]}`
	)
	const latest = "RECEIPT" // stands for the one that was named last
	receipt := ""
	for _, args := range [][]string{
		{"version"}, {"up", "."}, {"index"}, {"index", "--wait"}, {"remember", "Write JSON"}, {"recall", "write JSON"},
		{"recall", "photosynthesis of algae"}, {"status"}, {"repos"}, {"model", "list"},
		{"tasks"}, {"call", "complete_task", `{"task_id": "t-1", "validation_report": {"valid": true}}`}, {"call", "block_task", `{"task_id": "t-2", "reason": "why"}`},
		{"call", "unblock_task", `{"task_id": "t-2"}`}, {"call", "load_tasks", state}, {"tasks"}, {"call"}, {"call", "load_tasks", "--schema"},
		{"catalogue"}, {"call", "register_context", entries}, {"catalogue", "--content"}, {"call", "search_tools", `{"query": "refund an order"}`},
		{"call", "session_start", `{"sessionId": "json-1", "goal": "Write JSON"}`}, {"call", "session_context"}, {"call", "change_context", `{"add": [` + refunds[:len(refunds)-1] + `, "includeMode": "manual"}]}`},
		{"call", "change_context", `{"remove": [` + refunds + `]}`}, {"call", "context_of_turn"}, {"context", "for", "Write JSON and refund an order"}, {"call", "context_of_turn"},
		{"call", "working_context"}, {"call", "report_context", `{"usedTools": [{"serverName": "shop", "toolName": "refund_order"}]}`}, {"receipts"}, {"receipts", latest}, {"feedback", latest, "worked"},
		{"replay", "--session", "json-1"}, {"call", "compact_session", `{"summary": "JSON was written."}`}, {"call", "unregister_context", `{"entries": [` + refunds + `]}`},
		{"forget", "--project", "shop", "--yes"}, {"receipts"}, {"replay", "--since", "1d"}, {"stop"}, {"doctor"}, {"stop"},
	} {
		if i := slices.Index(args, latest); i > 0 {
			args[i] = receipt
		}
		var out, errs bytes.Buffer
		cmd := m.command(dir, append(args, "--json")...)
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			t.Errorf("%q: %v\n%s", args, err, errs.String())
		}
		var named struct{ Receipt string }
		if json.Unmarshal(out.Bytes(), &named) == nil && named.Receipt != "" {
			receipt = named.Receipt
		}
		if values, err := values(&out); err != nil || values != 1 {
			t.Errorf("%q writes %d values, %v, want one", args, values, err)
		}
	}
	for _, args := range [][]string{
		{"recall"}, {"recall", "q", "--limit", "51"}, {"index", "nowhere"}, {"forget", "l-0"},
		{"call", "session_context"}, {"context", "for", strings.Repeat("a", 8001)}, {"context", "nosuch"}, {"context", "turn", "1"}, {"call", "context_of_turn", `{"turn": 0}`},
		{"call", "nosuch"}, {"call", "unblock_task", `{"task_id": "none"}`}, {"call", "search_tools", `{"query": "q", "sessionId": "none"}`}, {"call", "report_context", "{}"},
		{"call", "compact_session", `{"summary": "Done."}`}, {"receipts", "none"}, {"feedback", "none", "worked"}, {"replay"},
	} {
		var out, errs bytes.Buffer
		cmd := m.command(dir, append(args, "--json")...)
		cmd.Stdout, cmd.Stderr = &out, &errs
		var failed struct{ Error *memory.Error }
		if err := cmd.Run(); err == nil || json.Unmarshal(errs.Bytes(), &failed) != nil || failed.Error == nil || failed.Error.Code == "" || out.Len() > 0 {
			t.Errorf("%q ends with %v, writes %q, and its error is %s", args, err, out.String(), errs.String())
		}
	}
}

// values counts the JSON values in a text.
func values(r io.Reader) (int, error) {
	decoder := json.NewDecoder(r)
	for n := 0; ; n++ {
		var value any
		if err := decoder.Decode(&value); errors.Is(err, io.EOF) {
			return n, nil
		} else if err != nil {
			return n, err
		}
	}
}
