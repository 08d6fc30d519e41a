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

// Options describe a Pool. Queue and Handlers are required.
type Options struct {
	// Queue is where the jobs come from.
	Queue Queue
	// Handlers are the handlers by kind. Jobs of other kinds are left alone.
	Handlers map[string]Handler
	// Concurrency is how many jobs of a kind run at once; 1 if not named.
	Concurrency map[string]int
	// Backoff chooses the pauses between attempts; zero is DefaultBackoff.
	Backoff Backoff
	// Logger gets failures; nil is slog.Default.
	Logger *slog.Logger
	// Rand returns uniform numbers in [0, 1) and is safe for concurrent use;
	// nil is math/rand/v2.
	Rand func() float64
	// Failed is called after an attempt failed and that was written, from several
	// goroutines at once; the pool waits for it. It may be nil.
	Failed func(Job, error)
}

func (o *Options) validate() error {
	if o.Queue == nil {
		return errors.New("worker: a pool needs a queue")
	}
	if len(o.Handlers) == 0 {
		return errors.New("worker: a pool needs a handler")
	}
	for _, kind := range slices.Sorted(maps.Keys(o.Handlers)) {
		if kind == "" || o.Handlers[kind] == nil {
			return fmt.Errorf("worker: handler of kind %q: kind and handler must be given", kind)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(o.Concurrency)) {
		if n := o.Concurrency[kind]; o.Handlers[kind] == nil || n < 1 {
			return fmt.Errorf("worker: concurrency %d of kind %q: the kind needs a handler and at least one", n, kind)
		}
	}
	if err := o.Backoff.validate(); err != nil {
		return err
	}
	o.Logger = cmp.Or(o.Logger, slog.Default())
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	if o.Failed == nil {
		o.Failed = func(Job, error) {}
	}
	return nil
}

// Pool runs the jobs of a queue. It leases no more jobs of a kind than it can
// run, and waits for the queue instead of polling it. Its methods are safe for
// concurrent use and may be called in any order, any number of times.
type Pool struct {
	opts  Options
	kinds []string // those with a handler, sorted

	// room receives when a job of a kind ended or a kind was resumed.
	room chan struct{}

	mu     sync.Mutex // guards the fields below
	shift  *shift     // nil while stopped
	busy   map[string]int
	paused map[string]bool
}

// shift is the pool at work, from a Start to the end of the Stop after it.
type shift struct {
	// intake ends when no more jobs may be leased.
	intake      context.Context
	closeIntake context.CancelFunc
	// ctx is the handlers'. It ends when they are to give up.
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

// Start begins to run jobs. It is a no-op while the pool runs. While the pool is
// stopping it waits for the end of that, and then starts it again.
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
		if p.shift.intake.Err() != nil {
			return p.shift.done
		}
		return nil
	}
	sh := &shift{done: make(chan struct{})}
	sh.ctx, sh.cancel = context.WithCancelCause(context.Background())
	sh.intake, sh.closeIntake = context.WithCancel(context.Background())
	p.shift = sh
	go p.work(sh)
	return nil
}

// work runs a shift to its end; Stop waits for it.
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
// It is a no-op when the pool does not run. A handler must not call it.
func (p *Pool) Stop(ctx context.Context) error {
	p.mu.Lock()
	sh := p.shift
	p.mu.Unlock()
	if sh == nil {
		return nil
	}
	sh.closeIntake()
	select {
	case <-sh.done:
		return nil
	case <-ctx.Done():
		sh.cancel(errStopped)
		<-sh.done
		return fmt.Errorf("drain pool: %w", ctx.Err())
	}
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

// madeRoom wakes the dispatcher. The channel holds one wake-up, which is enough.
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

// never is a wait that only a signal ends.
const never time.Duration = -1

// minWait keeps a queue whose clock stands still from being asked in a tight loop.
const minWait = time.Millisecond

// dispatch leases jobs as long as there is room for them, and starts their
// handlers, until the shift's intake closes.
func (p *Pool) dispatch(sh *shift) {
	failures := 0
	for sh.intake.Err() == nil {
		kinds := p.free()
		if len(kinds) == 0 {
			p.wait(sh, nil, never)
			continue
		}
		// The channel is fetched before the lease, so that no change between the
		// two is missed.
		changed, _ := p.opts.Queue.Changed()
		job, err := p.opts.Queue.Lease(sh.ctx, kinds)
		switch {
		case err == nil:
			failures = 0
			p.begin(sh, job)
		case errors.Is(err, ErrNoJob):
			failures = 0
			_, due := p.opts.Queue.Changed()
			p.wait(sh, changed, due)
		case sh.intake.Err() != nil: // the lease was cancelled
		default:
			failures++
			p.opts.Logger.Error("lease job", keyError, err)
			p.wait(sh, nil, p.opts.Backoff.Pause(failures, p.opts.Rand()))
		}
	}
}

// wait returns when the queue changed, when there is room for more, after the
// given time, or when the intake closes.
func (p *Pool) wait(sh *shift, changed <-chan struct{}, most time.Duration) {
	var due <-chan time.Time
	if most >= 0 {
		due = time.After(max(minWait, most))
	}
	select {
	case <-sh.intake.Done():
	case <-changed:
	case <-p.room:
	case <-due:
	}
}

// begin runs the job in a goroutine of the shift's, or gives it back if the
// intake closed while it was leased.
func (p *Pool) begin(sh *shift, job Job) {
	if sh.intake.Err() != nil {
		p.settle(sh, job, Settlement{Outcome: Release})
		return
	}
	p.setBusy(job.Kind, 1)
	sh.handlers.Go(func() {
		defer func() {
			p.setBusy(job.Kind, -1)
			p.madeRoom()
		}()
		p.run(sh, job)
	})
}
