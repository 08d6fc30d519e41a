package daemon

import (
	"context"
	"time"

	"github.com/recalld/recalld/internal/hook"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/spool"
)

// drainEvery is how often the spool of hooks is looked at. Each look wakes a daemon at rest,
// and only an event that a hook could not hand over waits for it.
const drainEvery = time.Second

// maxAttempts is how often an event may fail in a row before it is set aside, so that it
// does not hold up the others for ever. With drainEvery these are five minutes.
const maxAttempts = 300

// drainSpool records what hooks could not hand over, until ctx ends.
func (d *Daemon) drainSpool(ctx context.Context) {
	waiting := spool.In(d.opts.Config.Paths().Spool)
	ticks := time.Tick(drainEvery)
	attempts := 0 // of the first event
	take := func(text []byte) spool.Verdict {
		event, err := hook.Decode(text)
		if err == nil {
			_, err = event.Apply(ctx, d, time.Now())
		}
		switch {
		case err == nil:
			attempts = 0
			return spool.Done
		case ctx.Err() != nil:
			return spool.Later
		case hook.IsFinal(err):
		case d.core.Store.Trouble() != nil || d.core.Store.Broken() != nil:
			return spool.Later // it is not the event's fault
		default:
			if attempts++; attempts == 1 {
				d.log.Warn("an event of a hook waits", attrPart, "spool", attrError, err)
			}
			if attempts < maxAttempts {
				return spool.Later
			}
		}
		attempts = 0
		d.log.Warn("an event of a hook is set aside", attrPart, "spool", attrError, err)
		return spool.Bad
	}
	for {
		done, err := waiting.Drain(take)
		if err != nil {
			d.log.Warn("events of hooks wait", attrPart, "spool", attrError, err)
		}
		if done > 0 {
			d.log.Info("events of hooks were recorded", attrPart, "spool", "events", done)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
	}
}

// hookEvents counts what was not recorded at once; nil if there is nothing.
func (d *Daemon) hookEvents() *memory.HookEvents {
	waiting := spool.In(d.opts.Config.Paths().Spool)
	e := memory.HookEvents{Waiting: waiting.Waiting(), Aside: waiting.Aside(), Refused: waiting.Refused()}
	if e == (memory.HookEvents{}) {
		return nil
	}
	return &e
}
