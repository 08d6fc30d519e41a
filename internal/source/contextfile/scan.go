package contextfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// rules is the version of how files are read. It is part of the hash, so that files read
// by older rules are read again.
const rules = "2"

// scanned is the result of one scan.
type scanned struct {
	found  Result
	paths  []string // all that were looked at, missing ones too
	stamps []stamp  // of paths
	// settled means that no file was just written, so that the next change gives a new
	// time.
	settled bool
}

// stamp has the attributes by which a file counts as unchanged.
type stamp struct {
	size             int64
	modTime, changed int64 // nanoseconds
	inode            uint64
	mode             fs.FileMode
}

// settleTime is the age from which the next change of a file gives a new time: the
// coarsest file times have steps of two seconds (FAT).
const settleTime = 2 * time.Second

// Scan reads the files of a repository; root is an absolute path. A faulty file is a
// problem; Scan fails only if root cannot be opened. The result must not be modified.
func (s *Scanner) Scan(root string) (Result, error) {
	s.mu.Lock()
	before := s.known[root]
	s.mu.Unlock()
	if before != nil && before.settled && before.still(root) {
		return before.found, nil
	}
	at, _, err := fsx.OpenFolder("", root, false)
	if err != nil {
		return Result{}, fmt.Errorf("scan repository: %w", err)
	}
	defer at.Close() // only its handle
	l := &scan{at: at, root: root, hash: sha256.New(), now: s.clock(), seen: map[memory.Ref]string{}, texts: map[string]bool{}}
	l.settled = true
	l.add("rules", []byte(rules))
	for _, x := range listed {
		if x.read == nil {
			l.watch(x.path)
			l.takeFolder(x.path, 1)
		} else if text, ok := l.readListed(x.path); ok {
			l.keep(x.read(l, x.path, text))
		}
	}
	l.found.Hash = hex.EncodeToString(l.hash.Sum(nil)[:16])
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= maxKnown {
		clear(s.known)
	}
	s.known[root] = new(l.scanned) // a copy without what only the scan needed
	return l.found, nil
}

// still reports whether no path has changed.
func (k *scanned) still(root string) bool {
	for i, p := range k.paths {
		if stampOf(root, p) != k.stamps[i] {
			return false
		}
	}
	return true
}

// stampOf returns the stamp of a path, zero if it is missing or cannot be read. The stamp
// of a folder changes when a file is created or removed in it.
func stampOf(root, p string) stamp {
	info, err := os.Stat(filepath.Join(root, filepath.FromSlash(p)))
	if err != nil {
		return stamp{}
	}
	changed, inode := fsx.ChangeOf(info)
	return stamp{info.Size(), info.ModTime().UnixNano(), changed.UnixNano(), inode, info.Mode()}
}

// scan is one scan of one repository.
type scan struct {
	scanned
	at    *os.Root
	root  string
	now   time.Time
	hash  hash.Hash
	files int // and folders beyond the list
	// seen are the entries found so far, by their file; texts are the texts of whole rules.
	seen    map[memory.Ref]string
	texts   map[string]bool
	entries int
	servers int
}

// maxProblems bounds the problems of one scan.
const maxProblems = 100

func (l *scan) problem(file string, line int, format string, args ...any) {
	switch n := len(l.found.Problems); {
	case n > maxProblems:
		return
	case n == maxProblems:
		line, format, args = 0, "only the first %d problems are listed", []any{maxProblems}
	}
	l.found.Problems = append(l.found.Problems, memory.ImportProblem{File: file, Line: line, Message: fmt.Sprintf(format, args...)})
}

// add adds a part of the input to the hash.
func (l *scan) add(name string, text []byte) {
	for _, part := range [][]byte{[]byte(name), text} {
		l.hash.Write([]byte(strconv.Itoa(len(part)) + " "))
		l.hash.Write(part)
	}
}

// watch records the stamp of a path. It is called before the path is read, so that a
// change in between is noticed by the next scan.
func (l *scan) watch(p string) {
	if slices.Contains(l.paths, p) {
		return
	}
	st := stampOf(l.root, p)
	l.paths, l.stamps = append(l.paths, p), append(l.stamps, st)
	if st != (stamp{}) && l.now.Sub(time.Unix(0, st.modTime)) < settleTime {
		l.settled = false
	}
}

// maxFolderDepth is how deep folders of rules are read.
const maxFolderDepth = 4

