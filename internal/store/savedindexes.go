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

	"github.com/dgraph-io/badger/v4"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// The saved indexes are a file in the folder of the database: it is counted, moved and
// removed with the database, and is in no backup. It begins with savedMagic, a random number
// and the version of the database that it holds at least. Blocks follow: a length of 4 bytes,
// a checksum of 4 bytes and the bytes. An empty block ends the file.
//
// The random number is also in the database, written after the file: a database that has it
// has the file's state in its past. That of another store, of a backup or of a copy that went
// its own way has not.
const (
	savedName  = "indexes.saved"
	savedMagic = "recalld1"
	savedBlock = 1 << 16
	nonceSize  = 16
)

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
	f, err := os.Open(s.savedPath())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open saved indexes: %w", err)
	}
	x, err := s.readSavedHead(f)
	if err != nil {
		return nil, errors.Join(err, f.Close(), s.DropSavedIndexes())
	}
	return x, nil
}

func (s *Store) readSavedHead(f *os.File) (*memory.SavedIndexes, error) {
	var head [len(savedMagic) + nonceSize + 8]byte
	info, err := f.Stat()
	if err == nil {
		_, err = io.ReadFull(f, head[:])
	}
	if err != nil {
		return nil, fmt.Errorf("read saved indexes: %w", err)
	}
	nonce := head[len(savedMagic) : len(savedMagic)+nonceSize]
	since := binary.LittleEndian.Uint64(head[len(head)-8:])
	belongs := false
	err = s.View(func(v View) error {
		item, err := v.txn.Get(keySaved)
		if err != nil {
			return err
		}
		return item.Value(func(value []byte) error {
			payload, err := unseal(keySaved, value)
			belongs = bytes.Equal(payload, nonce) && item.Version() > since
			return err
		})
	})
	if err != nil && !errors.Is(err, badger.ErrKeyNotFound) {
		return nil, fmt.Errorf("read saved indexes: %w", err)
	}
	if string(head[:len(savedMagic)]) != savedMagic || !belongs {
		return nil, memory.Errorf(memory.CodeCorrupt, "read saved indexes: they are of an earlier time, or of another store")
	}
	in := struct {
		io.Reader
		io.Closer
	}{&blocks{r: f, sum: crc32.Checksum(head[:], castagnoli())}, f}
	return &memory.SavedIndexes{ReadCloser: in, Since: since, Size: info.Size()}, nil
}

// SaveIndexes replaces the saved indexes by what write writes: all that was committed before
// it is called. Changes that were committed since may be in it or not. If writing fails, the
// former ones stay; if something is forgotten meanwhile, there are none.
func (s *Store) SaveIndexes(ctx context.Context, write func(io.Writer) error) error {
	s.saving.Lock()
	defer s.saving.Unlock()
	if s.readOnly() || s.reading() || s.Damage() != nil || s.Broken() != nil {
		return memory.Errorf(memory.CodeReadOnly, "save indexes: the store is not written at the moment")
	}
	if s.mustRead.Load() {
		return memory.Errorf(memory.CodeReadOnly, "save indexes: a stored value could not be read or removed, as the log says, so the next start must read all of them")
	}
	if err := roomFor(s.opts.Dir, s.DiskSize()+reserveSize); err != nil {
		return fmt.Errorf("save indexes: %w", err)
	}
	// Before the version is known: what is forgotten from here on may still be in the indexes.
	forgets := s.forgets.Load()
	var since uint64
	if err := s.betweenCommits(func() {
		txn := s.db.NewTransaction(false)
		since = txn.ReadTs()
		txn.Discard()
	}); err != nil {
		return fmt.Errorf("save indexes: %w", err)
	}
	nonce := make([]byte, nonceSize)
	_, _ = rand.Read(nonce) // it never fails
	// Not synced: what a power loss tears fails its checksum, and indexes are built anew.
	err := fsx.WriteUnsynced(s.savedPath(), 0o600, func(w io.Writer) error {
		head := append(append([]byte(savedMagic), nonce...), binary.LittleEndian.AppendUint64(nil, since)...)
		if _, err := w.Write(head); err != nil {
			return err
		}
		b := &blocks{ctx: ctx, w: w, sum: crc32.Checksum(head, castagnoli())}
		if err := write(b); err != nil {
			return err
		}
		return b.put(nil)
	})
	if err != nil {
		return fmt.Errorf("save indexes: %w", err)
	}
	if _, err = s.Update(context.WithoutCancel(ctx), func(tx *Tx) error {
		if s.forgets.Load() != forgets {
			return errForgotten
		}
		tx.put(keySaved, nonce)
		return nil
	}); err == nil {
		return nil
	}
	if errors.Is(err, errForgotten) {
		return s.DropSavedIndexes()
	}
	return errors.Join(fmt.Errorf("save indexes: %w", err), s.DropSavedIndexes()) // the database does not know the file
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

// blocks writes blocks with checksums, or reads them. A checksum covers all that comes
// before, too, so no block can be exchanged for another.
type blocks struct {
	ctx  context.Context
	w    io.Writer
	r    io.Reader
	sum  uint32
	left []byte // of the block being read
	done bool
}

// Write writes blocks.
func (b *blocks) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		if err := b.ctx.Err(); err != nil {
			return 0, err
		}
		part := rest[:min(len(rest), savedBlock)]
		if err := b.put(part); err != nil {
			return 0, err
		}
		rest = rest[len(part):]
	}
	return len(p), nil
}

// put writes one block; an empty one is the last.
func (b *blocks) put(part []byte) error {
	size := binary.LittleEndian.AppendUint32(nil, uint32(len(part)))
	b.sum = crc32.Update(crc32.Update(b.sum, castagnoli(), size), castagnoli(), part)
	_, err := b.w.Write(binary.LittleEndian.AppendUint32(size, b.sum))
	if err == nil {
		_, err = b.w.Write(part)
	}
	return err
}

// Read reads what is in the blocks. It returns CodeCorrupt if a checksum does not match or
// the last block is missing.
func (b *blocks) Read(p []byte) (int, error) {
	if len(b.left) == 0 && !b.done {
		if err := b.next(); err != nil {
			return 0, err
		}
	}
	if b.done {
		return 0, io.EOF
	}
	n := copy(p, b.left)
	b.left = b.left[n:]
	return n, nil
}

func (b *blocks) next() error {
	damaged := memory.Errorf(memory.CodeCorrupt, "read saved indexes: they are damaged")
	var head [8]byte
	if _, err := io.ReadFull(b.r, head[:]); err != nil {
		return damaged
	}
	size := binary.LittleEndian.Uint32(head[:])
	if size > savedBlock {
		return damaged
	}
	room := make([]byte, size)
	if _, err := io.ReadFull(b.r, room); err != nil {
		return damaged
	}
	b.sum = crc32.Update(crc32.Update(b.sum, castagnoli(), head[:4]), castagnoli(), room)
	if b.sum != binary.LittleEndian.Uint32(head[4:]) {
		return damaged
	}
	b.left, b.done = room, size == 0
	return nil
}
