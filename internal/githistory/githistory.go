// Package githistory finds the files of a repository by what the commits that changed them
// said. Bugs come back to the files in which bugs like them were fixed.
//
// A history is the newest commits of one folder of a repository, read from git's log. Its
// text ranks code and is never shown: whoever wrote a commit may have written anything. It
// is kept in memory only, derived anew at each start and whenever HEAD has moved, and
// dropped with its folder.
package githistory

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/internal/git"
)

// The constants were chosen on the half "tuned" of internal/daemon/testdata/reports.tsv;
// each is within a flat range there.
const (
	// maxCommits is how many commits are read, the newest first.
	maxCommits = 20_000
	// maxFiles is how many files a commit may have changed: a larger one is about no file
	// in particular (10 to 50 are alike).
	maxFiles = 20
	// nearest is how many commits say something about a question (50 to 300 are alike).
	nearest = 100
	// halfLife is the age at which a commit counts half (2 to 8 years are alike).
	halfLife = 4 * 365 * 24 * time.Hour
	// further is the share of each further commit of a file in that of the one before.
	further = 0.5
	// limit bounds how long git may list them; what it listed till then counts.
	limit = time.Minute
	// maxFolders is how many histories are kept, the last used ones.
	maxFolders = 8
)

// Folders keeps the histories of folders. It is safe for concurrent use.
type Folders struct {
	git    string
	logger *slog.Logger
	wait   sync.WaitGroup
	ctx    context.Context
	cancel context.CancelFunc
	one    sync.Mutex // held while a log is read: one at a time

	mu      sync.Mutex
	folders map[string]*folder
	uses    int
}

// folder is one folder's history.
type folder struct {
	commits *commits // nil until read
	head    string   // the commit that they end with
	reading bool
	again   bool // the folder changed while it was read
	used    int  // when it was last read or asked, as a number
}

// New returns an empty set of histories. git is the program, "none" for none.
func New(git string, logger *slog.Logger) *Folders {
	ctx, cancel := context.WithCancel(context.Background())
	return &Folders{git: git, logger: logger, ctx: ctx, cancel: cancel, folders: map[string]*folder{}}
}

// Close ends what is being read.
func (h *Folders) Close() {
	h.mu.Lock() // no read begins after this
	h.cancel()
	h.mu.Unlock()
	h.wait.Wait()
}

// Refresh reads the history of a folder in the background, because it is new or HEAD may
// have moved. Done may be waited for.
func (h *Folders) Refresh(id, root string) (done <-chan struct{}) {
	finished := make(chan struct{})
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil || h.git == "none" {
		close(finished)
		return finished
	}
	f := h.folders[id]
	if f == nil {
		f = new(folder)
		h.folders[id] = f
	}
	if f.reading {
		f.again = true
		close(finished)
		return finished
	}
	f.reading = true
	h.wait.Go(func() {
		defer close(finished)
		for h.load(id, root, f) {
		}
	})
	return finished
}

// load reads a history once, and says whether it must be read again.
func (h *Folders) load(id, root string, f *folder) bool {
	h.one.Lock()
	defer h.one.Unlock()
	head, err := git.Head(h.ctx, h.git, root, limit)
	h.mu.Lock()
	if err == nil && f.head == head || err != nil && f.commits != nil {
		defer h.mu.Unlock()
		return h.ended(id, f)
	}
	h.mu.Unlock()
	changes, err := git.Log(h.ctx, h.git, root, maxCommits, maxFiles, limit)
	if err != nil && h.ctx.Err() == nil {
		h.logger.Debug("history was not read whole", "part", "history", "folder", root, "commits", len(changes), "error", err)
	}
	read := newCommits(changes)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil && len(changes) == 0 {
		if f.commits != nil { // an old history is better than none
			return h.ended(id, f)
		}
		head = "" // nothing of it was read: it is tried again though HEAD has not moved
	}
	h.uses++
	f.commits, f.head, f.used = read, head, h.uses
	again := h.ended(id, f)
	for len(h.folders) > maxFolders {
		oldest := ""
		for other, of := range h.folders { // id itself may have been dropped meanwhile
			if other != id && !of.reading && (oldest == "" || of.used < h.folders[oldest].used) {
				oldest = other
			}
		}
		if oldest == "" {
			break
		}
		delete(h.folders, oldest)
	}
	return again
}

// ended notes that a read has ended, and says whether the folder changed meanwhile, so that
// it must be read again. It is called with mu held.
func (h *Folders) ended(id string, f *folder) bool {
	again := f.again && h.ctx.Err() == nil && h.folders[id] == f
	f.again, f.reading = false, again
	return again
}

// Drop forgets the history of a folder.
func (h *Folders) Drop(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.folders, id)
}

// Files returns how surely files of a folder have to do with a question, by the commits
// that changed them: 1 for the best. A folder without a history has none; its history is
// then read for the next question.
func (h *Folders) Files(ctx context.Context, id, root, question string) map[string]float64 {
	h.mu.Lock()
	f := h.folders[id]
	var c *commits
	if f != nil {
		h.uses++
		c, f.used = f.commits, h.uses
	}
	h.mu.Unlock()
	if f == nil {
		h.Refresh(id, root)
	}
	if c == nil {
		return nil
	}
	return c.files(ctx, question)
}

// earlier returns the earlier of two times. A clock that ran ahead must not make all other
// commits old.
func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// commits are the commits of one folder.
type commits struct {
	words *lexical.Index // by their place in all
	all   []commit
	paths []string
	last  time.Time
}

type commit struct {
	at    time.Time
	files []uint32 // places in paths
}

func newCommits(changes []git.Change) *commits {
	words, err := lexical.New(lexical.Options{})
	if err != nil {
		panic("githistory: " + err.Error()) // the options are constant
	}
	c := &commits{words: words}
	places, now := map[string]uint32{}, time.Now()
	for _, change := range changes {
		if len(change.Files) == 0 {
			continue
		}
		one := commit{at: earlier(change.Time, now), files: make([]uint32, len(change.Files))}
		for i, name := range change.Files {
			at, known := places[name]
			if !known {
				at = uint32(len(c.paths))
				places[name] = at
				c.paths = append(c.paths, name)
			}
			one.files[i] = at
		}
		if c.last.Before(one.at) {
			c.last = one.at
		}
		words.Upsert(uint32(len(c.all)), lexical.Analyze(change.Message))
		c.all = append(c.all, one)
	}
	return c
}

// files adds up, for each file, the commits nearest to a question that changed it. A commit
// counts by its score, less the older it is and the more files it changed, and each further
// one of a file less.
func (c *commits) files(ctx context.Context, question string) map[string]float64 {
	found, err := c.words.Retrieve(ctx, index.Query{Text: question, Limit: nearest})
	if err != nil || len(found.Hits) == 0 {
		return nil
	}
	of := map[uint32][]float64{}
	for _, hit := range found.Hits {
		one := c.all[hit.Doc]
		age := float64(c.last.Sub(one.at)) / float64(halfLife)
		worth := float64(hit.Score) * math.Exp2(-age) / math.Sqrt(float64(len(one.files)))
		for _, file := range one.files {
			of[file] = append(of[file], worth)
		}
	}
	scores := make(map[string]float64, len(of))
	best := 0.0
	for file, worths := range of {
		slices.SortFunc(worths, func(a, b float64) int { return cmp.Compare(b, a) })
		sum, share := 0.0, 1.0
		for _, w := range worths {
			sum += share * w
			share *= further
		}
		scores[c.paths[file]] = sum
		best = max(best, sum)
	}
	for path := range scores {
		scores[path] /= best
	}
	return scores
}
