package daemon

import (
	"context"
	"errors"
	"fmt"

	"github.com/recalld/recalld/internal/backup"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/store"
)

// notice says what concerns every answer: that the store has lost something.
func (d *Daemon) notice() string {
	if damage := d.core.Store.Damage(); damage != nil {
		return damage.Text()
	}
	return ""
}

// analyzeRecord gives the terms of a record's text, as the write path does.
func analyzeRecord(text string) []byte { return indexer.Analyze(memory.Document{Text: text}) }

// Repair is a prepared repair of the store of a data folder, which it holds until it
// is ended.
type Repair struct {
	*store.Repair
	lock *folderLock
	// Backup is that from which missing memories are taken; nil: there is none.
	Backup *memory.Backup
	// Note says why nothing is taken from it; empty if that is not so.
	Note string
}

// PrepareRepair finds out what the store of a data folder has lost and prepares one
// that has the rest. Nothing is changed until Finish. The error is CodeConflict while
// a daemon holds the folder, CodeNotFound when there is no store.
func PrepareRepair(ctx context.Context, cfg config.Config, version string) (*Repair, error) {
	paths := cfg.Paths()
	lock, err := lockFolder(ctx, paths, version, lockPatience)
	if err != nil {
		return nil, err
	}
	opts := store.Options{Dir: paths.Store, Analyze: analyzeRecord}
	var refill *store.Refill
	last := lastBackup(opts, paths.Backups)
	if last != nil {
		refill = &store.Refill{Schema: last.Schema, Walk: func(fn func(store.Entry) error) error { return backup.Walk(ctx, last, fn) }}
	}
	r, err := store.PrepareRepair(ctx, opts, refill)
	if refill != nil && memory.CodeOf(err) == memory.CodeCorrupt { // the backup is damaged, too
		last = nil
		r, err = store.PrepareRepair(ctx, opts, nil)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	note := ""
	if last != nil && !last.Newer && last.Schema < store.Schema() {
		note = fmt.Sprintf("Nothing is taken from the last backup, %s: its schema is version %d, not %d. `recalld restore` brings it back as a whole.", last.Name, last.Schema, store.Schema())
	}
	return &Repair{r, lock, last, note}, nil
}

// lastBackup is the newest backup of a store, nil if there is none or the store's identity
// is lost.
func lastBackup(opts store.Options, dir string) *memory.Backup {
	id := store.IdentityOf(opts.Dir)
	if id == 0 {
		return nil
	}
	last, err := backup.Find(dir, backup.StoreName(id), "")
	if err != nil {
		return nil
	}
	return last
}

// End lets the data folder go, and removes what was prepared and not finished.
func (r *Repair) End() error { return errors.Join(r.Discard(), r.lock.Release()) }
