package daemon

import (
	"os"
	"runtime/debug"
	"sync"
	"time"
)

// How much garbage there may be, in percent of what is held. Most of a daemon's memory is the
// indexes, which live as long as it does: a fifth instead of a half takes 60 MB less at 100,000
// chunks. Long work makes much garbage, and a fifth costs it a third more processor: while it
// goes on, and while the indexes are loaded, which callers wait for, it is Go's own default.
const (
	gcPercent     = 20
	gcPercentLong = 100
)

// longWork is how long work takes that makes much garbage.
const longWork = time.Second

// garbage lets there be more of it while long work goes on.
type garbage struct {
	mu   sync.Mutex
	long int // pieces of long work that go on
}

// begin counts the beginning of long work.
func (g *garbage) begin() { g.add(1) }

// end counts the end of long work. It leaves as much garbage as it kept, which is given back to
// the system.
func (g *garbage) end() {
	g.add(-1)
	debug.FreeOSMemory()
}

func (g *garbage) add(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.long += n
	percent := gcPercent
	if g.long > 0 {
		percent = gcPercentLong
	}
	setGCPercent(percent)
}

// during is for work that may take long: done is called at its end.
func (g *garbage) during() (done func()) {
	timer := time.AfterFunc(longWork, g.begin)
	return func() {
		if !timer.Stop() {
			g.end()
		}
	}
}

// setGCPercent sets how much garbage there may be, unless the environment does (GOGC). Undo
// ends it.
func setGCPercent(percent int) (undo func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(percent)
	return func() { debug.SetGCPercent(before) }
}
