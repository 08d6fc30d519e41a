package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// The saved indexes are a file in the folder of the database: it is counted, moved and
// removed with the database, and is in no backup. It begins with a head: savedMagic, a random
// number and the version of the database that it holds at least. Parts follow, and a table of
// them: the size and the checksum of each. Their number and a checksum of head and table end
// it. Numbers have 8 bytes.
//
// The random number is also in the database, written after the file: a database that has it
// has the file's state in its past. That of another store, of a backup or of a copy that went
// its own way has not.
const (
	savedMagic = "recalld2"
	savedName  = "indexes.saved"
	nonceSize  = 16
	savedHead  = len(savedMagic) + nonceSize + 8
	partEntry  = 16 // in the table
	tableEnd   = 16
)

// savedPart is an entry of the table.
type savedPart struct{ Size, Sum uint64 }

func (s *Store) savedPath() string { return filepath.Join(s.opts.Dir, savedName) }

// SavedIndexes opens the saved indexes; nil if there are none. It returns CodeCorrupt for a
// file that does not belong to this store, and removes it.
func (s *Store) SavedIndexes() (*memory.SavedIndexes, error) {
	if s.readOnly() || s.reading() {
		return nil, nil
	}
	s.saving.Lock()
	defer s.saving.Unlock()
	if err := s.betweenCommits(func() { s.forgetsRead = s.forgets.Load() }); err != nil {
		return nil, err
	}
	s.removeUnfinished()
	x, err := s.mapSaved()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("read saved indexes: %w", err), s.DropSavedIndexes())
	}
	return x, nil
}

// mapSaved maps the saved indexes, and checks all but the content of their parts.
func (s *Store) mapSaved() (*memory.SavedIndexes, error) {
	file, err := fsx.Map(s.savedPath())
	if err != nil {
		return nil, err
	}
	head, table, err := headAndTable(file)
	if err != nil {
		return nil, err
	}
	since := binary.LittleEndian.Uint64(head[savedHead-8:])
	if !s.inPast(head[len(savedMagic):savedHead-8], since) {
		return nil, memory.Errorf(memory.CodeCorrupt, "they are of an earlier time, or of another store")
	}
	return &memory.SavedIndexes{Since: since, Part: func(n int) ([]byte, error) {
		at := int64(savedHead)
		for i, part := range table {
			if i < n {
				at += int64(part.Size)
				continue
			}
			b, err := file.Bytes(at, int64(part.Size))
			if err == nil && uint64(checksum(b)) != part.Sum {
				err = errDamagedSaved
			}
			return b, err
		}
		return nil, errDamagedSaved
	}}, nil
}

var errDamagedSaved = memory.Errorf(memory.CodeCorrupt, "the saved indexes are damaged")

// headAndTable returns the head of saved indexes and the table of their parts.
func headAndTable(file *fsx.Mapped) (head []byte, table []savedPart, err error) {
	rest := file.Len() - int64(savedHead+tableEnd)
	if rest < 0 {
		return nil, nil, errDamagedSaved
	}
	head, err = file.Bytes(0, int64(savedHead))
	if err == nil && string(head[:len(savedMagic)]) != savedMagic {
		err = memory.Errorf(memory.CodeCorrupt, "the saved indexes are of another version of the program")
	}
	end, endErr := file.Bytes(file.Len()-tableEnd, tableEnd)
	if err = errors.Join(err, endErr); err != nil {
		return nil, nil, err
	}
	n := binary.LittleEndian.Uint64(end)
	if n > uint64(rest)/partEntry {
		return nil, nil, errDamagedSaved
	}
	size := int64(n) * partEntry
	b, err := file.Bytes(file.Len()-tableEnd-size, size)
	if err != nil {
		return nil, nil, err
	}
	table = make([]savedPart, n)
	_, err = binary.Decode(b, binary.LittleEndian, table)
	left := uint64(rest - size)
	for _, part := range table {
		if part.Size > left {
			return nil, nil, errDamagedSaved
		}
		left -= part.Size
	}
	if err != nil || left != 0 || uint64(checksum(head, b)) != binary.LittleEndian.Uint64(end[8:]) {
		return nil, nil, errDamagedSaved
	}
	return head, table, nil
}

