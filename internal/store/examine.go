package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/store/lsm"
)

// DamagedError is returned by Open for a store whose files have lost something. The files
// are unchanged. Its code is CodeCorrupt.
type DamagedError struct{ Damage memory.StoreDamage }

func (e *DamagedError) Error() string { return e.Damage.Text() }

// Unwrap returns the code and hint of the error.
func (e *DamagedError) Unwrap() error {
	return &memory.Error{Code: memory.CodeCorrupt, Message: e.Damage.Text(), Hint: memory.RepairCommand}
}

// examination is what the files of a database contain, read without Badger.
type examination struct {
	damage *memory.StoreDamage // nil if nothing is wrong
	last   checkpoint          // of the witness
	seq    uint64              // of the last complete update
	schema uint64              // the version of the layout, 0 if it was not found
	logs   []lsm.Log           // which Badger would replay
	notes  []string            // faults that lose nothing
	empty  bool                // there is no database
}

// seqEntry is the number of an update and of the one before it, as written in a log.
type seqEntry struct {
	version   uint64
	seq, prev uint64
	chained   bool // prev is known
}

// newest is the latest value of a key that has a number.
type newest struct{ version, n uint64 }

// examine reads the files of the database in dir and compares them with the witness. It
// changes nothing.
func examine(dir string) (*examination, error) {
	x := &examination{}
	known := true
	var err error
	if x.last, err = readWitness(dir); err != nil {
		known = false
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			return nil, err
		}
		if !errors.Is(err, fs.ErrNotExist) {
			x.notes = append(x.notes, "the witness is created again: "+err.Error())
		}
	}
	tables, tablesErr := readTables(dir)
	if tablesErr != nil && known && !errors.Is(tablesErr, fs.ErrNotExist) {
		x.notes = append(x.notes, "the list of tables is created again: "+tablesErr.Error())
	}

	var mu sync.Mutex     // guards what facts points to
	var inTables newest   // the number of the last update
	var id, schema newest // of the store; a repair may have changed the id
	facts := map[string]*newest{string(keySeq): &inTables, string(keyID): &id, string(keySchema): &schema}
	take := func(e *lsm.Entry) {
		fact := facts[string(e.Key)]
		if fact == nil {
			return
		}
		n, err := numberIn(e)
		mu.Lock()
		defer mu.Unlock()
		if err == nil && e.Version >= fact.version {
			*fact = newest{e.Version, n}
		}
	}
	inLogs := map[uint64]*seqEntry{}
	r, err := lsm.Examine(dir, take, func(e *lsm.Entry) {
		isSeq := string(e.Key) == string(keySeq)
		if !isSeq && string(e.Key) != string(keyPrev) {
			take(e)
			return
		}
		n, err := numberIn(e)
		if err != nil {
			return
		}
		at := inLogs[e.Version]
		if at == nil {
			at = &seqEntry{version: e.Version}
			inLogs[e.Version] = at
		}
		if isSeq {
			at.seq = n
		} else {
			at.prev, at.chained = n, true
		}
	})
	if err != nil {
		return nil, fmt.Errorf("examine store: %w", err)
	}
	x.empty, x.schema, x.logs = r.Empty, schema.n, r.Logs
	d := memory.StoreDamage{Acknowledged: x.last.Seq}
	for _, f := range r.Faults {
		d.Files = append(d.Files, memory.DamagedFile{Name: f.File, What: f.What})
	}
	d.Files = append(d.Files, otherTables(r, tables)...)

	x.seq = inTables.n
	logs := slices.SortedFunc(maps.Values(inLogs), func(a, b *seqEntry) int { return cmp.Compare(a.version, b.version) })
	for _, at := range logs {
		if at.version <= inTables.version || at.seq == 0 {
			continue
		}
		if at.chained && at.prev > x.seq {
			d.Files = append(d.Files, memory.DamagedFile{What: fmt.Sprintf("the logs lack the updates %d–%d", x.seq+1, at.prev)})
		}
		x.seq = at.seq
	}
	d.Found = x.seq
	// A damaged table may only hide the number. The counts show what is lost.
	hidden := slices.ContainsFunc(r.Faults, func(f lsm.Fault) bool { return f.Hides })
	if hidden {
		d.Acknowledged, d.Found = 0, 0
	}
	switch {
	case id.n != 0 && x.last.Store != 0 && id.n != x.last.Store:
		d.Files = append(d.Files, memory.DamagedFile{Name: filepath.Base(dir), What: "it is another store than was written here"})
	case r.Empty && known && x.last.Seq > 0:
		d.Files = append(d.Files, memory.DamagedFile{Name: filepath.Base(dir), What: "the folder has no database any more"})
	case hidden:
	case known && x.seq < x.last.Seq && len(r.Logs) > 0:
		l := r.Logs[len(r.Logs)-1]
		d.Files = append(d.Files, memory.DamagedFile{
			Name: logName(int(l.ID)), What: fmt.Sprintf("it cannot be read from byte %d on, or a file is missing", l.End),
		})
	case known && x.seq < x.last.Seq:
		d.Files = append(d.Files, memory.DamagedFile{What: "files that had the last updates are missing or of an earlier time"})
	}
	if len(d.Files) > 0 {
		d.Files = append(d.Files, unnamedTables(r, tables)...)
		x.damage = &d
	}
	return x, nil
}

