package daemon

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/session"
)

// toolCatalogue reads the tools of public MCP servers, described in our own words:
// sections [server], lines "tool: description".
func toolCatalogue(t testing.TB) []session.Entry {
	t.Helper()
	text, err := os.ReadFile("testdata/toolsearch/catalogue.txt")
	if err != nil {
		t.Fatal(err)
	}
	var entries []session.Entry
	server := ""
	for n, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if name, ok := strings.CutPrefix(line, "["); ok {
			server = strings.TrimSuffix(name, "]")
			continue
		}
		name, description, ok := strings.Cut(line, ": ")
		if !ok {
			t.Fatalf("catalogue.txt:%d: %q is no tool", n+1, line)
		}
		entries = append(entries, session.Entry{
			Ref: session.Ref{Type: memory.Tool, Name: name, ServerName: server}, Description: description, Include: memory.IncludeAgent,
		})
	}
	return entries
}

// registered has a core with a project whose catalogue holds the entries.
func registered(t testing.TB, core *Core, project string, entries []session.Entry) {
	t.Helper()
	for begin := 0; begin < len(entries); begin += session.MaxRegistered {
		_, err := core.Catalogue.Register(t.Context(), session.RegisterRequest{
			Source: "test", Entries: entries[begin:min(begin+session.MaxRegistered, len(entries))], Project: project,
		})
		if err != nil {
			t.Fatal(fmt.Errorf("register: %w", err))
		}
	}
}
