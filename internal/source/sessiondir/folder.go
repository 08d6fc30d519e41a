package sessiondir

import (
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

const (
	// grain is the coarsest step in which a system keeps the time of a change (two
	// seconds on FAT): what changes again within it shows no new time.
	grain = 3 * time.Second
	// halfWritten is how long after its last change a file that is no JSON may
	// still be on its way.
	halfWritten = 10 * time.Second
	// Asking a system when folders were last changed is what a poll costs. Most
	// sessions are over: those without a change for quietAge take turns, quietLooks
	// of them in a poll, so that a poll costs the same however many there are.
	quietAge   = 10 * time.Minute
	quietLooks = 100
)

// folderState is what is known of one session's folder.
type folderState struct {
	// stamp is of when everything in it was last read, settled that nothing there
	// can have changed since without a new stamp.
	stamp   stamp
	settled bool
	// id is of the session as it was handed out.
	id string
	// known are hashes of the files that were handed out or reported.
	known []uint64
	// first is the time of its earliest step.
	first time.Time
	// waiting are files that are to be tried again, with what was reported of them.
	waiting map[string]string
	// nameless reports whether it was reported to have no id, tooMany that the steps
	// beyond the limit were.
	nameless, tooMany bool
}

// stamp is when the parts of a session's folder were last changed, in
// nanoseconds since 1970; 0 for what is not there. Reading three times is all
// that an unchanged session costs.
type stamp struct{ folder, steps, session, size int64 }

// stampOf looks at a folder. That it follows links in the path does not matter:
// nothing is read.
func stampOf(path string) stamp {
	var s stamp
	if info, err := os.Lstat(path); err == nil {
		s.folder = info.ModTime().UnixNano()
	}
	if info, err := os.Lstat(filepath.Join(path, stepsFolder)); err == nil {
		s.steps = info.ModTime().UnixNano()
	}
	if info, err := os.Lstat(filepath.Join(path, sessionFile)); err == nil {
		s.session, s.size = info.ModTime().UnixNano(), info.Size()
	}
	return s
}

func (s stamp) newest() time.Time { return time.Unix(0, max(s.folder, s.steps, s.session)) }

// reading is how folders are read.
type reading struct {
	tree     *tree
	now      time.Time
	maxSteps int
	// final reports whether nothing is waited for.
	final bool
}

// read hands out what is new in a folder. It returns false when yield did.
func (s *folderState) read(tree *os.Root, name, path string, how reading, yield func(Batch, error) bool) bool {
	now := stampOf(path)
	if s.settled && s.stamp == now {
		return true
	}
	l := &folderReader{state: s, reading: how, path: path, yield: yield, waiting: map[string]string{}}
	info, err := tree.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true // removed since the tree was listed
	case err == nil && !info.IsDir() && info.Mode()&fs.ModeSymlink == 0:
		// A file beside the sessions' folders is none of ours.
	default:
		if l.at, err = openFolder(tree, name, false); err != nil {
			l.unreadable(path, err)
			break
		}
		defer l.at.Close() // only read
		if !l.run() {
			return false
		}
	}
	if !l.flush() {
		return false
	}
	s.stamp, s.waiting = now, l.waiting
	s.settled = how.now.Sub(now.newest()) >= grain && len(l.waiting) == 0
	return true
}

// isQuiet reports whether nothing has changed in a folder for some time.
func (s *folderState) isQuiet(now time.Time) bool {
	return s.settled && now.Sub(s.stamp.newest()) > quietAge
}

// file is one file of a session's folder.
type file struct {
	in   *os.Root
	name string
	path string
	info fs.FileInfo
	hash uint64
}

// list returns the files that may be steps, by name: those of the steps folder,
// and those beside the session file whose names begin with a time.
func (l *folderReader) list() ([]file, error) {
	files, err := l.listIn(l.at, l.path, func(name string) bool {
		_, ok := timeInName(name)
		return ok && name != sessionFile
	}, l.maxSteps)
	if err != nil {
		return nil, err
	}
	steps, err := openFolder(l.at, stepsFolder, false)
	switch path := filepath.Join(l.path, stepsFolder); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		l.unreadable(path, err)
	default:
		l.steps = steps
		more, err := l.listIn(steps, path, func(string) bool { return true }, l.maxSteps-len(files))
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files, nil
}

// listIn returns at most so many files of a folder.
func (l *folderReader) listIn(at *os.Root, path string, isStep func(name string) bool, most int) ([]file, error) {
	d, err := at.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close() // only read
	var files []file
	for {
		entries, err := d.ReadDir(1000)
		for _, e := range entries {
			name := e.Name()
			if !strings.HasSuffix(name, fileSuffix) || strings.HasPrefix(name, ".") || !isStep(name) {
				continue
			}
			if len(files) == most {
				l.more = true
				return files, nil
			}
			if info, err := at.Lstat(name); err == nil { // else removed since
				files = append(files, l.file(at, name, filepath.Join(path, name), info))
			}
		}
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// file names a file by its path, size and time of change.
func (l *folderReader) file(in *os.Root, name, path string, info fs.FileInfo) file {
	type identity struct {
		path        string
		size, mtime int64
	}
	id := identity{strings.TrimPrefix(path, l.path), info.Size(), info.ModTime().UnixNano()}
	return file{in: in, name: name, path: path, info: info, hash: maphash.Comparable(l.tree.seed, id)}
}

// isYoung reports whether a file was changed a moment ago.
func (l *folderReader) isYoung(info fs.FileInfo) bool {
	return !l.final && l.now.Sub(info.ModTime()) < halfWritten
}

// problemBatch is a part that tells of a problem only.
func problemBatch(folder, path, message string) Batch {
	return Batch{Folder: folder, Problems: []memory.ImportProblem{{File: path, Message: message}}}
}
