package mirror_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/embedder/builtin/training/mine/mirror"
)

// git runs git in a folder, with a fixed author and time, so that commits are always
// the same.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org",
		"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org", "GIT_AUTHOR_DATE=2020-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2020-01-01T00:00:00Z")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// makeMirror makes a mirror of the repository a/b with two commits, and returns
// the folder of mirrors and the newest commit.
func makeMirror(t *testing.T) (mirrors, commit string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is needed: install it and put it on PATH")
	}
	mirrors = t.TempDir()
	dir := filepath.Join(mirrors, "a+b", "repo")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "init", "-q", "-b", "main")
	write(t, dir, "readme.md", "# Title\n")
	write(t, dir, "src/a.go", "package a\n")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "Begin\n\nwith a body")
	write(t, dir, "src/a.go", "package a\n\nvar added = 1\n")
	git(t, dir, "commit", "-q", "-a", "-m", "Add a variable")
	return mirrors, git(t, dir, "rev-parse", "HEAD")
}

func TestMirror(t *testing.T) {
	mirrors, commit := makeMirror(t)
	r, err := mirror.Open(t.Context(), mirrors, "a/b", commit)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	files, err := r.Files(t.Context())
	if err != nil {
		t.Fatalf("list files: %v", err)
	}
	var read []string
	if err := r.Read(t.Context(), files, func(f mirror.File, content []byte) {
		if int64(len(content)) != f.Size {
			t.Errorf("%s has %d bytes, of which %d were read", f.Path, f.Size, len(content))
		}
		read = append(read, f.Path+": "+string(content))
	}); err != nil {
		t.Fatalf("read files: %v", err)
	}
	if want := []string{"readme.md: # Title\n", "src/a.go: package a\n\nvar added = 1\n"}; !slices.Equal(read, want) {
		t.Errorf("read %q, want %q", read, want)
	}
	var messages, changes []mirror.Commit
	if err := r.Messages(t.Context(), func(c mirror.Commit) { messages = append(messages, c) }); err != nil {
		t.Fatalf("read messages: %v", err)
	}
	const ann = "Ann <ann@example.org>"
	if want := []mirror.Commit{{Author: ann, Message: "Add a variable"}, {Author: ann, Message: "Begin\n\nwith a body"}}; !slices.Equal(messages, want) {
		t.Errorf("messages are %q, want %q", messages, want)
	}
	if err := r.Changes(t.Context(), 10, func(c mirror.Commit) { changes = append(changes, c) }); err != nil {
		t.Fatalf("read changes: %v", err)
	}
	if want := []mirror.Commit{{Author: ann, Message: "Add a variable", Added: "\nvar added = 1\n"}}; !slices.Equal(changes, want) {
		t.Errorf("changes are %q, want %q", changes, want)
	}
}

func TestFilesThatAreMissing(t *testing.T) {
	mirrors, commit := makeMirror(t)
	dir := filepath.Join(mirrors, "a+b", "repo")
	id := git(t, dir, "rev-parse", "HEAD:readme.md")
	if err := os.Remove(filepath.Join(dir, ".git", "objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
	r, err := mirror.Open(t.Context(), mirrors, "a/b", commit)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	files, err := r.Files(t.Context())
	if err != nil {
		t.Fatalf("list files: %v", err)
	}
	if len(files) != 1 || files[0].Path != "src/a.go" {
		t.Errorf("files are %v, want src/a.go alone", files)
	}
}

func TestOpenFails(t *testing.T) {
	mirrors, commit := makeMirror(t)
	for _, test := range []struct{ name, commit string }{
		{"a/b", strings.Repeat("0", 40)},
		{"a/c", commit},
	} {
		if _, err := mirror.Open(t.Context(), mirrors, test.name, test.commit); err == nil {
			t.Errorf("%s at %s was opened", test.name, test.commit)
		}
	}
}
