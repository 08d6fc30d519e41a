package sessiondir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// A batch is bounded in steps and bytes, so that a session of any size needs little
// memory.
const (
	batchSteps = 256
	batchBytes = 4 << 20
)

// Batch is what is new of one session: the session itself, steps of it, or both.
type Batch struct {
	// Folder is the path of the session's folder, or of the tree.
	Folder string
	// Session has no project and client. Its id is empty if there are only problems.
	// Without a time in its file, it gets the time of its first step, or of the file's last
	// change.
	Session memory.Session
	// Steps have no id, project, text and screen.
	Steps []memory.Record
	// Files are the paths of Steps.
	Files []string
	// Problems are the files that were skipped.
	Problems []memory.ImportProblem
}

// folderReader reads one folder once.
type folderReader struct {
	reading
	state *folderState
	path  string
	at    *os.Root
	steps *os.Root // nil where there is none
	yield func(Batch, error) bool

	session memory.Session // as in its file; bare without one
	changed time.Time      // of its file
	fresh   bool           // not yielded yet
	more    bool           // there are more steps than are read

	batch   Batch
	size    int      // bytes of its files
	hashes  []uint64 // of its files
	waiting map[string]string
}

// run yields all batches but the last. It returns false when yield did.
func (l *folderReader) run() bool {
	defer func() {
		if l.steps != nil {
			_ = l.steps.Close() // only read
		}
	}()
	slices.Sort(l.state.known)
	meta, ok := l.readSession()
	if !ok {
		return true
	}
	files, err := l.list()
	if err != nil {
		l.unreadable(l.path, err)
		return true
	}
	known := l.state.known
	for _, f := range files {
		if _, ok := slices.BinarySearch(known, f.hash); ok {
			continue
		}
		l.readStep(f)
		if (len(l.batch.Steps) >= batchSteps || l.size >= batchBytes) && !l.flush() {
			return false
		}
	}
	if l.more && !l.state.tooMany {
		l.problem(l.path, fmt.Sprintf("has more than %d steps: the others are not read", l.maxSteps))
	}
	if !l.flush() {
		return false
	}
	l.state.tooMany = l.more
	// Files that are gone are forgotten.
	l.state.known = l.state.known[:0]
	if meta != 0 {
		l.state.known = append(l.state.known, meta)
	}
	for _, f := range files {
		if _, ok := l.waiting[f.path]; !ok {
			l.state.known = append(l.state.known, f.hash)
		}
	}
	return true
}

// readSession reads the session file and returns its hash, 0 without one. Without a usable
// file the session is bare. ok is false if the file is half-written and will be read later.
func (l *folderReader) readSession() (hash uint64, ok bool) {
	l.session = memory.Session{ID: l.state.id, Bare: true}
	path := filepath.Join(l.path, sessionFile)
	info, err := l.at.Lstat(sessionFile)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, true
	}
	if err != nil {
		l.unreadable(path, err)
		return 0, true
	}
	f := l.file(l.at, sessionFile, path, info)
	_, told := slices.BinarySearch(l.state.known, f.hash)
	text, err := readFile(l.at, sessionFile)
	if err != nil && !isRefused(err) {
		l.unreadable(path, err)
		return 0, true
	}
	var s memory.Session
	var version int
	if err == nil {
		s, version, err = decodeSession(text)
	}
	if errors.Is(err, errNotJSON) && l.isYoung(info) {
		l.waiting[path] = ""
		return 0, false
	}
	if err == nil {
		s, err = l.checked(s)
	}
	if !told {
		l.hashes = append(l.hashes, f.hash)
	}
	if err != nil {
		if !told {
			l.problem(path, err.Error())
		}
		if memory.ValidSessionID("sessionId", s.ID) == nil {
			l.session.ID = s.ID
		}
	} else {
		l.newer(path, version)
		l.session, l.changed, l.fresh = s, info.ModTime().UTC(), !told
	}
	if id := l.state.id; id != "" && l.session.ID != id {
		l.state.known = nil // the steps were yielded as another session's
		l.fresh = !l.session.Bare
	}
	return f.hash, true
}

