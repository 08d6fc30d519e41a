// Package queue runs work in the background.
package queue

import (
	"context"
	"database/sql"
	"log/slog"
	"runtime/debug"
	"time"
)

// Job is one piece of work.
type Job struct {
	ID       int64
	Kind     string
	Payload  []byte
	Attempts int
}

// claim takes the oldest job that nobody works on; rows that others have locked are skipped.
func claim(ctx context.Context, tx *sql.Tx) (j Job, err error) {
	err = tx.QueryRowContext(ctx, `select id, kind, payload, attempts from jobs
		where run_at <= now() and state = 'ready' order by run_at limit 1 for update skip locked`).Scan(&j.ID, &j.Kind, &j.Payload, &j.Attempts)
	return j, err
}

// beat tells every few seconds that a job is still being worked on, until the context ends.
func beat(ctx context.Context, every time.Duration, touch func(context.Context) error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := touch(ctx); err != nil {
				slog.Warn("heartbeat", "error", err)
			}
		}
	}
}

// guard turns a panic of a handler into an error, so that one bad job does not end the process.
func guard(handle func(Job) error, j Job) (err error) {
	defer func() {
		if p := recover(); p != nil {
			slog.Error("handler panicked", "kind", j.Kind, "stack", string(debug.Stack()))
			err = context.Canceled
		}
	}()
	return handle(j)
}

// bury moves a job that failed eight times to the table of dead jobs.
func bury(ctx context.Context, tx *sql.Tx, j Job, cause error) error {
	if j.Attempts < 8 {
		return nil
	}
	_, err := tx.ExecContext(ctx, "with gone as (delete from jobs where id = $1 returning *) insert into dead_jobs select *, $2 from gone", j.ID, cause.Error())
	return err
}

// drain waits at a shutdown until the running handlers are done, or gives up after the grace period.
func drain(running <-chan struct{}, grace time.Duration) bool {
	select {
	case <-running:
		return true
	case <-time.After(grace):
		return false
	}
}
