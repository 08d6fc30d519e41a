package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/recalld/recalld/internal/access"
	"github.com/recalld/recalld/internal/service"
)

// serve starts a server over HTTP and returns its URL.
func serve(t *testing.T, svc service.Service, opts Options) string {
	t.Helper()
	s, err := NewServer(svc, opts)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client := &access.Client{Key: r.Header.Get("Test-Client")}
		s.ServeHTTP(w, r.WithContext(access.With(r.Context(), client)))
	}))
	t.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("close: %v", err)
		}
		web.Close()
	})
	return web.URL
}

// connect returns an initialized client of a transport.
func connect(t *testing.T, over transport.Interface, opts ...mcpclient.ClientOption) *mcpclient.Client {
	t.Helper()
	c := mcpclient.NewClient(over, opts...)
	if err := c.Start(t.Context()); err != nil {
		t.Fatalf("start client: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	var request mcpgo.InitializeRequest
	request.Params.ProtocolVersion = mcpgo.LATEST_LEGACY_PROTOCOL_VERSION
	request.Params.ClientInfo = mcpgo.Implementation{Name: "test-agent", Version: "1"}
	if _, err := c.Initialize(t.Context(), request); err != nil {
		t.Fatalf("initialize: %v", err)
	}
	return c
}

func overHTTP(t *testing.T, url string, opts ...transport.StreamableHTTPCOption) *transport.StreamableHTTP {
	t.Helper()
	over, err := transport.NewStreamableHTTP(url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return over
}

// callTool calls a tool with arguments written as JSON.
func callTool(t *testing.T, c *mcpclient.Client, tool, arguments string) *mcpgo.CallToolResult {
	t.Helper()
	var request mcpgo.CallToolRequest
	request.Params.Name = tool
	request.Params.Arguments = json.RawMessage(arguments)
	result, err := c.CallTool(t.Context(), request)
	if err != nil {
		t.Fatalf("call %s %.200s: protocol error: %v", tool, arguments, err)
	}
	return result
}

func textOf(r *mcpgo.CallToolResult) string {
	var text strings.Builder
	for _, c := range r.Content {
		if part, ok := c.(mcpgo.TextContent); ok {
			text.WriteString(part.Text)
		}
	}
	return text.String()
}

func TestTools(t *testing.T) {
	svc := &fakeService{}
	c := connect(t, overHTTP(t, serve(t, svc, Options{StructuredContent: true})))
	schemas := outputSchemas(t, c)
	dir := t.TempDir()
	for _, tt := range []struct{ tool, arguments, want string }{
		{"recall", `{"query":"npm error"}`, "nothing relevant in demo"},
		{"remember", `{"lesson":"run npm ci","context":"npm","success_rate":"1/2","tags":["npm"],"event_type":"error"}`, "Already known, counted again: l-1 in project demo. Secrets were taken out of the text. Warning: the log is on a full disk."},
		{"recall", `{"query":"npm error"}`, "run npm ci"},
		{"recall", `{"text":"the older name"}`, "run npm ci"},
		{"recall", `{"query":"q","scope":"current","filters":{"tag":"a","since":"2026-01-31T15:04:05Z"}}`, "run npm ci"},
		{"recall", `{"query":"q","scope":{"sessionId":"abcd"}}`, "run npm ci"},
		{"recall", `{"query":"a pair: \ud83d\ude00, an escaped \\ud800"}`, "run npm ci"},
		{"index_repo", fmt.Sprintf(`{"path":%q}`, dir), "Queued " + dir + " (project demo), 1 job ahead of it"},
		{"status", `{}`, "recalld 1.2.3 is ready: 3 lessons"},
		{"status", `null`, "and 10 more"},
		{"status", `{}`, "- code: 60 folders, 2 stale, 1 run waiting, 3 of 9 failed; of 8 questions 75 % found code, 12 % fell back\n"},
		{"status", `{}`, "all work in the background is held"},
	} {
		r := callTool(t, c, tt.tool, tt.arguments)
		if r.IsError || !strings.Contains(textOf(r), tt.want) {
			t.Errorf("%s %s: text %q (error %v), want it to contain %q", tt.tool, tt.arguments, textOf(r), r.IsError, tt.want)
		}
		content := checkStructured(t, schemas[tt.tool], r)
		if projects, _ := content["projects"].([]any); len(projects) > maxStatusProjects {
			t.Errorf("status lists %d projects, want at most %d", len(projects), maxStatusProjects)
		}
	}
	if caller := svc.callers()[0]; caller.Client != "test-agent" {
		t.Errorf("caller.Client = %q, want the name from initialize", caller.Client)
	}
}

// TestRefusals: whatever is wrong with a call becomes a result with isError and a text with
// code, field and limit.
func TestRefusals(t *testing.T) {
	c := connect(t, overHTTP(t, serve(t, &fakeService{}, Options{})))
	for _, tt := range []struct{ tool, arguments, code, field, limit string }{
		{"recall", `{"query":"q","colour":1}`, "invalid_input", "colour", "known fields: explain, filters"},
		{"recall", `{"Query":"q"}`, "invalid_input", "Query", "known fields"},
		{"recall", `{"query":"q","filters":{"tags":"x"}}`, "invalid_input", "filters.tags", "known fields: flowTag"},
		{"recall", `{"query":"q","scope":{"session":"abcd"}}`, "invalid_input", "scope.session", "sessionId"},
		{"recall", `{"query":"q","scope":7}`, "invalid_input", "scope", "current, all or {sessionId}"},
		{"recall", `{"query":"q","scope":"mine"}`, "invalid_input", "scope", "current, all"},
		{"recall", `{"query":"q","scope":{"sessionId":7}}`, "invalid_input", "scope.sessionId", "a string"},
		{"recall", `{}`, "invalid_input", "query", "1–1000000 characters"},
		{"recall", `null`, "invalid_input", "query", "1–1000000 characters"},
		{"recall", `"text"`, "invalid_input", "arguments", "an object"},
		{"recall", `[1]`, "invalid_input", "arguments", "an object"},
		{"recall", `{"query":42}`, "invalid_input", "query", "a string"},
		{"recall", `{"query":"q","limit":"5"}`, "invalid_input", "limit", "an integer"},
		{"recall", `{"query":"q","limit":1.5}`, "invalid_input", "limit", "an integer"},
		{"recall", `{"query":"q","kinds":"lesson"}`, "invalid_input", "kinds", "an array"},
		{"recall", `{"query":"q","kinds":["blocker"]}`, "invalid_input", "kinds[0]", "lesson, step"},
		{"recall", `{"query":"q","explain":"yes"}`, "invalid_input", "explain", "a boolean"},
		{"recall", `{"query":"q","filters":[]}`, "invalid_input", "filters", "an object"},
		{"recall", `{"query":"q","filters":{"since":"yesterday"}}`, "invalid_input", "filters.since", "RFC 3339"},
		{"recall", `{"query":"q","format":"xml"}`, "invalid_input", "format", "text, json, markdown"},
		{"recall", `{"query":"q","text":"other"}`, "invalid_input", "text", "one of query and text"},
		{"recall", `{"query":"half \ud800 pair"}`, "invalid_input", "query", "UTF-16"},
		{"recall", `{"query":"other half \udc00"}`, "invalid_input", "query", "UTF-16"},
		{"recall", `{"query":"nul \u0000"}`, "invalid_input", "query", "text without NUL"},
		{"recall", `{"query":"q","project":"unknown"}`, "not_found", "project", ""},
		{"recall", `{"query":"boom"}`, "internal", "", ""},
		{"remember", `{}`, "invalid_input", "lesson", "1–4000 characters"},
		{"remember", `{"lesson":"l","type":"idea"}`, "invalid_input", "type", "error, success, pattern"},
		{"remember", `{"lesson":"l","type":"error","event_type":"success"}`, "invalid_input", "type", "one of type and event_type"},
		{"remember", `{"lesson":"l","event_type":"idea"}`, "invalid_input", "event_type", "error, success, pattern"},
		{"remember", `{"lesson":"l","success_rate":"3/2"}`, "invalid_input", "success_rate", "X/Y"},
		{"remember", `{"lesson":"l","tags":[7]}`, "invalid_input", "tags[0]", "a string"},
		{"remember", `{"lesson":"l","tags":[""]}`, "invalid_input", "tags[0]", "1–64 characters"},
		{"index_repo", `{}`, "invalid_input", "path", "1–4096 characters"},
		{"index_repo", `{"path":"relative"}`, "invalid_input", "path", "an absolute path"},
		{"index_repo", `{"path":"/w","requested_at":"now"}`, "invalid_input", "requested_at", "RFC 3339"},
		{"status", `{"verbose":true}`, "invalid_input", "verbose", "known fields"},
	} {
		wantRefusal(t, tt.tool+" "+tt.arguments, callTool(t, c, tt.tool, tt.arguments), tt.code, tt.field, tt.limit)
	}
}

// wantRefusal holds a result against the text of a refusal: "code: field: message (limit: …)".
func wantRefusal(t *testing.T, call string, r *mcpgo.CallToolResult, code, field, limit string) {
	t.Helper()
	text, start := textOf(r), code+": "
	if field != "" {
		start += field + ": "
	}
	_, rest, limited := strings.Cut(text, "limit: ")
	if !r.IsError || r.StructuredContent != nil || !strings.HasPrefix(text, start) || limit != "" && !(limited && strings.Contains(rest, limit)) {
		t.Errorf("%s: isError %v, %q beside %v; want a text that begins %q, with the limit %q, and nothing else", call, r.IsError, text, r.StructuredContent, start, limit)
	}
}

// TestAdmission: what is not a message is answered without reaching the tools.
func TestAdmission(t *testing.T) {
	url := serve(t, &fakeService{}, Options{})
	for _, tt := range []struct {
		name, body, want string
		status           int
	}{
		{"not JSON", `{"jsonrpc":`, `-32700`, 400},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\",\"params\":{\"a\":\"\xff\"}}", `"id":9,"error":{"code":-32700,"message":"the message is not valid UTF-8"`, 400},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `-32600`, 400},
		{"too long", `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", MaxMessage) + `"}`, `longer than 8388608 bytes`, 413},
	} {
		response, err := http.Post(url, "application/json", strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		body := readAll(t, response)
		if response.StatusCode != tt.status || !strings.Contains(body, tt.want) {
			t.Errorf("%s: HTTP %d %s, want %d with %q", tt.name, response.StatusCode, body, tt.status, tt.want)
		}
	}
}

func readAll(t *testing.T, response *http.Response) string {
	t.Helper()
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// rootsOf answers roots/list; it can be changed.
type rootsOf struct{ uris chan []string }

func newRoots(uris ...string) *rootsOf {
	r := &rootsOf{uris: make(chan []string, 1)}
	r.uris <- uris
	return r
}

func (r *rootsOf) set(uris ...string) { <-r.uris; r.uris <- uris }

func (r *rootsOf) ListRoots(context.Context, mcpgo.ListRootsRequest) (*mcpgo.ListRootsResult, error) {
	uris := <-r.uris
	r.uris <- uris
	var result mcpgo.ListRootsResult
	for _, uri := range uris {
		result.Roots = append(result.Roots, mcpgo.Root{URI: uri})
	}
	return &result, nil
}

func TestCallerFromRoots(t *testing.T) {
	svc := &fakeService{}
	url := serve(t, svc, Options{RootsTimeout: 20 * time.Second})
	handler := newRoots("https://elsewhere/x", "file:///src/a%20b")
	//lint:ignore SA1019 The clients there are ask for roots over this stream; it was removed by a later version of the protocol.
	c := connect(t, overHTTP(t, url, transport.WithContinuousListening()), mcpclient.WithRootsHandler(handler))
	callTool(t, c, "recall", `{"query":"q"}`)
	handler.set("file:///src/other")
	if err := c.RootListChanges(t.Context()); err != nil {
		t.Fatal(err)
	}
	callTool(t, c, "recall", `{"query":"q"}`)
	var dirs []string
	for _, caller := range svc.callers() {
		dirs = append(dirs, caller.Dir)
	}
	if want := []string{"/src/a b", "/src/other"}; !slices.Equal(dirs, want) {
		t.Errorf("folders of the callers = %q, want %q", dirs, want)
	}
}

// TestCallerWithoutStream: a client that declares roots but listens to no
// stream cannot be asked; its working folder counts, after one wait.
func TestCallerWithoutStream(t *testing.T) {
	svc := &fakeService{}
	url := serve(t, svc, Options{RootsTimeout: 10 * time.Millisecond})
	header := transport.WithHTTPHeaders(map[string]string{HeaderDir: "/src/%C3%A4"})
	c := connect(t, overHTTP(t, url, header), mcpclient.WithRootsHandler(newRoots("file:///never/asked")))
	callTool(t, c, "recall", `{"query":"q"}`)
	if dir := svc.callers()[0].Dir; dir != "/src/ä" {
		t.Errorf("folder of the caller = %q, want that of the header", dir)
	}
	callTool(t, c, "index_repo", `{"path":"sub"}`)
	if got := svc.indexed[0].Path; got != filepath.Join("/src/ä", "sub") {
		t.Errorf("relative path resolved to %q", got)
	}
}

func TestChooseRoot(t *testing.T) {
	for _, tt := range []struct {
		dirs          []string
		working, want string
	}{
		{nil, "/w", "/w"},
		{[]string{"/a", "/b"}, "", "/a"},
		{[]string{"/a", "/b"}, "/b/sub", "/b/sub"},
		{[]string{"/a"}, "/ab", "/a"},
		{[]string{"/a"}, "/elsewhere", "/a"},
	} {
		if got := chooseRoot(tt.dirs, tt.working); got != tt.want {
			t.Errorf("chooseRoot(%q, %q) = %q, want %q", tt.dirs, tt.working, got, tt.want)
		}
	}
}

func TestFolderOf(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///a/b/../c": "/a/c", "file://localhost/a": "/a", "file:///a%2Fb%20c": "/a/b c",
		"file://host/a": "", "https://a/b": "", "a/b": "", "file:relative": "", "%zz": "",
	} {
		if got := folderOf(uri); got != want {
			t.Errorf("folderOf(%q) = %q, want %q", uri, got, want)
		}
	}
}
