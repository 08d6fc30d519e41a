package store

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// compactionGate keeps Badger from starting a compaction without room. If a table cannot
// be created, Badger continues without it and removes the tables that held the same
// entries (its subcompact loses the error), and a page without a block kills the process.
// Badger has no setting for that, but it calls a tracer before every compaction, before it
// chooses the tables, in the goroutine that will compact: the gate blocks there.
//
// A process has one gate, because the tracer does not get the store whose compaction
// starts. A daemon has one store.
type compactionGate struct {
	mu       sync.Mutex // guards the fields below
	shut     int        // number of holds, see hold
	stopping int        // number of calls of without
	guards   map[*guard]bool
}

var theGate = compactionGate{guards: map[*guard]bool{}}

// installGate installs the gate as the tracer.
var installGate = sync.OnceFunc(func() { otel.SetTracerProvider(gateProvider{}) })

// gatePause is how often a blocked compaction asks again.
const gatePause = 50 * time.Millisecond

// add makes compactions depend on a guard, until remove.
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

// hold blocks compactions and returns the function that ends that.
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

// pass returns when a compaction may start, or ends its goroutine if compactions are being
// stopped. Badger may have chosen the levels long before. Its runCompactDef refuses to move
// tables below a level that was filled meanwhile; otherwise deleted values could come back.
func (g *compactionGate) pass() {
	for {
		held, stopping := g.held()
		if !held {
			return
		}
		if stopping {
			runtime.Goexit()
		}
		time.Sleep(gatePause)
	}
}

func (g *compactionGate) held() (held, stopping bool) {
	g.mu.Lock()
	held, stopping = g.shut > 0, g.stopping > 0
	guards := slices.Collect(maps.Keys(g.guards))
	g.mu.Unlock()
	return held || slices.ContainsFunc(guards, func(x *guard) bool { return !x.compactable() }), stopping
}

// without calls a function that waits until compactions have ended. Those that wait at the gate
// end meanwhile, also those of other stores, which do not start them again.
func (g *compactionGate) without(stop func()) {
	g.mu.Lock()
	g.stopping++
	g.mu.Unlock()
	stop()
	g.mu.Lock()
	g.stopping--
	g.mu.Unlock()
}

// compaction is the name of a compaction in calls of the tracer.
const compaction = "Badger.Compaction"

// gateProvider provides the tracer behind which the gate is. It traces nothing.
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
