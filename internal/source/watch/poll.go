package watch

import (
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/recalld/recalld/internal/fsx"
)

// polled is the state of a root without watches.
type polled struct {
	// snapshot is what each folder held when it was last read, by its path; nil
	// while the root is not polled.
	snapshot map[string][]entry
	// nextPoll is when it is read again, retryAt when it may have watches again.
	nextPoll, retryAt time.Time
}

// entry has the compared attributes: of files size, times and inode, of folders only that
// they exist.
type entry struct {
	name             string
	dir              bool
	size             int64
	modTime, changed int64 // in nanoseconds
	inode            uint64
}

// was is wasFolder for a folder.
func (e entry) was() fsnotify.Op {
	if e.dir {
		return wasFolder
	}
	return 0
}

// usePolls gives up the watches of the root and polls it.
func (r *root) usePolls(why string) {
	r.w.system.release(r, nil)
	r.retryAt = time.Now().Add(r.w.opts.RetryAfter)
	if r.snapshot == nil {
		r.snapshot, _ = r.read()
		// What changed between the watches and this is not known.
		r.changes.everything()
	}
	r.be(Polling, why)
}

// poll reads the folders of a root that is polled, and tries now and then to have
// it watched again.
func (r *root) poll() {
	now, ok := r.read()
	if !ok {
		return
	}
	old := r.snapshot
	r.snapshot = now
	r.compare(old, now)
	if errUnfit == nil && !time.Now().Before(r.retryAt) {
		r.follow()
		if r.told().Mode == Events {
			r.changes.everything() // since the last reading
		}
	}
}

// compare records the differences between two readings.
func (r *root) compare(old, now map[string][]entry) {
	for dir, entries := range now {
		before, known := old[dir]
		if !known {
			continue // its parent has reported it
		}
		diff(before, entries, func(name string, op fsnotify.Op) { r.changed(path.Join(dir, name), name, op) })
	}
}

// diff calls tell with each name that only one of two sorted lists has, or that differs.
func diff(before, after []entry, tell func(name string, op fsnotify.Op)) {
	for len(before) > 0 || len(after) > 0 {
		switch {
		case len(after) == 0 || len(before) > 0 && before[0].name < after[0].name:
			tell(before[0].name, fsnotify.Remove|before[0].was())
			before = before[1:]
		case len(before) == 0 || after[0].name < before[0].name:
			tell(after[0].name, fsnotify.Create)
			after = after[1:]
		default:
			if before[0] != after[0] {
				tell(after[0].name, fsnotify.Write|before[0].was())
			}
			before, after = before[1:], after[1:]
		}
	}
}

// read reads all folders that the rules do not skip, one root after the other. It
// returns false when the root is no longer watched.
func (r *root) read() (map[string][]entry, bool) {
	select {
	case r.w.polls <- struct{}{}:
	case <-r.ctx.Done():
		return nil, false
	}
	defer func() { <-r.w.polls }()
	began := time.Now()
	folders := map[string][]entry{}
	todo := []string{"."}
	for len(todo) > 0 {
		if r.ctx.Err() != nil {
			return nil, false
		}
		dir := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		entries, below := r.list(dir)
		folders[dir] = entries
		todo = append(todo, below...)
	}
	ended := time.Now()
	r.nextPoll = ended.Add(max(r.w.opts.PollEvery, pollShare*ended.Sub(began)))
	return folders, true
}

// list reads one folder, in the order of names, and names the folders in it that are read as
// well.
func (r *root) list(dir string) (entries []entry, below []string) {
	full := filepath.Join(r.at.Path, filepath.FromSlash(dir))
	if info, err := os.Lstat(full); err != nil || !info.IsDir() {
		return nil, nil
	}
	found, err := os.ReadDir(full)
	if err != nil {
		return nil, nil
	}
	for _, f := range found {
		rel := path.Join(dir, f.Name())
		if !f.IsDir() && isTemporary(f.Name()) || r.skip(rel, f.IsDir()) && !changesRules(f.Name()) {
			continue
		}
		e := entry{name: f.Name(), dir: f.IsDir()}
		if e.dir {
			if f.Name() != ".git" {
				below = append(below, rel)
			}
		} else if info, err := f.Info(); err == nil {
			changed, inode := fsx.ChangeOf(info)
			e.size, e.modTime, e.changed, e.inode = info.Size(), info.ModTime().UnixNano(), changed.UnixNano(), inode
		}
		entries = append(entries, e)
	}
	return entries, below
}
