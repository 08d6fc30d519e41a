package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/store"
)

// maxOpen bounds the packs that are open at once while a backup is read.
const maxOpen = 32

// walk passes the entries of a backup in dir to fn, by key. The error has CodeCorrupt if a
// file is not as it was written.
func (m *manifest) walk(ctx context.Context, dir string, fn func(store.Entry) error) error {
	return m.walkBlocks(ctx, dir, func(raw []byte) error { return readEntries(raw, fn) })
}

func (m *manifest) walkBlocks(ctx context.Context, dir string, fn func(raw []byte) error) error {
	files := map[int]*os.File{}
	closeAll := func() {
		for i, f := range files {
			_ = f.Close() // only read
			delete(files, i)
		}
	}
	defer closeAll()
	bad := func(p pack, at int64, what string) error {
		return memory.Errorf(memory.CodeCorrupt, "the backup %s is damaged: %s in %s at byte %d: %s", m.Name, p.Name, dir, at, what)
	}
	for _, p := range m.packs {
		info, err := os.Lstat(filepath.Join(dir, p.Name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return bad(p, 0, "the file is missing")
		case err != nil:
			return fmt.Errorf("read backup: %w", err)
		case !info.Mode().IsRegular() || info.Size() != p.Size:
			return bad(p, min(info.Size(), p.Size), fmt.Sprintf("it has %d bytes, not %d", info.Size(), p.Size))
		}
	}
	var packed []byte
	for _, b := range m.blocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := m.packs[b.pack]
		if files[b.pack] == nil {
			if len(files) >= maxOpen {
				closeAll()
			}
			f, err := os.Open(filepath.Join(dir, p.Name))
			if err != nil {
				return fmt.Errorf("read backup: %w", err)
			}
			files[b.pack] = f
		}
		packed = slices.Grow(packed[:0], int(b.length))[:b.length]
		if _, err := files[b.pack].ReadAt(packed, b.offset); errors.Is(err, io.EOF) {
			return bad(p, b.offset, "the file ends there")
		} else if err != nil {
			return fmt.Errorf("read backup: %w", err)
		}
		raw, err := decompress(packed, b)
		if err != nil {
			return bad(p, b.offset, err.Error())
		}
		if err := fn(raw); err != nil {
			return err
		}
	}
	return nil
}

// List returns the backups in a folder, by store and time. A damaged one has Damage set, one
// of a newer layout Newer.
func List(dir string) (_ []memory.Backup, err error) {
	defer func() {
		if errors.Is(err, fs.ErrPermission) {
			err = &memory.Error{Code: memory.CodeForbidden, Field: "path", Message: err.Error(),
				Hint: "make the backups readable for your user, or name another folder", Cause: err}
		}
	}()
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if errors.Is(err, syscall.ENOTDIR) { // on Windows, too
		return nil, memory.Invalid("path", "a folder", "%s is not a folder", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("read backups: %w", err)
	}
	var all []memory.Backup
	for _, e := range entries {
		if _, err := strconv.ParseUint(e.Name(), 16, 64); err != nil || len(e.Name()) != 16 || !e.IsDir() {
			continue
		}
		in := filepath.Join(dir, e.Name())
		found, damaged, err := manifests(in)
		if err != nil && memory.CodeOf(err) != memory.CodeIncompatible {
			return nil, err
		}
		for _, m := range found {
			m.Stored, m.Newer = stored(in, []*manifest{m}), m.Newer || m.Schema > store.Schema()
			all = append(all, m.Backup)
		}
		for _, name := range damaged {
			all = append(all, memory.Backup{Store: e.Name(), Name: name, Path: in, Damage: "its manifest is damaged"})
		}
	}
	return all, nil
}

// Some returns the backups in a folder as List does. CodeNotFound if there are none.
func Some(dir string) ([]memory.Backup, error) {
	all, err := List(dir)
	if err != nil || len(all) > 0 {
		return all, err
	}
	what := dir + " has no backup"
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		what = "the folder " + dir + " does not exist"
	}
	return nil, &memory.Error{Code: memory.CodeNotFound, Field: "path", Message: what, Hint: "name the folder that has the backups; `recalld backup` makes one"}
}

// Find returns the backup with a name, or the newest that can be restored if name is empty,
// of a store; an empty store is any, if there is only one.
func Find(dir, of, name string) (*memory.Backup, error) {
	all, err := Some(dir)
	if err != nil {
		return nil, err
	}
	var best *memory.Backup
	stores := map[string]bool{}
	usable := func(b *memory.Backup) bool { return b != nil && b.Damage == "" && !b.Newer }
	for i, b := range all {
		if of != "" && b.Store != of || name != "" && b.Name != name {
			continue
		}
		if usable(&b) || name != "" {
			stores[b.Store] = true
		}
		if name != "" || usable(&b) || !usable(best) {
			best = &all[i]
		}
	}
	switch {
	case len(stores) > 1:
		return nil, &memory.Error{Code: memory.CodeConflict, Field: "store", Message: fmt.Sprintf("%s has backups of %d stores", dir, len(stores)),
			Hint: "name one with --store; `recalld backup list` lists them"}
	case best == nil:
		return nil, &memory.Error{Code: memory.CodeNotFound, Field: "backup", Message: fmt.Sprintf("%s has no such backup", dir), Hint: "`recalld backup list " + dir + "` lists them"}
	case best.Damage != "":
		return nil, &memory.Error{Code: memory.CodeCorrupt, Field: "backup", Message: fmt.Sprintf("the backup %s cannot be used: %s", best.Name, best.Damage),
			Hint: "name another folder or backup; `recalld backup verify " + dir + "` says which are sound"}
	}
	return best, nil
}

// Walk passes the entries of a backup to fn, by key. It returns CodeCorrupt where a file is
// not as it was written.
func Walk(ctx context.Context, b *memory.Backup, fn func(store.Entry) error) error {
	m, err := load(filepath.Join(b.Path, b.Name+manifestSuffix))
	if err != nil {
		return err
	}
	return m.walk(ctx, b.Path, fn)
}

// Verify reads every byte of a backup and compares the checksums. progress gets the bytes
// of entries that are done.
func Verify(ctx context.Context, b *memory.Backup, progress func(done int64)) error {
	m, err := load(filepath.Join(b.Path, b.Name+manifestSuffix))
	if err != nil {
		return err
	}
	done, entries := int64(0), 0
	err = m.walkBlocks(ctx, b.Path, func(raw []byte) error {
		done += int64(len(raw))
		progress(done)
		return readEntries(raw, func(store.Entry) error { entries++; return nil })
	})
	if err == nil && entries != m.Entries {
		err = memory.Errorf(memory.CodeCorrupt, "the backup %s is damaged: it has %d entries, not %d", m.Name, entries, m.Entries)
	}
	return err
}

// errEnough ends a walk early.
var errEnough = errors.New("enough")

// Forgotten returns what was forgotten when the newest sound backup of a store was made.
func Forgotten(ctx context.Context, dir, of string) (forgotten []string, err error) {
	last, err := Find(dir, of, "")
	if err != nil {
		return nil, err
	}
	err = Walk(ctx, last, func(e store.Entry) error {
		if id, is := store.ForgottenID(e.Key); is {
			forgotten = append(forgotten, id)
		} else if len(forgotten) > 0 {
			return errEnough // entries come by key
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return forgotten, err
}
