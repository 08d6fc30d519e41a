package contextfile

import (
	"fmt"
	"strings"
	"testing"
)

// rulesOfRepo is a repository with a file of each kind and ten rules of Cursor.
func rulesOfRepo(b *testing.B) *repo {
	files := map[string]string{
		".recalld/context.yaml": "rules:\n- {name: R, file: docs/r.md}\nservers:\n- {name: s}\n", "docs/r.md": "text",
		"AGENTS.md": strings.Repeat("Be kind to those who read. ", 400), "CLAUDE.md": strings.Repeat("Be brief. ", 400),
		".mcp.json": `{"mcpServers": {"github": {"command": "x"}}}`,
	}
	for i := range 10 {
		files[fmt.Sprintf(".cursor/rules/r%d.mdc", i)] = fmt.Sprintf("---\ndescription: rule %d\n---\nText.", i)
	}
	return newRepo(b, files)
}

func BenchmarkScanUnchanged(b *testing.B) {
	r := rulesOfRepo(b)
	r.look()
	for b.Loop() {
		if found := r.look(); len(found.Files) != 14 {
			b.Fatalf("%d files", len(found.Files))
		}
	}
}

func BenchmarkScanAnew(b *testing.B) {
	r := rulesOfRepo(b)
	for b.Loop() {
		clear(r.scan.known)
		if found := r.look(); len(found.Files) != 14 {
			b.Fatalf("%d files", len(found.Files))
		}
	}
}
