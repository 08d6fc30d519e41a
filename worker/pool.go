package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// DefaultLeaseTTL is how long a lease lasts without a heartbeat. It bounds how
// long a job of a process that hangs is held up; a process that dies gives its
// jobs back when the queue is opened again.
const DefaultLeaseTTL = 30 * time.Second

// Options describe a Pool. Queue and Handlers are required.
type Options struct {
	// Queue is where the jobs come from. It gives their number of attempts.
	Queue Queue
	// Handlers are the handlers by kind. Jobs of other kinds are left alone.
	Handlers map[string]Handler
	// Concurrency is how many jobs of a kind run at once; 1 if not named.
	Concurrency map[string]int
	// LeaseTTL is how long a lease lasts; it is extended every third of that
	// while the handler runs. 0 is DefaultLeaseTTL.
	LeaseTTL time.Duration
	// Backoff chooses the pauses between attempts; zero is DefaultBackoff.
	Backoff Backoff
	// Clock is the machine's if nil. It must be that of the queue.
	Clock Clock
	// Logger gets failures; nil is slog.Default.
	Logger *slog.Logger
	// Rand returns uniform numbers in [0, 1) and is safe for concurrent use;
	// nil is math/rand/v2.
	Rand func() float64
	// Observer is told of every event, from several goroutines at once; the
	// pool waits for it. It may be nil.
	Observer func(Event)
}

func (o *Options) validate() error {
	if o.Queue == nil {
		return errors.New("worker: a pool needs a queue")
	}
	if len(o.Handlers) == 0 {
		return errors.New("worker: a pool needs a handler")
	}
	for kind, handle := range o.Handlers {
		if kind == "" || handle == nil {
			return fmt.Errorf("worker: handler of kind %q: kind and handler must be given", kind)
		}
	}
	for kind, n := range o.Concurrency {
		if o.Handlers[kind] == nil || n < 1 {
			return fmt.Errorf("worker: concurrency %d of kind %q: the kind needs a handler and at least one", n, kind)
		}
	}
	o.LeaseTTL = cmp.Or(o.LeaseTTL, DefaultLeaseTTL)
	if o.LeaseTTL < 3 {
		return fmt.Errorf("worker: lease of %v is too short", o.LeaseTTL)
	}
	if err := o.Backoff.validate(); err != nil {
		return err
	}
	if o.Clock == nil {
		o.Clock = SystemClock{}
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	if o.Observer == nil {
		o.Observer = func(Event) {}
	}
	return nil
}

// Pool runs the jobs of a queue. It leases no more jobs of a kind than it can
// run, and waits for the queue rather than polling it. Its methods are safe for
// concurrent use and may be called in any order, any number of times.
type Pool struct {
	opts  Options
	kinds []string // those with a handler, sorted

	// room receives when a job may be leased that could not be before: one of
	// its kind has ended, or the kind was resumed.
	room chan struct{}

	mu     sync.Mutex // guards the fields below
	shift  *shift     // nil while stopped
	busy   map[string]int
	paused map[string]bool
}

// shift is the pool at work, from a Start to the end of the Stop after it.
type shift struct {
	// intake is closed when no more jobs may be leased.
	intake   chan struct{}
	stopping bool // intake is closed; guarded by Pool.mu
	// ctx is that of the handlers. It ends when they are to give up.
	ctx      context.Context
	cancel   context.CancelCauseFunc
	handlers sync.WaitGroup
	// done is closed when all goroutines of the shift have ended.
	done chan struct{}
}

// errStopped is why handlers are cancelled by Stop.
var errStopped = errors.New("worker: the pool is stopping")

// NewPool returns a pool at rest.
func NewPool(opts Options) (*Pool, error) {
	opts.Concurrency = maps.Clone(opts.Concurrency)
	opts.Handlers = maps.Clone(opts.Handlers)
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Pool{
		opts:   opts,
		kinds:  slices.Sorted(maps.Keys(opts.Handlers)),
		room:   make(chan struct{}, 1),
		busy:   map[string]int{},
		paused: map[string]bool{},
	}, nil
}

// Start begins to run jobs. It does nothing when the pool runs already; while
// the pool is stopping it waits for that to end, and then starts it anew.
func (p *Pool) Start() {
	for {
		ending := p.tryStart()
		if ending == nil {
			return
		}
		<-ending
	}
}

// tryStart returns the end to wait for if the pool is stopping.
func (p *Pool) tryStart() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shift != nil {
		if p.shift.stopping {
			return p.shift.done
		}
		return nil
	}
	sh := &shift{intake: make(chan struct{}), done: make(chan struct{})}
	sh.ctx, sh.cancel = context.WithCancelCause(context.Background())
	p.shift = sh
	go p.work(sh)
	return nil
}

// work is the life of a shift; Stop waits for it.
func (p *Pool) work(sh *shift) {
	p.dispatch(sh)
	sh.handlers.Wait()
	sh.cancel(nil)
	p.mu.Lock()
	p.shift = nil
	p.mu.Unlock()
	close(sh.done)
}

// Stop leases no more jobs and waits for the running ones. When ctx ends first
// it cancels their handlers, waits for them to return and gives their jobs back
// untried; the error then wraps ctx's. The queue may be closed once it returns.
// It does nothing when the pool does not run. A handler must not call it.
func (p *Pool) Stop(ctx context.Context) error {
	sh := p.closeIntake()
	if sh == nil {
		return nil
	}
	select {
	case <-sh.done:
		return nil
	case <-ctx.Done():
		sh.cancel(errStopped)
		<-sh.done
		return fmt.Errorf("drain pool: %w", ctx.Err())
	}
}

func (p *Pool) closeIntake() *shift {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shift != nil && !p.shift.stopping {
		p.shift.stopping = true
		close(p.shift.intake)
	}
	return p.shift
}

// Pause leases no more jobs of the kind; those that run go on. It outlasts Stop
// and Start.
func (p *Pool) Pause(kind string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paused[kind] = true
}

// Resume undoes Pause.
func (p *Pool) Resume(kind string) {
	p.mu.Lock()
	delete(p.paused, kind)
	p.mu.Unlock()
	p.madeRoom()
}

// madeRoom wakes the dispatcher; it need not be told twice.
func (p *Pool) madeRoom() {
	select {
	case p.room <- struct{}{}:
	default:
	}
}

// free returns the kinds of which another job can run.
func (p *Pool) free() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var kinds []string
	for _, kind := range p.kinds {
		if !p.paused[kind] && p.busy[kind] < cmp.Or(p.opts.Concurrency[kind], 1) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func (p *Pool) setBusy(kind string, by int) {
	p.mu.Lock()
	p.busy[kind] += by
	p.mu.Unlock()
}
