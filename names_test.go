package recalld_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/testkit/golden"
)

// installed are the files whose text an agent reads as instructions of recalld: what
// connect puts into its settings, what the MCP server says, what hooks hand over.
var installed = []string{"internal/connect/block.go", "internal/mcp/server.go", "internal/service/table.go", "internal/hook/claude.go"}

// notOfTools are names in the documents that are not of the tools, each with what it is.
var notOfTools = map[string]string{
	"context_servers": "key of Zed's settings", "mcp_servers": "key of Codex' settings", "mcpServers": "key of most clients' settings", "alwaysApply": "field of a rule of Cursor",
	"list_changed": "notification of MCP", "log_memory": "the script", "node_modules": "a folder", "read_file": "tool of a host, in an example",
	"request_id": "field of the socket", "retry_after": "code in an example", "parseRetryAfter": "code in an example", "parseHeader": "code in an example",
	"activeTools": "field of an assembled context",
	"tool_name":   "field of the payload of Claude Code's hooks", "imports_test": "a file", "completed_tasks": "field of other programs' states", "active_blockers": "field of other programs' states",
}

// TestTextsUseTheNamesThatToolsTake holds installed texts and documents against the
// schemas of the tools: a name that no tool has misleads whoever reads it.
func TestTextsUseTheNamesThatToolsTake(t *testing.T) {
	names := toolNames(t)
	word := regexp.MustCompile(`\b[a-z]+(?:(?:_[a-z]+)+|(?:[A-Z][a-z]+)+)\b`)
	inMarks := regexp.MustCompile("`([^`\n]+)`")
	for _, file := range []string{"README.md", "docs/agents.md"} {
		for _, marked := range inMarks.FindAllStringSubmatch(read(t, file), -1) {
			if strings.ContainsAny(marked[1], "./-<>=") { // settings, files, flags, messages
				continue
			}
			for _, name := range word.FindAllString(marked[1], -1) {
				if !names[name] && notOfTools[name] == "" {
					t.Errorf("%s names `%s`, which no tool has: neither as its name nor as a field or value", file, name)
				}
			}
		}
	}
	text := regexp.MustCompile("(?s)`[^`]*`|\"(?:[^\"\\\\\n]|\\\\.)*\"")
	for _, pattern := range installed {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("there is no file %s: %v", pattern, err)
		}
		for _, file := range files {
			for _, literal := range text.FindAllString(read(t, file), -1) {
				if !strings.Contains(literal, " ") { // a name in code, no text
					continue
				}
				for _, name := range word.FindAllString(literal, -1) {
					if strings.Contains(name, "_") && !names[name] && notOfTools[name] == "" {
						t.Errorf("a text in %s names %s, which no tool has: neither as its name nor as a field or value", file, name)
					}
				}
			}
		}
	}
}

// TestInstalledTextNamesTheTypeOfALesson: an agent fills in what the text says, so it
// says the field of remember by its name.
func TestInstalledTextNamesTheTypeOfALesson(t *testing.T) {
	var remember struct {
		InputSchema struct {
			Properties map[string]struct{ Enum []string }
		}
	}
	if err := json.Unmarshal([]byte(tools(t)["remember"]), &remember); err != nil {
		t.Fatal(err)
	}
	properties := remember.InputSchema.Properties
	block := read(t, "internal/connect/block.go")
	for _, kind := range properties["event_type"].Enum {
		if want := "`event_type: " + kind + "`"; !strings.Contains(block, want) {
			t.Errorf("the installed instructions do not hold %s", want)
		}
	}
	for _, field := range []string{"command", "success_rate"} {
		if _, ok := properties[field]; !ok || !strings.Contains(block, "`"+field+"`") {
			t.Errorf("the installed instructions, or the tool remember, lack the field %s", field)
		}
	}
}

// TestDocumentsUseFlagsThatThereAre holds the command lines of the documents against
// the help of the commands.
func TestDocumentsUseFlagsThatThereAre(t *testing.T) {
	line := regexp.MustCompile(`(?m)(?:^|\|\s*|` + "`" + `)recalld ([a-z][^|` + "`" + `#\n]*(?:\\\n[^|` + "`" + `#\n]*)*)`)
	flag := regexp.MustCompile(`(?:^|\s)--([a-z][a-z-]*)`)
	quoted := regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'[^']*'`)
	commands := golden.Parse(read(t, "internal/cli/testdata/commands.golden"))
	global := commands["help of recalld"]
	found := 0
	for _, file := range []string{"README.md", "docs/agents.md", "docs/operating.md"} {
		for _, m := range line.FindAllStringSubmatch(read(t, file), -1) {
			command := quoted.ReplaceAllString(m[1], "x")
			words := strings.Fields(command)
			help := ""
			for n := min(2, len(words)); n > 0 && help == ""; n-- {
				help = commands[strings.Join(words[:n], " ")]
			}
			for _, f := range flag.FindAllStringSubmatch(command, -1) {
				found++
				if !strings.Contains(help+global, "--"+f[1]+" ") {
					t.Errorf("%s: recalld %s: the help of the command has no flag --%s", file, strings.TrimSpace(m[1]), f[1])
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d flags are found in the documents: what looks for them is broken", found)
	}
}

// tools are the golden sections of all tools, and of the error that all answer with.
func tools(t *testing.T) map[string]string {
	t.Helper()
	all := golden.Parse(read(t, "internal/mcp/testdata/tools.golden"))
	if len(all) < 20 {
		t.Fatalf("the golden file has %d sections; want one of every tool", len(all))
	}
	return all
}

// toolNames are the names of all tools, of the fields that they take and answer with,
// and of the values that a schema lists.
func toolNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for name, schema := range tools(t) {
		var tool any
		if err := json.Unmarshal([]byte(schema), &tool); err != nil {
			t.Fatal(err)
		}
		names[name] = true
		schemaNames(tool, names)
	}
	return names
}

func schemaNames(schema any, names map[string]bool) {
	switch s := schema.(type) {
	case map[string]any:
		if properties, ok := s["properties"].(map[string]any); ok {
			for name := range properties {
				names[name] = true
			}
		}
		values, _ := s["enum"].([]any)
		for _, value := range values {
			if name, ok := value.(string); ok {
				names[name] = true
			}
		}
		for _, part := range s {
			schemaNames(part, names)
		}
	case []any:
		for _, part := range s {
			schemaNames(part, names)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
