package store

import (
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// usage is when code of each file was last shown. Like receipts it is kept in memory and
// written without a sync: a crash may lose the last second.
type usage struct {
	at map[memory.FileKey]time.Time
	// unwritten are the files whose time on disk is older.
	unwritten map[memory.FileKey]bool
}

// usedBatch is how many files' times are written in one update.
const usedBatch = 500

// Used notes that code of files was shown. The times are written within a second; files
// that are not stored then are dropped.
func (s *Store) Used(at time.Time, files ...memory.FileKey) {
	at = at.UTC().Truncate(time.Millisecond)
	s.mu.Lock()
	for _, k := range files {
		if at.After(s.used.at[k]) {
			s.used.at[k] = at
			s.used.unwritten[k] = true
		}
	}
	s.mu.Unlock()
	s.wantFlush()
}

// UsedAt returns when code of a sandbox's files was last shown, by path. Files that were
// never shown are left out.
func (s *Store) UsedAt(sandbox string) map[string]time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := map[string]time.Time{}
	for k, at := range s.used.at {
		if k.Sandbox == sandbox {
			found[k.Path] = at
		}
	}
	return found
}

// openUsed reads the stored times.
func (s *Store) openUsed() error {
	s.used = usage{at: map[memory.FileKey]time.Time{}, unwritten: map[memory.FileKey]bool{}}
	type use struct {
		key memory.FileKey
		at  time.Time
	}
	return s.View(func(v View) error {
		for u := range sound(s, scan(v, prefixUsed, func(k, b []byte) (use, error) {
			if len(b) != 8 {
				return use{}, corrupt(k, "a time has 8 bytes")
			}
			at := time.UnixMilli(int64(binary.BigEndian.Uint64(b))).UTC()
			return use{fileKeyOf(k[len(prefixUsed):]), at}, nil
		})) { // a damaged one counts as never shown
			s.used.at[u.key] = u.at
		}
		return nil
	})
}

// addUsed adds an update that writes the unwritten times.
func (s *Store) addUsed(g *group) *group {
	if s.readOnly() { // they wait
		return g
	}
	s.mu.Lock()
	waiting := slices.Collect(maps.Keys(s.used.unwritten))
	clear(s.used.unwritten)
	s.mu.Unlock()
	for keys := range slices.Chunk(waiting, usedBatch) {
		g = s.run(g, &update{
			fn: func(tx *Tx) error { return tx.putUsed(keys) },
			then: func(err error) {
				if err != nil { // they stay in memory
					s.opts.Logger.Error("use of files was not written", "part", "store", "files", len(keys), "error", err)
				}
			},
		})
	}
	return g
}

func (tx *Tx) putUsed(keys []memory.FileKey) error {
	for _, k := range keys {
		_, _, there, err := tx.existingFile(k.Sandbox, k.Path)
		if err != nil {
			return err
		}
		tx.s.mu.Lock()
		at, known := tx.s.used.at[k]
		if !there {
			delete(tx.s.used.at, k)
		}
		tx.s.mu.Unlock()
		if there && known {
			tx.put(keyUsed(k), bigEndian(uint64(at.UnixMilli())))
		}
	}
	return nil
}

// dropUsed removes a file's time.
func (tx *Tx) dropUsed(k memory.FileKey) {
	tx.s.mu.Lock()
	_, known := tx.s.used.at[k]
	tx.s.mu.Unlock()
	if known {
		tx.del(keyUsed(k))
	}
}

// settleUsed forgets the time of a removed file. It is called with mu held.
func (s *Store) settleUsed(c memory.FileChange) {
	if c.New == nil {
		k := memory.FileKey{Sandbox: c.Old.Sandbox, Path: c.Old.Path}
		delete(s.used.at, k)
		delete(s.used.unwritten, k)
	}
}

// checkUsed compares the times on disk with the times in memory and with the files.
func (s *Store) checkUsed(v View, bad func(string, ...any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range v.keys(prefixUsed) {
		file := fileKeyOf(k[len(prefixUsed):])
		if _, ok := s.used.at[file]; !ok {
			bad("file %s of %s: its time of use is stored, but not in memory", file.Path, file.Sandbox)
		}
		if _, err := v.txn.Get(keyFile(file.Sandbox, file.Path)); err != nil {
			bad("file %s of %s: its time of use is stored, but the file is not: %w", file.Path, file.Sandbox, err)
		}
	}
}
