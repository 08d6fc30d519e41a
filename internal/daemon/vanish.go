package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

// vanishEvery is how often the data folder is looked for. The watchers of the
// system would need a hold on its parent, and say nothing on a network drive.
const vanishEvery = 5 * time.Second

// WatchVanish returns nil when path, the data folder's lock file, is no longer
// the file that it was at the start: removed, with its folder or alone, or
// replaced by another. An autostarted daemon ends then, for nobody is left who
// knows of it, and another may own what is there now. WatchVanish returns ctx's
// error when that ends first. Ticks are the times to look at; nil is every five
// seconds.
func WatchVanish(ctx context.Context, path string, ticks <-chan time.Time) error {
	if ticks == nil {
		t := time.NewTicker(vanishEvery)
		defer t.Stop()
		ticks = t.C
	}
	before, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticks:
		}
		// Other errors, of a drive that is away for a moment, say nothing.
		now, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && before != nil && !os.SameFile(before, now) {
			return nil
		}
	}
}
