package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/configs"
	"github.com/recalld/recalld/internal/config"
)

// TestEditKeepsTheRest: one line changes; comments, order and layout stay.
func TestEditKeepsTheRest(t *testing.T) {
	for _, tt := range []struct{ name, before, path, value, after string }{
		{"an empty file", "", "log.level", "debug", "log:\n  level: debug\n"},
		{"only comments", "# mine\n", "daemon.autostart", "false", "# mine\ndaemon:\n  autostart: false\n"},
		{"over a value with a comment", "# top\nlog:\n    level: info   # loud?\n    format: text\n", "log.level", "warn", "# top\nlog:\n    level: warn # loud?\n    format: text\n"},
		{"into a group, with its indent", "log:\n    level: info\n# next\nqueue:\n  depth: 20\n", "log.format", "json", "log:\n    level: info\n    format: json\n# next\nqueue:\n  depth: 20\n"},
		{"a group that is not there", "log:\n  level: info", "embedding.ollama.enabled", "off", "log:\n  level: info\nembedding:\n  ollama:\n    enabled: \"off\"\n"},
		{"a group below a group", "embedding:\n  # none yet\n  ollama:\n    model: x\nredact:\n  enabled: true\n", "embedding.ollama.timeout", "5m", "embedding:\n  # none yet\n  ollama:\n    model: x\n    timeout: 5m0s\nredact:\n  enabled: true\n"},
		{"a list over lines", "index:\n  skip_dirs:\n    - a\n    - b # old\n  full: false\n", "index.skip_dirs", "x,y z", "index:\n  skip_dirs: [x, y z]\n  full: false\n"},
		{"a list on one line", "sandboxes: [/a, /b] # both\n", "sandboxes", "/c", "sandboxes: [/c] # both\n"},
		{"an empty group", "log:\nqueue:\n  depth: 20\n", "log.level", "debug", "log:\n  level: debug\nqueue:\n  depth: 20\n"},
		{"over a value, in a file of Windows", "\ufefflog:\r\n  level: info # loud?\r\n", "log.level", "warn", "\ufefflog:\r\n  level: warn # loud?\r\n"},
		{"a new group, in a file of Windows", "# mine\r\nlog:\r\n  level: info\r\n", "daemon.autostart", "false", "# mine\r\nlog:\r\n  level: info\r\ndaemon:\r\n  autostart: false\r\n"},
		{"line ends of both kinds", "log:\r\n  format: json\n", "daemon.autostart", "false", "log:\r\n  format: json\ndaemon:\n  autostart: false\n"},
		{"a text that looks like something else", "", "mcp.prefix", "yes", "mcp:\n  prefix: \"yes\"\n"},
	} {
		got, err := config.Edit([]byte(tt.before), tt.path, tt.value)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if diff := cmp.Diff(tt.after, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestEditDocumentedFile sets a value of every form in the file with all settings: one line
// differs.
func TestEditDocumentedFile(t *testing.T) {
	for path, value := range map[string]string{
		"log.level": "debug", "index.max_file_size": "2MB", "recall.min_relevance.chunk": "0.6", "index.time_limit": "1m", "sessions.flow_tags": "a,b", "daemon.autostart": "false", "mcp.project": "x: y #z",
	} {
		got, err := config.Edit(configs.YAML, path, value)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		before, after := strings.Split(string(configs.YAML), "\n"), strings.Split(string(got), "\n")
		differing := 0
		for i := range min(len(before), len(after)) {
			if before[i] != after[i] {
				differing++
			}
		}
		if len(before) != len(after) || differing != 1 {
			t.Errorf("%s: %d of %d lines differ (%d after), want one", path, differing, len(before), len(after))
		}
	}
}

func TestEditRefuses(t *testing.T) {
	for _, tt := range []struct{ before, path, value, want string }{
		{"", "log.levle", "debug", "log.levle: unknown setting"},
		{"", "log.level", "loud", "log.level: \"loud\" is not one of them (limit: debug, info, warn, error)"},
		{"", "queue.depth", "9", "queue.depth: 9 is out of range (limit: 10–1000000)"},
		{"", "queue.depth", "many", "queue.depth: \"many\" is not a whole number"},
		{"", "tasks.overrides", "x", "tasks.overrides: is a list of groups"},
		{"", "index.workers", "2", "index.workers: is no longer a setting"},
		{"log: {level: info,\n  format: text}\n", "log.level", "debug", "config edit"},
		{"log: [", "log.level", "debug", "not valid YAML"},
		{"log: {}\nnosuch: 1\n", "log.level", "debug", "the settings file:2: nosuch: unknown setting"},
		{"queue:\n  depth: 3\n", "log.level", "debug", "queue.depth: 3 is out of range"},
	} {
		if got, err := config.Edit([]byte(tt.before), tt.path, tt.value); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Edit(%q, %s, %s) = %q, %v; want an error with %q", tt.before, tt.path, tt.value, got, err, tt.want)
		}
	}
}

func FuzzEdit(f *testing.F) {
	f.Add("log:\n  level: info # x\n", "log.level", "debug")
	f.Add("a: {b: [", "sandboxes", "/x,/y")
	f.Fuzz(func(t *testing.T, text, path, value string) {
		edited, err := config.Edit([]byte(text), path, value)
		if err == nil && config.Check(edited) != nil {
			t.Errorf("Edit(%q, %q, %q) = %q, which is not valid", text, path, value, edited)
		}
	})
}

func TestListSaysWhereFrom(t *testing.T) {
	file := filepath.Join(t.TempDir(), "recalld.yaml")
	if err := os.WriteFile(file, []byte("log:\n  level: warn\n  format: json\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := config.List(config.Sources{File: file, Set: map[string]string{"queue.depth": "20"}, Data: t.TempDir(),
		Getenv: func(name string) string { return map[string]string{"RECALLD_LOG_FORMAT": "text", "HOME": "/h"}[name] }})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]config.Setting{
		"log.level":        {Name: "log.level", Value: "warn", Default: "info", Source: config.FromFile, At: file + ":2"},
		"log.format":       {Name: "log.format", Value: "text", Default: "text", Source: config.FromEnv, At: "RECALLD_LOG_FORMAT"},
		"queue.depth":      {Name: "queue.depth", Value: "20", Default: "1000", Source: config.FromFlag},
		"daemon.autostart": {Name: "daemon.autostart", Value: "true", Default: "true", Source: config.FromDefault},
		"tasks.overrides":  {Name: "tasks.overrides", Value: "(0 in the file)", Default: "(0 in the file)", Source: config.FromDefault},
	}
	for _, s := range list {
		if w, ok := want[s.Name]; ok {
			if diff := cmp.Diff(w, s); diff != "" {
				t.Errorf("%s (-want +got):\n%s", s.Name, diff)
			}
			delete(want, s.Name)
		}
	}
	if len(want) > 0 {
		t.Errorf("not listed: %v", want)
	}
}

func TestChanged(t *testing.T) {
	a, b := config.Default(), config.Default()
	b.Log.Level = "debug"
	b.Tasks.Overrides = []config.TaskOverride{{Project: "x"}}
	if diff := cmp.Diff([]string{"log.level", "tasks.overrides"}, config.Changed(a, b)); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	b.Search.Keys, b.Daemon.Autostart = []string{"ctrl-j=down"}, !a.Daemon.Autostart
	if got := config.Changed(a, b); len(got) != 2 {
		t.Errorf("settings of commands are taken for the daemon's: %q", got)
	}
	if got := config.Changed(a, a); len(got) > 0 {
		t.Errorf("nothing changed, got %v", got)
	}
}
