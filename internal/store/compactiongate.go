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

// compactionGate keeps Badger from starting a compaction without room. If a table cannot
// be created, Badger continues without it and removes the tables that held the same
// entries (its subcompact loses the error), and a page without a block kills the process.
// Badger has no setting for that, but it calls a tracer before every compaction, before it
// chooses the tables, in the goroutine that will compact: the gate blocks there.
//
// A process has one gate, because the tracer does not get the store whose compaction
// starts. A daemon has one store.
type compactionGate struct {
	mu     sync.Mutex // guards the fields below
	shut   int        // number of holds, see hold
	guards map[*guard]bool
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

// pass returns when a compaction may start. If it never may, because its store closes
// without room, pass ends the goroutine, for which Close waits.
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
