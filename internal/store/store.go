// Package store keeps everything recalld remembers in Badger: records, sessions,
// files with their chunks, documents' terms and vectors, jobs, the ledger and
// the audit log. Badger is the only truth; the indexes are caches of it.
//
// Vocabulary. An update is a function that reads the current state and says what to
// write. The committer, one goroutine, runs the waiting updates, commits them together
// with one sync, passes the changes to the indexer in commit order, and only then
// acknowledges. Every update that wrote something has a sequence number. A document is
// referenced by the records and files with its text; when the last reference is removed,
// its terms and vectors are removed in the same commit (it is swept). A chunk set holds
// the chunks of a text for all files with that text; it is swept likewise. A tombstone is
// the id of a forgotten record: it keeps an import from restoring the record. A state is a
// small value of a project or session that is changed by an edit inside an update. A turn
// is the key by which a receipt of a session is found; states, turns and receipts are
// removed with their session.
//
// Every value has a version and a checksum over key and payload, because Badger reports a
// damaged block as a missing key. The witness, a file beside the database, records what
// was acknowledged. The files are examined and compared with it before Badger opens them,
// because Badger changes damaged files for good. A store that has lost something reports
// it (see Store.Damage) until a Repair.
package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/worker"
)

// ErrClosed is returned by calls on a closed store.
var ErrClosed = errors.New("store: closed")

// Options configure a store. The zero value of each field is its default.
type Options struct {
	// Dir is the folder of the database; it is created, 0700. Required.
	Dir string
	// MemTableSize bounds Badger's write buffer in bytes; a transaction holds
	// about an eighth. Default 16 MiB.
	MemTableSize int64
	// ReadDamaged makes Open accept a store with damaged files: what can be read is
	// copied and read from the copy, and Commit refuses. Default: a DamagedError.
	ReadDamaged bool
	// NoSync leaves out the sync of every commit, for stores that may be lost, such as in
	// evaluations and tests.
	NoSync bool
	// Apply gets the changes of committed updates, in commit order, before they are
	// acknowledged. It must not call Update. Optional.
	Apply func([]memory.Change)
	// Follow returns the jobs that follow from an update; they are enqueued in the
	// same commit. Optional.
	Follow func(memory.Change) []worker.Job
	// Asked reports whether requests are served now, or were a moment ago: compactions wait
	// then while they can. Optional, and not used with NoSync.
	Asked func() bool
	// KeepReceipts is how long a receipt is kept; 0 means forever. A receipt of a
	// session is kept as long as the session.
	KeepReceipts time.Duration
	// Analyze returns the terms of a record's text, for repairs: lost terms are made
	// again. Without it, a record without terms is not kept.
	Analyze func(text string) []byte
	// Queue bounds the job queue.
	Queue worker.ScheduleOptions
	// Clock gives the time of audit entries. Default time.Now.
	Clock func() time.Time
	// Logger gets the errors that cannot be returned. Default: discarded.
	Logger *slog.Logger

	restAfter time.Duration // that of the constant, but in tests
}

