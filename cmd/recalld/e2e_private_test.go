//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestE2EPrivate: whatever the umask, no other user can read the daemon's data;
// what it writes into a repository is as open as the repository.
func TestE2EPrivate(t *testing.T) {
	m, dir := newMachine(t), shop(t)
	gitIn(t, dir)("init", "-q")
	data := ""
	for _, kv := range m.env {
		if path, ok := strings.CutPrefix(kv, "RECALLD_DATA="); ok {
			data = path
		}
	}
	open := m.command(dir, "remember", "--repo", "shop", "--type", "pattern", "--context", "privacy", "--lesson", "nobody else reads this")
	open.Args = append([]string{"sh", "-c", `umask 0; exec "$0" "$@"`}, open.Args...)
	open.Path = "/bin/sh"
	if out, err := open.CombinedOutput(); err != nil {
		t.Fatalf("remember: %v\n%s", err, out)
	}
	m.run(dir, "index", "--wait")
	private := func(after string) {
		t.Helper()
		files := 0
		err := filepath.WalkDir(data, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			if info.Mode().Perm()&0o077 != 0 {
				t.Errorf("after %s %s has mode %v, want none for others", after, path, info.Mode())
			}
			files++
			return nil
		})
		if err != nil || files < 5 {
			t.Fatalf("after %s the data folder holds %d files, %v", after, files, err)
		}
	}
	private("index")
	log, err := os.Stat(filepath.Join(dir, "agent-knowledge", "logs", "shop.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if mode := log.Mode().Perm(); mode != 0o644 {
		t.Errorf("the log in a repository of mode 755 has mode %o, want 644", mode)
	}

	// Commands that open the store themselves.
	m.run(dir, "backup")
	m.run(dir, "stop")
	m.run(dir, "doctor")
	private("doctor")
	m.run(dir, "restore", "--yes")
	private("restore")

	// A data folder that others may write to is refused, with the way out.
	if err := os.Chmod(data, 0o777); err != nil {
		t.Fatal(err)
	}
	out, err := m.command(dir, "repos").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "chmod go-w '"+data+"'") && !strings.Contains(string(out), "chmod 700") {
		t.Errorf("a data folder that everybody may write to: %v\n%s", err, out)
	}
	if err := os.Chmod(data, 0o700); err != nil {
		t.Fatal(err)
	}
}
