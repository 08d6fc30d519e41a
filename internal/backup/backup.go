// Package backup writes states of a store into a folder and reads them back.
//
// Vocabulary. A backup is one committed state of a store. Its entries, by key, are cut into
// blocks by what they say, so that equal ranges of two backups are equal blocks. A block is
// named by the SHA-256 of its bytes, is compressed, and is written once: a later backup
// refers to it. Blocks lie one behind another in pack files. The manifest of a backup lists
// its blocks and is written last, so a backup without a manifest does not exist. Each store
// has a folder of its own, named by its id, so several can share a backup folder.
//
// Every byte is covered by a checksum: the manifest by its last line, blocks by their
// names, and stored values by their own.
//
// What was forgotten is taken out of older backups when the next one is made: then all
// backups of the store are written anew, without it, and the old packs are removed.
package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/store"
)

// Options configure Create.
type Options struct {
	// Dir is the folder of all backups; it is created, 0700. Required.
	Dir string
	// Data is the data folder, and Version the program's, both for people.
	Data, Version string
	// Keep is how long a backup is kept; 0 is for ever. The newest one always stays.
	Keep time.Duration
	// MaxSize bounds the backups of the store, in bytes: the oldest are removed; 0 is no
	// bound. The newest one always stays.
	MaxSize int64
	// Clock gives the time of the backup. Default time.Now.
	Clock func() time.Time
	// Logger gets what is removed. Default: discarded.
	Logger *slog.Logger
	// Turn, if set, runs each block's work when it is in nobody's way. The work takes a few
	// milliseconds.
	Turn func(ctx context.Context, work func() error) error
	// create creates a pack; tests replace it.
	create func(path string) (packFile, error)
}

