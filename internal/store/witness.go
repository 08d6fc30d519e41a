package store

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/store/lsm"
)

// The witness is a file beside the database's folder that records what was acknowledged.
// It has two slots of a fixed size, written in turn, each with a number and a checksum: a
// write that is interrupted leaves the other slot intact. A second file lists the tables
// of the database.
//
// Why it needs no sync of its own: it is written after Badger has synced a commit and
// before the commit is acknowledged. When the process is killed, the system keeps both
// writes: the witness has exactly what was acknowledged, or one commit less. When the
// power fails, Badger's commit is on disk and the witness may be some seconds older. So
// the witness may be behind the database and is never ahead of it: a database with less
// than the witness has lost something. With Options.NoSync a power failure may lose
// acknowledged commits, and the witness reports that.

// checkpoint is the content of a slot.
type checkpoint struct {
	// Number grows with every checkpoint: of two slots the larger counts.
	Number uint64 `json:"number"`
	// Store identifies the store; 0 if unknown.
	Store uint64 `json:"store,omitempty"`
	// Seq is the sequence number of the last acknowledged commit.
	Seq uint64 `json:"seq"`
	// Counts are the totals at Seq; nil until they are known.
	Counts totals `json:"counts,omitempty"`
}

// totals counts records by kind, sessions and files.
type totals map[string]int

// Keys of totals besides the kinds of records.
const (
	totalSessions = "session"
	totalFiles    = "file"
)

func (t totals) change(c memory.Change) {
	for _, r := range c.Records {
		if r.Old != nil {
			t[string(r.Old.Kind)]--
		}
		if r.New != nil {
			t[string(r.New.Kind)]++
		}
	}
	for _, f := range c.Files {
		if f.Old != nil {
			t[totalFiles]--
			t[string(memory.Chunk)] -= len(f.Old.Chunks)
		}
		if f.New != nil {
			t[totalFiles]++
			t[string(memory.Chunk)] += len(f.New.Chunks)
		}
	}
	for _, x := range c.Sessions {
		if x.Old != nil {
			t[totalSessions]--
		}
		if x.New != nil {
			t[totalSessions]++
		}
	}
}

func (t totals) add(other totals) {
	for what, n := range other {
		t[what] += n
	}
}

// positive returns a copy of the counts above zero.
func (t totals) positive() map[string]int {
	kept := maps.Clone(t)
	maps.DeleteFunc(kept, func(_ string, n int) bool { return n <= 0 })
	return kept
}

// minus returns by how much other is smaller, by kind (negative: larger); nil when they
// are equal.
func (t totals) minus(other totals) map[string]int {
	diff := map[string]int{}
	maps.Copy(diff, t)
	for what, n := range other {
		diff[what] -= n
	}
	maps.DeleteFunc(diff, func(_ string, n int) bool { return n == 0 })
	if len(diff) == 0 {
		return nil
	}
	return diff
}

// The layout of the witness: the slots begin at 0 and at slotApart, so that they share no
// page. A slot has a checksum over the rest, the length of the checkpoint, and the
// checkpoint in JSON, which people can read.
const (
	slotApart = 4096
	slotSize  = 1024
	slotHead  = 4 + 2
)

func witnessPath(dir string) string { return filepath.Clean(dir) + ".witness" }
func tablesPath(dir string) string  { return filepath.Clean(dir) + ".tables" }

// witness is the open file.
type witness struct {
	dir  string // of the database
	file *os.File
	last checkpoint
	// failed is set after a failed write, so that the log gets one error only.
	failed bool
	// manifest is the state of the MANIFEST when the tables were listed.
	manifest fs.FileInfo
	listed   map[uint64]lsm.Table
}

// readWitness returns the newest checkpoint. It returns fs.ErrNotExist if there is no
// witness, and an error if no slot can be read. One damaged slot is no error: a crash may
// leave one.
func readWitness(dir string) (checkpoint, error) {
	b, err := os.ReadFile(witnessPath(dir))
	if err != nil {
		return checkpoint{}, err
	}
	var best checkpoint
	for slot := range 2 {
		if t, ok := parseSlot(b[min(len(b), slot*slotApart):]); ok && t.Number > best.Number {
			best = t
		}
	}
	if best.Number == 0 {
		return best, errors.New("no slot of it can be read")
	}
	return best, nil
}

func parseSlot(b []byte) (t checkpoint, ok bool) {
	if len(b) < slotSize {
		return t, false
	}
	b = b[:slotSize]
	size := int(binary.BigEndian.Uint16(b[4:]))
	if checksum(b[4:]) != binary.BigEndian.Uint32(b) || size > slotSize-slotHead {
		return t, false
	}
	err := json.Unmarshal(b[slotHead:slotHead+size], &t)
	return t, err == nil
}

