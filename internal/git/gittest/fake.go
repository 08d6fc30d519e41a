package gittest

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Commit writes a commit into a git folder, without git, and points the branch main to it.
// Commits with the same text are the same commit.
func Commit(t testing.TB, gitDir, text string) (id string) {
	t.Helper()
	body := fmt.Sprintf("tree %040d\nauthor a <a@example.org> 0 +0000\ncommitter a <a@example.org> 0 +0000\n\n%s\n", 0, text)
	object := fmt.Sprintf("commit %d\x00%s", len(body), body)
	id = fmt.Sprintf("%x", sha1.Sum([]byte(object)))
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := z.Write([]byte(object)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"objects/" + id[:2] + "/" + id[2:]: packed.Bytes(), "refs/heads/main": []byte(id + "\n"), "HEAD": []byte("ref: refs/heads/main\n"),
	} {
		path := filepath.Join(gitDir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return id
}
