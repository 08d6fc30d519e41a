package lessonlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// DefaultMaxFiles is how many logs of a folder are followed at most.
const DefaultMaxFiles = 1000

// tailSize is how much of what was read last is looked at again before a log is
// read on, in bytes: the end of a log that was rewritten is hardly the same.
const tailSize = 4 << 10

// Options are the settings of a Follower.
type Options struct {
	// MaxFiles bounds the logs of one folder, 1 or more. Zero means
	// DefaultMaxFiles.
	MaxFiles int
}

func (o *Options) validate() error {
	if o.MaxFiles == 0 {
		o.MaxFiles = DefaultMaxFiles
	}
	if o.MaxFiles < 0 {
		return memory.Invalid("MaxFiles", "1 or more", "%d is out of range", o.MaxFiles)
	}
	return nil
}

// Follower hands out what is new in folders of logs. What it knows of them is
// in memory only: a new one begins with every line there is, which changes
// nothing, for lines are known by their hash. It belongs to one goroutine.
type Follower struct {
	opts    Options
	folders map[string]*followed // by path
}

// followed is what is known of one folder.
type followed struct {
	logs map[string]*logState // by name
	// tooMany says that the files beyond the limit were reported.
	tooMany bool
}

// logState is how far a log was read.
type logState struct {
	at place
	// tail is the hash of the last tailSize bytes before at.
	tail memory.DocID
	// info is the file as it was when all of it had been read, nil before.
	info fs.FileInfo
	// id is the file that at is a place of.
	id fs.FileInfo
	// problem is what was reported of the file as a whole.
	problem string
}

// New makes a Follower. CodeInvalidInput names an option.
func New(opts Options) (*Follower, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Follower{opts: opts, folders: map[string]*followed{}}, nil
}

// Reset forgets a folder, so that the next poll reads all of it.
func (f *Follower) Reset(root, dir string) {
	if path, err := fsx.FolderPath(root, dir); err == nil {
		delete(f.folders, path)
	}
}

// Poll hands out the lines that are new in the logs of a folder since the last
// poll, by file and in parts. A part counts as taken when the loop goes on behind
// it: one at which the loop ends comes again, so what could not be kept is not
// lost. A torn last line waits for its end. A log that was rewritten, cut or
// replaced is read again from its start. What cannot be read is a problem of
// some part, told once. Only a folder that cannot be read is an error; one that
// is not there holds nothing.
func (f *Follower) Poll(root, dir string) iter.Seq2[FileLines, error] {
	return func(yield func(FileLines, error) bool) {
		logs, path, err := fsx.OpenFolder(root, dir, false)
		if errors.Is(err, fs.ErrNotExist) {
			f.Reset(root, dir)
			return
		}
		if err != nil {
			yield(FileLines{}, fmt.Errorf("open logs: %w", err))
			return
		}
		defer logs.Close() // only read
		names, tooMany, err := listLogs(logs, f.opts.MaxFiles)
		if err != nil {
			yield(FileLines{}, fmt.Errorf("list logs: %w", err))
			return
		}
		known := f.folders[path]
		if known == nil {
			known = &followed{logs: map[string]*logState{}}
			f.folders[path] = known
		}
		known.keep(names)
		if tooMany && !known.tooMany {
			message := fmt.Sprintf("holds more than %d logs: the others are not read", f.opts.MaxFiles)
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

// keep forgets the logs that are gone and makes a state for those that are new.
func (k *followed) keep(names []string) {
	for name := range k.logs {
		if _, ok := slices.BinarySearch(names, name); !ok {
			delete(k.logs, name)
		}
	}
	for _, name := range names {
		if k.logs[name] == nil {
			k.logs[name] = &logState{}
		}
	}
}

// listLogs returns the names of the logs of a folder, sorted, and whether there
// are more than most.
func listLogs(folder *os.Root, most int) (names []string, tooMany bool, err error) {
	d, err := folder.Open(".")
	if err != nil {
		return nil, false, err
	}
	defer d.Close() // only read
	for {
		entries, err := d.ReadDir(1000)
		for _, e := range entries {
			name := e.Name()
			if !strings.HasSuffix(name, suffix) || strings.HasPrefix(name, ".") || e.IsDir() {
				continue
			}
			if len(names) == most {
				slices.Sort(names)
				return names, true, nil
			}
			names = append(names, name)
		}
		if errors.Is(err, io.EOF) {
			slices.Sort(names)
			return names, false, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
}

// poll hands out what is new in one log. It returns false when yield did.
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
		s.at, s.tail = r.place, tail
	}
	s.info, s.problem = info, ""
	return true
}

// report tells of a file that cannot be read, unless that was told before.
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

// unchanged says that a file is as it was.
func unchanged(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// isContinued says that a file still begins with what was read of it: it is the
// same file, no shorter, and not written anew at the same length, and the end of
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
