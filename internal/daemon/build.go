package daemon

import (
	"context"
	"errors"
	"os"
	"sync/atomic"

	"github.com/recalld/recalld/internal/access"
	"github.com/recalld/recalld/internal/agentctx"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/httpserver"
	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/mcp"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/models"
	"github.com/recalld/recalld/internal/redact"
	"github.com/recalld/recalld/internal/repofiles"
	"github.com/recalld/recalld/internal/source/code"
	"github.com/recalld/recalld/internal/team"
	"github.com/recalld/recalld/worker"
)

// build makes the parts. After an error nothing is left open.
func (d *Daemon) build(ctx context.Context, paths config.Paths) (err error) {
	cfg := d.opts.Config
	if !cfg.Index.Full && !cfg.Index.Light {
		d.note("code is not remembered: index.full and index.light are both off")
	}
	for _, notice := range cfg.Notices {
		d.note(notice)
	}
	list, server := d.newModels()
	defer func() {
		if err == nil {
			return
		}
		if d.core != nil {
			err = errors.Join(err, d.core.Close())
		}
		err = errors.Join(err, models.Close(list))
	}()
	var audit agentctx.AuditFile
	if cfg.Tasks.AuditFile {
		audit = func(_ context.Context, caller memory.Caller, project string, line []byte) (string, error) {
			return d.files.AppendAudit(caller, project, line)
		}
	}
	var writer agentctx.Summarizer
	if server != nil && cfg.Context.SummaryModel != "" {
		writer = server.Summarizer(cfg.Context.SummaryModel)
	}
	trouble := ""
	if d.opts.builtin == nil {
		var why error
		if d.opts.builtin, why = builtinOf(paths.Models); why != nil {
			trouble = adaptedTrouble(why)
			d.log.Error("the adapted model is not used", attrPart, "daemon", attrError, why)
		}
	}
	var shared atomic.Pointer[team.Service] // made after the store, which calls it
	d.core, err = OpenCore(ctx, CoreOptions{
		Dir: paths.Store, MemTableSize: d.opts.memTable, ReadDamaged: true, Config: cfg, QueryDeadline: d.opts.pauses.query, KeepReceipts: d.opts.pauses.receipts, Builtin: d.opts.builtin, Background: models.Embedders(list), Version: d.opts.Version, AuditFile: audit, Summarizer: writer, Logger: d.log,
		Stale:   func(project string, seen bool) bool { return d.sandboxes.Stale(project, seen) },
		Missing: func(project string) string { return d.sandboxes.Missing(project) },
		Committed: func(changes []memory.Change) {
			if s := shared.Load(); s != nil {
				s.Apply(changes)
			}
		},
	})
	if err != nil {
		return err
	}
	d.core.Gate.Hold = d.memoryFull
	if err := d.newAdaptation(ctx, paths.Models, trouble); err != nil {
		return err
	}
	d.openClients(paths.Clients)
	if err := d.newFiles(cfg); err != nil {
		return err
	}
	d.newAgentLogs(paths)
	home, why := os.UserHomeDir()
	if why != nil && cfg.Team.Summaries {
		d.log.Warn("session summaries are not shared: paths in the home folder cannot be told", attrPart, "team", attrError, why)
	}
	d.team, err = team.New(team.Options{
		Path: paths.Team, Store: d.core.Store, Taker: d.core.Ingest, Projects: d.core.Projects, Redact: redact.Redact, Logger: d.log,
		Summaries: cfg.Team.Summaries && why == nil, Home: home,
	})
	if err != nil {
		return err
	}
	shared.Store(d.team)
	queue := d.core.Store.Queue()
	if err := d.newSandboxes(cfg.Index, queue); err != nil {
		return err
	}
	d.models = models.New(models.Options{
		Models: list, Ollama: server, Unused: cfg.Embedding.Ollama.Unused, Adapted: d.adaptation.InUse(),
		Indexer: d.core.Indexer, Queue: queue, Logger: d.log, Absent: d.opts.pauses.absent, Present: d.opts.pauses.present,
	})
	d.pool, err = worker.NewPool(worker.Options{
		Queue: queue, Handlers: d.jobHandlers(), Concurrency: concurrency(),
		Backoff: d.opts.pauses.retry, Logger: d.log.With(attrPart, "worker"),
		Failed: d.jobFailed,
	})
	if err != nil {
		return err
	}
	d.models.Use(d.pool)
	if err := d.bind(); err != nil {
		return err
	}
	d.guard = access.NewGuard(d.handlers, d.core.Projects, d.core.Store, access.Limits{Rate: cfg.Limits.Rate, Concurrent: cfg.Limits.Concurrent})
	d.mcp, err = mcp.NewServer(d, mcp.Options{
		Version: d.opts.Version, Logger: d.log.With(attrPart, "mcp"), KnowledgePrefix: &cfg.MCP.Prefix, FlowTags: cfg.Sessions.FlowTags,
		Project: cfg.MCP.Project, Toolsets: cfg.MCP.Toolsets, StaticLists: cfg.MCP.StaticLists, StructuredContent: cfg.MCP.StructuredContent == "on", Notice: d.notice,
	})
	if err != nil {
		return err
	}
	d.server = httpserver.NewServer(httpserver.ServerOptions{
		DrainTimeout: d.opts.pauses.drain, Asked: d.core.Gate.Ask, Log: d.log.With(attrPart, "server"),
		OnDrain: func() {
			if err := d.mcp.Close(context.Background()); err != nil {
				d.log.Warn("sessions did not end", attrPart, "mcp", attrError, err)
			}
		},
	})
	return nil
}

