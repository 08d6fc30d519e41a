package daemon

import (
	"context"
	"time"

	"github.com/recalld/recalld/internal/client"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/spool"
)

const (
	// endEvery is how often sessions are looked for whose client is gone.
	endEvery = time.Minute
	// maxUnknown is how long a session stays open whose client's process is not known.
	maxUnknown = 12 * time.Hour
)

// endSessions ends the sessions that hooks opened and did not end, until ctx ends: some
// clients have no event for their end, and none is sent by one that is killed.
func (d *Daemon) endSessions(ctx context.Context) {
	ticks := time.Tick(endEvery)
	waiting := spool.In(d.opts.Config.Paths().Spool)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		if waiting.Waiting() == 0 { // what waits may belong to a session whose client is gone
			d.endSessionsOnce(ctx, time.Now(), client.Gone)
		}
	}
}

func (d *Daemon) endSessionsOnce(ctx context.Context, now time.Time, gone func(window string) bool) {
	open, err := d.core.Store.OpenSessions()
	if err != nil {
		d.log.WarnContext(ctx, "open sessions cannot be read", attrPart, "daemon", attrError, err)
		return
	}
	for _, s := range open {
		if !s.Hooked || !gone(s.Window) && (s.Window != "" || now.Sub(s.Started()) < maxUnknown) {
			continue
		}
		_, err := d.core.Ingest.EndSession(ctx, memory.EndSessionRequest{
			SessionID: s.ID, Project: s.Project, Caller: memory.Caller{Client: s.Client, Session: s.ID, Hook: true},
		})
		if err != nil && ctx.Err() == nil {
			d.log.WarnContext(ctx, "a session whose client is gone cannot be ended", attrPart, "daemon", "session", s.ID, attrError, err)
		}
	}
}
