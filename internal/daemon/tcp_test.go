package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/httpserver"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/testkit/underrace"
)

// serveTCP runs a daemon that listens on TCP as well and returns its token.
func serveTCP(t *testing.T, change ...func(*Options)) (s *served, address, token string) {
	t.Helper()
	cfg := newConfig(t)
	cfg.TCP = config.TCP{Enabled: true, Address: "127.0.0.1:0", AllowedOrigins: []string{"https://example.org"}}
	cfg.MCP.StructuredContent = "on" // callTool reads it
	s = serve(t, cfg, change...)
	st, err := service.Status.Do(t.Context(), s, service.None{})
	must(t, err)
	text, err := os.ReadFile(cfg.Paths().Token)
	must(t, err)
	return s, st.TCP, strings.TrimSpace(string(text))
}

// TestTCPIsGuarded: every route asks for the token, and for a caller that has
// business here.
func TestTCPIsGuarded(t *testing.T) {
	_, address, token := serveTCP(t)
	bearer := "Bearer " + token
	for _, test := range []struct {
		name                        string
		authorization, origin, host string
		want                        int
	}{
		{"a local client", bearer, "", "", http.StatusOK},
		{"an allowed page", bearer, "https://example.org", "", http.StatusOK},
		{"by name", bearer, "", "localhost:1", http.StatusOK},
		{"no token", "", "", "", http.StatusUnauthorized},
		{"another token", bearer + "x", "", "", http.StatusUnauthorized},
		{"the token as a password", "Basic " + token, "", "", http.StatusUnauthorized},
		{"another page", bearer, "https://evil.example", "", http.StatusForbidden},
		{"a page without an origin of its own", bearer, "null", "", http.StatusForbidden},
		{"a name that leads here", bearer, "", "evil.example", http.StatusForbidden},
	} {
		for _, route := range []string{"/v1/hello", "/v1/status", "/v1/repos", "/metrics"} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+route, nil)
			must(t, err)
			for name, value := range map[string]string{"Authorization": test.authorization, "Origin": test.origin} {
				if value != "" {
					request.Header.Set(name, value)
				}
			}
			if test.host != "" {
				request.Host = test.host
			}
			answer, err := http.DefaultClient.Do(request)
			must(t, err)
			_ = answer.Body.Close()
			if answer.StatusCode != test.want {
				t.Errorf("%s, %s: status %d, want %d", test.name, route, answer.StatusCode, test.want)
			}
		}
	}
}

// TestTokenIsRotated while the daemon runs.
func TestTokenIsRotated(t *testing.T) {
	s, address, token := serveTCP(t)
	path := s.cfg.Paths().Token
	status := func(token string) int {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/v1/hello", nil)
		must(t, err)
		request.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(request)
		must(t, err)
		_ = answer.Body.Close()
		return answer.StatusCode
	}
	for _, keep := range []time.Duration{time.Hour, 0} {
		must(t, httpserver.RotateToken(path, time.Now(), keep))
		text, err := os.ReadFile(path)
		must(t, err)
		next := strings.TrimSpace(string(text))
		want := http.StatusUnauthorized
		if keep > 0 {
			want = http.StatusOK
		}
		if got := status(token); got != want {
			t.Errorf("kept for %s, the former token is answered with %d", keep, got)
		}
		if got := status(next); got != http.StatusOK {
			t.Errorf("the new token is answered with %d", got)
		}
		token = next
	}
}

// TestMCPOverTCP: a real client over streamable HTTP does all that a session
// does.
func TestMCPOverTCP(t *testing.T) {
	s, address, token := serveTCP(t)
	dir := shop(t)
	_, err := open(t, address, "wrong")
	if err == nil {
		t.Error("a client with a wrong token initialises")
	}
	agent, err := open(t, address, token)
	must(t, err)
	list, err := agent.ListTools(t.Context(), mcp.ListToolsRequest{})
	must(t, err)
	for _, want := range []string{"recall", "remember", "feedback", "search_tools"} {
		if !slices.ContainsFunc(list.Tools, func(tool mcp.Tool) bool { return tool.Name == want }) {
			t.Errorf("there is no tool %s", want)
		}
	}
	var queued memory.IndexQueued
	callTool(t, agent, "index_repo", map[string]any{"path": dir}, &queued)
	s.indexed(&queued)
	var kept memory.Remembered
	callTool(t, agent, "remember", map[string]any{"lesson": "Count the articles before the discount", "project": dir}, &kept)
	var answer memory.RecallResponse
	callTool(t, agent, "recall", map[string]any{"query": "count the articles", "project": dir}, &answer)
	if len(answer.Items) == 0 || answer.Items[0].ID != kept.ID {
		t.Errorf("recall answers %+v, want the lesson %s", answer.Items, kept.ID)
	}
	var st memory.Status
	callTool(t, agent, "status", map[string]any{}, &st)
	if len(st.Projects) != 1 || st.Projects[0].Root != dir {
		t.Errorf("status lists %+v, want %s", st.Projects, dir)
	}
	for _, bad := range []map[string]any{{"query": "q", "limit": 51}, {"query": ""}, {"query": "q", "unknown": 1}, {}} {
		result, err := agent.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "recall", Arguments: bad}})
		if err != nil || !result.IsError {
			t.Errorf("recall of %v: %+v, %v, want a refusal", bad, result, err)
		}
	}
}

