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
// Of jobs, which nobody waits for, it is less from jobGarbage bytes on, down to half of what is
// held: a first index of 100,000 files takes 180 MB less, and a twentieth more processor.
const (
	gcPercent     = 20
	gcPercentLong = 100
	jobGarbage    = 128 << 20
)

// longWork is how long work takes that makes much garbage, and how often what jobs hold is
// looked at.
const longWork = time.Second

// garbage lets there be more of it while long work goes on.
type garbage struct {
	held func() uint64 // bytes in use
	free func()        // gives memory back to the system
	mu   sync.Mutex
	// What goes on: work that somebody waits for, as loading and imports, and jobs.
	waited, jobs int
	look         *time.Timer // the next look at what is held, if any
	percent      int         // set last; setting it may wait for a collection
}

// end counts the end of long work. It leaves as much garbage as it kept, which is given back to
// the system.
func (g *garbage) end(of *int) {
	g.add(of, -1)
	g.free()
}

// add adds to waited or jobs, and looks at what is held.
func (g *garbage) add(to *int, n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.look != nil {
		g.look.Stop()
	}
	*to += n
	percent := gcPercent
	switch {
	case g.waited > 0:
		percent = gcPercentLong
	case g.jobs > 0:
		percent = jobPercent(g.held())
		g.look = time.AfterFunc(longWork, func() { g.add(&g.jobs, 0) })
	}
	if percent != g.percent {
		g.percent = percent
		setGCPercent(percent)
	}
}

// jobPercent is how much garbage a job may leave where so many bytes are held.
func jobPercent(held uint64) int {
	return int(min(gcPercentLong, max(100*jobGarbage/max(held, 1), gcPercentLong/2)))
}

// during is for work of a kind, waited or jobs, that may take long: done is called at its end.
func (g *garbage) during(kind *int) (done func()) {
	timer := time.AfterFunc(longWork, func() { g.add(kind, 1) })
	return func() {
		if !timer.Stop() {
			g.end(kind)
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
