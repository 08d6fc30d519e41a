package logging

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// TestNoteCommand: a line that the disk refuses is an error, so that the command can say it.
func TestNoteCommand(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log", "recalld.log")
	if err := NoteCommand(log, ChangeRepair, memory.Caller{Client: "cli"}, nil, nil); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(AuditPath(log))
	if err != nil || !strings.Contains(string(b), `"msg":"repair","client":"cli","no_daemon":true`) {
		t.Errorf("the line is %q, %v", b, err)
	}
	if err := os.Remove(AuditPath(log)); err != nil {
		t.Fatal(err)
	}
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("a disk that is full needs " + full + ", which Linux has")
	}
	if err := os.Symlink(full, AuditPath(log)); err != nil {
		t.Fatal(err)
	}
	if err := NoteCommand(log, ChangeRepair, memory.Caller{}, nil, nil); err == nil {
		t.Error("a full disk is no error")
	}
}
