package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mcpb is the program that checks and packs bundles, from npm.
const mcpbPackage, mcpbVersion = "@anthropic-ai/mcpb", "2.1.2"

// TestPackaged installs recalld by the managers of the clients themselves: the plugin of
// Claude Code from the marketplace in this repository, the entry that docs/install.md
// gives for Codex, and the extension of Gemini CLI. The model of each then calls a tool.
func TestPackaged(t *testing.T) {
	if os.Getenv(clientsEnv) == "" {
		t.Skip("not run: it installs agents from npm; make agents runs it")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	// Gemini CLI copies the folder, which here has what was built as well.
	extension := t.TempDir()
	manifest, err := os.ReadFile(filepath.Join(root, "gemini-extension.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(extension, "gemini-extension.json"), manifest, 0o600); err != nil {
		t.Fatal(err)
	}
	chosen := clients[:3]
	dir := filepath.Join("..", "..", ".build", "agents")
	bin := install(t, dir, chosen)
	for i, test := range []struct {
		install [][]string
		listed  []string
		want    string
		hooks   string
	}{
		{[][]string{{"claude", "plugin", "validate", filepath.Join(root, "deploy", "claude-plugin")}, {"claude", "plugin", "marketplace", "add", root}, {"claude", "plugin", "install", "recalld@recalld"}},
			[]string{"claude", "mcp", "list"}, "plugin:recalld:recalld", "failures, steps"},
		{[][]string{{"codex", "mcp", "add", "recalld", "--", "recalld", "mcp"}},
			[]string{"codex", "mcp", "list"}, "recalld", "–"},
		// Its install asks whether the folder is trusted, whatever the flags say (0.61.0).
		{[][]string{{"gemini", "extensions", "validate", extension}, {"sh", "-c", "echo y | gemini extensions install --consent '" + extension + "'"}},
			[]string{"gemini", "extensions", "list"}, "recalld", "–"},
	} {
		c := chosen[i]
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, bin)
			if err := c.settle(w.home, w.server.URL); err != nil {
				t.Fatal(err)
			}
			environment := append(w.env, c.env(w.server.URL)...)
			for _, line := range test.install {
				if _, err := command(t.Context(), w.repo, environment, line[0], line[1:]...); err != nil {
					t.Fatal(err)
				}
			}
			if out, err := command(t.Context(), w.repo, environment, test.listed[0], test.listed[1:]...); err != nil || !strings.Contains(out, test.want) {
				t.Errorf("%v does not list %q: %v\n%s", test.listed, test.want, err, out)
			}
			s := &script{prompt: "Use what is installed", steps: []step{
				{tool: "remember", arguments: map[string]any{"event_type": "pattern", "context": "a plugin", "lesson": "The ledger of the plugin is in cabinet nine"}, want: ""},
				{tool: "recall", arguments: map[string]any{"query": "where is the ledger of the plugin"}, want: "cabinet nine"},
				{tool: c.shell, arguments: c.arguments("echo measured-" + c.name), want: "measured-", own: true},
				{tool: c.shell, arguments: c.arguments("cat absent-" + c.name), want: "absent-", own: true},
			}}
			for _, fault := range w.turn(c, s) {
				t.Error(fault)
			}
			if got := w.hooks(c); got != test.hooks {
				t.Errorf("hooks recorded %s, want %s", got, test.hooks)
			}
		})
	}
}

// TestBundleManifest has the bundles' own program check the manifest, as pack writes it.
func TestBundleManifest(t *testing.T) {
	if os.Getenv(clientsEnv) == "" {
		t.Skip("not run: it installs a program from npm; make agents runs it")
	}
	dir, err := filepath.Abs(filepath.Join("..", "..", ".build", "agents"))
	if err != nil {
		t.Fatal(err)
	}
	bin := npm(t, dir, map[string]string{mcpbPackage: mcpbVersion})
	text, err := os.ReadFile("../../deploy/mcpb/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var manifest map[string]any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), "@VERSION@", "0.1.0")), &manifest); err != nil {
		t.Fatal(err)
	}
	// As deploy/artefacts adds it.
	manifest["server"] = map[string]any{"type": "binary", "entry_point": "server/recalld",
		"mcp_config": map[string]any{"command": "${__dirname}/server/recalld", "args": []string{"mcp"}, "env": map[string]string{}}}
	manifest["compatibility"] = map[string]any{"platforms": []string{"linux"}}
	if text, err = json.Marshal(manifest); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "manifest.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	if out, err := command(t.Context(), folder, env, "mcpb", "validate", "manifest.json"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
