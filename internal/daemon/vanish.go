package daemon

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

// vanishEvery is how often the data folder is looked for. The watchers of the
// system would need a hold on its parent, and say nothing on a network drive.
const vanishEvery = 5 * time.Second

// watchVanish returns nil when one of the files, the data folder's lock and the
// socket, is no longer the file that it was at the start: removed, with its
// folder or alone, or replaced by another. No client can reach the daemon then, and
// another may own what is there now. It returns ctx's error when that ends
// first. Ticks are the times to look; nil is every five seconds.
func watchVanish(ctx context.Context, paths []string, ticks <-chan time.Time) error {
	ticks = cmp.Or(ticks, time.Tick(vanishEvery))
	before := make([]fs.FileInfo, len(paths))
	for i, path := range paths {
		var err error
		if before[i], err = os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticks:
		}
		for i, path := range paths {
			// Other errors, of a drive that is away for a moment, say nothing.
			now, err := os.Lstat(path)
			if errors.Is(err, fs.ErrNotExist) || err == nil && before[i] != nil && !os.SameFile(before[i], now) {
				return nil
			}
		}
	}
}
