package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// run handles one job to its end.
func (p *Pool) run(ctx context.Context, lease Lease) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	start := p.opts.Clock.Now()
	p.opts.Observer(Event{Type: Started, Job: lease.Job, At: start})
	err := p.attempt(ctx, cancel, lease)
	end, event := p.judge(ctx, lease.Job, err)
	event.Took = p.opts.Clock.Now().Sub(start)
	p.settle(ctx, lease, end, event)
}

// attempt calls the handler while a heartbeat keeps the lease.
func (p *Pool) attempt(ctx context.Context, cancel context.CancelCauseFunc, lease Lease) error {
	// The heart beats on while a cancelled handler winds up.
	beating, stop := context.WithCancel(context.WithoutCancel(ctx))
	var heart sync.WaitGroup
	heart.Go(func() { p.heartbeat(beating, lease, cancel) })
	defer heart.Wait()
	defer stop()
	return p.call(ctx, lease.Job)
}

// heartbeat extends the lease until ctx ends. It cancels the handler when the
// lease is lost.
func (p *Pool) heartbeat(ctx context.Context, lease Lease, cancel context.CancelCauseFunc) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.opts.Clock.After(p.opts.LeaseTTL / 3):
		}
		err := p.opts.Queue.Extend(ctx, lease.Token, p.opts.LeaseTTL)
		switch {
		case errors.Is(err, ErrLeaseLost):
			cancel(ErrLeaseLost)
			return
		case err != nil && ctx.Err() == nil:
			// There is time for another beat or two before the lease ends.
			p.opts.Logger.Warn("extend lease", append(attrs(lease.Job), keyError, err)...)
		}
	}
}

// call turns a panic of the handler into its error.
func (p *Pool) call(ctx context.Context, job Job) (err error) {
	defer func() {
		if v := recover(); v != nil {
			p.opts.Logger.Error("handler panicked", append(attrs(job), keyError, v, keyStack, string(debug.Stack()))...)
			err = fmt.Errorf("handler panicked: %v", v)
		}
	}()
	return p.opts.Handlers[job.Kind](ctx, job)
}

// judge decides what becomes of a job whose handler returned err.
func (p *Pool) judge(ctx context.Context, job Job, err error) (Settlement, Event) {
	event := Event{Job: job, Err: err}
	if err == nil {
		event.Type = Succeeded
		return Settlement{Outcome: Done}, event
	}
	end := Settlement{Error: err.Error()}
	switch {
	case context.Cause(ctx) == ErrLeaseLost:
		event.Type = Lost
	case context.Cause(ctx) == errStopped:
		// Whatever the handler says: it was not left to finish.
		event.Type, end.Outcome = Released, Release
	case isPermanent(err) || job.LastAttempt():
		event.Type, end.Outcome = Died, Dead
	default:
		pause := pauseAfter(err, p.opts.Backoff, job.Attempt, p.opts.Rand())
		end.NotBefore = p.opts.Clock.Now().Add(pause)
		event.Type, end.Outcome, event.NotBefore = Retried, Retry, end.NotBefore
	}
	return end, event
}

// settle writes down how the job ended, even if the pool is being stopped, and
// tells of it.
func (p *Pool) settle(ctx context.Context, lease Lease, end Settlement, event Event) {
	if event.Type != Lost {
		err := p.opts.Queue.Settle(context.WithoutCancel(ctx), lease.Token, end)
		switch {
		case errors.Is(err, ErrLeaseLost):
			event.Type, event.Err = Lost, errors.Join(event.Err, err)
		case err != nil:
			event.Type, event.Err = Unsettled, errors.Join(event.Err, fmt.Errorf("settle job: %w", err))
		}
	}
	event.At = p.opts.Clock.Now()
	switch event.Type {
	case Retried, Lost:
		p.opts.Logger.Warn("job "+event.Type.String(), append(attrs(event.Job), keyError, event.Err)...)
	case Died, Unsettled:
		p.opts.Logger.Error("job "+event.Type.String(), append(attrs(event.Job), keyError, event.Err)...)
	}
	p.opts.Observer(event)
}

func attrs(job Job) []any {
	return []any{keyJob, job.ID, keyKind, job.Kind, keyKey, job.Key, keyAttempt, job.Attempt}
}
