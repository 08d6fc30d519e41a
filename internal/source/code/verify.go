package code

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/redact"
	"github.com/recalld/recalld/internal/source/code/chunk"
)

var _ memory.Verifier = (*Verifier)(nil)

// maxVerified is the largest file that is verified, in bytes. A larger one counts as
// changed.
const maxVerified = 8 << 20

// readBlock is how much is read between two checks of the deadline.
const readBlock = 256 << 10

// Verifier implements the gates of code. It keeps no state, not even an open folder: a
// handle would show a sandbox that was replaced meanwhile.
type Verifier struct{}

// NewVerifier returns the gates.
func NewVerifier() *Verifier { return &Verifier{} }

// Verify reads a file once and returns its current text, with secrets replaced, also
// those that begin or end outside of the chunk. The error is a *memory.GateError: Outside
// if the path is invalid or leaves the sandbox, Gone if there is no such file, Unreadable
// if it is a pipe or may not be read, Binary if it is not text, Changed if the chunk's
// text is nowhere in it, TooSlow if ctx ends first.
func (*Verifier) Verify(ctx context.Context, at memory.Location) (memory.Verified, error) {
	src, start, reason := chunkOf(ctx, at)
	if reason != "" {
		return memory.Verified{}, &memory.GateError{Reason: reason, Path: at.Path}
	}
	c := at.Chunk
	end := start + c.End - c.Start
	v := memory.Verified{Path: at.Path}
	v.StartLine = bytes.Count(src[:start], []byte("\n")) + 1
	v.EndLine = v.StartLine + bytes.Count(src[start:end], []byte("\n"))
	v.Moved = v.StartLine != c.StartLine
	v.Text = redact.Apply(string(src[start:end]), start, redact.FindCode(string(src)))
	// The text left by the replacement may look like another secret.
	v.Text, _ = redact.Code(v.Text)
	return v, nil
}

// Document returns the document of a chunk, for models that embed in the background,
// through the same gates as Verify and with its errors.
func (*Verifier) Document(ctx context.Context, at memory.Location) (string, error) {
	src, start, reason := chunkOf(ctx, at)
	if reason != "" {
		return "", &memory.GateError{Reason: reason, Path: at.Path}
	}
	return chunk.DocText(at.Lang, at.Chunk.Symbol, string(src[start:start+at.Chunk.End-at.Chunk.Start])), nil
}

// Whole returns a file that has the given hash, with secrets replaced, through the same
// gates as Verify and with its errors. A file with another hash is Changed: the guards
// did not see its text.
func (*Verifier) Whole(ctx context.Context, at memory.Location, hash memory.DocID) (string, error) {
	src, reason := textOf(ctx, at)
	if reason == "" && hashOf(src) != hash {
		reason = memory.Changed
	}
	if reason != "" {
		return "", &memory.GateError{Reason: reason, Path: at.Path}
	}
	text, _ := redact.Code(string(src))
	return text, nil
}

// Head returns the beginning of a file, through the same gates as Verify and with its
// errors.
func (*Verifier) Head(ctx context.Context, at memory.Location) (memory.Verified, error) {
	src, reason := textOf(ctx, at)
	if reason != "" {
		return memory.Verified{}, &memory.GateError{Reason: reason, Path: at.Path}
	}
	text := head(src)
	return memory.Verified{Text: text, Path: at.Path, StartLine: 1, EndLine: 1 + strings.Count(text, "\n")}, nil
}

// chunkOf reads the file of a chunk through the gates and finds the chunk in it.
func chunkOf(ctx context.Context, at memory.Location) (src []byte, start int, reason memory.Reason) {
	if src, reason = textOf(ctx, at); reason != "" {
		return nil, 0, reason
	}
	start, ok := find(ctx, src, at.Chunk)
	switch {
	case ctx.Err() != nil:
		return nil, 0, memory.TooSlow
	case !ok:
		return nil, 0, memory.Changed
	}
	return src, start, ""
}

// textOf reads a file through the gates that do not need a chunk.
func textOf(ctx context.Context, at memory.Location) ([]byte, memory.Reason) {
	if ctx.Err() != nil {
		return nil, memory.TooSlow
	}
	// A walk never stores a path with "..", an absolute one or one that is not UTF-8.
	if !fs.ValidPath(at.Path) || !utf8.ValidString(at.Path) {
		return nil, memory.Outside
	}
	src, reason := readInside(ctx, at.Root, at.Path)
	if reason == "" && !isText(src) {
		reason = memory.Binary
	}
	return src, reason
}

