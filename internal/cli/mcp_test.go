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
	"github.com/recalld/recalld/internal/service"
)

// overHTTP is a daemon whose endpoints are served somewhere else.
type overHTTP struct {
	service.Service
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

// mcpBench is a bench whose daemon serves MCP.
func mcpBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, sample())
	server, err := mcp.NewServer(b.fake, mcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(mcp.Path, server)
	web := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.Close(context.Background())
		web.Close()
	})
	to, err := url.Parse(web.URL)
	if err != nil {
		t.Fatal(err)
	}
	b.opts.Connect = func(context.Context, config.Config, bool) (Daemon, error) {
		return overHTTP{b.fake, fakeRest{}, &http.Client{Transport: redirect{to}}}, nil
	}
	return b
}

// TestMCPCommand: what goes in on standard input is answered by the daemon's
// MCP endpoint on standard output, and nothing else is written there.
func TestMCPCommand(t *testing.T) {
	b := mcpBench(t)
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
	if got := request[memory.RecallRequest](t, b, service.Recall.Name).Caller; got.Dir != b.opts.Dir || got.Client != "x" {
		t.Errorf("caller = %+v, want the working folder and the client", got)
	}
}

// TestToolsets: --toolsets has tools shown from the start; without it the daemon's
// own setting counts.
func TestToolsets(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want bool // the knowledge tools and index_repo are listed
	}{
		{[]string{"mcp"}, false}, {[]string{"mcp", "--toolsets", "all"}, true}, {[]string{"mcp", "--toolsets", "knowledge,index_repo"}, true},
	} {
		b := mcpBench(t)
		b.opts.In = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`)
		out := b.ok(tt.args...)
		for _, name := range []string{"mm_knowledge_search", "index_repo"} {
			if got := strings.Contains(out, `"name":"`+name+`"`); got != tt.want {
				t.Errorf("recalld %q lists %s: %v, want %v:\n%.500s", tt.args, name, got, tt.want, out)
			}
		}
		if !strings.Contains(out, `"name":"search_tools"`) {
			t.Errorf("recalld %q does not list search_tools", tt.args)
		}
	}
}

// TestToolsetWords: the words that settings and help name are those that the server
// knows, all of them and no others.
func TestToolsetWords(t *testing.T) {
	for _, word := range config.Toolsets {
		server, err := mcp.NewServer(newBench(t, nil).fake, mcp.Options{Toolsets: []string{word}})
		if err != nil {
			t.Errorf("the server refuses %q: %v", word, err)
			continue
		}
		server.Close(t.Context())
	}
	_, err := mcp.NewServer(newBench(t, nil).fake, mcp.Options{Toolsets: []string{"nosuch"}})
	if want := strings.Join(config.Toolsets, ", "); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the server names its toolsets in %v, want %s", err, want)
	}
}
