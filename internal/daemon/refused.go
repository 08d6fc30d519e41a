package daemon

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// refusesWrites says that an error is of a disk that is full, or that cannot be written.
func refusesWrites(err error) bool {
	for _, of := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, fs.ErrPermission} {
		if errors.Is(err, of) {
			return true
		}
	}
	return false
}

// writableEvery is how often background work that needs to write looks whether it can.
const writableEvery = time.Second

// onceWritable runs fn, again for as long as it fails because nothing can be stored.
func (d *Daemon) onceWritable(ctx context.Context, fn func(context.Context) error) error {
	for {
		err := fn(ctx)
		if memory.CodeOf(err) != memory.CodeReadOnly || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(writableEvery):
		}
	}
}
