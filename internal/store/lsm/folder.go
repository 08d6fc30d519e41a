package lsm

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync"
)

// Report is the result of an examination.
type Report struct {
	// Empty says that there is no database: no MANIFEST, and no other file of one.
	Empty    bool
	Manifest *Manifest
	Tables   []Table // the readable tables in use, by number
	Logs     []Log   // by number
	Faults   []Fault
}

// Examine reads every byte in use of a folder's files, and changes none. It calls table
// with the entries of tables, from several goroutines at once, and then log with the
// entries of logs, one after another. It leaves out Badger's internal entries.
func Examine(dir string, table, log func(*Entry)) (*Report, error) {
	r := &Report{Manifest: &Manifest{}}
	tables, err := numbered(dir, tableExt)
	if errors.Is(err, fs.ErrNotExist) {
		r.Empty = true
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	logs, err := numbered(dir, logExt)
	if err != nil {
		return nil, err
	}
	var manifestErr error
	r.Manifest, manifestErr = ReadManifest(dir)
	if errors.Is(manifestErr, fs.ErrNotExist) {
		// A crash at the very start of a store leaves only empty logs.
		if len(tables) == 0 && !anyFilled(dir, logs) {
			r.Empty = true
			return r, nil
		}
		manifestErr = errors.New("it is missing")
	}
	if manifestErr != nil {
		r.Faults = append(r.Faults, faultf(manifestName, "%v", manifestErr))
	}
	var pointed sync.Mutex
	var pointers []Entry
	note := func(e *Entry) {
		if e.Points() && !e.Deleted() {
			pointed.Lock()
			pointers = append(pointers, Entry{Key: slices.Clone(e.Key), Version: e.Version, Value: slices.Clone(e.Value)})
			pointed.Unlock()
		}
	}
	r.verifyTables(dir, func(e *Entry) {
		note(e)
		table(e)
	})
	for _, id := range logs {
		l, err := readLog(dir, id, func(e *Entry) {
			note(e)
			log(e)
		})
		r.Logs = append(r.Logs, l)
		switch {
		case err != nil:
			r.Faults = append(r.Faults, faultf(logPath(dir, id), "%v", err))
		case l.Lost:
			r.Faults = append(r.Faults, faultf(logPath(dir, id), "it cannot be read from byte %d on, and there is more", l.End))
		}
	}
	if err := r.verifyHeads(dir); err != nil {
		return nil, err
	}
	r.verifyValues(dir, pointers)
	return r, nil
}

func anyFilled(dir string, logs []uint64) bool {
	return slices.ContainsFunc(logs, func(id uint64) bool {
		filled := false
		_, err := readLog(dir, id, func(*Entry) { filled = true })
		return filled || err != nil
	})
}

// verifyTables reads the tables in use, one per processor at a time.
func (r *Report) verifyTables(dir string, fn func(*Entry)) {
	ids := make(chan uint64)
	var mu sync.Mutex // guards r
	var work sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 4) {
		work.Go(func() {
			var reader tableReader
			for id := range ids {
				err := reader.verify(dir, id, r.Manifest.Live[id], fn)
				t, tailErr := ReadTable(dir, id)
				hides := err != nil
				if errors.Is(err, fs.ErrNotExist) {
					hides, err = false, errors.New("it is missing")
				}
				mu.Lock()
				if err != nil {
					fault := faultf(tablePath(dir, id), "%v", err)
					fault.Hides = hides
					r.Faults = append(r.Faults, fault)
				}
				if tailErr == nil {
					r.Tables = append(r.Tables, t)
				}
				mu.Unlock()
			}
		})
	}
	for id := range r.Manifest.Live {
		ids <- id
	}
	close(ids)
	work.Wait()
	slices.SortFunc(r.Tables, func(a, b Table) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(r.Faults, func(a, b Fault) int { return cmp.Compare(a.File, b.File) })
}

// verifyHeads checks the heads of the value logs, which Badger reads.
func (r *Report) verifyHeads(dir string) error {
	ids, err := numbered(dir, valueExt)
	if err != nil {
		return err
	}
	for _, id := range ids {
		head, err := readHead(valuePath(dir, id))
		switch {
		case err != nil:
			r.Faults = append(r.Faults, faultf(valuePath(dir, id), "%v", err))
		case len(head) == logHead && binary.BigEndian.Uint64(head) != 0:
			r.Faults = append(r.Faults, faultf(valuePath(dir, id), "its head names the encryption key %d", binary.BigEndian.Uint64(head)))
		}
	}
	return nil
}

// readHead returns the head of a log, or all of a shorter one.
func readHead(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, logHead)
	n, err := io.ReadFull(f, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return head[:n], err
}

// verifyValues reads the values that entries point to. Only the newest version of a key
// counts: the files of older ones may be gone.
func (r *Report) verifyValues(dir string, pointers []Entry) {
	newest := map[string]*Entry{}
	for i := range pointers {
		e := &pointers[i]
		if old := newest[string(e.Key)]; old == nil || old.Version < e.Version {
			newest[string(e.Key)] = e
		}
	}
	v := values{dir, map[uint32][]byte{}}
	said := map[Fault]bool{}
	for _, e := range newest {
		if _, fault := v.get(e); fault != nil && !said[*fault] {
			said[*fault] = true
			r.Faults = append(r.Faults, *fault)
		}
	}
}

// Salvage calls fn with every entry that can be read in the files of a folder, tables
// first, their values in place of pointers to them. A key may occur several times: its
// newest version counts. The tables are the tables in the MANIFEST, or in a damaged folder
// all that the MANIFEST has not dropped. A table that it never named comes from a write
// that a crash cut short, and its entries are in other files, too.
func Salvage(dir string, damaged bool, fn func(*Entry)) error {
	tables, err := numbered(dir, tableExt)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	logs, err := numbered(dir, logExt)
	if err != nil {
		return err
	}
	m, err := ReadManifest(dir)
	damaged = damaged || err != nil
	v := values{dir, map[uint32][]byte{}}
	take := func(e *Entry) {
		if e.internal() {
			return
		}
		if e.Points() && !e.Deleted() {
			value, fault := v.get(e)
			if fault != nil {
				return
			}
			e = &Entry{Key: e.Key, Version: e.Version, ExpiresAt: e.ExpiresAt, Value: value}
		}
		fn(e)
	}
	var reader tableReader
	for _, id := range tables {
		if _, live := m.Live[id]; live || damaged && !m.Dropped[id] {
			reader.salvage(dir, id, take)
		}
	}
	for _, id := range logs {
		salvageLog(logPath(dir, id), take)
	}
	return nil
}
