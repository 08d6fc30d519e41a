package recall

import (
	"context"
	"fmt"

	"github.com/recalld/recalld/internal/memory"
)

// maxLooks is how many looks at the disk go on at once, and thus how many can hang.
const maxLooks = 16

// gates look at the disk. A disk that hangs, such as a network drive that has gone,
// takes no notice of deadlines: every look is a goroutine's own, and one that does not
// come back in time is left behind. Once maxLooks hang, the others wait for them until
// their deadlines and are too slow, too.
type gates struct {
	verifier memory.Verifier
	// free has room for every look that may go on; close waits until all of it is.
	free chan struct{}
}

func newGates(v memory.Verifier) *gates {
	return &gates{verifier: v, free: make(chan struct{}, maxLooks)}
}

// chunk reads a chunk again, head how a file begins. The error is a
// *memory.GateError, TooSlow when ctx ends first.
func (g *gates) chunk(ctx context.Context, at memory.Location) (memory.Verified, error) {
	return g.look(ctx, at, g.verifier.Verify)
}

func (g *gates) head(ctx context.Context, at memory.Location) (memory.Verified, error) {
	return g.look(ctx, at, g.verifier.Head)
}

func (g *gates) look(ctx context.Context, at memory.Location, read func(context.Context, memory.Location) (memory.Verified, error)) (memory.Verified, error) {
	late := &memory.GateError{Reason: memory.TooSlow, Path: at.Path}
	if ctx.Err() != nil {
		return memory.Verified{}, late
	}
	select {
	case g.free <- struct{}{}:
	case <-ctx.Done():
		return memory.Verified{}, late
	}
	type seen struct {
		v   memory.Verified
		err error
	}
	done := make(chan seen, 1)
	go func() {
		defer func() { <-g.free }()
		v, err := read(ctx, at)
		done <- seen{v, err}
	}()
	select {
	case s := <-done:
		return s.v, s.err
	case <-ctx.Done():
		return memory.Verified{}, late
	}
}

// close waits for the looks that were left behind, or returns ctx's error.
func (g *gates) close(ctx context.Context) error {
	taken := 0
	defer func() {
		for range taken {
			<-g.free
		}
	}()
	for taken < cap(g.free) {
		select {
		case g.free <- struct{}{}:
			taken++
		case <-ctx.Done():
			return fmt.Errorf("wait for looks at the disk: %w", ctx.Err())
		}
	}
	return nil
}

// Close waits until nothing looks at the disk any more, or returns ctx's error: a
// disk that hangs may never let go. Nothing may be asked from then on.
func (s *Service) Close(ctx context.Context) error { return s.gates.close(ctx) }
