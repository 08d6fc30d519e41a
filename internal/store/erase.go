package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/store/lsm"
)

// Badger keeps what was replaced or removed until a compaction happens to meet it: in the log
// of a write buffer that is not full, above an older value, or in a file of large values. An
// erasure makes it go. It fills the write buffer, so that Badger writes it as a table and
// removes its log; compacts level by level until all tables but new ones are in one level,
// where a key has one version and no deletion; and reads all keys to see that this is so.
// A version that stays, because a reader needed it during a compaction, is written again, and
// with it the next round removes it.
//
// keyErase holds when something was forgotten that may still be in the files, in milliseconds;
// 0 once none is. It is written with what forgets. Stores of former versions lack it.

const (
	// eraseRounds is how often an erasure tries before it gives up until later.
	eraseRounds = 4
	// eraseShare bounds the part of the time that erasures take: the next one waits this many
	// times as long as the last one took.
	eraseShare = 20
	// eraseAgain is when an erasure that failed is tried again.
	eraseAgain = 10 * time.Minute
	// eraseYield is how long a round waits for a time without requests. After that it pauses
	// between its steps only.
	eraseYield = 10 * time.Second
	// eraseWait bounds other waits: for Badger to write a buffer, and for a compaction that it
	// began itself.
	eraseWait = time.Minute
	// eraseLook is how many keys are read with one transaction.
	eraseLook = 1000
	// maxObsolete bounds the keys that a round writes again.
	maxObsolete = 20_000
)

// Erasure returns since when forgotten text may be in the files of the store (zero if none is)
// and why the last try to erase it failed.
func (s *Store) Erasure() (since time.Time, trouble string) {
	if at := s.forgotAt.Load(); at != 0 {
		since = time.UnixMilli(at).UTC()
		trouble, _ = s.eraseTrouble.Load().(string)
	}
	return since, trouble
}

// mustErase notes with the update that it forgets something. It is called in the committer.
func (tx *Tx) mustErase() {
	at := tx.s.opts.Clock().UnixMilli()
	tx.put(keyErase, bigEndian(uint64(at)))
	tx.s.forgotNow(at)
}

func (s *Store) forgotNow(at int64) {
	s.forgotAt.CompareAndSwap(0, at)
	select {
	case s.forgot <- struct{}{}:
	default:
	}
}

// openErasure reads whether an erasure is due. A store of a former version needs one if
// anything was ever forgotten.
func (s *Store) openErasure() error {
	at, err := meta(s.db.DB, keyErase)
	if errors.Is(err, badger.ErrKeyNotFound) {
		err = nil
		if s.hasTombstones.Load() {
			at = uint64(s.opts.Clock().UnixMilli())
		}
	}
	if at != 0 {
		s.forgotNow(int64(at))
	}
	return err
}

// EraseWhenDue erases after each time that something was forgotten, when wait has passed, until
// ctx ends. Errors are logged, each once, and what failed is tried again later.
func (s *Store) EraseWhenDue(ctx context.Context, wait time.Duration) {
	next := wait
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.forgot:
		}
		if sleep(ctx, next) != nil {
			return
		}
		select { // one erasure for all that was forgotten meanwhile
		case <-s.forgot:
		default:
		}
		start := time.Now()
		err := s.Erase(ctx)
		if ctx.Err() != nil {
			return
		}
		next = max(wait, eraseShare*time.Since(start))
		trouble := ""
		if err != nil {
			trouble, next = err.Error(), max(next, eraseAgain)
			s.forgotNow(s.forgotAt.Load())
		}
		told, _ := s.eraseTrouble.Swap(trouble).(string)
		switch {
		case err == nil:
			s.opts.Logger.Info("forgotten text was erased from the store's files", "part", "store", "took", time.Since(start).Round(time.Millisecond))
		case trouble != told:
			s.opts.Logger.Warn("forgotten text is still in the store's files", "part", "store", "error", err)
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Erase removes what was forgotten from the files of the store, if that is due. Questions and
// writes go on beside it. If it fails or the process ends, it stays due. It must not run twice at
// a time.
func (s *Store) Erase(ctx context.Context) error {
	if s.forgotAt.Load() == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	s.acceptLock.RLock()
	if s.closed {
		s.acceptLock.RUnlock()
		return ErrClosed
	}
	s.erasing.Go(func() {
		err := ErrClosed // the gate ends the goroutine when the store closes
		defer func() { done <- err }()
		err = s.erase(ctx)
	})
	s.acceptLock.RUnlock()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("erase what was forgotten: %w", err)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closing:
		return ErrClosed
	}
}

