package recalld_test

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestProjectStructure holds the table of folders in the README against the
// packages: each one below internal/ has a row, and each row its folder.
func TestProjectStructure(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(readme), "\n## Project structure\n")
	if !found {
		t.Fatal("README.md has no section Project structure")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var rows []string
	for line := range strings.SplitSeq(section, "\n") {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		folders, _, _ := strings.Cut(line[2:], " | ")
		for folder := range strings.SplitSeq(folders, ", ") {
			rows = append(rows, strings.Trim(folder, "`"))
		}
	}
	_, files := readModule(t)
	for _, f := range files {
		if strings.HasPrefix(f.pkg, "internal/") && !slices.Contains(rows, f.pkg) {
			t.Errorf("README.md, Project structure: %s has no row", f.pkg)
			rows = append(rows, f.pkg) // say it once
		}
	}
	for _, row := range rows {
		if info, err := os.Stat(row); err != nil || !info.IsDir() {
			t.Errorf("README.md, Project structure: %s is no folder any more", row)
		}
	}
}
