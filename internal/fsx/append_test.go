package fsx

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

func mustRead(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAppendLine(t *testing.T) {
	root := t.TempDir()
	want := filepath.Join(root, "logs", "a.jsonl")
	for _, line := range []string{"one\n", "two\n"} {
		if path, err := AppendLine(root, "logs", "a.jsonl", []byte(line)); err != nil || path != want {
			t.Fatalf("AppendLine = %s, %v; want %s", path, err, want)
		}
	}
	if got := mustRead(t, want); got != "one\ntwo\n" {
		t.Errorf("the file holds %q, want both lines", got)
	}
	// A writer that was killed left half a line.
	if err := os.WriteFile(want, []byte("one\nhal"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := AppendLine(root, "logs", "a.jsonl", []byte("two\n")); err != nil {
		t.Fatal(err)
	}
	if got := mustRead(t, want); got != "one\nhal\ntwo\n" {
		t.Errorf("behind a torn line the file holds %q, want the line on a new one", got)
	}
}

// Lines of many writers neither mix nor get lost.
func TestAppendLineOfMany(t *testing.T) {
	root := t.TempDir()
	const writers, each = 8, 50
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				if _, err := AppendLine(root, "logs", "a", fmt.Appendf(nil, "%d-%d %s\n", w, i, strings.Repeat("x", 5000))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	lines := strings.Split(strings.TrimSuffix(mustRead(t, filepath.Join(root, "logs", "a")), "\n"), "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" })
	seen := map[string]bool{}
	for _, line := range lines {
		name, rest, _ := strings.Cut(line, " ")
		if len(rest) != 5000 || seen[name] {
			t.Fatalf("a line is %.20q… of %d bytes, or there twice", line, len(line))
		}
		seen[name] = true
	}
	if len(seen) != writers*each {
		t.Errorf("%d lines are there, want %d", len(seen), writers*each)
	}
}

// Nothing is written through a link, neither to another file nor out of the root.
func TestAppendThroughLink(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	link := func(to, from string) {
		t.Helper()
		if err := os.Symlink(to, from); err != nil {
			t.Skip("this test needs symbolic links: on Windows, developer mode")
		}
	}
	if err := os.WriteFile(filepath.Join(root, "secret"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	link(outside, filepath.Join(root, "logs"))
	if _, err := AppendLine(root, "logs", "a", []byte("line\n")); err == nil {
		t.Error("a folder that leads out of the root is written to")
	}
	link("secret", filepath.Join(root, "a"))
	if _, err := AppendLine(root, ".", "a", []byte("line\n")); memory.CodeOf(err) != memory.CodeForbidden {
		t.Errorf("a file that is a link is written to: %v, want %s", err, memory.CodeForbidden)
	}
	if got := mustRead(t, filepath.Join(root, "secret")); got != "x" {
		t.Errorf("the file that a link leads to holds %q", got)
	}
	if found, err := os.ReadDir(outside); err != nil || len(found) > 0 {
		t.Errorf("outside there are %v, %v; want nothing", found, err)
	}
}