func (s *Store) erase(ctx context.Context) error {
	if err := s.writable(); err != nil {
		return err
	}
	if s.reading() {
		return memory.Errorf(memory.CodeReadOnly, "the store is open for reading only")
	}
	var version uint64 // what was forgotten up to here is erased
	err := s.betweenCommits(func() {
		txn := s.db.NewTransaction(false)
		version = txn.ReadTs()
		txn.Discard() // as the last reader it lets compactions drop what is older
	})
	for range eraseRounds {
		// If requests never pause, the round begins beside them.
		_ = s.await(ctx, eraseYield, "", func() (bool, error) { return !s.yields(), nil })
		if err == nil {
			err = s.writeBuffer(ctx)
		}
		if err == nil {
			err = s.compactAll(ctx)
		}
		if err != nil {
			return err
		}
		keys, values, err := s.obsolete(ctx, version)
		if err != nil {
			return err
		}
		if len(keys) == 0 && !values {
			return s.erased(ctx, version)
		}
		if values {
			if err := s.collectValues(ctx); err != nil {
				return err
			}
		}
		if err := s.writeAgain(ctx, keys); err != nil {
			return err
		}
	}
	return memory.Errorf(memory.CodeUnavailable, "something still reads what was replaced")
}

// erased notes that nothing is left, unless something was forgotten meanwhile.
func (s *Store) erased(ctx context.Context, version uint64) error {
	at := s.forgotAt.Load()
	_, err := s.Update(ctx, func(tx *Tx) error {
		tx.del(keyFill)
		if versionOf(tx.txn, keyErase) > version {
			return nil
		}
		tx.put(keyErase, bigEndian(0))
		s.forgotAt.Store(0)
		return nil
	})
	if err != nil { // it was not committed
		s.forgotAt.CompareAndSwap(0, at)
	}
	return err
}

// versionOf returns the newest version of a key, also of one that is deleted or expired; 0 if
// there is none.
func versionOf(txn *badger.Txn, key []byte) uint64 {
	it := txn.NewKeyIterator(key, badger.IteratorOptions{AllVersions: true})
	defer it.Close()
	if it.Rewind(); !it.Valid() {
		return 0
	}
	return it.Item().Version()
}

// writeBuffer fills Badger's write buffer, and waits until the logs that are in use now are
// tables.
func (s *Store) writeBuffer(ctx context.Context) error {
	last, err := s.usedLog()
	if err != nil {
		return err
	}
	filler := make([]byte, s.threshold()/2)
	for full := last; full == last; {
		if err := s.giveWay(ctx); err != nil {
			return err
		}
		if _, err := s.Update(ctx, func(tx *Tx) error { tx.put(keyFill, filler); return nil }); err != nil {
			return err
		}
		if full, err = s.usedLog(); err != nil {
			return err
		}
	}
	return s.await(ctx, eraseWait, "the write buffer was not written", func() (bool, error) {
		entries, err := os.ReadDir(s.opts.Dir)
		return !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
			return filepath.Ext(e.Name()) == ".mem" && e.Name() <= logName(last)
		}), err
	})
}

// usedLog returns the number of the last log that is not just created in advance.
func (s *Store) usedLog() (int, error) {
	last, err := lastLog(s.opts.Dir)
	if err != nil {
		return 0, err
	}
	if info, err := os.Stat(filepath.Join(s.opts.Dir, logName(last))); err == nil && info.Size() == 0 {
		last--
	}
	return last, nil
}

// threshold is the size of a value, in bytes, from which Badger keeps it in another file.
func (s *Store) threshold() int64 { return s.db.Opts().ValueThreshold }

// await asks is until it is so, no longer than a time.
func (s *Store) await(ctx context.Context, most time.Duration, otherwise string, is func() (bool, error)) error {
	for end := time.Now().Add(most); ; {
		if ok, err := is(); ok || err != nil {
			return err
		}
		if time.Now().After(end) {
			return memory.Errorf(memory.CodeUnavailable, "%s", otherwise)
		}
		if err := sleep(ctx, gatePause); err != nil {
			return err
		}
	}
}

// giveWay pauses between two steps if requests are served. It returns why there is no room for
// another step.
func (s *Store) giveWay(ctx context.Context) error {
	if s.yields() {
		if err := sleep(ctx, gatePause); err != nil {
			return err
		}
	}
	if s.guard != nil {
		if trouble := s.guard.check(); trouble != nil {
			return trouble
		}
	}
	return ctx.Err()
}

// compactAll compacts until the tables that are there now are in one level, below level 0.
func (s *Store) compactAll(ctx context.Context) error {
	newest := uint64(0)
	for _, t := range s.db.Tables() {
		newest = max(newest, t.ID)
	}
	for {
		top, levels := -1, 0
		for _, t := range s.db.Tables() {
			if t.Level == 0 && t.ID > newest { // written since
				continue
			}
			if top < 0 || t.Level < top {
				top = t.Level
			}
		}
		for _, l := range s.db.Levels() {
			levels += btoi(l.Level > 0 && l.NumTables > 0)
		}
		if top < 0 || top > 0 && levels == 1 {
			return nil
		}
		if err := s.giveWay(ctx); err != nil {
			return err
		}
		err := s.await(ctx, eraseWait, "the tables cannot be compacted", func() (bool, error) {
			err := s.compactLevel(top)
			if err != nil && strings.Contains(err.Error(), "fill tables") { // Badger compacts them itself
				return false, nil
			}
			return true, err
		})
		if err != nil {
			return err
		}
	}
}

