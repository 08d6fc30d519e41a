package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// preallocator allocates disk blocks for the logs (.mem) that a commit may be written to.
// Badger maps a sparse log, and starts the next one when a commit finds the present one
// full. The next one is created here in advance, empty and with blocks beyond its end:
// Badger uses an empty file with the right name. Only the committer calls it.
type preallocator struct {
	dir    string
	number int // of the current log
	live   *os.File
	next   *os.File // of number + 1
	// used is an upper bound of what was written to live; allocated is how much of it
	// has blocks. Both are in bytes from its beginning.
	used, allocated int64
}

const (
	// logStep is how far blocks are allocated ahead of what is written, in bytes.
	logStep = 4 << 20
	// entryBytes is more than a log stores for an entry besides key and value: header,
	// version, checksum.
	entryBytes = 32
)

// errNoLog is returned if the folder has no log, or not the current one.
var errNoLog = errors.New("the log in use is not there")

func logName(number int) string { return fmt.Sprintf("%05d.mem", number) }

// lastLog returns the highest number of the logs in a folder, 0 if there is none.
func lastLog(dir string) (int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	last := 0
	for _, e := range entries {
		if base, is := strings.CutSuffix(e.Name(), ".mem"); is {
			if n, err := strconv.Atoi(base); err == nil {
				last = max(last, n)
			}
		}
	}
	return last, nil
}

// newPreallocator finds the current log of a database that was just opened.
func newPreallocator(dir string) (*preallocator, error) {
	number, err := lastLog(dir)
	if err != nil {
		return nil, err
	}
	a := &preallocator{dir: dir, number: number}
	if a.live, err = os.OpenFile(filepath.Join(dir, logName(number)), os.O_RDWR, 0); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoLog, err)
	}
	syncFolder(dir) // Badger has just created the log
	return a, nil
}

// prepare allocates blocks for a commit of at most size bytes.
func (a *preallocator) prepare(size int64) error {
	if a.next != nil {
		info, err := a.next.Stat()
		if err != nil {
			return err
		}
		if info.Size() > 0 {
			_ = a.live.Close()
			a.live, a.next = a.next, nil
			a.number++
			// The size of the commit that started it is not known; it fitted.
			a.used, a.allocated = logStep, logStep
		}
	}
	if a.next == nil {
		f, err := os.OpenFile(filepath.Join(a.dir, logName(a.number+1)), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		if err := allocate(f, 0, logStep); err != nil {
			return errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
		syncFolder(a.dir) // or a commit in the new log could be lost with its name
		a.next = f
	}
	if a.used+size > a.allocated {
		more := max(logStep, size)
		if err := allocate(a.live, a.allocated, more); err != nil {
			return err
		}
		a.allocated += more
	}
	a.used += size
	return nil
}

// there reports whether the current log is still in its folder.
func (a *preallocator) there() bool {
	if _, ok := inPlace(a.live); ok {
		return true
	}
	// A commit may have started the next log, and this one may be a table by now.
	return a.next != nil && a.turned()
}

// turned reports whether Badger has started the next log.
func (a *preallocator) turned() bool {
	size, ok := inPlace(a.next)
	return ok && size > 0
}

// inPlace reports whether the name of an open file still leads to it, and its size.
func inPlace(f *os.File) (size int64, ok bool) {
	own, err := f.Stat()
	if err != nil {
		return 0, false
	}
	now, err := os.Lstat(f.Name())
	return own.Size(), err == nil && os.SameFile(own, now)
}

// close closes the files, and removes the next log if Badger does not use it. If another
// file has that name now, it belongs to a store that replaced this one, and stays.
func (a *preallocator) close() {
	_ = a.live.Close()
	if a.next == nil {
		return
	}
	size, ok := inPlace(a.next)
	_ = a.next.Close()
	if ok && size == 0 {
		_ = os.Remove(a.next.Name())
	}
}
