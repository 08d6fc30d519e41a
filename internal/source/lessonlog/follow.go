package lessonlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// maxFiles is the most logs that are followed in a folder.
const maxFiles = 1000

// tailSize is how many of the bytes read last are compared before a log is read on. If
// the log was rewritten they differ, most likely.
const tailSize = 4 << 10

// Follower returns what is new in folders of logs. It keeps its state in memory only: a
// new follower returns every line once more, which changes nothing, because lines are
// known by their hash. It is for one goroutine.
type Follower struct {
	maxFiles int
	folders  fsx.Followed[folderState]
}

// folderState is what is known of one folder.
type folderState struct {
	logs map[string]*logState // by name
	// tooMany reports whether the files beyond the limit were reported.
	tooMany bool
}

// logState is how far a log was read.
type logState struct {
	at position
	// tail is the hash of the last tailSize bytes before at.
	tail memory.DocID
	// info describes the file when all of it had been read, nil before.
	info fs.FileInfo
	// id describes the file that at is a position in.
	id fs.FileInfo
	// problem is the last problem reported of the file as a whole.
	problem string
}

// New makes a Follower.
func New() *Follower { return &Follower{maxFiles: maxFiles, folders: fsx.Followed[folderState]{}} }

// Reset makes the next poll of a folder read all of it.
func (f *Follower) Reset(root, dir string) { f.folders.Forget(root, dir) }

// Poll yields the lines that were added to the logs of a folder since the last poll, by
// file and in batches. A batch counts as taken when the loop continues after it; a batch
// at which the loop ends is yielded again by the next poll, so that nothing is lost that
// could not be stored. A last line without a line break waits for its end. A log that
// was rewritten, truncated or replaced is read again from its start. A file that cannot
// be read is a problem of a batch, reported once. A folder that cannot be read is an
// error; a missing one is empty.
func (f *Follower) Poll(root, dir string) iter.Seq2[FileLines, error] {
	return func(yield func(FileLines, error) bool) {
		logs, path, known, err := f.folders.Open(root, dir, func() *folderState { return &folderState{logs: map[string]*logState{}} })
		if err != nil {
			yield(FileLines{}, fmt.Errorf("open logs: %w", err))
			return
		}
		if logs == nil {
			return
		}
		defer logs.Close() // only read
		names, tooMany, err := fsx.Names(logs, f.maxFiles, isLog)
		if err != nil {
			yield(FileLines{}, fmt.Errorf("list logs: %w", err))
			return
		}
		fsx.Sync(known.logs, names)
		if tooMany && !known.tooMany {
			message := fmt.Sprintf("holds more than %d logs: the others are not read", f.maxFiles)
			if !yield(FileLines{File: path, Problems: []memory.ImportProblem{{File: path, Message: message}}}, nil) {
				return
			}
		}
		known.tooMany = tooMany
		for _, name := range names {
			if !known.logs[name].poll(logs, name, filepath.Join(path, name), yield) {
				return
			}
		}
	}
}

// isLog says that an entry of a folder is a log.
func isLog(e fs.DirEntry) bool {
	return strings.HasSuffix(e.Name(), suffix) && !strings.HasPrefix(e.Name(), ".") && !e.IsDir()
}

// poll yields what is new in one log. It returns false when yield did.
func (s *logState) poll(folder *os.Root, name, path string, yield func(FileLines, error) bool) bool {
	if info, err := folder.Lstat(name); err == nil && s.info != nil && unchanged(s.info, info) {
		return true
	}
	file, info, err := openLog(folder, name)
	if errors.Is(err, fs.ErrNotExist) {
		return true // removed since the folder was listed
	}
	if err != nil {
		return s.report(path, err, yield)
	}
	defer file.Close() // only read
	if same, err := s.isContinued(file, info); err != nil {
		return s.report(path, err, yield)
	} else if !same {
		*s = logState{tail: memory.DocumentID("")}
	}
	s.id, s.info = info, nil
	r := newReader(file, path, info, s.at)
	for more := true; more; {
		var part FileLines
		if part, more, err = r.part(false); err != nil {
			return s.report(path, err, yield)
		}
		tail, err := hashTail(file, r.offset)
		if err != nil {
			return s.report(path, err, yield)
		}
		if !part.isEmpty() && !yield(part, nil) {
			return false
		}
		s.at, s.tail = r.position, tail
	}
	s.info, s.problem = info, ""
	return true
}

// report yields a problem with a file, unless it was the last one reported.
func (s *logState) report(path string, err error, yield func(FileLines, error) bool) bool {
	if s.problem == err.Error() {
		return true
	}
	if !yield(FileLines{File: path, Problems: []memory.ImportProblem{{File: path, Message: err.Error()}}}, nil) {
		return false
	}
	s.problem = err.Error()
	return true
}

// unchanged reports whether a file has the same inode, size and time as before.
func unchanged(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// isContinued reports whether a file still begins with what was read of it: it is the
// same file, it is not shorter, it was not rewritten at the same length, and the end of
// what was read has not changed.
func (s *logState) isContinued(file io.ReaderAt, info fs.FileInfo) (bool, error) {
	switch {
	case s.id == nil:
		return false, nil
	case !os.SameFile(s.id, info), info.Size() < s.at.offset:
		return false, nil
	case s.info != nil && info.Size() == s.info.Size():
		return false, nil
	}
	tail, err := hashTail(file, s.at.offset)
	return tail == s.tail, err
}

// hashTail hashes the last bytes before offset.
func hashTail(file io.ReaderAt, offset int64) (memory.DocID, error) {
	tail := make([]byte, min(offset, tailSize))
	if _, err := file.ReadAt(tail, offset-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return memory.DocID{}, err
	}
	return memory.DocumentID(string(tail)), nil
}
