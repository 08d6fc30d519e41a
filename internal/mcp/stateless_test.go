package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// stateless is a request of protocol version 2026-07-28, which has no sessions.
func stateless(id int, method, params string) string {
	if params != "" {
		params += ","
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":{"name":"new-agent","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}}`,
		id, method, params, mcpgo.ProtocolVersion20260728)
}

// postStateless sends such a request over HTTP and returns status and answer.
func postStateless(t *testing.T, url, message, method, name string, headers map[string]string) (int, http.Header, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set(mcpgo.HeaderProtocolVersion, mcpgo.ProtocolVersion20260728)
	request.Header.Set(mcpgo.HeaderMethod, method)
	if name != "" {
		request.Header.Set(mcpgo.HeaderName, name)
	}
	for key, value := range headers {
		request.Header.Set(key, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(body)
}

// TestStatelessOverHTTP: requests without initialize are answered, each by itself; older
// clients of the same server keep their sessions.
func TestStatelessOverHTTP(t *testing.T) {
	svc := newFinder()
	url := serve(t, svc, Options{})
	older := connect(t, overHTTP(t, url))
	for _, test := range []struct {
		method, params, name string
		headers              map[string]string
		status               int
		want                 []string
	}{
		{"server/discover", "", "", nil, 200, []string{`"supportedVersions":["2026-07-28"`, `"instructions"`, `"name":"recalld"`, `"resultType":"complete"`}},
		{"tools/list", "", "", nil, 200, []string{`"name":"recall"`, `"name":"call_tool"`, `"ttlMs"`, `"cacheScope"`}},
		{"tools/call", `"name":"recall","arguments":{"query":"q"}`, "recall", nil, 200, []string{`"text"`}},
		{"tools/call", `"name":"search_tools","arguments":{"query":"index_repo"}`, "search_tools", nil, 200, []string{`Call these with call_tool`}},
		{"tools/call", `"name":"recall","arguments":{"query":"q"}`, "remember", nil, 400, []string{`-32020`}},
		{"initialize", "", "", nil, 404, []string{`-32601`}},
		{"ping", "", "", nil, 404, []string{`-32601`}},
		{"nonsense", "", "", nil, 404, []string{`-32601`}},
	} {
		status, header, body := postStateless(t, url, stateless(1, test.method, test.params), test.method, test.name, test.headers)
		if status != test.status {
			t.Errorf("%s: HTTP %d, want %d: %.300s", test.method, status, test.status, body)
		}
		for _, want := range test.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s %s: %.600s\nwant it to contain %s", test.method, test.params, body, want)
			}
		}
		if header.Get(mcpgo.HeaderSessionID) != "" || strings.Contains(body, "list_changed") {
			t.Errorf("%s: a session, or a notification that was not asked for: %.300s", test.method, body)
		}
	}
	if r := callTool(t, older, "status", `{}`); r.IsError {
		t.Errorf("the older client: %s", textOf(r))
	}
	unknown := strings.Replace(stateless(1, "tools/list", ""), mcpgo.ProtocolVersion20260728, "2999-01-01", 1)
	if _, _, body := postStateless(t, url, unknown, "tools/list", "", map[string]string{mcpgo.HeaderProtocolVersion: "2999-01-01"}); !strings.Contains(body, "-32022") || !strings.Contains(body, `"2025-11-25"`) {
		t.Errorf("an unknown version: %.400s", body)
	}
}

// TestStatelessClientsShareNothing: the agent's session of one is not another's, and a
// client over HTTP is told to name it.
func TestStatelessClientsShareNothing(t *testing.T) {
	s := fullContexts()
	url := serve(t, s, Options{})
	start := stateless(1, "tools/call", `"name":"session_start","arguments":{"goal":"g","project":"demo"}`)
	_, header, body := postStateless(t, url, start, "tools/call", "session_start", nil)
	if !strings.Contains(body, "as sessionId in later calls") || header.Get(HeaderAgent) == "" {
		t.Errorf("started: %q, %.400s", header.Get(HeaderAgent), body)
	}
	window := stateless(2, "tools/call", `"name":"task_window","arguments":{}`)
	for name, test := range map[string]struct {
		headers map[string]string
		session string
	}{
		"another client":     {},
		"a bridge":           {map[string]string{HeaderAgent: header.Get(HeaderAgent)}, fullState().ID},
		"nonsense in header": {map[string]string{HeaderAgent: "a/b/c/d"}, ""},
	} {
		postStateless(t, url, window, "tools/call", "task_window", test.headers)
		got := lastRequest[memory.TaskWindowRequest](t, s, service.TaskWindow.Name).Caller
		if got.Session != test.session || got.Client != "new-agent" || got.Window != "" {
			t.Errorf("%s: caller %+v, want session %q", name, got, test.session)
		}
	}
}

// TestStatelessRefusalKeepsTheSession: the bridge is told of the session that it named until
// that one has ended, whatever a call that starts or ends one comes to.
func TestStatelessRefusalKeepsTheSession(t *testing.T) {
	url := serve(t, fullContexts(), Options{})
	own, other := formatAgent(agent{SessionKey: fullState().Key()}), "p/another-session"
	for _, test := range []struct{ tool, arguments, had, want string }{
		{"session_start", `{"nonsense":1}`, own, own},
		{"session_end", `{"nonsense":1}`, own, own},
		{"session_end", `{}`, other, other}, // it ends fullState
		{"session_end", `{}`, own, ""},
	} {
		call := stateless(1, "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, test.tool, test.arguments))
		_, header, body := postStateless(t, url, call, "tools/call", test.tool, map[string]string{HeaderAgent: test.had})
		if got := header.Get(HeaderAgent); got != test.want {
			t.Errorf("%s %s: the session was %q and is %q, want %q: %.200s", test.tool, test.arguments, test.had, got, test.want, body)
		}
	}
}

// TestStatelessOverStdio: discover, calls that follow the session they started, errors,
// a restart of the daemon, a subscription and its end.
func TestStatelessOverStdio(t *testing.T) {
	s := fullContexts()
	d := newDaemon(t, s)
	p := startBridge(t, d.connect, "/src")
	p.write(stateless(1, "server/discover", ""))
	p.expect(`"id":1`, `"supportedVersions":["2026-07-28"`)
	p.write(stateless(2, "nonsense", ""))
	p.expect(`"id":2`, `-32601`)
	p.write(stateless(3, "tools/call", `"name":"call_tool","arguments":{"name":"session_start","arguments":{"goal":"g","project":"demo"}}`))
	p.expect(`"id":3`, "is open in project")
	d.stop()
	p.write(stateless(4, "tools/call", `"name":"task_window","arguments":{}`))
	p.expect(`"id":4`, "task-1")
	if got := lastRequest[memory.TaskWindowRequest](t, s, service.TaskWindow.Name).Caller; got.Session != fullState().ID || got.Dir != "/src" {
		t.Errorf("after a restart the caller is %+v", got)
	}
	p.write(stateless(5, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`))
	p.expect("notifications/subscriptions/acknowledged", `"io.modelcontextprotocol/subscriptionId":5`)
	p.in.Close() // ends the bridge although the subscription is open
	if err := <-p.ended; err != nil {
		t.Error(err)
	}
}

