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
// Beyond longGarbage bytes long work may leave less, down to half of what is held.
const (
	gcPercent     = 20
	gcPercentLong = 100
	longGarbage   = 128 << 20
)

// longWork is how long work takes that makes much garbage, and how often what is held is
// looked at meanwhile.
const longWork = time.Second

// garbage lets there be more of it while long work goes on.
type garbage struct {
	held func() uint64 // bytes in use
	mu   sync.Mutex
	long int         // pieces of long work that go on
	look *time.Timer // the next look at what is held, if any
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
	if g.look != nil {
		g.look.Stop()
	}
	percent := gcPercent
	if g.long += n; g.long > 0 {
		percent = longPercent(g.held())
		g.look = time.AfterFunc(longWork, func() { g.add(0) })
	}
	setGCPercent(percent)
}

// longPercent is how much garbage long work may leave where so many bytes are held.
func longPercent(held uint64) int {
	return int(min(gcPercentLong, max(100*longGarbage/max(held, 1), gcPercentLong/2)))
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