// SaveIndexes replaces the saved indexes by what write writes: all that was committed before
// it is called. begin begins a part of them. Changes that were committed since may be in it or
// not. If writing fails, the former ones stay; if something is forgotten meanwhile, there are
// none. It returns what SavedIndexes would, or nil where they cannot be mapped.
func (s *Store) SaveIndexes(ctx context.Context, write func(begin func() io.Writer) error) (*memory.SavedIndexes, error) {
	s.saving.Lock()
	defer s.saving.Unlock()
	if s.readOnly() || s.reading() || s.Damage() != nil || s.Broken() != nil {
		return nil, memory.Errorf(memory.CodeReadOnly, "save indexes: the store is not written at the moment")
	}
	if s.mustRead.Load() {
		return nil, memory.Errorf(memory.CodeReadOnly, "save indexes: a stored value could not be read or removed, as the log says, so the next start must read all of them")
	}
	if err := roomFor(s.opts.Dir, s.DiskSize()+reserveSize); err != nil {
		return nil, fmt.Errorf("save indexes: %w", err)
	}
	// Before the version is known: what is forgotten from here on may still be in the indexes.
	forgets := s.forgets.Load()
	var since uint64
	if err := s.betweenCommits(func() {
		txn := s.db.NewTransaction(false)
		since = txn.ReadTs()
		txn.Discard()
	}); err != nil {
		return nil, fmt.Errorf("save indexes: %w", err)
	}
	nonce := make([]byte, nonceSize)
	_, _ = rand.Read(nonce) // it never fails
	// Not synced: what a power loss tears fails its checksum, and indexes are built anew.
	err := fsx.WriteUnsynced(s.savedPath(), 0o600, func(w io.Writer) error {
		return writeSaved(ctx, w, nonce, since, write)
	})
	if err != nil {
		return nil, fmt.Errorf("save indexes: %w", err)
	}
	if _, err = s.Update(context.WithoutCancel(ctx), func(tx *Tx) error {
		if s.forgets.Load() != forgets {
			return errForgotten
		}
		tx.put(keySaved, nonce)
		return nil
	}); err != nil {
		dropped := s.DropSavedIndexes() // the database does not know the file
		if errors.Is(err, errForgotten) {
			return nil, dropped
		}
		return nil, errors.Join(fmt.Errorf("save indexes: %w", err), dropped)
	}
	if !fsx.Maps {
		return nil, nil
	}
	x, err := s.mapSaved()
	if err != nil { // it was removed since, or cannot be mapped now
		return nil, nil
	}
	return x, nil
}

// writeSaved writes the file.
func writeSaved(ctx context.Context, w io.Writer, nonce []byte, since uint64, write func(begin func() io.Writer) error) error {
	head := binary.LittleEndian.AppendUint64(append([]byte(savedMagic), nonce...), since)
	if _, err := w.Write(head); err != nil {
		return err
	}
	parts := &partWriter{ctx: ctx, w: w}
	err := write(func() io.Writer {
		parts.table = append(parts.table, savedPart{})
		return parts
	})
	if err != nil {
		return err
	}
	b, err := binary.Append(nil, binary.LittleEndian, parts.table)
	if err != nil {
		return err
	}
	end := binary.LittleEndian.AppendUint64(nil, uint64(len(parts.table)))
	_, err = w.Write(append(b, binary.LittleEndian.AppendUint64(end, uint64(checksum(head, b)))...))
	return err
}

// partWriter writes the last part of its table.
type partWriter struct {
	ctx   context.Context
	w     io.Writer
	table []savedPart
}

// Write writes a piece of the part, unless ctx is done.
func (p *partWriter) Write(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	part := &p.table[len(p.table)-1]
	part.Size += uint64(len(b))
	part.Sum = uint64(crc32.Update(uint32(part.Sum), castagnoli(), b))
	return p.w.Write(b)
}

// inPast reports whether the database has a state in its past that saved indexes name by their
// random number and the version of the database.
func (s *Store) inPast(nonce []byte, since uint64) (is bool) {
	err := s.View(func(v View) error {
		item, err := v.txn.Get(keySaved)
		if err != nil {
			return err
		}
		return item.Value(func(value []byte) error {
			payload, err := unseal(keySaved, value)
			is = bytes.Equal(payload, nonce) && item.Version() > since
			return err
		})
	})
	return is && err == nil
}

// errForgotten ends a save that may hold what was forgotten meanwhile.
var errForgotten = errors.New("something was forgotten")

// HasSavedIndexes reports whether there are saved indexes.
func (s *Store) HasSavedIndexes() bool {
	_, err := os.Stat(s.savedPath())
	return err == nil
}

// refuseSaved makes the saved indexes useless with the update: they know the words of what it
// forgets, or have vectors or records that it drops.
func (tx *Tx) refuseSaved() {
	if tx.refusedSaved {
		return
	}
	tx.refusedSaved = true
	tx.s.forgets.Add(1)
	tx.del(keySaved)
}

// removeRefused removes the saved indexes after such an update. If that fails, the next start
// does.
func (s *Store) removeRefused() {
	if err := s.DropSavedIndexes(); err != nil {
		s.opts.Logger.Error("useless saved indexes are left", "part", "store", "error", err)
	}
}

// leftUnswept notes that documents without a reference stay in the database. A start with
// saved indexes would not find them.
func (s *Store) leftUnswept(err error) {
	s.mustRead.Store(true)
	s.opts.Logger.Error("documents without a reference are left until the next start", "part", "store", "error", err)
	s.removeRefused()
}

// DropSavedIndexes removes the saved indexes.
func (s *Store) DropSavedIndexes() error {
	if err := os.Remove(s.savedPath()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// removeUnfinished removes what a kill has left of a file that was being written.
func (s *Store) removeUnfinished() {
	entries, _ := os.ReadDir(s.opts.Dir)
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, savedName+".") && strings.HasSuffix(name, ".tmp") {
			if err := os.Remove(filepath.Join(s.opts.Dir, name)); err != nil {
				s.opts.Logger.Warn("a part of saved indexes is left", "part", "store", "error", err)
			}
		}
	}
}