// open initialises a session.
func open(t *testing.T, address, token string) (*mcpclient.Client, error) {
	t.Helper()
	agent, err := mcpclient.NewStreamableHttpClient("http://"+address+"/mcp",
		transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + token}))
	must(t, err)
	t.Cleanup(func() { _ = agent.Close() })
	if err := agent.Start(context.Background()); err != nil {
		return nil, err
	}
	_, err = agent.Initialize(t.Context(), mcp.InitializeRequest{Params: mcp.InitializeParams{
		ProtocolVersion: "2025-06-18", ClientInfo: mcp.Implementation{Name: "test", Version: "1"},
	}})
	return agent, err
}

// callTool calls a tool that must answer, and reads its structured content.
func callTool(t *testing.T, agent *mcpclient.Client, name string, arguments map[string]any, answer any) {
	t.Helper()
	result, err := agent.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: name, Arguments: arguments}})
	if err != nil || result.IsError {
		t.Fatalf("%s: %v, %+v", name, err, result)
	}
	text, err := json.Marshal(result.StructuredContent)
	must(t, err)
	if err := json.Unmarshal(text, answer); err != nil {
		t.Fatalf("%s answered %s: %v", name, text, err)
	}
}

// TestIndexRepoWaits: a client that waits is told how far the run is, and gets the size of
// the index; one that gives up ends the waiting, not the run.
func TestIndexRepoWaits(t *testing.T) {
	s, address, token := serveTCP(t)
	agent, err := open(t, address, token)
	must(t, err)
	var mu sync.Mutex
	var told []mcp.JSONRPCNotification
	agent.OnNotification(func(n mcp.JSONRPCNotification) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, n)
	})
	dir := t.TempDir()
	files := underrace.Steps(1000, 600) // indexing takes long enough to be given up meanwhile
	for i := range files {
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%d.go", i)), fmt.Appendf(nil, "package p\n\n// F%d sorts the drawers.\nfunc F%[1]d() {}\n", i), 0o600))
	}
	call := mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "index_repo", Arguments: map[string]any{"path": dir, "wait": true},
		Meta: &mcp.Meta{ProgressToken: "how far"}}}

	gone, cancel := context.WithCancel(t.Context())
	go func() { // as soon as it runs
		for ; gone.Err() == nil; time.Sleep(time.Millisecond) {
			if list, err := service.Repos.Do(t.Context(), s, service.None{}); err == nil && len(list.Repos) > 0 {
				cancel()
			}
		}
	}()
	if result, err := agent.CallTool(gone, call); err == nil {
		t.Errorf("a call that was given up is answered with %+v", result)
	}

	mu.Lock()
	told = nil
	mu.Unlock()
	result, err := agent.CallTool(t.Context(), call)
	must(t, err)
	if text := result.Content[0].(mcp.TextContent).Text; result.IsError || !strings.Contains(text, "Indexed "+dir) || !strings.Contains(text, fmt.Sprint(files, " files")) {
		t.Errorf("it answers %+v", result)
	}
	mu.Lock()
	defer mu.Unlock()
	last := -1.0
	for _, n := range told {
		if n.Method != "notifications/progress" {
			continue
		}
		done, _ := n.Params.AdditionalFields["progress"].(float64)
		if n.Params.AdditionalFields["progressToken"] != "how far" || done <= last {
			t.Errorf("after %v it tells %+v", last, n.Params.AdditionalFields)
		}
		last = done
	}
	if last < 0 {
		t.Error("no progress was told")
	}
}

// TestWaitingForPausedIndexing: it is not waited for.
func TestWaitingForPausedIndexing(t *testing.T) {
	s := serve(t, newConfig(t))
	_, err := service.Pause.Do(t.Context(), s, memory.PauseRequest{})
	must(t, err)
	_, err = service.IndexRepo.Do(t.Context(), s, memory.IndexRequest{Path: shop(t), Wait: true})
	if memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("it answers %v", err)
	}
}

// TestLogsToClients: a client that asks for warnings is told why an answer is not whole,
// another is not.
func TestLogsToClients(t *testing.T) {
	_, address, token := serveTCP(t)
	for level, want := range map[mcp.LoggingLevel]bool{mcp.LoggingLevelWarning: true, mcp.LoggingLevelError: false} {
		agent, err := open(t, address, token)
		must(t, err)
		logged := make(chan string, 10)
		agent.OnNotification(func(n mcp.JSONRPCNotification) {
			if n.Method == "notifications/message" {
				logged <- fmt.Sprint(n.Params.AdditionalFields["data"])
			}
		})
		//lint:ignore SA1019 versions before 2026-07-28 have it, and clients speak them
		must(t, agent.SetLevel(t.Context(), mcp.SetLevelRequest{Params: mcp.SetLevelParams{Level: level}}))
		_, err = agent.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "recall", Arguments: map[string]any{"query": ""}}})
		must(t, err)
		if got := len(logged) > 0; got != want {
			t.Errorf("at level %s it logs %v", level, got)
		}
	}
}
