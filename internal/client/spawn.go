package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

const (
	// tailLines and tailBytes bound what an error shows of the daemon's log.
	tailLines = 8
	tailBytes = 4 << 10
)

// spawn starts a command that outlives this process: in a session of its own,
// in the folder of its log, to which its output goes. The channel receives how
// it ended.
func spawn(command []string, logPath string) (<-chan error, error) {
	if err := os.MkdirAll(filepath.Dir(logPath), 0o700); err != nil {
		return nil, fmt.Errorf("create log folder: %w", err)
	}
	cmd := exec.Command(command[0], command[1:]...)
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	switch {
	case err == nil:
		defer log.Close() // the child has its own
		cmd.Stdout, cmd.Stderr = log, log
	case !errors.Is(err, syscall.EROFS) && !errors.Is(err, syscall.ENOSPC):
		return nil, fmt.Errorf("open log: %w", err)
	default: // queries work on a full disk
	}
	cmd.Dir = filepath.Dir(logPath) // not where the client is, which may be removed
	cmd.SysProcAttr = detached()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	// No one waits for this goroutine: it ends with the daemon, which is
	// to outlive this process, and keeps it from staying behind as a zombie when
	// it does not.
	exited := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		if err == nil {
			err = errors.New("without an error")
		}
		exited <- err
	}()
	return exited, nil
}

// tail returns the last lines of a file from an offset on; of a file that is shorter than
// the offset, and so has been rotated, from its beginning.
func tail(path string, from int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	if from > info.Size() {
		from = 0
	}
	cut := info.Size()-from > tailBytes
	if cut {
		from = info.Size() - tailBytes
	}
	text, err := io.ReadAll(io.NewSectionReader(f, from, tailBytes))
	if err != nil {
		return ""
	}
	lines := bytes.Split(bytes.TrimSpace(bytes.ToValidUTF8(text, nil)), []byte("\n"))
	if cut {
		lines = lines[1:] // the first one is not whole
	}
	return string(bytes.Join(lines[max(0, len(lines)-tailLines):], []byte("\n")))
}
