package recalld_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// releaseEnv names the tag of a release that is being made.
const releaseEnv = "RECALLD_RELEASE"

// TestReleaseVersion: the files that name the version agree with the newest release in the
// changelog, and with the tag where a release is made.
func TestReleaseVersion(t *testing.T) {
	newest := regexp.MustCompile(`(?m)^## \[(\d+\.\d+\.\d+)\]`).FindStringSubmatch(read(t, "CHANGELOG.md"))
	if newest == nil {
		t.Fatal("CHANGELOG.md has no release, such as ## [0.1.0] - 2026-11-25")
	}
	if tag := os.Getenv(releaseEnv); tag != "" && tag != "v"+newest[1] {
		t.Errorf("the tag is %s, and the newest release of CHANGELOG.md %s", tag, newest[1])
	}
	for _, file := range []string{"server.json", "gemini-extension.json", "deploy/claude-plugin/.claude-plugin/plugin.json"} {
		var named struct {
			Version  string
			Packages []struct{ Version string }
		}
		if err := json.Unmarshal([]byte(read(t, file)), &named); err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		versions := []string{named.Version}
		for _, p := range named.Packages {
			versions = append(versions, p.Version)
		}
		for _, v := range versions {
			if v != newest[1] {
				t.Errorf("%s has version %q; the newest release is %s", file, v, newest[1])
			}
		}
	}
}

// TestReleaseRegistry: the entry of the MCP registry keeps to the registry's limits, and its
// package of npm names the entry, without which the registry refuses it.
func TestReleaseRegistry(t *testing.T) {
	var entry struct {
		Name, Description string
		Packages          []struct{ RegistryType, Identifier string }
	}
	var npm struct{ Name, MCPName string }
	for file, into := range map[string]any{"server.json": &entry, "deploy/npm/package.json": &npm} {
		if err := json.Unmarshal([]byte(read(t, file)), into); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	if n := len([]rune(entry.Description)); n == 0 || n > 100 {
		t.Errorf("server.json: the description has %d characters (limit: 1–100)", n)
	}
	if len(entry.Packages) != 1 || entry.Packages[0].RegistryType != "npm" || entry.Packages[0].Identifier != npm.Name || entry.Name != npm.MCPName {
		t.Errorf("server.json names %s and the packages %v; deploy/npm/package.json is %s for %s", entry.Name, entry.Packages, npm.Name, npm.MCPName)
	}
}

// TestTroubleshooting: the program prints the messages that the page explains, so the page
// cannot go stale unnoticed.
func TestTroubleshooting(t *testing.T) {
	_, files := readModule(t)
	var program strings.Builder
	for _, f := range files {
		if !f.test && (strings.HasPrefix(f.pkg, "internal/") || strings.HasPrefix(f.pkg, "embedder")) {
			program.WriteString(read(t, f.name))
		}
	}
	text := program.String()
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(read(t, "docs/troubleshooting.md"), -1)
	if len(rows) < 30 {
		t.Fatalf("docs/troubleshooting.md explains %d messages: the search is broken", len(rows))
	}
	for _, row := range rows {
		for part := range strings.SplitSeq(row[1], "…") {
			if part = strings.Trim(part, " ,:;()"); len(part) > 3 && !strings.Contains(text, part) {
				t.Errorf("docs/troubleshooting.md: the program does not print %q of the message %q", part, row[1])
			}
		}
	}
}
