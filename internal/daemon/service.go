package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/source/code"
	"github.com/recalld/recalld/internal/store"
	"github.com/recalld/recalld/worker"
)

// loadPatience is how long a question waits for the indexes of a daemon that has
// just been started, perhaps for it. Loading 100,000 chunks takes about as long;
// later the answer says that it is loading.
const loadPatience = 2 * time.Second

// awaitLoad waits for the indexes as long as a question may.
func (d *Daemon) awaitLoad(ctx context.Context) {
	patience := time.NewTimer(d.opts.pauses.load)
	defer patience.Stop()
	select {
	case <-d.loaded:
	case <-patience.C:
	case <-ctx.Done():
	}
}

// afterRecall is what follows the answer to a question, in order.
var afterRecall = []func(*Daemon, memory.RecallRequest, *memory.RecallResponse){
	(*Daemon).handedOut,   // ingest learns the text, and which lessons may have an outcome
	(*Daemon).countSaving, // tokens that the answer saved
	(*Daemon).codeShown,   // the code that was shown is used
	(*Daemon).noticeRoot,  // the repository of the caller is followed
	(*Daemon).tellWaiting, // files that wait for consent
}

// Recall answers a question. It waits for the indexes as long as a question may.
func (d *Daemon) Recall(ctx context.Context, req memory.RecallRequest) (*memory.RecallResponse, error) {
	d.awaitLoad(ctx)
	a, err := d.core.Recall.Recall(ctx, req)
	if err != nil {
		return nil, err
	}
	for _, follow := range afterRecall {
		follow(d, req, a)
	}
	return a, nil
}

// countSaving counts the tokens that an answer saved.
func (d *Daemon) countSaving(_ memory.RecallRequest, a *memory.RecallResponse) {
	d.savings.Answer(a, d.core.Store.LessonLogSize(a.Project))
}

// noticeRoot has the repository of the caller followed.
func (d *Daemon) noticeRoot(req memory.RecallRequest, _ *memory.RecallResponse) {
	d.files.See(req.Caller.Dir)
}

// tellWaiting adds to an answer, once, which files of the caller's repository wait for
// consent. The text says it as well if it has room and is neither JSON nor Markdown.
func (d *Daemon) tellWaiting(req memory.RecallRequest, a *memory.RecallResponse) {
	a.Waiting = d.files.Notice(req.Caller.Dir)
	if a.Waiting == "" || req.Format == memory.FormatJSON || req.Format == memory.FormatMarkdown {
		return
	}
	line := "\n(" + a.Waiting + ")\n"
	if n := render.Tokens(line); a.Tokens+n <= cmp.Or(req.MaxTokens, d.opts.Config.Recall.MaxTokens) {
		a.Text, a.Tokens = a.Text+line, a.Tokens+n
	}
}

// Remember carries out service.Remember.
func (d *Daemon) Remember(ctx context.Context, req memory.RememberRequest) (*memory.Remembered, error) {
	kept, line, err := d.core.Ingest.RememberLine(ctx, req)
	if err != nil {
		return nil, err
	}
	d.files.See(req.Caller.Dir)
	if line != nil {
		d.files.AppendLesson(ctx, req.Caller, kept, *line)
	}
	return kept, nil
}

// Forget carries out service.Forget. While a project is being removed nothing
// of it is indexed.
func (d *Daemon) Forget(ctx context.Context, req memory.ForgetRequest) (*memory.Forgotten, error) {
	quiet := &quiet{Store: d.core.Store, index: d.core.Indexer, sandboxes: d.sandboxes, release: func() {}}
	defer func() { quiet.release() }()
	if req.Project != "" {
		defer d.files.Forgotten()
	}
	defer d.core.Catalogue.Retake()
	return d.core.Ingest.Forget(ctx, req, quiet)
}

// quiet lists what a project holds once no run can add to it.
type quiet struct {
	*store.Store
	index     *indexer.Indexer
	sandboxes *code.Sandboxes
	release   func()
}

// ProjectHoldings implements ingest.Holdings. Once the indexes are loaded it reads
// nothing of other projects: what is committed is in them before it is acknowledged.
func (q *quiet) ProjectHoldings(ctx context.Context, project string) (memory.Holdings, error) {
	q.release = q.sandboxes.Suspend(project)
	held, ok := q.index.ProjectHoldings(project)
	if !ok {
		return q.Store.ProjectHoldings(ctx, project)
	}
	sessions, err := q.Store.ProjectSessions(project)
	if err != nil {
		return held, err
	}
	for _, s := range sessions {
		held.Sessions = append(held.Sessions, s.ID)
	}
	boxes, err := q.Store.ProjectSandboxes(project)
	for _, b := range boxes {
		held.Sandboxes = append(held.Sandboxes, b.ID)
	}
	return held, err
}

// SessionHoldings implements ingest.Holdings.
func (q *quiet) SessionHoldings(ctx context.Context, id string) ([]memory.SessionHoldings, error) {
	if found, ok := q.index.SessionHoldings(id); ok {
		return found, nil
	}
	return q.Store.SessionHoldings(ctx, id)
}

// maxDeadJobs bounds the list of dead letters.
const maxDeadJobs = 1000

// DeadJobs carries out service.DeadJobs.
func (d *Daemon) DeadJobs(ctx context.Context) ([]memory.DeadJob, error) {
	jobs, err := d.core.Store.Queue().Dead(ctx)
	if err != nil {
		return nil, err
	}
	dead := make([]memory.DeadJob, 0, min(len(jobs), maxDeadJobs))
	for _, j := range jobs[:cap(dead)] {
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

// Stop carries out service.Stop.
func (d *Daemon) Stop(context.Context) error {
	d.stopOnce.Do(func() { close(d.stopping) })
	return nil
}
