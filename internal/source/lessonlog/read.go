package lessonlog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// A batch is bounded in lines and bytes, so that a log of any size needs little memory.
const (
	partLines = 1000
	partBytes = 1 << 20
)

// FileLines is a batch of consecutive lines of a log.
type FileLines struct {
	// File is the path of the log.
	File string
	// Lines are the lines that could be read. A line without a repository gets it from the
	// log's name. A line without a timestamp has the time of the log's last change, which
	// is not in its hash.
	Lines []memory.LogLine
	// Numbers are the line numbers of Lines, from 1.
	Numbers []int
	// Problems are the lines that could not be read. Line is 0 if the whole file or
	// folder is meant.
	Problems []memory.ImportProblem
}

// ReadFile yields a log in batches, with a last line without its end. It ends with
// fs.ErrNotExist for a missing file and CodeForbidden for anything but a regular file.
func ReadFile(path string) iter.Seq2[FileLines, error] {
	return func(yield func(FileLines, error) bool) {
		folder, err := fsx.OpenRoot(filepath.Dir(path))
		if err != nil {
			yield(FileLines{}, fmt.Errorf("open folder of log: %w", err))
			return
		}
		defer folder.Close() // only read
		f, info, err := openLog(folder, filepath.Base(path))
		if err != nil {
			yield(FileLines{}, fmt.Errorf("open log: %w", err))
			return
		}
		defer f.Close() // only read
		r := newReader(f, path, info, position{})
		for more := true; more; {
			var part FileLines
			if part, more, err = r.part(true); err != nil {
				yield(FileLines{}, fmt.Errorf("read log: %w", err))
				return
			}
			if !part.isEmpty() && !yield(part, nil) {
				return
			}
		}
	}
}

func (p *FileLines) isEmpty() bool { return len(p.Lines)+len(p.Problems) == 0 }

// openLog opens a regular file for reading.
func openLog(logs *os.Root, name string) (*os.File, fs.FileInfo, error) {
	if err := fsx.CheckPlain(logs, name); err != nil {
		return nil, nil, err
	}
	return fsx.OpenFile(logs, name)
}

// position is where reading continues. skipping says that it is
// within a line that is too long and was reported.
type position struct {
	offset   int64
	line     int // lines before it
	skipping bool
}

// reader reads the lines of one file.
type reader struct {
	position
	in   *bufio.Reader
	path string
	info fs.FileInfo
}

func newReader(f io.ReaderAt, path string, info fs.FileInfo, from position) *reader {
	in := bufio.NewReaderSize(io.NewSectionReader(f, from.offset, math.MaxInt64-from.offset), MaxLine)
	return &reader{position: from, in: in, path: path, info: info}
}

// part reads until the batch is full or the file ends. A last line without its end is
// left for later, unless last is set.
func (r *reader) part(last bool) (p FileLines, more bool, err error) {
	p.File = r.path
	start := r.offset
	for n := 0; n < partLines && r.offset-start < partBytes; n++ {
		text, err := r.in.ReadSlice('\n')
		switch {
		case err == nil:
			r.take(&p, text, true)
		case errors.Is(err, bufio.ErrBufferFull):
			r.tooLong(&p)
			r.offset += int64(len(text))
		case !errors.Is(err, io.EOF):
			return p, false, err
		default:
			if r.skipping || len(text) > 0 && last {
				r.take(&p, text, last)
			}
			return p, false, nil
		}
	}
	return p, true, nil
}

// take reads one line, or the rest of a line that is too long. ended means that the line
// is complete.
func (r *reader) take(p *FileLines, text []byte, ended bool) {
	r.offset += int64(len(text))
	if !ended {
		return
	}
	r.line++
	if r.skipping {
		r.skipping = false
		return
	}
	if r.line == 1 {
		text = bytes.TrimPrefix(text, []byte("\uFEFF")) // as some editors put it
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return
	}
	l, err := Parse(text)
	if err != nil {
		r.problem(p, r.line, err.Error())
		return
	}
	p.Lines = append(p.Lines, r.complete(l))
	p.Numbers = append(p.Numbers, r.line)
}

// complete fills in the fields that a line leaves to its file. The hash covers the
// repository, which is constant, but not the file's time.
func (r *reader) complete(l memory.LogLine) memory.LogLine {
	if l.Repo == "" {
		l.Repo = strings.TrimSuffix(filepath.Base(r.path), suffix)
		if memory.Text("repo", l.Repo, 1, memory.MaxNameText) != nil {
			l.Repo = ""
		}
		l.Hash = Hash(l)
	}
	if l.Timestamp.IsZero() {
		l.Timestamp = r.info.ModTime().UTC()
	}
	return l
}

// tooLong reports a line that is too long, once.
func (r *reader) tooLong(p *FileLines) {
	if !r.skipping {
		r.skipping = true
		r.problem(p, r.line+1, memory.Invalid("line", maxLineText, "is too long").Error())
	}
}

func (r *reader) problem(p *FileLines, line int, message string) {
	p.Problems = append(p.Problems, memory.ImportProblem{File: r.path, Line: line, Message: message})
}
