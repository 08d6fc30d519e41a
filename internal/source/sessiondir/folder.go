package sessiondir

import (
	"errors"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

const (
	// grain is the coarsest resolution of file times, two seconds on FAT, and some more:
	// two changes within it may have the same time.
	grain = 3 * time.Second
	// halfWritten is the age below which a file that is not JSON may still be written.
	halfWritten = 10 * time.Second
	// Most of the cost of a poll is reading the times of folders, and most sessions are
	// over. So those without a change for quietAge take turns, quietLooks a poll: the
	// cost of a poll does not depend on their number.
	quietAge   = 10 * time.Minute
	quietLooks = 100
)

// folderState is the state of one session's folder.
type folderState struct {
	// stamp is the folder's stamp when all of it was last read. settled means that any
	// change since then gives a new stamp.
	stamp   stamp
	settled bool
	// id is the id under which the session was yielded.
	id string
	// known are hashes of the files that were yielded or reported.
	known []uint64
	// first is the time of its earliest step.
	first time.Time
	// waiting are the files to try again, with the problem that was reported of each.
	waiting map[string]string
	// faulty are the step files that were reported for what they say.
	faulty map[string]fault
	// nameless and tooMany are true if a missing id, and steps beyond the limit, were
	// reported.
	nameless, tooMany bool
}

// stamp has the times of the last changes in a session's folder, in nanoseconds since
// 1970; 0 for a missing file. An unchanged session costs reading three times.
type stamp struct{ folder, steps, session, size int64 }

// stampOf reads the stamp of a folder. It may follow links in the path, because it reads
// nothing else.
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
	// final means that there is no later poll to wait for.
	final bool
}

// read yields what is new in a folder. It returns false when yield did.
func (s *folderState) read(tree *os.Root, name, path string, how reading, yield func(Batch, error) bool) bool {
	now := stampOf(path)
	if s.settled = s.settled && !s.mended(); s.settled && s.stamp == now {
		return true
	}
	l := &folderReader{state: s, reading: how, path: path, yield: yield, waiting: map[string]string{}}
	info, err := tree.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true // removed since the tree was listed
	case err == nil && !info.IsDir() && info.Mode()&fs.ModeSymlink == 0:
		// Other files beside the sessions' folders are ignored.
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

// fault is what was reported of a step file, and the state of the file.
type fault struct {
	message  string
	size     int64
	modified time.Time
}

// mended reports whether a faulty file has changed since it was looked at: many editors rewrite a
// file in place, which changes no folder.
func (s *folderState) mended() bool {
	mended := false
	for path, f := range s.faulty {
		now, err := os.Lstat(path)
		if err != nil {
			delete(s.faulty, path)
			mended = true
		} else if now.Size() != f.size || !now.ModTime().Equal(f.modified) {
			f.size, f.modified = now.Size(), now.ModTime()
			s.faulty[path] = f
			mended = true
		}
	}
	return mended
}

// maxFaulty bounds the faulty files of a session that are looked at.
const maxFaulty = 100

// isQuiet reports whether nothing has changed in a folder for quietAge.
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

// list returns the files that may be steps, sorted by name: those in the steps folder,
// and those beside the session file whose names begin with a time.
func (l *folderReader) list() ([]file, error) {
	files, err := l.listIn(l.at, l.path, func(name string) bool {
		_, ok := timeInName(name)
		return ok
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

// listIn returns at most most files of a folder.
func (l *folderReader) listIn(at *os.Root, path string, isStep func(name string) bool, most int) ([]file, error) {
	names, more, err := fsx.Names(at, most, func(e fs.DirEntry) bool {
		name := e.Name()
		return strings.HasSuffix(name, fileSuffix) && !strings.HasPrefix(name, ".") && isStep(name)
	})
	l.more = l.more || more
	var files []file
	for _, name := range names {
		if info, err := at.Lstat(name); err == nil { // else removed since
			files = append(files, l.file(at, name, filepath.Join(path, name), info))
		}
	}
	return files, err
}

// file identifies a file by its path, size and modification time.
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

// problemBatch returns a batch with one problem.
func problemBatch(folder, path, message string) Batch {
	return Batch{Folder: folder, Problems: []memory.ImportProblem{{File: path, Message: message}}}
}
