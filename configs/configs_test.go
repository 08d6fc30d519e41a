package configs_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/configs"
)

// read reads a file of this folder.
func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What is pasted or installed must be read by the program that it is for.
func TestFilesAreWellFormed(t *testing.T) {
	for name, text := range map[string][]byte{"mcp.json": configs.ClientJSON, "mcp-http.json": read(t, "clients/mcp-http.json")} {
		var entry struct {
			Servers map[string]map[string]any `json:"mcpServers"`
		}
		if err := json.Unmarshal(text, &entry); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if entry.Servers["recalld"] == nil {
			t.Errorf("%s has no server recalld", name)
		}
	}
	agent := read(t, "launchd/com.github.recalld.plist")
	dec := xml.NewDecoder(bytes.NewReader(agent))
	for {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("launchd agent: %v", err)
		}
	}
	for _, part := range []string{"@RECALLD@", "<string>serve</string>"} {
		if !bytes.Contains(agent, []byte(part)) {
			t.Errorf("launchd agent lacks %s", part)
		}
	}
	section := ""
	for line := range strings.Lines(string(read(t, "systemd/recalld.service"))) {
		switch line = strings.TrimSpace(line); {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			section = line
		case section == "" || !strings.Contains(line, "="):
			t.Errorf("systemd unit: line %q is no setting of a section", line)
		}
	}
}
