package recalld_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/testkit/golden"
)

// TestDecisions checks the files of docs/decisions (number, title, status, sections) and
// that the index lists each of them. With -update it writes the index.
func TestDecisions(t *testing.T) {
	const folder = "docs/decisions"
	files, err := filepath.Glob(folder + "/[0-9]*.md")
	if err != nil || len(files) < 30 {
		t.Fatalf("%s has %d decisions, %v", folder, len(files), err)
	}
	named := regexp.MustCompile(`^(\d{4})-[a-z0-9-]+\.md$`)
	head := regexp.MustCompile(`^# (\d+)\. (\S.*)\n\nStatus: (accepted|superseded by \[\d{4}\]\([^)]+\))\. Date: \d{4}-\d\d-\d\d(, amended \d{4}-\d\d-\d\d)?\. Code: \[`)
	index := "# Decisions\n\nWhat was decided, why, and which alternatives were rejected, with the figures of that time. Current figures are in\n" +
		"[quality.md](../quality.md) and [benchmarks.md](../benchmarks.md). A new decision gets the next number and the sections Context, Decision and\n" +
		"Alternatives. A decision that no longer holds stays, with the status \"superseded by\". `go test . -run Decisions -update` writes this list.\n\n" +
		"| | decision | status |\n|---|---|---|\n"
	for i, file := range files {
		name, text := filepath.Base(file), read(t, file)
		number, first := named.FindStringSubmatch(name), head.FindStringSubmatch(text)
		if number == nil || first == nil {
			t.Errorf("%s: want the name NNNN-title.md and the head \"# N. Title\", then \"Status: accepted. Date: YYYY-MM-DD. Code: [path](link).\"", file)
			continue
		}
		if want := fmt.Sprintf("%04d", i+1); number[1] != want || fmt.Sprintf("%04s", first[1]) != want {
			t.Errorf("%s has the title \"%s. …\"; its number should be %s: numbers are unique and have no gaps", file, first[1], want)
		}
		for _, section := range []string{"Context", "Decision", "Alternatives"} {
			if !strings.Contains(text, "\n## "+section+"\n") {
				t.Errorf("%s has no section %s", file, section)
			}
		}
		index += fmt.Sprintf("| %s | [%s](%s) | %s |\n", number[1], first[2], name, first[3])
	}
	if golden.Updating() {
		if err := os.WriteFile(folder+"/README.md", []byte(index), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if read(t, folder+"/README.md") != index {
		t.Errorf("%s/README.md does not list the decisions as they are: run go test . -run Decisions -update", folder)
	}
}

// TestLinks: every relative link of a document leads to a file or folder, and its
// fragment to a heading.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	found := 0
	for _, file := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, file), -1) {
			target, fragment, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue
			}
			found++
			if target = path.Join(path.Dir(file), target); strings.HasPrefix(m[1], "#") {
				target = file
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link %s leads to nothing", file, m[1])
			} else if fragment != "" && strings.HasSuffix(target, ".md") && !headings(read(t, target))[fragment] {
				t.Errorf("%s: the link %s leads to no heading of %s", file, m[1], target)
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d links are found in the documents: the search is broken", found)
	}
}

// headings returns the anchors of a document's headings, as GitHub makes them.
func headings(text string) map[string]bool {
	anchors := map[string]bool{}
	heading := regexp.MustCompile(`(?m)^#+ +(.*)$`)
	drop := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		anchors[strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return anchors
}

// documents returns the paths of all documents and of the settings file.
func documents(t *testing.T) []string {
	t.Helper()
	files := []string{"configs/recalld.yaml"}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (base == "testdata" || strings.HasPrefix(base, ".")):
			return fs.SkipDir
		case path.Ext(name) == ".md":
			files = append(files, name)
		}
		return nil
	})
	if err != nil || len(files) < 10 {
		t.Fatalf("%d documents are found, %v", len(files), err)
	}
	return files
}