// TestStatelessBatchEnds: a subscription in a batch does not outlive the input either.
func TestStatelessBatchEnds(t *testing.T) {
	for name, wait := range map[string]bool{"once it is open": true, "at once": false} {
		t.Run(name, func(t *testing.T) { testBatchEnds(t, wait) })
	}
}

func testBatchEnds(t *testing.T, wait bool) {
	p := startBridge(t, newDaemon(t, fullContexts()).connect, "/src")
	p.write("[" + stateless(1, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`) + "]")
	if wait {
		p.expect("notifications/subscriptions/acknowledged")
	}
	p.in.Close()
	select {
	case err := <-p.ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the bridge goes on")
	}
}

// TestStatelessCancel: over stdio a notification cancels a call, which is not answered.
func TestStatelessCancel(t *testing.T) {
	began, cancelled := make(chan struct{}), make(chan error, 1)
	svc := &fakeService{hold: func(ctx context.Context, query string) error {
		if query != "slow" {
			return nil
		}
		close(began)
		<-ctx.Done()
		cancelled <- ctx.Err()
		return ctx.Err()
	}}
	p := startBridge(t, newDaemon(t, svc).connect, "/src")
	p.write(stateless(1, "tools/call", `"name":"recall","arguments":{"query":"slow"}`))
	<-began
	p.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`)
	<-cancelled
	p.write(stateless(2, "tools/call", `"name":"recall","arguments":{"query":"fast"}`))
	var answer struct{ ID int }
	if err := json.NewDecoder(bytes.NewBufferString(p.read())).Decode(&answer); err != nil || answer.ID != 2 {
		t.Errorf("the answer is to %d (%v), want 2: the cancelled call has none", answer.ID, err)
	}
}
