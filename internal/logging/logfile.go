// Package logging is the daemon's log: a file bounded in size, and the latest errors for
// status. The audit log, of changes, is such a file too.
package logging

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// Options configure a log.
type Options struct {
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

// Open returns a logger that writes to the log file, and what closes it.
func Open(opts Options) (*slog.Logger, io.Closer, error) {
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
		file.json = true
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
	json bool // lines are objects

	mu     sync.Mutex // guards what follows
	file   *os.File   // nil as long as the disk refuses to open it
	size   int64      // what others append is seen at rotation only
	closed bool
	torn   bool      // the last line was written in part
	missed int       // lines that were not written
	tried  time.Time // when the file was opened in vain
}

// logRetry is how often a log is opened again that the disk refuses.
const logRetry = time.Second

// openLogFile opens the log. One that the disk refuses, which is full or read-only, is
// no error: it is opened when it can be.
func openLogFile(path string, max int64) (*logFile, error) {
	l := &logFile{path: path, max: max}
	if err := l.open(); err != nil && !fsx.RefusesWrites(err) {
		return nil, err
	}
	return l, nil
}

// open makes the log's folder, but none around it: that may be on a drive that is away.
func (l *logFile) open() error {
	l.tried = time.Now()
	if err := os.Mkdir(filepath.Dir(l.path), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.file, l.size = f, info.Size()
	return nil
}

// Write implements io.Writer. A failure to rotate is not one to log: the line is
// written, and the next one tries again.
func (l *logFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, os.ErrClosed
	}
	l.follow()
	if l.file != nil && l.size > 0 && l.size+int64(len(line)) > l.max {
		if err := l.rotate(); err == nil {
			l.size = 0
		}
	}
	if l.file == nil && time.Since(l.tried) >= logRetry {
		_ = l.open() // it stays nil
	}
	if l.file == nil {
		l.missed++
		return len(line), nil
	}
	text := line
	if l.missed > 0 {
		text = append(l.note(), line...)
	}
	if l.torn {
		text = append([]byte{'\n'}, text...)
	}
	n, err := l.file.Write(text)
	l.size += int64(n)
	if err != nil && fsx.RefusesWrites(err) {
		l.missed++
		l.torn = l.torn || n > 0
		return len(line), nil // the other receivers must still get the line
	}
	if err == nil {
		l.missed, l.torn = 0, false
	}
	return len(line), err
}

// follow opens the log anew if its file was removed or moved away: nobody would find what is
// written to that one. The caller holds mu.
func (l *logFile) follow() {
	if l.file == nil {
		return
	}
	own, err := l.file.Stat()
	if err != nil {
		return
	}
	if at, err := os.Stat(l.path); errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(own, at) {
		if former := l.file; l.open() == nil {
			_ = former.Close() // what is in it was written
		}
	}
}

// rotate copies the file aside and empties it. The caller holds mu.
func (l *logFile) rotate() error {
	old, err := os.OpenFile(l.path+".1", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for from, n := int64(0), int64(1); n > 0 && err == nil; from += n { // others append meanwhile
		n, err = io.Copy(old, io.NewSectionReader(l.file, from, math.MaxInt64-from))
	}
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
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// note is the line that says how many were not written.
func (l *logFile) note() []byte {
	var b bytes.Buffer
	var h slog.Handler = slog.NewTextHandler(&b, nil)
	if l.json {
		h = slog.NewJSONHandler(&b, nil)
	}
	slog.New(h).Warn("the disk refused lines of this log", "part", "log", "lines", l.missed)
	return b.Bytes()
}
