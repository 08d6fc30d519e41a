// Package archive writes everything that a store remembers as JSON lines, and takes it back.
//
// A line is {"kind": …, "value": …}. The first is the header: format, program, store and
// time. The last is the end: how many lines there are of each kind, and the SHA-256 of all
// lines before it, so that an archive which was cut or changed is noticed before anything
// of it is taken. docs/operating.md describes the format.
package archive

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/store"
)

// format is the version of the lines that this program writes and reads.
const format = 1

// maxLine bounds a line, in bytes. The largest value, the context of a turn, stays well below.
const maxLine = 32 << 20

// progressEvery is after how many lines progress is reported.
const progressEvery = 500

type line struct {
	Kind  memory.ArchiveKind `json:"kind"`
	Value json.RawMessage    `json:"value"`
}

type header struct {
	Format    int       `json:"format"`
	Version   string    `json:"version"`
	Store     string    `json:"store"`
	CreatedAt time.Time `json:"created_at"`
}

type end struct {
	Counts map[memory.ArchiveKind]int `json:"counts"`
	SHA256 string                     `json:"sha256"`
}

// WriteOptions say what is written beside the snapshot.
type WriteOptions struct {
	Version string
	Now     time.Time
	// Settings is the text of the settings file; empty: there is none.
	Settings string
	Progress func(done int)
}

// writer writes lines and counts them.
type writer struct {
	out    *bufio.Writer
	sum    hash.Hash
	counts map[memory.ArchiveKind]int
	bytes  int64
}

func (w *writer) line(kind memory.ArchiveKind, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %s: %w", kind, err)
	}
	text, err := json.Marshal(line{kind, raw})
	if err != nil {
		return fmt.Errorf("encode %s: %w", kind, err)
	}
	text = append(text, '\n')
	w.sum.Write(text)
	w.bytes += int64(len(text))
	_, err = w.out.Write(text)
	return err
}

// Write writes an archive of a snapshot to a file that does not exist, 0600. After an error
// there is none.
func Write(ctx context.Context, x *store.Snapshot, path string, opts WriteOptions) (*memory.Archive, error) {
	if _, err := os.Lstat(path); err == nil {
		return nil, &memory.Error{Code: memory.CodeConflict, Field: "path", Message: fmt.Sprintf("%s exists", path), Hint: "name a file that does not exist"}
	}
	w := &writer{sum: sha256.New(), counts: map[memory.ArchiveKind]int{}}
	head := header{Format: format, Version: opts.Version, Store: fmt.Sprintf("%016x", x.Store), CreatedAt: opts.Now.UTC()}
	err := fsx.WriteFile(path, 0o600, func(out io.Writer) error {
		w.out = bufio.NewWriterSize(out, 1<<20)
		if err := w.line(memory.ArchivedHeader, head); err != nil {
			return err
		}
		done := 0
		counted := func(kind memory.ArchiveKind, value any) error {
			if r, ok := value.(memory.Record); ok && r.Project == memory.OwnProject {
				return nil // recalld enters its own tools itself
			}
			w.counts[kind]++
			if done++; done%progressEvery == 0 {
				opts.Progress(done)
			}
			return w.line(kind, value)
		}
		if opts.Settings != "" {
			if err := counted(memory.ArchivedSettings, opts.Settings); err != nil {
				return err
			}
		}
		if err := x.Remembered(ctx, counted); err != nil {
			return err
		}
		if err := w.line(memory.ArchivedEnd, end{w.counts, hex.EncodeToString(w.sum.Sum(nil))}); err != nil {
			return err
		}
		return w.out.Flush()
	})
	if err != nil {
		switch {
		case fsx.FailsToRead(err):
			err = &memory.Error{Code: memory.CodeUnavailable, Cause: err, Message: fmt.Sprintf("the disk fails: %v", err), Hint: "restore the last backup on another disk"}
		case fsx.IsGone(err):
			err = &memory.Error{Code: memory.CodeInvalidInput, Field: "path", Limit: "a file in a folder that exists", Cause: err, Message: fmt.Sprintf("there is no folder %s", filepath.Dir(path)), Hint: "create it, or name another file"}
		case fsx.RefusesWrites(err):
			err = &memory.Error{Code: memory.CodeReadOnly, Field: "path", Cause: err, Message: fmt.Sprintf("%s cannot be written: %v", path, err), Hint: "make room there, or name another file"}
		}
		return nil, fmt.Errorf("export: %w", err)
	}
	return &memory.Archive{Path: path, Format: format, Version: opts.Version, Store: head.Store, CreatedAt: head.CreatedAt, Bytes: w.bytes, Counts: w.counts}, nil
}

