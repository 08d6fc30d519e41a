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

// maxVerified is how large a file may have grown, in bytes, since it was
// indexed. A larger one counts as changed.
const maxVerified = 8 << 20

// readBlock is how much is read between two looks at the deadline.
const readBlock = 256 << 10

// Verifier holds the gates of code. It keeps nothing between calls, no open
// folder either: a handle would show a sandbox that was meanwhile replaced.
type Verifier struct{}

// NewVerifier returns the gates.
func NewVerifier() *Verifier { return &Verifier{} }

// Verify reads a file once and shows of it only what it has read then. The text
// has its secrets replaced, also those that begin or end outside of the chunk.
// The error is a *memory.GateError: Outside when the path leaves the sandbox or
// is none, Gone when there is no such file, Unreadable when it is a pipe or
// may not be read, Binary when it is no longer text, Changed when the text of
// the chunk is nowhere in it, TooSlow when ctx ends first.
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
	// What was taken out may have left something behind that reads as another.
	v.Text, _ = redact.Code(v.Text)
	return v, nil
}

// Document reads the document of a chunk again, through the same gates as
// Verify and with its errors: what a model that embeds in the background is
// given.
func (*Verifier) Document(ctx context.Context, at memory.Location) (string, error) {
	src, start, reason := chunkOf(ctx, at)
	if reason != "" {
		return "", &memory.GateError{Reason: reason, Path: at.Path}
	}
	return chunk.DocText(at.Lang, at.Chunk.Symbol, string(src[start:start+at.Chunk.End-at.Chunk.Start])), nil
}

// Whole reads a file again that has the given hash, through the same gates as Verify
// and with its errors; secrets are replaced. Changed is for a file of another hash: what
// came since was not looked at by the rules of what is indexed.
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

// Head reads how a file begins, through the same gates as Verify and with its
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

// textOf reads the file of a location through the gates that need no chunk.
func textOf(ctx context.Context, at memory.Location) ([]byte, memory.Reason) {
	if ctx.Err() != nil {
		return nil, memory.TooSlow
	}
	// A path with "..", an absolute one or one that is not UTF-8 was never
	// written by a walk.
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
	// A root has no links in it; one that is a link now leads elsewhere.
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

// readAll reads a file of some size to its end, but no more than most.
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

// reasonOf returns why a file cannot be opened. What the system refuses has a
// number; what os.OpenRoot refuses, because it leads out, has none.
func reasonOf(err error) memory.Reason {
	if isGone(err) {
		return memory.Gone
	}
	if _, ok := errors.AsType[syscall.Errno](err); ok {
		return memory.Unreadable
	}
	return memory.Outside
}

// find returns where the bytes of a chunk are: where they were, else at the place
// nearest to that where as many lines of as many bytes have the same hash.
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

// wholeLines reports whether a range begins and ends with lines, so that nothing is
// shown of a line that has grown.
func wholeLines(src []byte, start, end int) bool {
	return (start == 0 || src[start-1] == '\n') &&
		(end == len(src) || src[end] == '\n' || src[end] == '\r' && end+1 < len(src) && src[end+1] == '\n')
}

func distance(a, b int) int { return max(a-b, b-a) }

// hashOf is the hash of raw bytes, as memory.File and memory.FileChunk hold it.
func hashOf(b []byte) memory.DocID {
	sum := sha256.Sum256(b)
	return memory.DocID(sum[:len(memory.DocID{})])
}