func (o *Options) validate() error {
	if o.Dir == "" {
		return memory.Invalid("dir", "", "the store needs a folder")
	}
	if o.MemTableSize == 0 {
		o.MemTableSize = 16 << 20
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.restAfter == 0 {
		o.restAfter = restAfter
	}
	if o.Apply == nil {
		o.Apply = func([]memory.Change) {}
	}
	if o.Follow == nil {
		o.Follow = func(memory.Change) []worker.Job { return nil }
	}
	return nil
}

// Store is an open store. It is safe for concurrent use.
type Store struct {
	opts  Options
	queue *Queue

	// swap guards db, which is replaced when a store that was opened read-only is
	// opened for writing. The committer replaces it, and reads it without the lock.
	swap sync.RWMutex
	db   *handle
	// guard decides whether the store may be written; nil with NoSync. preallocator
	// is used by the committer only, and nil while the store is open read-only.
	guard        *guard
	preallocator *preallocator
	resting      bool           // compactions are stopped; the committer's alone, as calm is
	calm         bool           // none was due at the last look
	retired      sync.WaitGroup // replaced databases that are still being read
	closing      chan struct{}  // closed when Close begins
	watched      chan struct{}  // closed when watch has ended

	collections collections

	// hasTombstones says that there may be some: most stores have none, and an import would look
	// for one of every line, in vain.
	hasTombstones atomic.Bool
	// lastImport is when an import was last committed; nil if none was.
	lastImport atomic.Pointer[time.Time]

	updates chan *update
	pauses  chan func()   // functions to run between two commits
	flush   chan struct{} // a receipt waits
	done    chan struct{} // closed when the committer has ended
	failed  chan struct{} // closed when broken is set

	// acceptLock guards closed: submitting holds it shared, Close exclusively.
	acceptLock sync.RWMutex
	closed     bool

	// mu guards the fields below. Only the committer and Load change them, except
	// pending, changed by EnqueueReceipt, and used, changed by Used.
	mu        sync.Mutex
	seq       uint64
	refs      map[memory.DocID]int32 // references to each document
	chunkSets map[chunkSetID]int32   // and to each chunk set
	unread    map[chunkSetID]bool    // chunk sets that files reference and Load could not read
	logSizes  logSizes
	loaded    bool // refs, chunkSets, unread, totals and sandboxSizes are complete
	// projects caches the stored projects, which every query and write needs; nil if they
	// must be read. projectsAt counts their changes.
	projects   []memory.Project
	projectsAt uint64
	// sandboxes caches likewise; nil before the first use. sandboxesAt counts the commits
	// that changed any.
	sandboxes   *sandboxes
	sandboxesAt uint64
	// current caches the sessions that have not ended. sessionsAt counts the commits that
	// changed any.
	current      openSessions
	sessionsAt   uint64
	pending      []memory.Receipt // not yet written, see EnqueueReceipt
	sandboxSizes sandboxSizes
	// fileDocs is the approximate number of documents referenced by files.
	fileDocs int
	used     usage
	id       uint64 // identifies the store; 0 in an old one that is open read-only
	// totals counts what is stored, complete when loaded is set. expected is what it
	// should be, by the witness and the commits since; nil if that is not known.
	totals, expected totals
	damage           *memory.StoreDamage // nil if nothing is known to be lost
	broken           *memory.Error       // why a commit failed, see breakDown

	saving  sync.Mutex    // held while indexes are saved or their file is opened
	forgets atomic.Uint64 // counts what makes saved indexes useless
	// forgetsRead is forgets when the saved indexes were opened; guarded by mu.
	forgetsRead uint64
	mustRead    atomic.Bool // the next start must read everything, so no indexes are saved

	witness *witness // nil for a copy
	scratch string   // the copy that is read instead of a damaged store, see Options.ReadDamaged
}

// Open opens or creates the store in opts.Dir and migrates its schema. It examines the
// files before anything may change them. It returns CodeIncompatible if a newer version
// wrote the store, CodeConflict if another process has it open, and a DamagedError if it
// has lost something.
func Open(opts Options) (*Store, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	x, err := examineFirst(&opts)
	if err != nil {
		return nil, err
	}
	if err := x.refusal(); err != nil {
		return nil, err
	}
	if x.damage != nil {
		return openDamaged(opts, x)
	}
	if err := fsx.MakeFolder(opts.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("create store: %w", err)
	}
	if x.empty && !opts.NoSync {
		fsx.SyncNames(opts.Dir) // a client may have created the data folder a moment ago
	}
	db, err := openDB(opts, x)
	if err != nil {
		if code := memory.CodeOf(err); code == memory.CodeConflict || code == memory.CodeReadOnly {
			return nil, err
		}
		x.damage = damagedBy(opts.Dir, x, err)
		if err := tooFewFiles(x.damage); err != nil {
			return nil, err
		}
		return openDamaged(opts, x)
	}
	s, err := newStore(opts, db)
	if err != nil {
		return nil, err
	}
	switch {
	case x.empty:
		s.expected = totals{}
	case x.last.Seq == s.seq: // else the witness is older than the store, or missing
		s.expected = x.last.Counts
	}
	if !db.readOnly {
		// A kill may have left the copy of a damaged store, or an unfinished repair.
		if err := errors.Join(os.RemoveAll(readablePath(opts.Dir)), os.RemoveAll(repairingPath(opts.Dir))); err != nil {
			opts.Logger.Warn("a copy of the store is left behind", "part", "store", "error", err)
		}
		s.mu.Lock()
		s.beginWitness(x.last)
		s.mu.Unlock()
	}
	s.start()
	return s, nil
}

// beginWitness opens the witness of a store that is open for writing. It is called with
// mu held.
func (s *Store) beginWitness(last checkpoint) {
	var err error
	if s.witness, err = openWitness(s.opts.Dir, last); err != nil {
		// The store is whole, but the next damage may go unnoticed.
		s.opts.Logger.Error("damage to the store may not be noticed", "part", "store", "error", err)
	}
	s.writeWitnessLocked()
}

// start starts the background work of an open store.
func (s *Store) start() {
	if s.guard == nil {
		close(s.watched)
	} else {
		go s.watch(s.guard.last()) // which openGuard has logged
	}
	go s.committer()
}

// openBadger opens the database. It turns a panic of this goroutine into an error.
func openBadger(opts badger.Options) (db *badger.DB, err error) {
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("the database cannot be opened: %v", why)
		}
	}()
	db, err = badger.Open(opts)
	if err == nil {
		return db, nil
	}
	err = fmt.Errorf("open store %s: %w", filepath.Base(opts.Dir), err)
	if isLocked(err) {
		return nil, conflict(err)
	}
	return nil, err
}