// obsolete returns what the files have of versions up to one besides the state at that version:
// the keys that have an older version or a deletion, and whether files of large values have
// some. An expired value is none: it holds the answer to a write or a receipt that nobody
// forgot.
func (s *Store) obsolete(ctx context.Context, version uint64) (keys [][]byte, values bool, err error) {
	for next := []byte{}; next != nil && len(keys) < maxObsolete; {
		if err := s.giveWay(ctx); err != nil {
			return nil, false, err
		}
		var some [][]byte
		some, next = s.obsoleteFrom(next, version)
		keys = append(keys, some...)
	}
	err = lsm.Values(s.opts.Dir, func(e *lsm.Entry) error {
		if e.Version > version || bytes.Equal(e.Key, keyFill) {
			return ctx.Err()
		}
		return s.View(func(v View) error {
			values = values || versionOf(v.txn, e.Key) != e.Version
			return nil
		})
	})
	if err == nil && len(keys) == 0 && !values {
		err = s.await(ctx, eraseWait, "a reader keeps replaced tables", s.tablesGone)
	}
	return keys, values, err
}

// obsoleteFrom looks at some keys and returns the first that follows them, nil at the end. Its
// reader is gone before it returns: one that stays would keep versions and tables.
func (s *Store) obsoleteFrom(from []byte, version uint64) (keys [][]byte, next []byte) {
	db, done := s.use()
	defer done()
	txn := db.NewTransaction(false)
	defer txn.Discard()
	it := txn.NewIterator(badger.IteratorOptions{AllVersions: true})
	defer it.Close()
	var key []byte
	var state uint64 // the version of the key that is its state at version, 0 before it is met
	found := false
	n := 0
	for it.Seek(from); it.Valid(); it.Next() {
		item := it.Item()
		if n == 0 || !bytes.Equal(item.Key(), key) {
			if n++; n > eraseLook {
				return keys, item.KeyCopy(nil)
			}
			key, state, found = append(key[:0], item.Key()...), 0, bytes.Equal(item.Key(), keyFill)
		}
		if found || item.Version() > version || item.Version() == state { // one may be in two tables
			continue
		}
		if state != 0 || item.IsDeletedOrExpired() && item.ExpiresAt() == 0 {
			keys, found = append(keys, bytes.Clone(key)), true
		}
		state = item.Version()
	}
	return keys, nil
}

// writeAgain writes the present values of keys anew.
func (s *Store) writeAgain(ctx context.Context, keys [][]byte) error {
	for len(keys) > 0 {
		size, n := batchSize{}, 0
		_, err := s.Update(ctx, func(tx *Tx) error {
			for _, k := range keys {
				w := write{key: k}
				item, err := tx.txn.Get(k)
				if err == nil {
					if w.value, err = item.ValueCopy(nil); err == nil && item.ExpiresAt() > 0 {
						w.ttl = max(time.Second, time.Until(time.Unix(int64(item.ExpiresAt()), 0)))
					}
				} else if errors.Is(err, badger.ErrKeyNotFound) {
					err = nil
				}
				if err != nil {
					return err
				}
				if size = size.plus(w.size()); n > 0 && !size.within(s.shared()) {
					return nil
				}
				tx.add(&tx.writes, w)
				n++
			}
			return nil
		})
		if err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}

// collectValues removes large values that nothing refers to. Badger removes none from the file
// that it writes to, so that is filled first.
func (s *Store) collectValues(ctx context.Context) error {
	filler := make([]byte, s.threshold())
	for range maxValue/len(filler) + 2 {
		if err := s.giveWay(ctx); err != nil {
			return err
		}
		if _, err := s.Update(ctx, func(tx *Tx) error { tx.put(keyFill, filler); return nil }); err != nil {
			return err
		}
	}
	// The compactions after this count what the files have of fillers and replaced values.
	err := s.writeBuffer(ctx)
	if err == nil {
		err = s.compactAll(ctx)
	}
	for err == nil {
		if err = s.giveWay(ctx); err == nil {
			err = s.db.RunValueLogGC(1e-6)
		}
	}
	if errors.Is(err, badger.ErrNoRewrite) {
		err = nil
	}
	return err
}

// tablesGone reports whether the folder has no tables but those of the database.
func (s *Store) tablesGone() (bool, error) {
	entries, err := os.ReadDir(s.opts.Dir)
	live := map[string]bool{}
	for _, t := range s.db.Tables() {
		live[table.IDToFilename(t.ID)] = true
	}
	return !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return strings.HasSuffix(e.Name(), ".sst") && !live[e.Name()]
	}), err
}
