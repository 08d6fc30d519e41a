package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// ownerOffset is where the owner's record begins in the lock file. Windows locks
// the first byte against readers as well.
const ownerOffset = 1

// maxOwner bounds what is read of an owner's record, in bytes.
const maxOwner = 4 << 10

// lockGlance is more than the moment for which a command holds the lock to see whether a
// daemon does.
const lockGlance = 50 * time.Millisecond

// lockRetry is the pause between two tries for a lock that another process is
// about to let go.
const lockRetry = 20 * time.Millisecond

// Owner is the process that holds a data folder.
type Owner struct {
	PID     int       `json:"pid"`
	Version string    `json:"version"`
	Since   time.Time `json:"since"`
	// Socket is where it listens, if it is a daemon; older versions do not say it.
	Socket string `json:"socket,omitempty"`
}

// folderLock is a process's hold on a data folder. The system lets it go when the
// process ends, however it ends.
type folderLock struct {
	// Release lets the data folder go. The file stays: removing it would let two
	// processes lock two files of one name. A second call does nothing.
	Release func() error
}

// lockPatience is how long commands wait for a daemon that has closed its store and is
// about to let the data folder go.
const lockPatience = time.Second

// lockFolder takes a data folder for this process; see acquireLock. What the process creates
// from then on is private: it may open the store, a command as well as the daemon.
func lockFolder(ctx context.Context, paths config.Paths, version string, wait time.Duration) (*folderLock, error) {
	config.PrivateFiles()
	owner := Owner{PID: os.Getpid(), Version: version, Since: time.Now().UTC(), Socket: paths.Socket}
	return acquireLock(ctx, paths.Lock, owner, wait)
}

// acquireLock takes the data folder that holds a lock file for a process, which is written
// into the file for those who are refused. It waits for an owner that is draining, at least
// lockGlance. The error is CodeConflict, naming the owner, while another one holds it.
func acquireLock(ctx context.Context, path string, owner Owner, wait time.Duration) (*folderLock, error) {
	dir := filepath.Dir(path)
	if err := fsx.MakeFolder(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create data folder: %w", err)
	}
	f := flock.New(path, flock.SetPermissions(0o600))
	ok, err := f.TryLock()
	if err == nil && !ok {
		waiting, cancel := context.WithTimeout(ctx, max(wait, lockGlance))
		ok, err = f.TryLockContext(waiting, lockRetry)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = nil // still held: said below
		}
	}
	if err != nil {
		return nil, fmt.Errorf("lock data folder %s: %w", dir, err)
	}
	if !ok {
		return nil, conflict(dir, path)
	}
	// A disk without room does not keep the folder from being read. Who holds it is
	// unknown then.
	if err := writeOwner(path, owner); err != nil && !fsx.RefusesWrites(err) {
		return nil, errors.Join(fmt.Errorf("write owner of data folder: %w", err), f.Unlock())
	}
	return &folderLock{Release: sync.OnceValue(func() error {
		// An owner's record without a lock is of no consequence, only untidy.
		_ = os.Truncate(path, ownerOffset)
		return f.Unlock()
	})}, nil
}

// conflict says who holds the folder and what to do.
func conflict(dir, path string) error {
	who := "another process"
	if owner, err := ReadOwner(path); err == nil {
		who = fmt.Sprintf("recalld %s (pid %d, since %s)", owner.Version, owner.PID, owner.Since.UTC().Format(time.RFC3339))
	}
	return &memory.Error{
		Code:    memory.CodeConflict,
		Field:   "data",
		Message: fmt.Sprintf("the data folder %s is in use by %s", dir, who),
		Hint:    "stop that one with `recalld stop`, or name another folder with --data",
	}
}

// ReadOwner returns the owner that a lock file names. It may have ended since.
func ReadOwner(path string) (Owner, error) {
	var owner Owner
	f, err := os.Open(path)
	if err != nil {
		return owner, fmt.Errorf("open lock file: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, ownerOffset, maxOwner))
	if err != nil {
		return owner, fmt.Errorf("read lock file: %w", err)
	}
	if err := json.Unmarshal(text, &owner); err != nil {
		return owner, fmt.Errorf("read lock file: %w", err)
	}
	return owner, nil
}

// writeOwner puts the owner into the file that this process has locked.
func writeOwner(path string, owner Owner) error {
	text, err := json.Marshal(owner)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(append(text, '\n'), ownerOffset)
	if err == nil {
		err = f.Truncate(ownerOffset + int64(len(text)) + 1)
	}
	return errors.Join(err, f.Close())
}