// tooFewFiles returns an error if files could not be read because the process may not open
// more of them, which is no damage.
func tooFewFiles(d *memory.StoreDamage) error {
	if d == nil {
		return nil
	}
	for _, f := range d.Files {
		for _, limit := range []error{syscall.EMFILE, syscall.ENFILE} {
			if strings.Contains(f.What, limit.Error()) {
				return &memory.Error{
					Code: memory.CodeUnavailable, Message: "the store was not opened: " + limit.Error() + "; nothing is damaged",
					Hint: "allow the process more open files (ulimit -n), then start it again",
				}
			}
		}
	}
	return nil
}

// refusal returns why this program must leave a store alone, whatever its state.
func (x *examination) refusal() error {
	if x.schema > Schema() { // Badger would change the files, and a repair the values
		return tooNew("store", x.schema)
	}
	return tooFewFiles(x.damage)
}

// damagedBy returns the damage of a database that does not open.
func damagedBy(dir string, x *examination, err error) *memory.StoreDamage {
	return &memory.StoreDamage{
		Acknowledged: x.last.Seq, Found: x.seq, Files: []memory.DamagedFile{{Name: filepath.Base(dir), What: err.Error()}},
	}
}

func conflict(cause error) error {
	return &memory.Error{Code: memory.CodeConflict, Message: "another process has the store open", Cause: cause,
		Hint: "stop the other recalld, or choose another data folder with --data"}
}

// newStore makes a store of an open database, which it closes if it fails. The caller
// must call start.
func newStore(opts Options, db *handle) (*Store, error) {
	s := &Store{
		opts: opts, db: db,
		updates: make(chan *update, maxGroup), pauses: make(chan func()),
		flush: make(chan struct{}, 1), done: make(chan struct{}), failed: make(chan struct{}),
		closing: make(chan struct{}), watched: make(chan struct{}),
		refs: map[memory.DocID]int32{}, chunkSets: map[chunkSetID]int32{}, unread: map[chunkSetID]bool{},
		logSizes: logSizes{}, sandboxSizes: sandboxSizes{}, totals: totals{},
		collections: collections{probes: map[string][][]float32{}, widths: map[string]int{}},
	}
	err := s.openGuard()
	if err == nil {
		err = s.openSchema(migrations)
	}
	if err == nil {
		err = s.openCollections()
	}
	if err == nil {
		err = s.openUsed()
	}
	if err == nil {
		s.queue, err = openQueue(s)
	}
	if err == nil {
		err = s.View(func(v View) error {
			for range v.keys(prefixTomb) {
				s.hasTombstones.Store(true)
				break
			}
			return nil
		})
	}
	if err != nil {
		return nil, errors.Join(err, s.closeDB())
	}
	return s, nil
}

// maxValue is the size of a value log file in bytes, and so the largest value.
const maxValue = 16 << 20

const (
	// compactAt is the number of tables in level 0 from which Badger compacts them. With its
	// default of 5, an import of a million lessons writes a third more, because each compaction
	// writes all of the next level. A look-up asks every table of level 0.
	compactAt = 10
	// stallAt is the number from which Badger lets writers wait.
	stallAt = 25
	// falsePositives is how often a table is searched for a key that it does not have. An import
	// looks for thousands of new keys in every table of level 0; with Badger's default of one in
	// a hundred it takes a tenth more processor. Filters take five bits more for each key.
	falsePositives = .001
)

