package recall

import (
	"context"
	"fmt"
	"sync"

	"github.com/recalld/recalld/internal/memory"
)

const (
	// maxLooks is how many looks at the disk are waited for at once, maxRootLooks how
	// many of them, and of those left behind, are at one folder.
	maxLooks, maxRootLooks = 16, 8
	// maxLeft is how many looks left behind at a folder make it one that hangs: until
	// some come back, it is not looked at, and nobody waits for it.
	maxLeft = 2
)

// gates look at the disk. A disk that hangs, such as a network drive that has gone,
// takes no notice of deadlines: every look is a goroutine's own, and one that does not
// come back in time is left behind. Those left behind count against the root of their
// repository alone, so that other repositories are looked at as before.
type gates struct {
	verifier memory.Verifier
	// free has room for every look that somebody waits for.
	free chan struct{}

	mu    sync.Mutex // guards what follows
	roots map[string]*rootLooks
	// ended is closed, and replaced, whenever a look ends.
	ended chan struct{}
}

// rootLooks are the looks at one root; gates.mu guards it.
type rootLooks struct {
	free chan struct{}
	// users are the looks that go on or wait to, left those that were left behind.
	users, left int
}

func newGates(v memory.Verifier) *gates {
	return &gates{verifier: v, free: make(chan struct{}, maxLooks), roots: map[string]*rootLooks{}, ended: make(chan struct{})}
}

// chunk reads a chunk again, head how a file begins. The error is a
// *memory.GateError, TooSlow when ctx ends first or the folder hangs.
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
	root := g.enter(at.Root)
	if root == nil {
		return memory.Verified{}, late
	}
	if !acquire(ctx, root.free) {
		g.leave(at.Root, root)
		return memory.Verified{}, late
	}
	if !acquire(ctx, g.free) {
		<-root.free
		g.leave(at.Root, root)
		return memory.Verified{}, late
	}
	defer func() { <-g.free }()
	type seen struct {
		v   memory.Verified
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
		isLeft = true // too late to leave it behind
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
	return memory.Verified{}, late
}

func acquire(ctx context.Context, free chan struct{}) bool {
	select {
	case free <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// enter returns the looks at a root, of which the caller's is one until it calls
// leave, or nil if the root hangs.
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

// close waits for the looks that were left behind, or returns ctx's error.
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

// Close waits until nothing looks at the disk any more, or returns ctx's error: a
// disk that hangs may never let go. Nothing may be asked from then on.
func (s *Service) Close(ctx context.Context) error { return s.gates.close(ctx) }
