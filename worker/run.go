package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"
)

// Attribute keys of the pool's log lines.
const (
	keyJob     = "job"
	keyKind    = "kind"
	keyKey     = "key"
	keyAttempt = "attempt"
	keyError   = "error"
	keyStack   = "stack"
)

// run handles one job to its end.
func (p *Pool) run(sh *shift, job Job) {
	log := p.opts.Logger.With(keyJob, job.ID, keyKind, job.Kind, keyKey, job.Key, keyAttempt, job.Attempt)
	err := p.call(sh.ctx, log, job)
	end := p.judge(sh.ctx, job, err)
	if !p.settle(sh, job, end) {
		return
	}
	switch end.Outcome {
	case Retry:
		log.Warn("job is retried", keyError, err)
		p.opts.Failed(job, err)
	case Dead:
		log.Error("job is a dead letter", keyError, err)
		p.opts.Failed(job, err)
	}
}

// call turns a panic of the handler into its error.
func (p *Pool) call(ctx context.Context, log *slog.Logger, job Job) (err error) {
	defer func() {
		if v := recover(); v != nil {
			log.Error("handler panicked", keyError, v, keyStack, string(debug.Stack()))
			err = fmt.Errorf("handler panicked: %v", v)
		}
	}()
	return p.opts.Handlers[job.Kind](ctx, job)
}

// judge decides what becomes of a job whose handler returned err.
func (p *Pool) judge(ctx context.Context, job Job, err error) Settlement {
	switch {
	case err == nil:
		return Settlement{Outcome: Done}
	case context.Cause(ctx) == errStopped:
		// Whatever the handler returned: it had no time to finish.
		return Settlement{Outcome: Release}
	case isPermanent(err) || job.LastAttempt():
		return Settlement{Outcome: Dead, Error: err.Error()}
	}
	return Settlement{Outcome: Retry, Pause: p.opts.Backoff.Pause(job.Attempt, p.opts.Rand()), Error: err.Error()}
}

// settle writes how the job ended. If the queue cannot, it tries again until the
// pool stops. A process that ends without the write gives the job back when the
// queue is opened again.
func (p *Pool) settle(sh *shift, job Job, end Settlement) bool {
	for failures := 1; ; failures++ {
		err := p.opts.Queue.Settle(context.WithoutCancel(sh.ctx), job.ID, end)
		if err == nil {
			return true
		}
		p.opts.Logger.Error("settle job", keyJob, job.ID, keyKind, job.Kind, keyError, err)
		if errors.Is(err, ErrNotLeased) {
			return false
		}
		select {
		case <-sh.intake.Done():
			return false
		case <-time.After(p.opts.Backoff.Pause(failures, p.opts.Rand())):
		}
	}
}
