package backup

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/recalld/recalld/internal/store"
)

// maxPack is the size at which a pack is full, in bytes.
const maxPack = 32 << 20

// place is where a block lies.
type place struct {
	pack string
	span
}

// writer writes the blocks of one run into packs.
type writer struct {
	dir    string
	prefix string // of the names of the packs
	create func(string) (packFile, error)
	turn   func(ctx context.Context, work func() error) error

	known   map[hash]place
	packs   map[string]int64 // sizes by name, of all packs of known
	made    []string
	file    packFile
	name    string
	buffer  bytes.Buffer
	flate   *flate.Writer
	written int64
}

func newWriter(dir, name string, opts Options) *writer {
	f, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is valid
	}
	return &writer{dir: dir, prefix: name, create: opts.create, turn: opts.Turn, known: map[hash]place{}, packs: map[string]int64{}, flate: f}
}

// know makes the writer refer to the blocks of older backups. A pack that is not as it was
// written is left out, so that the next backup does not depend on it.
func (w *writer) know(old []*manifest) {
	for _, m := range old {
		sound := make([]bool, len(m.packs))
		for i, p := range m.packs {
			info, err := os.Stat(filepath.Join(w.dir, p.Name))
			if sound[i] = err == nil && info.Size() == p.Size; sound[i] {
				w.packs[p.Name] = p.Size
			}
		}
		for _, b := range m.blocks {
			if sound[b.pack] {
				w.known[b.hash] = place{m.packs[b.pack].Name, b.span}
			}
		}
	}
}

// write writes the entries of a backup and fills its manifest, except for the sizes of the
// packs.
func (w *writer) write(ctx context.Context, m *manifest, walk func(context.Context, func(store.Entry) error) error, progress func(int64)) error {
	numbers := map[string]int{}
	c := &cutter{}
	c.emit = func(raw []byte) error {
		progress(c.size)
		if w.packs[w.name] >= maxPack {
			// Outside of a turn: syncing a pack takes as long as the disk does.
			if err := w.closePack(); err != nil {
				return err
			}
		}
		var h hash
		var at place
		err := w.turn(ctx, func() (err error) {
			h = hash(sha256.Sum256(raw))
			at, err = w.put(h, raw)
			return err
		})
		if err != nil {
			return err
		}
		n, there := numbers[at.pack]
		if !there {
			n = len(m.packs)
			numbers[at.pack] = n
			m.packs = append(m.packs, pack{Name: at.pack})
		}
		m.blocks = append(m.blocks, block{h, n, at.span})
		return w.turn(ctx, func() error { return nil }) // to read the next entries
	}
	if err := walk(ctx, c.add); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	if err := c.flush(); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	m.Size, m.Entries = c.size, c.entries
	return nil
}

// put writes a block unless it is known.
func (w *writer) put(h hash, raw []byte) (place, error) {
	if at, known := w.known[h]; known {
		return at, nil
	}
	if w.file == nil {
		name := fmt.Sprintf("%s-%03d%s", w.prefix, len(w.made)+1, packSuffix)
		f, err := w.create(filepath.Join(w.dir, name))
		if err != nil {
			return place{}, fmt.Errorf("create pack: %w", err)
		}
		w.file, w.name, w.made = f, name, append(w.made, name)
	}
	w.buffer.Reset()
	if err := compress(w.flate, &w.buffer, raw); err != nil {
		return place{}, err
	}
	at := place{w.name, span{w.packs[w.name], int64(w.buffer.Len()), int64(len(raw))}}
	if _, err := w.file.Write(w.buffer.Bytes()); err != nil {
		return place{}, fmt.Errorf("write pack: %w", err)
	}
	w.packs[w.name] += at.length
	w.written += at.length
	w.known[h] = at
	return at, nil
}

func (w *writer) closePack() error {
	if w.file == nil {
		return nil
	}
	err := errors.Join(w.file.Sync(), w.file.Close())
	w.file = nil
	if err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	return nil
}

// close makes what was written durable.
func (w *writer) close() error {
	if err := w.closePack(); err != nil {
		return err
	}
	return syncFolder(w.dir)
}

// discard removes what was written, after an error.
func (w *writer) discard() error {
	var err error
	if w.file != nil {
		_ = w.file.Close() // it is removed
	}
	for _, name := range w.made {
		err = errors.Join(err, os.Remove(filepath.Join(w.dir, name)))
	}
	return err
}
