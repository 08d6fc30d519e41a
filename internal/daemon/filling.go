package daemon

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/worker"
)

// Why the filling of spaces is held. It goes on when no reason is left.
const (
	holdNoModel = "the model's server does not answer"
	holdPaused  = "work in the background is paused"
)

// filling embeds in the background what has no vector yet, unless it is held: of the
// built-in model, or of the one that a server has.
type filling struct {
	kind    string // of its jobs, indexer.EmbedJob or indexer.EmbedBuiltinJob
	indexer *indexer.Indexer
	queue   worker.Queue
	pool    *worker.Pool // set before anything is held
	log     *slog.Logger

	mu      sync.Mutex // guards what follows
	reasons map[string]bool
	absent  []string           // models that cannot be reached, while others can
	cancel  context.CancelFunc // of the fill under way
}

func newFilling(kind string, x *indexer.Indexer, q worker.Queue, log *slog.Logger) *filling {
	return &filling{kind: kind, indexer: x, queue: q, log: log, reasons: map[string]bool{}}
}

// embed handles the jobs. One that is ended because it is held is done:
// what is missing is asked for again when it goes on.
func (f *filling) embed(ctx context.Context, job worker.Job) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.mu.Lock()
	isAbsent := slices.ContainsFunc(f.absent, func(model string) bool { return strings.HasPrefix(job.Key, model+"@") })
	if len(f.reasons) > 0 || isAbsent {
		f.mu.Unlock()
		return nil
	}
	f.cancel = cancel
	f.mu.Unlock()
	err := f.indexer.Embed(ctx, job)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cancel = nil
	if f.reasons[holdPaused] {
		return nil
	}
	return err
}

// hold holds the filling for a reason. Only somebody who pauses ends the one that
// is under way: one without a server ends by itself, and tells of it.
func (f *filling) hold(reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reasons[reason] = true
	f.pool.Pause(f.kind)
	if reason == holdPaused && f.cancel != nil {
		f.cancel()
	}
}

// without notes the models that cannot be reached.
func (f *filling) without(absent []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.absent = absent
}

// release takes a reason back.
func (f *filling) release(ctx context.Context, reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	held := f.reasons[reason]
	delete(f.reasons, reason)
	if len(f.reasons) > 0 {
		return
	}
	f.pool.Resume(f.kind)
	if held {
		f.ask(ctx)
	}
}

// ask queues the filling of every space of its models that something waits for.
func (f *filling) ask(ctx context.Context) {
	for _, job := range f.indexer.BackfillJobs() {
		if job.Kind != f.kind {
			continue
		}
		if _, err := f.queue.Enqueue(ctx, job); err != nil && ctx.Err() == nil {
			f.log.Error("a space is not filled", attrPart, "daemon", "space", job.Key, attrError, err)
		}
	}
}
