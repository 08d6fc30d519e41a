package daemon

import (
	"cmp"
	"context"
	"time"
)

const (
	// saveLook is how often it is looked whether the indexes should be saved. They are saved
	// when nothing was committed since the last look, because commits wait meanwhile.
	saveLook = time.Minute
	// saveTimeout is how long that may take when the daemon ends: a million lessons take 3 to 5 s.
	// The rest of closeTimeout is for the store. The next start takes the indexes that were
	// saved before, or builds them anew.
	saveTimeout = closeTimeout * 3 / 4
)

// keepIndexesSaved saves the indexes now and then, so that the start after a kill need not
// build them anew.
func (d *Daemon) keepIndexesSaved(ctx context.Context) {
	ticks := cmp.Or(d.opts.pauses.save, time.Tick(saveLook))
	seen := d.core.Indexer.Seq()
	failed := "" // why the last try failed, to be told once
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			if seq := d.core.Indexer.Seq(); seq != seen {
				seen = seq
				continue
			}
			why := ""
			if err := d.saveIndexes(ctx); err != nil && ctx.Err() == nil {
				why = err.Error()
			}
			if why != "" && why != failed {
				d.log.Warn("the indexes were not saved", attrPart, "daemon", attrError, why)
			}
			seen, failed = d.core.Indexer.Seq(), why
		}
	}
}

// saveIndexes saves the indexes if what is saved is missing or old.
func (d *Daemon) saveIndexes(ctx context.Context) error {
	if !d.core.Indexer.SaveDue() {
		return nil
	}
	start := time.Now()
	if err := d.core.Indexer.Save(ctx); err != nil {
		return err
	}
	d.log.Info("indexes saved", attrPart, "daemon", "took", time.Since(start).Round(time.Millisecond))
	return nil
}