// badgerOptions keep memory small and every value beside its key: values have some
// kilobytes, so a value log would only add files to collect.
func badgerOptions(o Options) badger.Options {
	opts := badger.DefaultOptions(o.Dir).
		WithLogger(badgerLogger{o.Logger}).
		WithSyncWrites(!o.NoSync).
		WithDetectConflicts(false). // one writer
		WithMemTableSize(o.MemTableSize).
		WithNumMemtables(3).
		WithBaseTableSize(o.MemTableSize / 2).
		WithBlockCacheSize(8 << 20).
		WithIndexCacheSize(16 << 20).
		WithValueThreshold(min(1<<20, o.MemTableSize/8)).
		WithValueLogFileSize(maxValue).
		WithNumVersionsToKeep(1).
		WithBloomFalsePositive(falsePositives).
		WithCompression(options.Snappy).
		WithNumCompactors(2).
		WithNumLevelZeroTables(compactAt).
		WithNumLevelZeroTablesStall(stallAt).
		WithMetricsEnabled(false)
	// Badger keeps up to eight buffers of tables that it wrote, each several times as large as
	// its table. By default tables are twice as large on each level. Tables of one size are more
	// files, and take 650 MB less memory while a million lessons are imported.
	opts.TableSizeMultiplier = 1
	return opts
}

// isLocked reports whether Badger found the folder in use. It has no error value for
// that.
func isLocked(err error) bool {
	return strings.Contains(err.Error(), "Another process is using this Badger database")
}

// Close waits for the accepted updates, writes the waiting receipts and closes the
// database. Later calls are no-ops.
func (s *Store) Close() error {
	s.acceptLock.Lock()
	first := !s.closed
	if first {
		s.closed = true
		close(s.closing)
		close(s.updates)
	}
	s.acceptLock.Unlock()
	<-s.done
	<-s.watched
	if !first {
		return nil
	}
	err := s.closeDB()
	if err != nil {
		err = fmt.Errorf("close store: %w", err)
	}
	return errors.Join(err, s.endWitness())
}

// Queue returns the store's durable job queue.
func (s *Store) Queue() *Queue { return s.queue }

// Seq returns the sequence number of the last committed update.
func (s *Store) Seq() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seq
}

// ID returns the random number that tells the store apart from others.
func (s *Store) ID() uint64 { return s.id }

// StoredSeq returns the sequence number in the database. It is ahead of Seq while an
// update is written and not yet counted.
func (s *Store) StoredSeq() (uint64, error) {
	n, err := meta(s.db.DB, keySeq)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return 0, nil
	}
	return n, err
}

// Counts returns the number of records of each kind, and of chunks. They are complete
// once Load has ended.
func (s *Store) Counts() map[memory.Kind]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := map[memory.Kind]int{}
	for what, n := range s.totals {
		if n > 0 && what != totalSessions && what != totalFiles {
			counts[memory.Kind(what)] = n
		}
	}
	return counts
}

// DiskSize returns the size of the database's files on disk.
func (s *Store) DiskSize() int64 { return sizeOf(s.opts.Dir) }

// sizeOf returns the size of the files in a folder on disk, in bytes.
func sizeOf(dir string) int64 {
	var size int64
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			size += diskUsage(info)
		}
	}
	return size
}

func getUint(txn *badger.Txn, key []byte) (uint64, error) {
	var n uint64
	err := get(txn, key, func(b []byte) (err error) {
		n, err = parseUint(key, b)
		return err
	})
	return n, err
}

// parseUint reads a payload of bigEndian.
func parseUint(key, payload []byte) (uint64, error) {
	if len(payload) != 8 {
		return 0, corrupt(key, "a number has 8 bytes")
	}
	return binary.BigEndian.Uint64(payload), nil
}

func setUint(txn *badger.Txn, key []byte, n uint64) error {
	return txn.Set(key, seal(key, bigEndian(n)))
}

func bigEndian(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// badgerLogger logs Badger's warnings and errors and drops the rest.
type badgerLogger struct{ log *slog.Logger }

func (l badgerLogger) Errorf(f string, a ...any) { l.log.Error(fmt.Sprintf(f, a...), "part", "badger") }
func (l badgerLogger) Warningf(f string, a ...any) {
	l.log.Warn(fmt.Sprintf(f, a...), "part", "badger")
}
func (l badgerLogger) Infof(string, ...any)  {}
func (l badgerLogger) Debugf(string, ...any) {}
