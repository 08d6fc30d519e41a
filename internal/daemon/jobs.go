package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/code"
	"github.com/recalld/recalld/worker"
)

// indexJob is the kind of the jobs that index a sandbox.
const indexJob = "index"

// jobHandlers lists what is done in the background, by kind of job.
func (d *Daemon) jobHandlers() map[string]worker.Handler {
	all := d.models.Handlers()
	all[indexJob] = func(ctx context.Context, job worker.Job) error { return d.sandboxes.Run(ctx, job.Payload) }
	for kind, handle := range all {
		if kind == indexer.EmbedJob { // it mostly waits, for hours perhaps
			continue
		}
		all[kind] = func(ctx context.Context, job worker.Job) error {
			defer d.garbage.during(&d.garbage.jobs)()
			return handle(ctx, job)
		}
	}
	return all
}

// concurrency is how many jobs of a kind run at once: the model serves one backfill
// as fast as several, and two sandboxes keep one that is large from holding up
// the others.
func concurrency() map[string]int {
	return map[string]int{indexer.EmbedJob: 1, indexer.EmbedBuiltinJob: 1, indexJob: 2}
}

// mergePayloads joins jobs that coalesce.
func mergePayloads(kind string, older, newer json.RawMessage) json.RawMessage {
	if kind == indexJob {
		return code.MergeRuns(older, newer)
	}
	return newer
}

// runQueue puts the runs of sandboxes into the queue: one waits for a sandbox
// at most, projects take turns, and when the queue is full the oldest gives
// way, since its sandbox is looked at again anyway.
type runQueue struct{ queue worker.Queue }

var _ code.Queue = runQueue{}

func (q runQueue) Enqueue(ctx context.Context, run code.RunRequest) (code.Queued, error) {
	payload, err := json.Marshal(run)
	if err != nil {
		return code.Queued{}, fmt.Errorf("write run: %w", err)
	}
	at, err := q.queue.Enqueue(ctx, worker.Job{
		Kind: indexJob, Key: run.Sandbox, Group: run.Project, Priority: run.Priority, Droppable: true, Payload: payload,
	})
	if err != nil {
		return code.Queued{}, fmt.Errorf("queue run: %w", err)
	}
	out := code.Queued{Job: at.ID, Position: at.Position, Coalesced: at.Coalesced}
	if at.Dropped != nil && at.Dropped.Kind == indexJob {
		out.Dropped = at.Dropped.Key
	}
	return out, nil
}

// maxDeadJobs bounds the list of dead letters.
const maxDeadJobs = 1000

// DeadJobs carries out service.DeadJobs.
func (d *Daemon) DeadJobs(ctx context.Context) ([]memory.DeadJob, error) {
	jobs, err := d.core.Store.Queue().Dead(ctx)
	if err != nil {
		return nil, err
	}
	dead := []memory.DeadJob{}
	for _, j := range jobs[:min(len(jobs), maxDeadJobs)] {
		dead = append(dead, memory.DeadJob{
			ID: j.ID, Kind: j.Kind, Key: j.Key, Payload: j.Payload, Attempts: j.Attempt, LastError: j.LastError, EnqueuedAt: j.EnqueuedAt,
		})
	}
	return dead, nil
}

// RequeueJob carries out service.RequeueJob.
func (d *Daemon) RequeueJob(ctx context.Context, id string) error {
	err := d.core.Store.Queue().Requeue(ctx, id)
	if errors.Is(err, worker.ErrUnknownJob) {
		return &memory.Error{Code: memory.CodeNotFound, Field: "id", Message: fmt.Sprintf("no job %q was given up", id),
			Hint: "run 'recalld doctor' to list them", Cause: err}
	}
	return err
}
