package models

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/logging"
	"github.com/recalld/recalld/worker"
)

// Why a backfill is held. It goes on when no reason is left.
const (
	holdNoModel = "the model's server does not answer"
	holdPaused  = "work in the background is paused"
)

// backfill embeds in the background documents without a vector, unless it is held: for
// the built-in model, or for all others.
type backfill struct {
	kind    string // of its jobs, indexer.EmbedJob or indexer.EmbedBuiltinJob
	indexer *indexer.Indexer
	queue   worker.Queue
	pool    *worker.Pool // set by Use
	log     *slog.Logger

	mu      sync.Mutex // guards what follows
	reasons map[string]bool
	absent  []string           // models that cannot be reached, while others can
	cancel  context.CancelFunc // of the job in progress
}

func newBackfill(kind string, x *indexer.Indexer, q worker.Queue, log *slog.Logger) *backfill {
	return &backfill{kind: kind, indexer: x, queue: q, log: log, reasons: map[string]bool{}}
}

// embed handles the jobs. One that is ended because it is held is done:
// what is missing is asked for again when it goes on.
func (b *backfill) embed(ctx context.Context, job worker.Job) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b.mu.Lock()
	isAbsent := slices.ContainsFunc(b.absent, func(model string) bool { return strings.HasPrefix(job.Key, model+"@") })
	if len(b.reasons) > 0 || isAbsent {
		b.mu.Unlock()
		return nil
	}
	b.cancel = cancel
	b.mu.Unlock()
	err := b.indexer.Embed(ctx, job)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cancel = nil
	if b.reasons[holdPaused] {
		return nil
	}
	return err
}

// hold holds the backfill for a reason. Only a pause ends the job in progress: one whose
// server is gone ends by itself, with an error.
func (b *backfill) hold(reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reasons[reason] = true
	b.pool.Pause(b.kind)
	if reason == holdPaused && b.cancel != nil {
		b.cancel()
	}
}

// without notes the models that cannot be reached.
func (b *backfill) without(absent []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.absent = absent
}

// release takes a reason back.
func (b *backfill) release(ctx context.Context, reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	held := b.reasons[reason]
	delete(b.reasons, reason)
	if len(b.reasons) > 0 {
		return
	}
	b.pool.Resume(b.kind)
	if held {
		b.ask(ctx)
	}
}

// ask queues the backfill of every collection that lacks vectors.
func (b *backfill) ask(ctx context.Context) {
	for _, job := range b.indexer.BackfillJobs() {
		if job.Kind != b.kind {
			continue
		}
		if _, err := b.queue.Enqueue(ctx, job); err != nil && ctx.Err() == nil {
			b.log.Error("a collection is not backfilled", logging.PartKey, "models", "collection", job.Key, logging.ErrorKey, err)
		}
	}
}
