package recall

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/recalld/recalld/internal/memory"
)

const (
	// maxLooks bounds the reads waited for at once, in all roots. maxRootLooks bounds
	// those at one root, including abandoned reads.
	maxLooks, maxRootLooks = 16, 8
	// maxLeft is the number of abandoned reads from which a root counts as hanging. It is
	// not read until some of them return.
	maxLeft = 2
)

// gates read the disk. A hanging disk, such as a lost network drive, ignores deadlines.
// Therefore every read has a goroutine of its own, which is abandoned if it does not
// return in time. Abandoned reads count only against the root of their repository, so
// that other repositories stay readable.
type gates struct {
	verifier memory.Verifier
	// free has room for every read that a caller waits for.
	free chan struct{}

	mu    sync.Mutex // guards what follows
	roots map[string]*rootLooks
	// ended is closed and replaced whenever a read ends.
	ended chan struct{}
}

// rootLooks counts the reads at one root; gates.mu guards it.
type rootLooks struct {
	free chan struct{}
	// users counts the reads that run or wait to run, left the abandoned ones.
	users, left int
}

func newGates(v memory.Verifier) *gates {
	return &gates{verifier: v, free: make(chan struct{}, maxLooks), roots: map[string]*rootLooks{}, ended: make(chan struct{})}
}

// chunk reads a chunk again, head the beginning of a file. The error is a
// *memory.GateError: TooSlow if ctx ends first or the root hangs.
func (g *gates) chunk(ctx context.Context, at memory.Location) (memory.Verified, error) {
	return look(ctx, g, at, g.verifier.Verify)
}

func (g *gates) head(ctx context.Context, at memory.Location) (memory.Verified, error) {
	return look(ctx, g, at, g.verifier.Head)
}

// look reads something at a root, in a goroutine that is abandoned when ctx ends.
func look[T any](ctx context.Context, g *gates, at memory.Location, read func(context.Context, memory.Location) (T, error)) (T, error) {
	var none T
	late := &memory.GateError{Reason: memory.TooSlow, Path: at.Path}
	if ctx.Err() != nil {
		return none, late
	}
	root := g.enter(at.Root)
	if root == nil {
		return none, late
	}
	if !acquire(ctx, root.free) {
		g.leave(at.Root, root)
		return none, late
	}
	if !acquire(ctx, g.free) {
		<-root.free
		g.leave(at.Root, root)
		return none, late
	}
	defer func() { <-g.free }()
	type seen struct {
		v   T
		err error
	}
	done := make(chan seen, 1)
	isLeft := false // guarded by g.mu
	go func() {
		v, err := read(ctx, at)
		done <- seen{v, err}
		<-root.free
		g.mu.Lock()
		if isLeft {
			root.left--
		}
		isLeft = true // too late to abandon it
		g.mu.Unlock()
		g.leave(at.Root, root)
	}()
	select {
	case s := <-done:
		return s.v, s.err
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !isLeft {
		isLeft = true
		root.left++
	}
	return none, late
}

func acquire(ctx context.Context, free chan struct{}) bool {
	select {
	case free <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// enter registers the caller as a user of a root until it calls leave. It returns nil if
// the root hangs.
func (g *gates) enter(name string) *rootLooks {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.roots[name]
	if r == nil {
		r = &rootLooks{free: make(chan struct{}, maxRootLooks)}
		g.roots[name] = r
	}
	if r.left >= maxLeft {
		return nil
	}
	r.users++
	return r
}

func (g *gates) leave(name string, r *rootLooks) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r.users--; r.users == 0 {
		delete(g.roots, name)
	}
	close(g.ended)
	g.ended = make(chan struct{})
}

// close waits for the abandoned reads, or returns ctx's error.
func (g *gates) close(ctx context.Context) error {
	for {
		g.mu.Lock()
		looking, ended := len(g.roots), g.ended
		g.mu.Unlock()
		if looking == 0 {
			return nil
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return fmt.Errorf("wait for looks at the disk: %w", ctx.Err())
		}
	}
}

// Close waits until all reads have ended, or returns ctx's error: a hanging disk may never
// return. The service must not be used afterwards.
func (s *Service) Close(ctx context.Context) error { return s.gates.close(ctx) }

// gateReason returns why a gate rejected a file; empty if it did not.
func gateReason(ctx context.Context, err error) memory.Reason {
	if err == nil {
		return ""
	}
	if gate, ok := errors.AsType[*memory.GateError](err); ok {
		return gate.Reason
	}
	if ctx.Err() != nil {
		return memory.TooSlow
	}
	return memory.Unreadable
}
