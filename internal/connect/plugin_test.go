package connect

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPlugin: the plugin of Claude Code has the hooks that connect writes, and it and the
// extension of Gemini CLI start the server in the same way.
func TestPlugin(t *testing.T) {
	server := Server{Command: "recalld", Args: []string{"mcp"}}
	text, err := hooksOf("claude-code", hookTimeout, "UserPromptSubmit", claudeEvents...)(Options{Server: server}).Put([]byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	plugin := field(t, "../../deploy/claude-plugin/hooks/hooks.json", "hooks")
	var want map[string]any
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want["hooks"], plugin); diff != "" {
		t.Errorf("hooks of the plugin, -connect +plugin:\n%s", diff)
	}
	entry := field(t, "../../configs/clients/mcp.json", "mcpServers")
	for _, file := range []string{"../../deploy/claude-plugin/.mcp.json", "../../gemini-extension.json"} {
		if diff := cmp.Diff(entry, field(t, file, "mcpServers")); diff != "" {
			t.Errorf("%s starts the server in another way, -configs/clients/mcp.json +it:\n%s", file, diff)
		}
	}
}

// field returns a field of a JSON file.
func field(t *testing.T, path, name string) any {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return all[name]
}

// TestClientsPage: docs/clients.md says how to connect each client.
func TestClientsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Clients() {
		if !regexp.MustCompile("(connect |or |, )" + c.Name + `\b`).Match(page) {
			t.Errorf("docs/clients.md does not say how to connect %s (%s)", c.Title, c.Name)
		}
	}
}
