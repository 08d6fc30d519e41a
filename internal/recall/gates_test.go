package recall

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// mounts is a verifier some of whose folders hang until back is closed.
type mounts struct {
	memory.Verifier
	hangs func(root string) bool
	back  chan struct{}
}

func (m mounts) Verify(_ context.Context, at memory.Location) (memory.Verified, error) {
	if m.hangs(at.Root) {
		<-m.back
	}
	return memory.Verified{Path: at.Path}, nil
}

// TestHungRepositoryHoldsUpNoOther: looks at a repository on a drive that hangs take
// nothing from others, however many they are and however many repositories hang.
func TestHungRepositoryHoldsUpNoOther(t *testing.T) {
	const deadline = 200 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		m := mounts{back: make(chan struct{}), hangs: func(root string) bool { return root != "/good" }}
		g := newGates(m)
		ask := func(root string) (time.Duration, error) {
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()
			_, err := g.chunk(ctx, memory.Location{Root: root, Path: "f.go"})
			return time.Since(began), err
		}
		var busy sync.WaitGroup
		for range 10 * maxLooks {
			busy.Go(func() {
				if _, err := ask("/hung"); err == nil {
					t.Error("a look at a folder that hangs comes back")
				}
			})
		}
		synctest.Wait()
		if took, err := ask("/good"); err != nil || took != 0 {
			t.Errorf("while looks at another repository hang, a look takes %v, %v; want it at once", took, err)
		}
		busy.Wait()
		for i := range 10 * maxLooks {
			ask(fmt.Sprintf("/hung/%d", i%20))
		}
		for range 2 * maxLooks {
			if took, err := ask("/good"); err != nil || took != 0 {
				t.Fatalf("after looks at 21 repositories hang, a look takes %v, %v; want it at once", took, err)
			}
		}
		if took, err := ask("/hung"); err == nil || took != 0 {
			t.Errorf("a folder that is known to hang is waited for: %v, %v", took, err)
		}
		close(m.back)
		if err := g.close(t.Context()); err != nil {
			t.Error(err)
		}
		took, err := ask("/hung")
		synctest.Wait() // until the look's goroutine has left
		g.mu.Lock()
		defer g.mu.Unlock()
		if err != nil || took != 0 || len(g.roots) != 0 {
			t.Errorf("once the drive is back, a look takes %v, %v, and %d roots are kept; want it at once, and none", took, err, len(g.roots))
		}
	})
}
