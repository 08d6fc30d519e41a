package fsx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"
)

// TestIsGone: a file in the place of a folder has nothing below it.
func TestIsGone(t *testing.T) {
	at, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	if err := at.WriteFile("file", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"file": false, "none": true, "none/below": true, "file/below": true} {
		if _, err := at.Lstat(name); IsGone(err) != want {
			t.Errorf("IsGone(%v) = %v for %s", err, !want, name)
		}
	}
}

// TestRefusesWrites: a disk that fails to read refuses no write.
func TestRefusesWrites(t *testing.T) {
	at := func(op string, err error) error {
		return fmt.Errorf("copy: %w", &fs.PathError{Op: op, Path: "file", Err: err})
	}
	for _, x := range []struct {
		err           error
		writes, reads bool
	}{
		{at("write", syscall.EIO), true, false}, {at("sync", syscall.EIO), true, false}, {at("open", syscall.EROFS), true, false},
		{syscall.ENOSPC, true, false}, {at("read", syscall.EIO), false, true}, {at("readdirent", syscall.EIO), false, true},
		{at("read", syscall.EISDIR), false, false}, {errors.New("another"), false, false}, {nil, false, false},
	} {
		if writes, reads := RefusesWrites(x.err), FailsToRead(x.err); writes != x.writes || reads != x.reads {
			t.Errorf("%v: refuses writes %v, want %v; fails to read %v, want %v", x.err, writes, x.writes, reads, x.reads)
		}
	}
}
