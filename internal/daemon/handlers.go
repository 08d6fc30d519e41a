package daemon

import (
	"context"
	"os"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

var _ service.Service = (*Daemon)(nil)

// bind binds a handler to every operation.
func (d *Daemon) bind() (err error) {
	d.handlers, err = service.NewHandlers(
		service.Bind(service.Hello, d.hello),
		service.Bind(service.Stop, noRequest(d.Stop)),

		service.Bind(service.Recall, d.Recall),
		service.Bind(service.Remember, d.Remember),
		service.Bind(service.Feedback, d.core.Ledger.Feedback),
		service.Bind(service.SearchTools, withContext(d, d.SearchTools)),
		service.Bind(service.Receipt, func(ctx context.Context, r memory.ReceiptRequest) (*memory.Receipt, error) {
			return d.core.Recall.Receipt(ctx, r.ID)
		}),
		service.Bind(service.Lessons, loaded(d, d.core.Recall.Lessons)),
		service.Bind(service.Lesson, loaded(d, d.Lesson)),
		service.Bind(service.RestoreLesson, d.core.Ingest.RestoreLesson),
		service.Bind(service.MarkLesson, d.core.Ingest.MarkLesson),
		service.Bind(service.Forget, d.Forget),

		service.Bind(service.StartSession, d.StartSession),
		service.Bind(service.RecordStep, d.RecordStep),
		service.Bind(service.EndSession, d.EndSession),
		service.Bind(service.SearchSteps, loaded(d, d.core.Recall.SearchSteps)),
		service.Bind(service.LastSteps, loaded(d, d.core.Recall.LastSteps)),
		service.Bind(service.SummarizeSession, loaded(d, d.core.Recall.SummarizeSession)),
		service.Bind(service.Sessions, loaded(d, d.core.Recall.Sessions)),

		service.Bind(service.CompleteTask, seen(d, d.core.Working.CompleteTask)),
		service.Bind(service.BlockTask, seen(d, d.core.Working.BlockTask)),
		service.Bind(service.UnblockTask, seen(d, d.core.Working.UnblockTask)),
		service.Bind(service.TaskWindow, seen(d, d.core.Working.TaskWindow)),
		service.Bind(service.Brief, loaded(d, d.core.Session.Brief)),
		service.Bind(service.TaskHistory, seen(d, d.core.Working.TaskHistory)),
		service.Bind(service.LoadTasks, seen(d, d.core.Working.LoadTasks)),

		service.Bind(service.Register, loaded(d, d.core.Catalogue.Register)),
		service.Bind(service.Unregister, loaded(d, d.core.Catalogue.Unregister)),
		service.Bind(service.Entries, withContext(d, d.core.Catalogue.Entries)),

		service.Bind(service.SessionContext, withContext(d, d.core.Session.SessionContext)),
		service.Bind(service.ChangeContext, withContext(d, d.core.Session.ChangeContext)),
		service.Bind(service.Assemble, withContext(d, d.Assemble)),
		service.Bind(service.WorkingContext, seen(d, d.core.Session.WorkingContext)),
		service.Bind(service.Report, seen(d, d.core.Session.Report)),
		service.Bind(service.Compact, loaded(d, d.Compact)),

		service.Bind(service.ContextOf, seen(d, d.core.Ledger.ContextOf)),
		service.Bind(service.Receipts, seen(d, d.core.Ledger.Receipts)),
		service.BindStream(service.Replay, d.Replay),

		service.BindReporting(service.IndexRepo, d.IndexRepo),
		service.Bind(service.Status, noRequest(d.Status)),
		service.Bind(service.OpenPage, d.OpenPage),
		service.Bind(service.Repos, inList(d.sandboxes.Repos, func(l []memory.SandboxState) memory.RepoList { return memory.RepoList{Repos: l} })),
		service.Bind(service.RepoFiles, d.RepoFiles),
		service.Bind(service.Skipped, d.sandboxes.Skipped),
		service.Bind(service.Pause, d.Pause),
		service.Bind(service.Trust, d.files.Trust),
		service.Bind(service.Team, d.team.State),
		service.Bind(service.TeamJoin, d.team.Join),
		service.Bind(service.TeamShare, d.team.Share),
		service.Bind(service.TeamLeave, d.team.Leave),
		service.Bind(service.Files, d.Files),
		service.Bind(service.Import, d.Import),
		service.BindStream(service.ImportAgents, d.ImportAgents),
		service.Bind(service.Export, d.files.Export),

		service.Bind(service.Activity, d.Activity),
		service.Bind(service.Map, d.Map),
		service.Bind(service.Log, d.Log),
		service.Bind(service.Audit, d.Audit),
		service.BindStream(service.Backup, d.Backup),
		service.BindStream(service.ExportAll, d.ExportAll),
		service.BindStream(service.ImportAll, d.ImportAll),
		service.Bind(service.Check, noRequest(d.Check)),
		service.Bind(service.DeadJobs, inList(d.DeadJobs, func(l []memory.DeadJob) memory.DeadJobList { return memory.DeadJobList{Jobs: l} })),
		service.Bind(service.RequeueJob, func(ctx context.Context, r memory.RequeueRequest) (*service.None, error) {
			return &service.None{}, d.RequeueJob(ctx, r.ID)
		}),
		service.Bind(service.Models, inList(d.models.List, func(l []memory.ModelState) memory.ModelList { return memory.ModelList{Models: l} })),
		service.BindStream(service.PullModel, func(ctx context.Context, r memory.PullRequest, progress func(memory.PullProgress)) (*memory.Pulled, error) {
			return new(memory.Pulled(true)), d.models.Pull(ctx, r.Name, progress)
		}),
		service.BindStream(service.AdaptModel, d.AdaptModel),
		service.Bind(service.ResetModel, noRequest(d.ResetModel)),
		service.Bind(service.BuiltinModel, func(context.Context, service.None) (*memory.BuiltinModel, error) {
			return d.adaptation.State(), nil
		}),
	)
	return err
}

func (d *Daemon) hello(context.Context, service.None) (*service.Greeting, error) {
	return &service.Greeting{Protocol: service.Protocol, Version: d.opts.Version, PID: os.Getpid(), Data: d.opts.Config.Paths().Data}, nil
}

// Stop carries out service.Stop.
func (d *Daemon) Stop(context.Context) (*service.None, error) {
	d.stopOnce.Do(func() { close(d.stopping) })
	return &service.None{}, nil
}

// handler carries out an operation.
type handler[Request, Response any] = func(context.Context, Request) (*Response, error)

// seen is a handler that first takes notice of where its caller is.
func seen[Request, Response any](d *Daemon, do handler[Request, Response]) handler[Request, Response] {
	return func(ctx context.Context, req Request) (*Response, error) {
		d.files.See(callerOf(req).Dir)
		return do(ctx, req)
	}
}

// loaded is a handler that first waits for the indexes and takes notice of where its caller is.
func loaded[Request, Response any](d *Daemon, do handler[Request, Response]) handler[Request, Response] {
	return func(ctx context.Context, req Request) (*Response, error) {
		d.ready(ctx, callerOf(req))
		return do(ctx, req)
	}
}

// withContext is loaded for a handler that needs the context files of its caller's repository.
func withContext[Request, Response any](d *Daemon, do handler[Request, Response]) handler[Request, Response] {
	return loaded(d, func(ctx context.Context, req Request) (*Response, error) {
		d.files.TakeContext(ctx, projectOf(req), callerOf(req))
		return do(ctx, req)
	})
}

// noRequest is a handler without request.
func noRequest[Response any](do func(context.Context) (*Response, error)) handler[service.None, Response] {
	return func(ctx context.Context, _ service.None) (*Response, error) { return do(ctx) }
}

// inList is a handler whose response is a list in an object; an absent list is empty.
func inList[Item, Response any](do func(context.Context) ([]Item, error), list func([]Item) Response) handler[service.None, Response] {
	return func(ctx context.Context, _ service.None) (*Response, error) {
		items, err := do(ctx)
		if err != nil {
			return nil, err
		}
		if items == nil {
			items = []Item{}
		}
		return new(list(items)), nil
	}
}
