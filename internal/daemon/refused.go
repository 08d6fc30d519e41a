package daemon

import (
	"context"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// writableEvery is how often background work that needs to write looks whether it can.
const writableEvery = time.Second

// onceWritable runs fn, again for as long as it fails because nothing can be stored.
func onceWritable(ctx context.Context, fn func(context.Context) error) error {
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