// formatSlot returns a slot. Counts that do not fit are left out; that takes some thirty
// kinds of records.
func formatSlot(t checkpoint) []byte {
	b := make([]byte, slotSize)
	text, err := json.Marshal(t)
	if err != nil || len(text) > slotSize-slotHead {
		t.Counts = nil
		text, _ = json.Marshal(t) // numbers
	}
	binary.BigEndian.PutUint16(b[4:], uint16(len(text)))
	copy(b[slotHead:], text)
	binary.BigEndian.PutUint32(b, checksum(b[4:]))
	return b
}

// openWitness opens or creates the witness for writing, and reads the list of tables.
func openWitness(dir string, last checkpoint) (*witness, error) {
	f, err := os.OpenFile(witnessPath(dir), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open witness: %w", err)
	}
	w := &witness{dir: dir, file: f, last: last}
	// Its whole size is written now, so that a full disk does not stop it later.
	if info, err := f.Stat(); err == nil && info.Size() < slotApart+slotSize {
		if _, err := f.WriteAt(make([]byte, slotApart+slotSize-info.Size()), info.Size()); err != nil {
			return nil, errors.Join(fmt.Errorf("make witness: %w", err), f.Close())
		}
	}
	w.listed, _ = readTables(dir)
	return w, nil
}

// put writes a checkpoint into the slot that is not the newest.
func (w *witness) put(store, seq uint64, counts totals) error {
	t := checkpoint{Number: w.last.Number + 1, Store: cmp.Or(store, w.last.Store), Seq: seq, Counts: counts}
	if _, err := w.file.WriteAt(formatSlot(t), int64(t.Number%2)*slotApart); err != nil {
		return fmt.Errorf("write witness: %w", err)
	}
	w.last = checkpoint{Number: t.Number, Store: t.Store, Seq: seq}
	return nil
}

func (w *witness) close() error {
	return errors.Join(w.file.Sync(), w.file.Close())
}

// noteTables lists the tables if the MANIFEST has changed since they were listed. The list
// is not synced: if a crash of the machine leaves an older one, the MANIFEST explains the
// difference.
func (w *witness) noteTables() error {
	info, err := os.Stat(filepath.Join(w.dir, "MANIFEST"))
	if err != nil {
		return err
	}
	if w.manifest != nil && info.Size() == w.manifest.Size() && info.ModTime().Equal(w.manifest.ModTime()) {
		return nil
	}
	m, err := lsm.ReadManifest(w.dir)
	if err != nil {
		return fmt.Errorf("list tables: %w", err)
	}
	tables := make(map[uint64]lsm.Table, len(m.Live))
	for id := range m.Live {
		t, known := w.listed[id]
		if !known {
			t, err = lsm.ReadTable(w.dir, id)
			if errors.Is(err, fs.ErrNotExist) {
				continue // removed by a compaction
			}
			if err != nil {
				return fmt.Errorf("list table %d: %w", id, err)
			}
		}
		tables[id] = t
	}
	if !maps.Equal(tables, w.listed) {
		if err := writeTables(w.dir, tables); err != nil {
			return fmt.Errorf("list tables: %w", err)
		}
	}
	w.manifest, w.listed = info, tables
	return nil
}

// tableList is the file that lists tables: their JSON and its checksum.
type tableList struct {
	Tables json.RawMessage `json:"tables"`
	Sum    uint32          `json:"sum"`
}

func writeTables(dir string, tables map[uint64]lsm.Table) error {
	list := slices.SortedFunc(maps.Values(tables), func(a, b lsm.Table) int { return cmp.Compare(a.ID, b.ID) })
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	b, err := json.Marshal(tableList{text, checksum(text)})
	if err != nil {
		return err
	}
	tmp := tablesPath(dir) + ".tmp"
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return os.Rename(tmp, tablesPath(dir))
}

// readTables reads the list of tables. Without an error it is complete.
func readTables(dir string) (map[uint64]lsm.Table, error) {
	b, err := os.ReadFile(tablesPath(dir))
	if err != nil {
		return nil, err
	}
	var file tableList
	var list []lsm.Table
	if err := json.Unmarshal(b, &file); err != nil {
		return nil, err
	}
	if checksum(file.Tables) != file.Sum {
		return nil, errors.New("the checksum does not match")
	}
	if err := json.Unmarshal(file.Tables, &list); err != nil {
		return nil, err
	}
	tables := make(map[uint64]lsm.Table, len(list))
	for _, t := range list {
		tables[t.ID] = t
	}
	return tables, nil
}

// IdentityOf is the id of the store in a folder, as its witness knows it; 0 if it does not.
func IdentityOf(dir string) uint64 {
	last, _ := readWitness(dir)
	return last.Store
}
