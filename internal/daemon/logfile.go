package daemon

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/recalld/recalld/internal/memory"
)

// LogOptions configure the daemon's log.
type LogOptions struct {
	// Path is the log file.
	Path string
	// MaxSize bounds it, in bytes; the part before is kept as Path + ".1".
	MaxSize int64
	// Level is debug, info, warn or error; Format is text or json.
	Level  string
	Format string
	// Also, if set, receives every line as well: the terminal of a daemon in the
	// foreground. It stays nil in a daemon whose output is the log file already.
	Also io.Writer
}

// OpenLog returns a logger that writes to the log file, and what closes it.
func OpenLog(opts LogOptions) (*slog.Logger, io.Closer, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(opts.Level)); err != nil {
		return nil, nil, memory.Invalid("log.level", "debug, info, warn, error", "%q is not one of them", opts.Level)
	}
	file, err := openLogFile(opts.Path, opts.MaxSize)
	if err != nil {
		return nil, nil, fmt.Errorf("open log: %w", err)
	}
	var out io.Writer = file
	if opts.Also != nil {
		out = io.MultiWriter(file, opts.Also)
	}
	ho := &slog.HandlerOptions{Level: level}
	if opts.Format == "json" {
		return slog.New(slog.NewJSONHandler(out, ho)), file, nil
	}
	return slog.New(slog.NewTextHandler(out, ho)), file, nil
}

// logFile is a file that is bounded in size. When it is full its content is
// copied aside and the file emptied, rather than renamed: the process's standard
// error, to which the runtime writes a crash, is open on the same file, and
// Windows does not rename open files.
type logFile struct {
	path string
	max  int64

	mu     sync.Mutex
	file   *os.File // guarded by mu; nil when closed
	size   int64    // guarded by mu; what others append is seen at rotation only
	closed bool     // guarded by mu
}

func openLogFile(path string, max int64) (*logFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &logFile{path: path, max: max, file: f, size: info.Size()}, nil
}

// Write implements io.Writer. A failure to rotate is not one to log: the line is
// written, and the next one tries again.
func (l *logFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, os.ErrClosed
	}
	if l.size > 0 && l.size+int64(len(line)) > l.max {
		if err := l.rotate(); err == nil {
			l.size = 0
		}
	}
	n, err := l.file.Write(line)
	l.size += int64(n)
	return n, err
}

// rotate copies the file aside and empties it. The caller holds mu.
func (l *logFile) rotate() error {
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	old, err := os.OpenFile(l.path+".1", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(old, io.NewSectionReader(l.file, 0, info.Size()))
	if err = errors.Join(err, old.Close()); err != nil {
		return err
	}
	return l.file.Truncate(0)
}

// Close implements io.Closer. A second call does nothing.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	return l.file.Close()
}