// checked validates a session. Without an id it gets its folder's name.
func (l *folderReader) checked(s memory.Session) (memory.Session, error) {
	s.ID = cmp.Or(s.ID, filepath.Base(l.path))
	timed := s
	if timed.CreatedAt.IsZero() {
		timed.CreatedAt = time.Unix(0, 0) // settleSession sets it
	}
	return s, timed.Validate()
}

// readStep reads one file into the batch.
func (l *folderReader) readStep(f file) {
	text, err := readFile(f.in, f.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.waiting[f.path] = "" // removed since it was listed, or about to be replaced
		return
	case err != nil && !isRefused(err):
		l.unreadable(f.path, err)
		return
	}
	var r memory.Record
	var version int
	if err == nil {
		r, version, err = decodeStep(text, f.name)
	}
	if errors.Is(err, errNotJSON) && l.isYoung(f.info) {
		l.waiting[f.path] = ""
		return
	}
	if err == nil {
		err = r.ValidateStep()
	}
	l.hashes = append(l.hashes, f.hash)
	l.size += len(text)
	if err != nil {
		before, known := l.state.faulty[f.path]
		if !known || before.message != err.Error() {
			l.problem(f.path, err.Error())
		}
		if l.state.faulty == nil {
			l.state.faulty = map[string]fault{}
		}
		if known || len(l.state.faulty) < maxFaulty {
			l.state.faulty[f.path] = fault{err.Error(), f.info.Size(), f.info.ModTime()}
		}
		return
	}
	delete(l.state.faulty, f.path)
	l.newer(f.path, version)
	if first := &l.state.first; first.IsZero() || r.Created.Before(*first) {
		*first = r.Created
	}
	l.batch.Steps = append(l.batch.Steps, r)
	l.batch.Files = append(l.batch.Files, f.path)
}

// flush yields the batch, unless it is empty, and marks its files as known.
func (l *folderReader) flush() bool {
	l.batch.Folder = l.path
	if l.fresh || len(l.batch.Steps) > 0 {
		if err := l.settleSession(); err != nil {
			if !l.state.nameless {
				l.problem(l.path, err.Error())
			}
			l.state.nameless = true
			l.batch.Steps, l.batch.Files = nil, nil
		}
	}
	if (l.batch.Session.ID != "" || len(l.batch.Problems) > 0) && !l.yield(l.batch, nil) {
		return false
	}
	if id := l.batch.Session.ID; id != "" {
		l.state.id, l.fresh = id, false
	}
	l.state.known = append(l.state.known, l.hashes...)
	l.batch, l.size, l.hashes = Batch{}, 0, nil
	return true
}

// settleSession puts the session into the batch, with defaults for missing fields, and
// sets the session of its steps. One folder is one session, whatever its steps say.
func (l *folderReader) settleSession() error {
	s := l.session
	if s.ID == "" {
		s.ID = filepath.Base(l.path)
		for _, r := range l.batch.Steps {
			if memory.ValidSessionID("sessionId", r.Session) == nil {
				s.ID = r.Session
				break
			}
		}
	}
	if err := memory.ValidSessionID("sessionId", s.ID); err != nil {
		return err
	}
	if s.CreatedAt.IsZero() {
		s.CreatedAt = l.state.first
	}
	if s.CreatedAt.IsZero() {
		s.CreatedAt = l.changed
	}
	l.session.ID, l.batch.Session = s.ID, s
	for i := range l.batch.Steps {
		l.batch.Steps[i].Session = s.ID
	}
	return nil
}

func (l *folderReader) problem(path, message string) {
	l.batch.Problems = append(l.batch.Problems, memory.ImportProblem{File: path, Message: message})
}

// newer reports the first file of a later version.
func (l *folderReader) newer(path string, version int) {
	if version > SchemaVersion && !l.tree.newer {
		l.tree.newer = true
		l.problem(path, fmt.Sprintf("has schemaVersion %d: fields that came after version %d are kept, not understood", version, SchemaVersion))
	}
}

// unreadable reports a file that cannot be read and will be tried again, once.
func (l *folderReader) unreadable(path string, err error) {
	if l.state.waiting[path] != err.Error() {
		l.problem(path, err.Error())
	}
	l.waiting[path] = err.Error()
}

// isRefused reports whether a file cannot be read until it changes.
func isRefused(err error) bool {
	code := memory.CodeOf(err)
	return code == memory.CodeForbidden || code == memory.CodeInvalidInput
}
