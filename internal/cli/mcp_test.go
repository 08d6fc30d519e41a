package cli

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/mcp"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/memorytest"
	"github.com/recalld/recalld/internal/memory/session"
)

// overHTTP is a daemon whose endpoints are served somewhere else.
type overHTTP struct {
	session.Service
	fakeRest
	client *http.Client
}

func (o overHTTP) HTTP() *http.Client { return o.client }

// redirect sends every request to one server, as the socket does.
type redirect struct{ to *url.URL }

func (r redirect) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.URL.Scheme, request.URL.Host, request.Host = r.to.Scheme, r.to.Host, r.to.Host
	return http.DefaultTransport.RoundTrip(request)
}

// TestMCPCommand: what goes in on standard input is answered by the daemon's
// MCP endpoint on standard output, and nothing else is written there.
func TestMCPCommand(t *testing.T) {
	fake := &memorytest.Service{Answers: sample()}
	server, err := mcp.NewServer(fake, mcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(mcp.Path, server)
	web := httptest.NewServer(mux)
	defer web.Close()
	defer server.Close(context.Background())
	to, err := url.Parse(web.URL)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, nil)
	b.opts.Connect = func(context.Context, config.Config, bool) (Daemon, error) {
		return overHTTP{fake, fakeRest{}, &http.Client{Transport: redirect{to}}}, nil
	}
	b.opts.In = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
not json
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"recall","arguments":{"query":"npm"}}}
`)
	out := b.ok("mcp", "--set", "log.level=debug")
	lines := bytes.Split(bytes.TrimSpace([]byte(out)), []byte("\n"))
	if len(lines) != 3 || !strings.Contains(out, "use npm ci") || !strings.Contains(out, "-32700") {
		t.Errorf("%d lines on standard output:\n%s", len(lines), out)
	}
	if got := request[memory.RecallRequest](t, &bench{t: t, fake: fake}, "Recall").Caller; got.Dir != b.opts.Dir || got.Client != "x" {
		t.Errorf("caller = %+v, want the working folder and the client", got)
	}
}
