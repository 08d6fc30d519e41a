package worker

import (
	"errors"
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

// dispatch leases jobs as long as there is room for them, and starts their
// handlers, until the shift's intake closes.
func (p *Pool) dispatch(sh *shift) {
	failures := 0
	for !sh.closing() {
		kinds := p.free()
		if len(kinds) == 0 {
			p.wait(sh, nil, time.Time{})
			continue
		}
		// The channel is asked for before the lease, so that what changes
		// between the two is not missed.
		changed, _ := p.opts.Queue.Changed()
		lease, err := p.opts.Queue.Lease(sh.ctx, kinds, p.opts.LeaseTTL)
		switch {
		case err == nil:
			failures = 0
			p.begin(sh, lease)
		case errors.Is(err, ErrNoJob):
			failures = 0
			_, due := p.opts.Queue.Changed()
			p.wait(sh, changed, due)
		case sh.closing(): // the lease was cancelled
		default:
			failures++
			p.opts.Logger.Error("lease job", keyError, err)
			p.opts.Observer(Event{Type: LeaseFailed, At: p.opts.Clock.Now(), Err: err})
			p.wait(sh, nil, p.opts.Clock.Now().Add(p.opts.Backoff.Pause(failures, p.opts.Rand())))
		}
	}
}

func (sh *shift) closing() bool {
	select {
	case <-sh.intake:
		return true
	default:
		return false
	}
}

// minWait keeps a queue whose clock is behind the pool's from being asked in a
// tight loop.
const minWait = time.Millisecond

// wait returns when the queue changed, when there is room for more, when the
// time has come, zero being never, or when the intake closes.
func (p *Pool) wait(sh *shift, changed <-chan struct{}, until time.Time) {
	var due <-chan time.Time
	if !until.IsZero() {
		due = p.opts.Clock.After(max(minWait, until.Sub(p.opts.Clock.Now())))
	}
	select {
	case <-sh.intake:
	case <-changed:
	case <-p.room:
	case <-due:
	}
}

// begin runs the lease's job in a goroutine of the shift's, or gives it back if
// the intake closed while it was leased.
func (p *Pool) begin(sh *shift, lease Lease) {
	if sh.closing() {
		p.settle(sh.ctx, lease, Settlement{Outcome: Release}, Event{Type: Released, Job: lease.Job})
		return
	}
	p.setBusy(lease.Job.Kind, 1)
	sh.handlers.Go(func() {
		defer func() {
			p.setBusy(lease.Job.Kind, -1)
			p.madeRoom()
		}()
		p.run(sh.ctx, lease)
	})
}