// Is says whether a file begins as an archive does.
func Is(path string) bool {
	f, err := fsx.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // only read
	start := make([]byte, 256)
	n, _ := io.ReadFull(f, start)
	return bytes.HasPrefix(start[:n], []byte(`{"kind":"`+string(memory.ArchivedHeader)+`"`))
}

// read passes the lines of an archive to each, with their numbers, and checks what can be
// checked of a whole archive: its version, its order, its end. The file must be read to its
// end before anything of it is believed.
func read(ctx context.Context, path string, each func(n int, l line) error) (*memory.Archive, error) {
	f, err := fsx.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &memory.Error{Code: memory.CodeNotFound, Field: "path", Message: err.Error()}
	case err != nil:
		return nil, &memory.Error{Code: memory.CodeInvalidInput, Field: "path", Message: err.Error(), Cause: err}
	}
	defer f.Close() // only read
	in := bufio.NewReaderSize(f, 1<<20)
	a := &memory.Archive{Path: path, Counts: map[memory.ArchiveKind]int{}}
	sum := sha256.New()
	bad := func(n int, what string, args ...any) error {
		return &memory.Error{Code: memory.CodeInvalidInput, Field: "path", Message: fmt.Sprintf("%s, line %d: %s", path, n, fmt.Sprintf(what, args...)),
			Hint: "nothing was imported; use another copy of the archive"}
	}
	at := 0
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		text, err := readLine(in)
		switch {
		case errors.Is(err, io.EOF) && len(text) == 0:
			return nil, bad(n, "the archive ends without its last line")
		case errors.Is(err, io.EOF):
			return nil, bad(n, "the line is not complete")
		case errors.Is(err, errLong):
			return nil, bad(n, "the line has over %d bytes", maxLine)
		case err != nil:
			return nil, fmt.Errorf("read archive: %w", err)
		}
		a.Bytes += int64(len(text))
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, bad(n, "%v", err)
		}
		if n == 1 {
			var h header
			if l.Kind != memory.ArchivedHeader || json.Unmarshal(l.Value, &h) != nil {
				return nil, bad(n, "the file is no archive of recalld")
			}
			if h.Format > format || h.Format < 1 {
				return nil, &memory.Error{Code: memory.CodeIncompatible, Field: "format", Limit: fmt.Sprint(format),
					Message: fmt.Sprintf("%s has the format %d of recalld %s", path, h.Format, memory.Quote(h.Version)), Hint: "import it with that version or a newer one"}
			}
			a.Format, a.Version, a.Store, a.CreatedAt = h.Format, h.Version, h.Store, h.CreatedAt
			sum.Write(text)
			continue
		}
		if l.Kind == memory.ArchivedEnd {
			var e end
			if err := json.Unmarshal(l.Value, &e); err != nil {
				return nil, bad(n, "%v", err)
			}
			if e.SHA256 != hex.EncodeToString(sum.Sum(nil)) || !maps.Equal(e.Counts, a.Counts) {
				return nil, bad(n, "the archive was changed: its lines are not those that its last line counts")
			}
			if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
				return nil, bad(n+1, "there is something after the last line")
			}
			return a, nil
		}
		order := slices.Index(archiveOrder, l.Kind)
		if order < at {
			return nil, bad(n, "the kind %s is unknown, or in the wrong place", memory.Quote(string(l.Kind)))
		}
		at = order
		sum.Write(text)
		a.Counts[l.Kind]++
		if err := each(n, l); err != nil {
			if e, ok := errors.AsType[*memory.Error](err); ok && e.Code == memory.CodeInvalidInput {
				return nil, bad(n, "%v", err)
			}
			return nil, err
		}
	}
}

// archiveOrder has the kinds between header and end.
var archiveOrder = []memory.ArchiveKind{memory.ArchivedSettings, memory.ArchivedProject, memory.ArchivedForgotten, memory.ArchivedSession,
	memory.ArchivedRecord, memory.ArchivedStateOf, memory.ArchivedReceipt}

var errLong = errors.New("the line is too long")

// readLine returns a line with its end; io.EOF comes with a line that has none.
func readLine(in *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(text)+len(part) > maxLine {
			return nil, errLong
		}
		text = append(text, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, err
		}
	}
}