// readInside reads a regular file through the root of its sandbox.
func readInside(ctx context.Context, root, name string) ([]byte, memory.Reason) {
	// A stored root has no links in it. If it is a link now, it leads elsewhere.
	switch info, err := os.Lstat(root); {
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		return nil, memory.Outside
	case err == nil && !info.IsDir():
		return nil, memory.Gone
	}
	dir, err := fsx.OpenRoot(root)
	if err != nil {
		return nil, reasonOf(err)
	}
	defer dir.Close() // only read
	f, info, err := fsx.OpenFile(dir, filepath.FromSlash(name))
	switch {
	case errors.Is(err, fsx.ErrNotRegular) && info.IsDir():
		return nil, memory.Gone
	case errors.Is(err, fsx.ErrNotRegular):
		return nil, memory.Unreadable
	case err != nil:
		return nil, reasonOf(err)
	}
	defer f.Close() // only read
	if info.Size() > maxVerified {
		return nil, memory.Changed
	}
	return readAll(ctx, f, info.Size(), maxVerified)
}

// readAll reads a file of some size to its end, at most most bytes.
func readAll(ctx context.Context, f *os.File, size, most int64) ([]byte, memory.Reason) {
	src := make([]byte, 0, size+1)
	for {
		if ctx.Err() != nil {
			return nil, memory.TooSlow
		}
		if len(src) == cap(src) {
			src = append(src, 0)[:len(src)]
		}
		n, err := f.Read(src[len(src):min(cap(src), len(src)+readBlock)])
		src = src[:len(src)+n]
		switch {
		case errors.Is(err, io.EOF):
			return src, ""
		case err != nil:
			return nil, memory.Unreadable
		case int64(len(src)) > most:
			return nil, memory.Changed
		}
	}
}

// reasonOf returns why a file cannot be opened. Errors of the system have a number. The
// error of os.Root for a path that leads outside has none.
func reasonOf(err error) memory.Reason {
	if fsx.IsGone(err) {
		return memory.Gone
	}
	if _, ok := errors.AsType[syscall.Errno](err); ok {
		return memory.Unreadable
	}
	return memory.Outside
}

// find returns the position of a chunk's text: the stored one, else the nearest where as
// many lines of as many bytes have the same hash.
func find(ctx context.Context, src []byte, c memory.FileChunk) (int, bool) {
	size, lines := c.End-c.Start, c.EndLine-c.StartLine
	if size <= 0 || lines < 0 || c.Start < 0 || size > len(src) {
		return 0, false
	}
	if c.End <= len(src) && wholeLines(src, c.Start, c.End) && hashOf(src[c.Start:c.End]) == c.Hash {
		return c.Start, true
	}
	starts := chunk.LineStarts(src)
	best, found := 0, false
	for i := 0; i+lines+1 < len(starts); i++ {
		start, last := starts[i], src[starts[i+lines]:starts[i+lines+1]]
		if line, broken := bytes.CutSuffix(last, []byte("\n")); broken {
			last = bytes.TrimSuffix(line, []byte("\r"))
		}
		if starts[i+lines]+len(last)-start != size {
			continue
		}
		if found && distance(start, c.Start) >= distance(best, c.Start) {
			continue
		}
		if ctx.Err() != nil {
			return 0, false
		}
		if hashOf(src[start:start+size]) == c.Hash {
			best, found = start, true
		}
	}
	return best, found
}

// wholeLines reports whether a range begins and ends with lines, so that nothing of a
// line that has grown is shown.
func wholeLines(src []byte, start, end int) bool {
	return (start == 0 || src[start-1] == '\n') &&
		(end == len(src) || src[end] == '\n' || src[end] == '\r' && end+1 < len(src) && src[end+1] == '\n')
}

func distance(a, b int) int { return max(a-b, b-a) }

// hashOf is the hash of raw bytes in memory.File and memory.FileChunk.
func hashOf(b []byte) memory.DocID {
	sum := sha256.Sum256(b)
	return memory.DocID(sum[:len(memory.DocID{})])
}