func (l *scan) takeFolder(p string, depth int) {
	entries, err := l.list(p)
	if fsx.IsGone(err) {
		return
	}
	if err != nil {
		l.problem(p, 0, "cannot be read as a folder of the repository")
		return
	}
	for _, e := range entries {
		name := path.Join(p, e.Name())
		isFolder := e.IsDir() && depth < maxFolderDepth
		switch {
		case !isFolder && (e.IsDir() || path.Ext(name) != ".mdc"):
		case !utf8.ValidString(name):
			l.problem(p, 0, "holds a file whose name is not UTF-8")
		case !l.count():
			l.problem(p, 0, "holds more than the %d files and folders that are read: the others are left out", maxFiles)
			return
		case isFolder:
			l.watch(name)
			l.takeFolder(name, depth+1)
		default:
			if text, ok := l.readListed(name); ok {
				l.keep(l.cursorRule(name, text))
			}
		}
	}
}

// list lists a folder, by name.
func (l *scan) list(p string) ([]fs.DirEntry, error) {
	f, err := fsx.OpenDir(l.at, filepath.FromSlash(p))
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// read returns the text of a file, or the errors of readFile.
func (l *scan) read(p string) (string, error) {
	l.watch(p)
	raw, err := l.readFile(p)
	if err != nil {
		l.add(p, []byte(err.Error()))
		return "", err
	}
	l.add(p, raw)
	return lineEnds(string(bytes.TrimPrefix(raw, []byte("\uFEFF")))), nil // as some editors put it
}

// lineEnds replaces all line ends by newlines.
func lineEnds(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

// readListed reads a file that need not exist. If it cannot be read, that is a problem.
func (l *scan) readListed(p string) (text string, ok bool) {
	text, err := l.read(p)
	if err != nil && !errors.Is(err, errNotThere) {
		l.problem(p, 0, "%v", err)
	}
	return ownBlock().ReplaceAllStringFunc(text, func(block string) string {
		return strings.Repeat("\n", strings.Count(block, "\n")) // problems name lines
	}), err == nil
}

// ownBlock are the instructions that recalld connect keeps in a file, and own the server that it
// adds: an agent has both, and neither is of the repository.
var ownBlock = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)<!-- recalld:begin -->.*?<!-- recalld:end -->`)
})

const own = "recalld"

// count reports whether one more file or folder beyond the list may be read.
func (l *scan) count() bool {
	l.files++
	return l.files <= maxFiles
}

// errNotThere is returned for a file that does not exist.
var errNotThere = errors.New("is not there")

// readFile returns the text of a file. Its errors continue a sentence that begins with
// the path, and reveal nothing about this machine.
func (l *scan) readFile(p string) ([]byte, error) {
	name := filepath.FromSlash(p)
	info, err := l.at.Stat(name)
	if err != nil {
		return nil, l.unreadable(name, err)
	}
	if fsx.InGit(l.root, filepath.Join(l.root, name)) { // its settings may hold a password
		return nil, errors.New("lies in git's own folder")
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a file")
	}
	if info.Size() > maxFileSize {
		return nil, fmt.Errorf("is larger than %d bytes", maxFileSize)
	}
	raw, err := fsx.ReadBeginning(l.at, name, maxFileSize+1)
	switch {
	case err != nil:
		return nil, l.unreadable(name, err)
	case len(raw) > maxFileSize: // it has grown
		return nil, fmt.Errorf("is larger than %d bytes", maxFileSize)
	case bytes.IndexByte(raw, 0) >= 0 || !utf8.Valid(raw):
		return nil, errors.New("is not text in UTF-8")
	}
	return raw, nil
}

// unreadable returns why a file cannot be opened.
func (l *scan) unreadable(name string, err error) error {
	info, linkErr := l.at.Lstat(name)
	switch {
	case linkErr == nil && info.Mode()&fs.ModeSymlink != 0:
		return errors.New("is a symbolic link that leads out of the repository, or nowhere")
	case fsx.IsGone(err):
		return errNotThere
	case errors.Is(err, fs.ErrPermission):
		return errors.New("may not be read")
	}
	return errors.New("cannot be read, or lies outside of the repository")
}

// keep adds a file's valid entries that no earlier file has.
func (l *scan) keep(f memory.FileEntries) {
	kept := memory.FileEntries{Path: f.Path}
	for _, e := range f.Entries {
		if by, twice := l.seen[e.Ref]; twice {
			l.problem(f.Path, 0, "the %s %s is left out: %s has one of that name", e.Type, memory.Quote(e.Name), by)
			continue
		}
		if l.entries++; l.entries > memory.MaxRegistered {
			l.problem(f.Path, 0, "has more than the %d entries that are taken: the others are left out", memory.MaxRegistered)
			break
		}
		l.seen[e.Ref] = f.Path
		kept.Entries = append(kept.Entries, e)
	}
	for _, s := range f.Servers {
		if l.servers++; l.servers > memory.MaxServers {
			l.problem(f.Path, 0, "has more than the %d servers that are taken: the others are left out", memory.MaxServers)
			break
		}
		kept.Servers = append(kept.Servers, s)
	}
	if len(kept.Entries)+len(kept.Servers) > 0 {
		l.found.Files = append(l.found.Files, kept)
	}
}
