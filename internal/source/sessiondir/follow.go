package sessiondir

import (
	"fmt"
	"hash/maphash"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/fsx"
)

const (
	// maxSessions bounds the sessions of one tree. The ids that sort last are read, because
	// most ids begin with a date.
	maxSessions = 10_000
	// maxSteps bounds the steps of one session.
	maxSteps = 100_000
)

// Follower returns what is new in trees of sessions. It keeps its state, about 8 bytes a
// file, in memory only: a new follower returns everything once more, which changes
// nothing where it is known. It is for one goroutine.
type Follower struct {
	maxSessions, maxSteps int
	now                   func() time.Time // by which a file counts as just changed
	trees                 fsx.Followed[tree]
}

// tree is the state of one tree.
type tree struct {
	folders map[string]*folderState // by name
	// names are the folders as of listed, the time of the tree's last change. settled
	// means that any change since then gives a new time.
	names   []string
	listed  time.Time
	settled bool
	// next is the index in names of the next turn of quiet folders.
	next int
	// seed is the seed of the hashes of files.
	seed maphash.Seed
	// newer and tooMany are true if files of a later version, and sessions beyond the
	// limit, were reported.
	newer, tooMany bool
}

func newTree() *tree { return &tree{folders: map[string]*folderState{}, seed: maphash.MakeSeed()} }

// New makes a Follower.
func New() *Follower {
	return &Follower{maxSessions: maxSessions, maxSteps: maxSteps, now: time.Now, trees: fsx.Followed[tree]{}}
}

// Reset makes the next poll of a tree read all of it.
func (f *Follower) Reset(root, dir string) { f.trees.Forget(root, dir) }

// Poll yields what is new or changed in a tree since the last poll, session by session
// and in batches. A batch counts as taken when the loop continues after it; a batch at
// which the loop ends is yielded again by the next poll, so that nothing is lost that
// could not be stored. Sessions without a change for ten minutes take turns, a hundred
// a poll. A half-written file waits for a later poll. A file that is rewritten in place,
// in a folder where nothing else changes, is read when something else changes there, or
// at the next look if it was reported as a problem. A file that cannot be read is a problem of a
// batch, reported once. A tree that cannot be read is an error; a missing one is empty.
func (f *Follower) Poll(root, dir string) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		at, path, known, err := f.trees.Open(root, dir, newTree)
		if err != nil {
			yield(Batch{}, fmt.Errorf("open sessions: %w", err))
			return
		}
		if at == nil {
			return
		}
		defer at.Close() // only read
		names, anew, err := known.list(at, f.now())
		if err != nil {
			yield(Batch{}, fmt.Errorf("list sessions: %w", err))
			return
		}
		tooMany := len(names) > f.maxSessions
		if tooMany {
			names = names[len(names)-f.maxSessions:]
		}
		if anew {
			fsx.Sync(known.folders, names)
		}
		if tooMany && !known.tooMany {
			message := fmt.Sprintf("holds more than %d sessions: the others are not read", f.maxSessions)
			if !yield(problemBatch(path, path, message), nil) {
				return
			}
		}
		known.tooMany = tooMany
		how := reading{tree: known, now: f.now(), maxSteps: f.maxSteps}
		turn := known.turn(names, how.now)
		for i, name := range names {
			state := known.folders[name]
			if state.isQuiet(how.now) && !turn(i) {
				continue
			}
			if !state.read(at, name, filepath.Join(path, name), how, yield) {
				return
			}
		}
	}
}

// list returns the names of the folders. It reads them only if the tree has changed.
func (t *tree) list(at *os.Root, now time.Time) (names []string, anew bool, err error) {
	info, err := at.Stat(".")
	if err != nil {
		return nil, false, err
	}
	changed := info.ModTime()
	if t.settled && changed.Equal(t.listed) {
		return t.names, false, nil
	}
	if t.names, err = listFolders(at); err != nil {
		t.settled = false
		return nil, false, err
	}
	t.listed, t.settled = changed, now.Sub(changed) >= grain
	return t.names, true, nil
}

// turn returns which quiet folders, by index in names, this poll reads: quietLooks of them,
// after the folders of the last poll.
func (t *tree) turn(names []string, now time.Time) func(i int) bool {
	if t.next >= len(names) {
		t.next = 0
	}
	from, to := t.next, t.next
	looks := 0
	for range names {
		if looks == quietLooks {
			break
		}
		if t.folders[names[to]].isQuiet(now) {
			looks++
		}
		to = (to + 1) % len(names)
	}
	t.next = to
	if looks < quietLooks { // all of them
		return func(int) bool { return true }
	}
	return func(i int) bool {
		if from < to {
			return from <= i && i < to
		}
		return i >= from || i < to
	}
}

// listFolders returns the names that may be sessions' folders, sorted and without hidden
// ones. It does not ask for their kind, which takes longer than the listing.
func listFolders(at *os.Root) ([]string, error) {
	d, err := at.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close() // only read
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, ".") })
	slices.Sort(names)
	return names, nil
}
