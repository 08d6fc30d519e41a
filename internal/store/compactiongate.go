package store

import (
	"context"
	"runtime"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// compactionGate keeps Badger from beginning a compaction. Badger must not begin one without
// room: where a table cannot be made it goes on without it and removes those that held
// the same entries (its subcompact loses the error), and a page without a block ends
// the process. Badger has no setting for that. But it tells a tracer of every
// compaction before it chooses the tables, in the goroutine that is to compact: there
// the gate holds it.
//
// A process has one gate, since the tracer is not told whose compaction begins. A
// daemon has one store.
type compactionGate struct {
	mu     sync.Mutex // guards what follows
	shut   int        // how many keep compactions from beginning whatever the guards say
	guards map[*guard]bool
}

var theGate = compactionGate{guards: map[*guard]bool{}}

// installGate makes the gate the tracer.
var installGate = sync.OnceFunc(func() { otel.SetTracerProvider(gateProvider{}) })

// gatePause is how often a compaction that is held asks again.
const gatePause = 50 * time.Millisecond

// add has a guard asked before compactions, until remove.
func (g *compactionGate) add(x *guard) {
	installGate()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.guards[x] = true
}

func (g *compactionGate) remove(x *guard) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.guards, x)
}

// hold shuts the gate and returns what opens it.
func (g *compactionGate) hold() func() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut++
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.shut--
	}
}

// pass returns when a compaction may begin. Where it is never to, since its store
// closes without room, it ends the goroutine, for which Close waits.
func (g *compactionGate) pass() {
	for {
		held, closing := g.held()
		if !held {
			return
		}
		if closing {
			runtime.Goexit()
		}
		time.Sleep(gatePause)
	}
}

func (g *compactionGate) held() (held, closing bool) {
	g.mu.Lock()
	held = g.shut > 0
	guards := make([]*guard, 0, len(g.guards))
	for x := range g.guards {
		guards = append(guards, x)
	}
	g.mu.Unlock()
	for _, x := range guards {
		if x.compactable() {
			continue
		}
		held = true
		closing = closing || x.closes()
	}
	return held, closing
}

// compaction is the name by which Badger tells a tracer of one.
const compaction = "Badger.Compaction"

// gateProvider is the tracer that the gate stands behind. It traces nothing.
type gateProvider struct{ noop.TracerProvider }

// Tracer implements trace.TracerProvider.
func (gateProvider) Tracer(string, ...trace.TracerOption) trace.Tracer { return gateTracer{} }

type gateTracer struct{ noop.Tracer }

// Start implements trace.Tracer.
func (t gateTracer) Start(ctx context.Context, name string, o ...trace.SpanStartOption) (context.Context, trace.Span) {
	if name == compaction {
		theGate.pass()
	}
	return t.Tracer.Start(ctx, name, o...)
}
