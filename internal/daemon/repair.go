package daemon

import (
	"context"
	"errors"
	"os"
	"time"

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
	lock *Lock
}

// PrepareRepair finds out what the store of a data folder has lost and prepares one
// that has the rest. Nothing is changed until Finish. The error is CodeConflict while
// a daemon holds the folder, CodeNotFound when there is no store.
func PrepareRepair(ctx context.Context, cfg config.Config, version string) (*Repair, error) {
	paths := cfg.Paths()
	lock, err := AcquireLock(ctx, LockOptions{
		Path: paths.Lock, Owner: Owner{PID: os.Getpid(), Version: version, Since: time.Now().UTC()},
		Wait: time.Second, // for a daemon that has closed its store and is about to let go
	})
	if err != nil {
		return nil, err
	}
	r, err := store.PrepareRepair(ctx, store.Options{Dir: paths.Store, Analyze: analyzeRecord})
	if err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return &Repair{r, lock}, nil
}

// End lets the data folder go, and removes what was prepared and not finished.
func (r *Repair) End() error { return errors.Join(r.Discard(), r.lock.Release()) }
