package connect

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOpenCodePluginReadsLongTexts runs the plugin with a program that answers with more than
// one read of a pipe returns, so that characters are cut between two reads.
func TestOpenCodePluginReadsLongTexts(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs Node.js")
	}
	c := exec.CommandContext(t.Context(), node, "asks.mjs")
	c.Dir = t.TempDir()
	for name, text := range map[string]string{
		"plugin.mjs": openCodeHooks(Options{Server: Server{Command: node, Args: []string{"mcp"}}, Prompts: true}).(ownFile).text,
		// The program, which Node.js finds by its first argument.
		"hook": `process.stdout.write(JSON.stringify({ hookSpecificOutput: { additionalContext: "語".repeat(100000) } }))`,
		"asks.mjs": `import { Recalld } from "./plugin.mjs"
const hooks = await Recalld({ directory: "." })
await hooks["chat.message"]({ sessionID: "s" }, { parts: [{ type: "text", text: "a question" }] })
const system = []
await hooks["experimental.chat.system.transform"]({ sessionID: "s" }, { system })
process.stdout.write(system.join(""))
`,
	} {
		if err := os.WriteFile(filepath.Join(c.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := c.Output()
	if err != nil {
		t.Fatalf("run the plugin: %v", err)
	}
	if want := strings.Repeat("語", 100000); string(got) != want {
		t.Errorf("the model is told %d bytes, of which %d characters are broken; want %d bytes", len(got), strings.Count(string(got), "\ufffd"), len(want))
	}
}
