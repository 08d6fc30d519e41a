package mcp

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client/transport"

	"github.com/recalld/recalld/internal/service"
)

// TestReadOnly: a connection that may only read is shown no tool that changes something,
// and each of them is refused, by itself and through call_tool.
func TestReadOnly(t *testing.T) {
	url := serve(t, fullContexts(), Options{})
	c := connect(t, overHTTP(t, url, transport.WithHTTPHeaders(map[string]string{HeaderReadOnly: "true", HeaderToolsets: allTools})))
	shown := map[string]bool{}
	for _, tool := range listTools(t, c) {
		shown[tool.Name] = true
	}
	reading := 0
	for _, tool := range listTools(t, connect(t, overHTTP(t, url)), allTools) {
		if tool.Name == CallTool {
			continue
		}
		op := service.Find(strings.TrimPrefix(tool.Name, DefaultKnowledgePrefix))
		if op == nil {
			op = service.Find(tool.Name)
		}
		if shown[tool.Name] != op.ReadOnly {
			t.Errorf("%s is shown: %v; it only reads: %v", tool.Name, shown[tool.Name], op.ReadOnly)
		}
		for _, r := range []string{textOf(callTool(t, c, tool.Name, `{}`)), textOf(callTool(t, c, CallTool, fmt.Sprintf(`{"name":%q}`, tool.Name)))} {
			if refused := strings.Contains(r, "may only read"); refused == op.ReadOnly {
				t.Errorf("%s, which only reads: %v, answers %q", tool.Name, op.ReadOnly, r)
			}
		}
		if op.ReadOnly {
			reading++
		}
	}
	if reading < 5 || reading > 25 {
		t.Errorf("%d tools only read: the test proves nothing", reading)
	}
}

// TestReadOnlySearch: a search for tools on such a connection finds and lists only tools that
// it may call.
func TestReadOnlySearch(t *testing.T) {
	url := serve(t, newFinder(), Options{})
	c := connect(t, overHTTP(t, url, transport.WithHTTPHeaders(map[string]string{HeaderReadOnly: "true"})))
	r := callTool(t, c, "search_tools", `{"query":"session_start mm_knowledge_last"}`)
	if text := textOf(r); !strings.Contains(text, "only reading: true") {
		t.Errorf("the search may change its session: %q", text)
	}
	const want = "recalld lists these from now on: mm_knowledge_search, mm_knowledge_last, mm_knowledge_summarize, mm_knowledge_sessions."
	if text := textOf(r); !strings.Contains(text, want) {
		t.Errorf("it says %q, want %q", text, want)
	}
}

// TestReadOnlyValues: a value that is not known refuses changes, because its sender wants
// them refused.
func TestReadOnlyValues(t *testing.T) {
	for value, want := range map[string]bool{"true": true, "True": true, "TRUE": true, "1": true, "yes": true, "": false, "false": false, "False": false, "0": false} {
		if got := onlyReads(http.Header{HeaderReadOnly: {value}}); got != want {
			t.Errorf("%s: %q only reads: %v, want %v", HeaderReadOnly, value, got, want)
		}
	}
}
