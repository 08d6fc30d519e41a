package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/recalld/recalld/internal/backup"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/store"
)

// Restore is a prepared restore. It holds the data folder until it is ended.
type Restore struct {
	*store.Restore
	// Note says what could not be considered; empty if nothing.
	Note string

	lock  *folderLock
	built string // the data folder that is made; empty for a restore in place
	to    string
}

// MayRestoreTo returns CodeConflict unless a folder is missing or empty.
func MayRestoreTo(to string) error {
	if entries, err := os.ReadDir(to); err == nil && len(entries) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &memory.Error{Code: memory.CodeConflict, Field: "to", Message: to + " is not an empty folder", Hint: "name a new folder"}
	}
	return nil
}

// PrepareRestore makes a store of a backup: beside the present one of the data folder, or,
// if to is not empty, in a new data folder. Nothing is changed until Finish. What was
// forgotten, by the newest backup or the present store, does not come back. The error is
// CodeConflict while a daemon holds the data folder, or if to is not an empty or missing
// folder.
func PrepareRestore(ctx context.Context, cfg config.Config, version string, b *memory.Backup, to string, progress func(done int64)) (_ *Restore, err error) {
	paths := cfg.Paths()
	if err := paths.Prepare(); err != nil {
		return nil, err
	}
	lock, err := lockFolder(ctx, paths, version, lockPatience)
	if err != nil {
		return nil, err
	}
	r := &Restore{to: to, lock: lock}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.End())
		}
	}()
	dir := paths.Store
	if to != "" {
		if err := MayRestoreTo(to); err != nil {
			return nil, err
		}
		r.built = filepath.Clean(to) + ".restoring"
		if err := os.RemoveAll(r.built); err != nil { // of a restore that was killed
			return nil, fmt.Errorf("prepare restore: %w", err)
		}
		cfg.Data = r.built
		dir = cfg.Paths().Store
	}
	forgotten, err := backup.Forgotten(ctx, filepath.Dir(b.Path), b.Store)
	if err != nil {
		return nil, err
	}
	id, since, err := store.Forgotten(store.Options{Dir: paths.Store})
	switch {
	case err == nil && backup.StoreName(id) == b.Store:
		forgotten = append(forgotten, since...)
		slices.Sort(forgotten)
		forgotten = slices.Compact(forgotten)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		r.Note = "the present store cannot be read, so what was forgotten after the newest backup may come back: " + err.Error()
	}
	var done int64
	r.Restore, err = store.PrepareRestore(ctx, store.Options{Dir: dir, Analyze: analyzeRecord}, store.Restoring{
		Size: b.Size, Schema: b.Schema, NewID: to != "", Forgotten: forgotten,
		Walk: func(fn func(store.Entry) error) error {
			return backup.Walk(ctx, b, func(e store.Entry) error {
				done += int64(len(e.Key) + len(e.Value))
				progress(done)
				return fn(e)
			})
		},
	})
	return r, err
}

// Finish puts the restored store in its place, and returns the folder with the former one,
// if there was one.
func (r *Restore) Finish() (aside string, err error) {
	aside, err = r.Restore.Finish()
	if err != nil || r.to == "" {
		return aside, err
	}
	if err := os.Remove(r.to); err != nil && !errors.Is(err, fs.ErrNotExist) { // it is empty
		return "", fmt.Errorf("finish restore: %w", err)
	}
	if err := os.Rename(r.built, r.to); err != nil {
		return "", fmt.Errorf("finish restore: %w", err)
	}
	return "", nil
}

// End lets the data folder go, and removes what was prepared and not finished.
func (r *Restore) End() error {
	var err error
	if r.Restore != nil {
		err = r.Restore.Discard()
	}
	if r.built != "" {
		err = errors.Join(err, os.RemoveAll(r.built))
	}
	return errors.Join(err, r.lock.Release())
}