// otherTables returns the listed tables whose content has changed.
func otherTables(r *lsm.Report, listed map[uint64]lsm.Table) (out []memory.DamagedFile) {
	for _, t := range r.Tables {
		name := fmt.Sprintf("%06d.sst", t.ID)
		was, known := listed[t.ID]
		if known && was != t && !slices.ContainsFunc(r.Faults, func(f lsm.Fault) bool { return f.File == name }) {
			out = append(out, memory.DamagedFile{Name: name, What: "it is another table than was written"})
		}
	}
	return out
}

// unnamedTables returns the listed tables that the MANIFEST does not know. They explain
// damage but are none: if nothing else is wrong, nothing is missing.
func unnamedTables(r *lsm.Report, listed map[uint64]lsm.Table) (out []memory.DamagedFile) {
	if r.Empty {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(listed)) {
		if !r.Manifest.Mentions(id) {
			out = append(out, memory.DamagedFile{Name: "MANIFEST", What: fmt.Sprintf("it does not name the table %06d.sst", id)})
		}
	}
	return out
}

// numberIn reads a number written by setUint.
func numberIn(e *lsm.Entry) (uint64, error) {
	payload, err := unseal(e.Key, e.Value)
	if err != nil {
		return 0, err
	}
	return parseUint(e.Key, payload)
}

// The files of Badger without data that we use: keys (there is no encryption), statistics
// of the value logs, and the lock.
const (
	keysName  = "KEYREGISTRY"
	statsName = "DISCARD"
	lockName  = "LOCK"
)

// keysText follows 16 random bytes in the file of keys if there is no key.
const keysText = "Hello Badger"

// dropUnused removes damaged files without data: Badger creates them again, but may not
// start with a damaged one.
func dropUnused(dir string) (notes []string) {
	for _, name := range []string{keysName, statsName, lockName} {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if err != nil || info.Mode().IsRegular() {
			continue
		}
		if err := os.Rename(path, path+".aside"); err == nil {
			notes = append(notes, name+" is created again: it was not a file; it was renamed to "+name+".aside")
		}
	}
	drop := func(name string) {
		if err := os.Remove(filepath.Join(dir, name)); err == nil {
			notes = append(notes, name+" is created again: it is damaged; no data is lost")
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, keysName))
	if err == nil && (len(b) != 16+len(keysText) || string(b[16:]) != keysText) {
		drop(keysName)
	}
	b, err = os.ReadFile(filepath.Join(dir, statsName))
	if err == nil && !soundStats(b) {
		drop(statsName)
	}
	return notes
}

// soundStats reports whether statistics are pairs of a value log's number and size, in
// order, up to an empty pair.
func soundStats(b []byte) bool {
	if len(b) < 1<<20 || len(b)%16 != 0 {
		return false
	}
	last := uint64(0)
	for at := 0; at < len(b); at += 16 {
		id := binary.BigEndian.Uint64(b[at:])
		if id == 0 {
			return true
		}
		if id <= last || id > 1<<32 {
			return false
		}
		last = id
	}
	return false
}