func (o *Options) validate() error {
	if o.Dir == "" {
		return memory.Invalid("path", "", "a backup needs a folder")
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Turn == nil {
		o.Turn = func(_ context.Context, work func() error) error { return work() }
	}
	if o.create == nil {
		o.create = createPack
	}
	return nil
}

// packFile is a pack that is being written.
type packFile interface {
	io.WriteCloser
	Sync() error
}

func createPack(path string) (packFile, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// nameLayout is the time that names a backup.
const nameLayout = "20060102T150405.000Z"

// StoreName is how a store's id is written in paths and manifests.
func StoreName(id uint64) string { return fmt.Sprintf("%016x", id) }

// Create writes a backup of a snapshot. progress gets the bytes of entries that are done.
// Two calls for one store must not overlap. After an error the folder has the backups that
// it had.
func Create(ctx context.Context, x *store.Snapshot, opts Options, progress func(done int64)) (*memory.Backup, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	b, err := create(ctx, x, opts, progress)
	switch {
	case fsx.FailsToRead(err):
		err = &memory.Error{Code: memory.CodeUnavailable, Cause: err,
			Message: fmt.Sprintf("the backup was not made: the disk fails: %v", err), Hint: "the backups made before are unchanged; copy them to another disk"}
	case fsx.RefusesWrites(err):
		err = &memory.Error{Code: memory.CodeReadOnly, Field: "path", Cause: err,
			Message: fmt.Sprintf("the backup was not made: %s cannot be written: %v", opts.Dir, err),
			Hint:    "make room there, or name another folder if that disk fails; the backups made before are unchanged"}
	}
	return b, err
}

func create(ctx context.Context, x *store.Snapshot, opts Options, progress func(int64)) (_ *memory.Backup, err error) {
	dir := filepath.Join(opts.Dir, StoreName(x.Store))
	if err := fsx.MakeFolder(dir, 0o700); err != nil {
		return nil, &memory.Error{Code: memory.CodeInvalidInput, Field: "path", Limit: "a folder, or one that can be created", Cause: err,
			Message: fmt.Sprintf("%s cannot hold backups: %v", opts.Dir, err), Hint: "name another folder"}
	}
	old, damaged, err := manifests(dir)
	if err != nil {
		return nil, err
	}
	name, err := nextName(dir, opts.Clock())
	if err != nil {
		return nil, fmt.Errorf("name backup: %w", err)
	}
	m := &manifest{Backup: memory.Backup{
		Store: StoreName(x.Store), Name: name, Path: dir, Data: opts.Data, CreatedAt: opts.Clock().UTC(),
		Version: opts.Version, Schema: x.Schema, Seq: x.Seq, Records: x.Counts,
	}, Forgotten: digest(x.Forgotten())}
	old, expired := expire(old, m.CreatedAt, opts.Keep)

	w := newWriter(dir, m.Name, opts)
	defer func() {
		if err != nil {
			err = errors.Join(err, w.discard())
		}
	}()
	anew := slices.ContainsFunc(old, func(o *manifest) bool { return o.Forgotten != m.Forgotten }) || mostlyUnused(dir, old)
	if !anew {
		w.know(old)
	}
	if err := w.write(ctx, m, x.Walk, progress); err != nil {
		return nil, err
	}
	rewritten := []*manifest{m}
	if anew {
		again, lost, err := rewrite(ctx, w, old, x, m.Forgotten)
		if err != nil {
			return nil, err
		}
		old, rewritten = again, append(rewritten, again...)
		expired = append(expired, lost...)
	}
	if err := w.close(); err != nil {
		return nil, err
	}
	m.Written = w.written
	for i, o := range rewritten { // the new one first
		if err := o.save(dir, w.packs); err != nil {
			if i > 0 { // the packs are in use
				opts.Logger.Warn("an older backup is not rewritten without what was forgotten", "part", "backup", "name", o.Name, "error", err)
				return &m.Backup, nil
			}
			return nil, err
		}
	}
	old = append(old, m)
	removed, late := prune(dir, old, expired, damaged, opts)
	if late != nil { // the backup is made
		opts.Logger.Warn("older backups are not removed", "part", "backup", "error", late)
	}
	m.Removed = removed
	return &m.Backup, nil
}

// rewrite writes older backups anew, without what was forgotten since. One that cannot be
// read cannot be restored either: it is lost.
func rewrite(ctx context.Context, w *writer, old []*manifest, x *store.Snapshot, forgotten string) (again, lost []*manifest, err error) {
	for _, o := range old {
		n := &manifest{Backup: o.Backup, Forgotten: forgotten}
		eraser := x.Eraser()
		err := w.write(ctx, n, func(ctx context.Context, fn func(store.Entry) error) error {
			return o.walk(ctx, w.dir, func(e store.Entry) error {
				keep, err := eraser.Keep(&e)
				if err != nil || !keep {
					return err
				}
				return fn(e)
			})
		}, func(int64) {})
		if memory.CodeOf(err) == memory.CodeCorrupt {
			lost = append(lost, o)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		again = append(again, n)
	}
	return again, lost, nil
}

// expire separates the backups that are older than keep.
func expire(all []*manifest, now time.Time, keep time.Duration) (kept, expired []*manifest) {
	for _, o := range all {
		if keep > 0 && now.Sub(o.CreatedAt) > keep {
			expired = append(expired, o)
		} else {
			kept = append(kept, o)
		}
	}
	return kept, expired
}

// nextName returns a name after those of all files in dir, also where the clock has been set
// back: the last name is the newest backup. A pack may be older than the backups that use it,
// or be left by a process that was killed.
func nextName(dir string, now time.Time) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if len(e.Name()) < len(nameLayout) {
			continue
		}
		at, err := time.Parse(nameLayout, e.Name()[:len(nameLayout)])
		if err == nil && !at.Before(now.Truncate(time.Millisecond)) {
			now = at.Add(time.Millisecond)
		}
	}
	return now.UTC().Format(nameLayout), nil
}

// digest names a set of forgotten ids.
func digest(forgotten []string) string {
	sum := sha256.Sum256([]byte(strings.Join(forgotten, "\n")))
	return hex.EncodeToString(sum[:])
}

// mostlyUnused reports whether less than half of the packs' bytes are of backups.
func mostlyUnused(dir string, all []*manifest) bool {
	used := map[hash]int64{}
	for _, m := range all {
		for _, b := range m.blocks {
			used[b.hash] = b.length
		}
	}
	unused := stored(dir, all)
	for _, n := range used {
		unused -= 2 * n
	}
	return unused > 0
}

func packsOf(all []*manifest) map[string]bool {
	names := map[string]bool{}
	for _, m := range all {
		for _, p := range m.packs {
			names[p.Name] = true
		}
	}
	return names
}

// prune removes expired backups, the oldest ones above MaxSize, and packs that no backup
// refers to. all are the backups that stay, oldest first. While a manifest is damaged, packs
// stay: it is not known which are its own.
func prune(dir string, all, expired []*manifest, damaged []string, opts Options) (removed int, err error) {
	for opts.MaxSize > 0 && len(all) > 1 && stored(dir, all) > opts.MaxSize {
		expired, all = append(expired, all[0]), all[1:]
	}
	for _, m := range expired {
		if err := os.Remove(filepath.Join(dir, m.Name+manifestSuffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
		opts.Logger.Info("backup removed", "part", "backup", "name", m.Name)
		removed++
	}
	if len(damaged) > 0 {
		return removed, nil
	}
	keep := packsOf(all)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return removed, err
	}
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext == packSuffix && !keep[e.Name()] || ext == ".tmp" {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return removed, err
}

// stored is the size of the packs of some backups on disk, in bytes.
func stored(dir string, all []*manifest) (size int64) {
	for name := range packsOf(all) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
			size += info.Size()
		}
	}
	return size
}

// syncFolder makes the names of new files durable. Windows cannot sync a folder and need
// not.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
