package lessonlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// The lock of a log is a folder beside it, "<log>.lock": creating it takes the lock, and
// removing it releases the lock. Go and a plain shell can both follow this protocol on
// Linux, macOS and Windows. flock(1) is missing on macOS and in Git's shell for Windows,
// and a lock that only some writers take is useless. It leaves no file in the repository. A
// writer that is killed while it holds the lock leaves it behind, so a lock that does not
// change for staleAfter is removed. Even that cannot tear a line, because each is written
// by one append; the lock keeps a writer from repairing a line that another one is writing.
const lockSuffix = ".lock"

// staleAfter is how long a lock may stay the same while a writer waits for it. A writer
// holds it only for the few system calls of an append. The script uses the same value.
const staleAfter = 10 * time.Second

// A waiting writer pauses between two tries, longer each time: at first for the time of an
// append, and never so long that a user would notice.
const (
	firstPause = time.Millisecond
	lastPause  = 25 * time.Millisecond
)

// takeLock waits for the lock of a log. CodeUnavailable when ctx ends first.
func takeLock(ctx context.Context, folder *os.Root, log string) (release func() error, err error) {
	name := log + lockSuffix
	var held fs.FileInfo // the lock of another writer
	var since time.Time  // when it was first seen
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := folder.Mkdir(name, 0o777)
		if err == nil {
			return func() error { return removeLock(folder, name) }, nil
		}
		if !isTaken(err) {
			return nil, fmt.Errorf("make lock: %w", err)
		}
		info, err := folder.Lstat(name)
		switch now := time.Now(); {
		case errors.Is(err, fs.ErrNotExist):
			// Released in between.
		case since.IsZero() || err == nil && !sameLock(held, info):
			held, since = info, now
		case now.Sub(since) < staleAfter:
		default:
			if err := removeLock(folder, name); err != nil {
				return nil, fmt.Errorf("remove the lock of a writer that has ended: %w", err)
			}
			since = time.Time{}
			continue
		}
		select {
		case <-ctx.Done():
			return nil, &memory.Error{Code: memory.CodeUnavailable, Message: "the log " + log + " is locked by another writer",
				Hint: "try again; if no writer is left, remove the folder " + name, Cause: ctx.Err()}
		case <-time.After(pause):
		}
	}
}

// removeLock releases a lock. Another writer may have removed it, if we were stopped for so
// long that it counted as stale.
func removeLock(folder *os.Root, name string) error {
	if err := folder.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// isTaken reports whether a lock could not be made because it exists. Windows denies
// access to a folder that is just being removed.
func isTaken(err error) bool {
	return errors.Is(err, fs.ErrExist) || runtime.GOOS == "windows" && errors.Is(err, fs.ErrPermission)
}

// sameLock reports whether a lock is still the same.
func sameLock(a, b fs.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime())
}