// openClients opens the list of clients with tokens of their own.
func (d *Daemon) openClients(path string) {
	d.clients = access.OpenList(path)
	if _, err := d.clients.Clients(); err != nil { // its clients are refused
		d.log.Error("the list of clients is not used", attrPart, "daemon", attrError, err)
		d.notes = append(d.notes, "the clients with tokens of their own are refused: "+err.Error())
	}
}

// newFiles makes what reads and writes the files of repositories.
func (d *Daemon) newFiles(cfg config.Config) (err error) {
	d.files, err = repofiles.New(repofiles.Options{
		Store: d.core.Store, Ingest: d.core.Ingest, Projects: d.core.Recorder, Catalogue: d.core.Catalogue, Steps: d.core.Indexer, Logger: d.log,
		LessonDir: cfg.Lessons.Dir, ShareLessons: cfg.Lessons.Shared, SessionDir: cfg.Sessions.Dir, WriteLessons: cfg.Lessons.Log, WriteSessions: cfg.Sessions.Files, WriteHooked: cfg.Sessions.HookFiles,
		ReadContext: cfg.Context.Files, Trusted: cfg.Sources.Trusted,
	})
	return err
}

// newSandboxes makes the index of code.
func (d *Daemon) newSandboxes(cfg config.Index, queue worker.Queue) (err error) {
	runs := codeOptions(cfg)
	runs.Turn = d.core.Gate.Do
	opts := code.SandboxesOptions{
		Store: d.core.Store, Writer: d.core.Ingest, Queue: runQueue{queue}, Projects: d.core.Projects,
		Run: runs, StaleAfter: cfg.StaleAfter, MaxSize: int64(cfg.MaxSize),
		Watch: cfg.Watch, ReconcileEvery: d.opts.pauses.reconcile, Switch: d.core.Store, Ran: d.runs.Observe, Logger: d.log,
	}
	if h := d.core.History; h != nil {
		opts.Indexed = func(box memory.Sandbox) { h.Refresh(box.ID, box.Root) }
		opts.Forgotten = h.Drop
	}
	d.sandboxes, err = code.NewSandboxes(opts)
	return err
}

// jobFailed looks for the models when a job that needs one failed.
func (d *Daemon) jobFailed(job worker.Job, _ error) {
	if job.Kind == indexer.EmbedJob {
		d.models.Look()
	}
}

// codeOptions are the settings of the file as the code source takes them.
func codeOptions(c config.Index) code.Options {
	return code.Options{
		MaxFileSize: int64(c.MaxFileSize), MaxFiles: c.MaxFiles, TimeLimit: c.TimeLimit, SkipDirs: c.SkipDirs, SkipFiles: c.SkipFiles,
		KeepGenerated: !c.SkipGenerated, NoChunks: !c.Full, NoHeads: !c.Light,
	}
}
