// Package daemon is the composition root: it makes the parts, joins them, and
// starts and ends them in order. Operations that take several parts, such as a
// recorded step with advice, are put together here. Only the commands serve, eval,
// doctor and restore import it, and tests.
//
// Vocabulary. The core is the two paths over one store (see Core); the daemon
// adds transports, background work and the lock on the data folder. An endpoint
// is a listener and what it serves. To drain is to take nothing new and to let
// what has begun come to its end.
//
// Start: lock → log → store → listen → serve → load the indexes → work in the
// background. The socket answers before the indexes are loaded; until then
// writes work and recalls say that it is loading.
//
// End: listeners close → requests drain, then are cancelled → background work
// ends, jobs in progress are given back → models are let go → store → lock.
package daemon

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/internal/access"
	"github.com/recalld/recalld/internal/adaptation"
	"github.com/recalld/recalld/internal/agentctx"
	"github.com/recalld/recalld/internal/agentimport"
	"github.com/recalld/recalld/internal/api"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/httpserver"
	"github.com/recalld/recalld/internal/indexer"
	"github.com/recalld/recalld/internal/logging"
	"github.com/recalld/recalld/internal/mcp"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/metrics"
	"github.com/recalld/recalld/internal/models"
	"github.com/recalld/recalld/internal/redact"
	"github.com/recalld/recalld/internal/repofiles"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/source/code"
	"github.com/recalld/recalld/internal/team"
	"github.com/recalld/recalld/internal/web"
	"github.com/recalld/recalld/worker"
)

// The attributes of what is logged; see logging.
const (
	attrPart  = logging.PartKey
	attrError = logging.ErrorKey
)

// How much garbage there may be, in percent of what is held. Most of a daemon's
// memory is the indexes, which live as long as it does: a fifth instead of a half
// costs a tenth more processor while indexing, and takes 60 MB less at 100,000
// chunks. While loading, which callers wait for, it is Go's own default, and
// what was left is given back at the end.
const (
	gcPercent        = 20
	gcPercentLoading = 100
)

// closeTimeout is how long the store may take to close: it writes a buffer of up to some
// megabytes. With httpserver.CancelGrace it is within config.StopGrace, so commands that
// wait for the end do not give up before it.
const closeTimeout = 10 * time.Second

// reconcileEvery is how often every repository is rescanned whether or not it is watched.
const reconcileEvery = 10 * time.Minute

// logSize bounds the log file: some 50,000 lines, of which one older file is kept.
const logSize = 10e6

// Options say what a daemon serves. Config is required.
type Options struct {
	Config  config.Config
	Version string
	// Autostarted says that a client started the daemon: it waits for one that
	// is draining.
	Autostarted bool
	// Console receives the log's lines as well; nil is the log file alone.
	Console io.Writer
	// Reload reads the settings again from where Config is from, so that the status can
	// say what has changed since; nil never does.
	Reload func() (config.Config, error)

	// home is the folder in which clients keep their logs; empty is the user's, with the
	// variables by which clients move them. Tests have others.
	home string
	// builtin is the built-in model; nil is the adapted one, or the program's own. Tests
	// have others.
	builtin embedder.Embedder
	// models are used in addition to the models of the settings.
	models []models.Model
	// minPairs is how many pairs an adaptation needs; 0 is the default.
	minPairs int
	pauses   pauses
	// held is how much memory is in use, in bytes; tests say what they like.
	held func() uint64
}

// pauses are how long the daemon waits before it looks or tries again, and
// before it answers without what it waits for. Zero values are the defaults;
// tests have others.
type pauses struct {
	// absent and present are how often models are looked at; see models.Options.
	absent, present time.Duration
	// cooldown is how long a failing server is not sent texts; zero is the
	// embedder's default.
	cooldown time.Duration
	// load is how long a question waits for the indexes.
	load time.Duration
	// drain is how long work in progress may take when the daemon stops.
	drain time.Duration
	// reconcile is how often every repository is rescanned.
	reconcile time.Duration
	// logs is how often the logs of agents are looked at, once the user has agreed.
	logs time.Duration
	// retry are the pauses of a failed job; zero is the pool's default.
	retry worker.Backoff
	// query is how long a vector retriever may take; zero is recall's default.
	query time.Duration
	// backup are the times at which the daily backup is looked for; nil is backupLook.
	backup <-chan time.Time
	// receipts is how long they are kept; zero is the setting.
	receipts time.Duration
	// vanish are the times at which the data folder is looked for; see WatchVanish.
	vanish <-chan time.Time
}

func (p *pauses) setDefaults() {
	p.load = cmp.Or(p.load, loadPatience)
	p.drain = cmp.Or(p.drain, config.DrainTimeout)
	p.reconcile = cmp.Or(p.reconcile, reconcileEvery)
	p.logs = cmp.Or(p.logs, 2*time.Minute)
}

// Daemon is a running daemon. It implements service.Service.
type Daemon struct {
	opts     Options
	handlers service.Handlers
	guard    *access.Guard // before the handlers
	clients  *access.List
	log      *slog.Logger
	audit    *slog.Logger // of changes; nil in tests without a folder
	errors   *logging.ErrorList
	started  time.Time
	tcp      string   // the address, if it listens on TCP
	notes    []string // what status reports of the settings; see note

	core        *Core
	sandboxes   *code.Sandboxes
	files       *repofiles.Service
	agentLogs   *agentimport.Service
	team        *team.Service
	adaptation  *adaptation.Service
	models      *models.Service
	pool        *worker.Pool
	runs        metrics.Runs
	codeQueries metrics.CodeQueries
	savings     metrics.Savings
	pausing     sync.Mutex // keeps the pauses of sandboxes and of backfills in step
	backups     sync.Mutex // held while a backup is made
	ownTools    ownTools
	mcp         *mcp.Server
	server      *httpserver.Server
	socket      *httpserver.Socket
	second      *httpserver.Socket // nil, or see listenToo
	handler     http.Handler       // what sockets serve
	paging      sync.Mutex         // guards what follows
	page        *web.Site          // nil until it is opened
	pageAddress string

	loaded   chan struct{} // closed when the indexes are loaded
	stopOnce sync.Once
	stopping chan struct{} // closed by Stop
	draining chan struct{} // closed when draining begins
}

// Serve runs a daemon until ctx ends, Stop is called, a listener breaks, or its
// data folder or socket vanishes. It returns CodeConflict, naming the owner,
// while another process holds the data folder.
func Serve(ctx context.Context, opts Options) (err error) {
	if os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(gcPercentLoading))
	}
	defer applyBudget(opts.Config.Limits)()
	paths := opts.Config.Paths()
	if err := paths.Prepare(); err != nil {
		return err
	}
	lock, err := acquire(ctx, opts, paths)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	logger, logFile, err := logging.Open(logging.Options{
		Path: paths.Log, MaxSize: logSize, Level: opts.Config.Log.Level, Format: opts.Config.Log.Format,
		Also: opts.Console,
	})
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	defer func() { err = errors.Join(err, logFile.Close()) }()
	for _, dir := range []string{paths.Store, paths.Models, filepath.Dir(paths.Log)} {
		if err := config.Tighten(dir); err != nil { // a read-only disk: the data folder above keeps others out
			logger.Warn("files are readable by other users", attrPart, "daemon", "folder", dir, attrError, err)
		}
	}
	d := newDaemon(opts, logger)
	audit, auditFile, err := openAudit(paths)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, auditFile.Close()) }()
	d.audit = audit
	if err := d.serve(ctx, paths); err != nil {
		d.log.Error("daemon failed", attrPart, "daemon", attrError, err)
		return err
	}
	return nil
}

// newDaemon returns a daemon without its parts: see build.
func newDaemon(opts Options, logger *slog.Logger) *Daemon {
	opts.pauses.setDefaults()
	if opts.held == nil {
		opts.held = heldBytes
	}
	handler, kept := logging.KeepErrors(logger.Handler())
	return &Daemon{
		opts: opts, log: slog.New(handler), errors: kept, started: time.Now(),
		loaded: make(chan struct{}), stopping: make(chan struct{}), draining: make(chan struct{}),
	}
}

func acquire(ctx context.Context, opts Options, paths config.Paths) (*Lock, error) {
	lock := LockOptions{Path: paths.Lock, Owner: Owner{PID: os.Getpid(), Version: opts.Version, Since: time.Now().UTC()}}
	if opts.Autostarted {
		lock.Wait = config.StopTimeout
	}
	return AcquireLock(ctx, lock)
}

// serve makes the parts, runs them, and ends them.
func (d *Daemon) serve(ctx context.Context, paths config.Paths) (err error) {
	// A signal does not leave parts half made: it ends the daemon below.
	if err := d.build(context.WithoutCancel(ctx), paths); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if err := d.listen(paths); err != nil {
		return errors.Join(err, d.server.Stop(context.WithoutCancel(ctx)))
	}
	d.log.Info("daemon started", attrPart, "daemon", "version", d.opts.Version, "pid", os.Getpid(), "data", paths.Data, "socket", paths.Socket, "tcp", d.tcp)

	background, cancel := context.WithCancel(context.Background())
	defer cancel()
	var work sync.WaitGroup
	broken := make(chan error, 1)
	work.Go(func() {
		if err := d.work(background); err != nil {
			broken <- err
		}
	})
	work.Go(func() {
		if d.core.Store.Trouble() == nil {
			return
		}
		if d.onceWritable(background, func(context.Context) error { return d.core.Store.Trouble() }) != nil {
			return
		}
		if err := d.listenToo(); err != nil {
			d.log.Error("the daemon does not listen on the socket of its data folder", attrPart, "daemon", attrError, err)
		}
	})
	vanished := make(chan struct{})
	work.Go(func() {
		if WatchVanish(background, []string{paths.Lock, paths.Socket}, d.opts.pauses.vanish) == nil {
			close(vanished)
		}
	})

	why := "asked to"
	select {
	case <-ctx.Done():
		why = "signal"
	case <-d.stopping:
	case <-vanished:
		why = "the data folder or the socket has vanished"
		if !d.opts.Autostarted { // its service manager starts it again
			err = memory.Errorf(memory.CodeUnavailable, "%s", why)
		}
	case err = <-d.server.Failed():
		why = "a listener broke"
	case err = <-broken:
		why = "the store cannot be read"
	case <-d.core.Store.Failed():
		why, err = "the store cannot be written", d.core.Store.Broken()
	}
	d.log.Info("daemon stops", attrPart, "daemon", "why", why)
	close(d.draining)
	drain, done := context.WithTimeout(context.Background(), d.opts.pauses.drain)
	defer done()
	if late := d.server.Stop(drain); late != nil {
		d.log.Warn("requests were cancelled", attrPart, "daemon", attrError, late)
	}
	cancel()
	work.Wait() // before the pool is stopped, since it starts it
	if late := d.pool.Stop(drain); late != nil {
		d.log.Info("jobs in progress were given back", attrPart, "daemon", attrError, late)
	}
	return err
}

// close lets the model go, closes the store and then removes the socket, by
// which others see that the data folder is free. A store whose folder has
// vanished may try for ever to write what it holds: it is left to the end of
// the process.
func (d *Daemon) close() error {
	var err error
	d.files.Close()
	err = errors.Join(err, d.models.Close())
	closed := make(chan error, 1)
	go func() { closed <- d.core.Close() }()
	select {
	case late := <-closed:
		err = errors.Join(err, late)
	case <-time.After(closeTimeout):
		err = errors.Join(err, memory.Errorf(memory.CodeUnavailable, "the store does not close"))
	}
	for _, socket := range []*httpserver.Socket{d.socket, d.second} {
		if socket == nil {
			continue
		}
		if late := socket.Remove(); late != nil && !fsx.RefusesWrites(late) { // a stale one is removed by the next start
			err = errors.Join(err, late)
		}
	}
	return err
}

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
		audit = func(ctx context.Context, caller memory.Caller, project string, line []byte) (string, error) {
			return d.files.AppendAudit(ctx, caller, project, line)
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
		Dir: paths.Store, ReadDamaged: true, Config: cfg, QueryDeadline: d.opts.pauses.query, KeepReceipts: d.opts.pauses.receipts, Builtin: d.opts.builtin, Background: models.Embedders(list), AuditFile: audit, Summarizer: writer, Logger: d.log,
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
	d.clients = access.OpenList(paths.Clients)
	if _, err := d.clients.Clients(); err != nil { // its clients are refused
		d.log.Error("the list of clients is not used", attrPart, "daemon", attrError, err)
		d.notes = append(d.notes, "the clients with tokens of their own are refused: "+err.Error())
	}
	d.files, err = repofiles.New(repofiles.Options{
		Store: d.core.Store, Ingest: d.core.Ingest, Projects: d.core.Recorder, Catalogue: d.core.Catalogue, Steps: d.core.Indexer, Logger: d.log,
		LessonDir: cfg.Lessons.Dir, ShareLessons: cfg.Lessons.Shared, SessionDir: cfg.Sessions.Dir, WriteLessons: cfg.Lessons.Log, WriteSessions: cfg.Sessions.Files, WriteHooked: cfg.Sessions.HookFiles,
		ReadContext: cfg.Context.Files, Trusted: cfg.Sources.Trusted,
	})
	if err != nil {
		return err
	}
	d.newAgentLogs(paths)
	d.team, err = team.New(team.Options{
		Path: paths.Team, Store: d.core.Store, Taker: d.core.Ingest, Projects: d.core.Projects, Redact: redact.Redact, Logger: d.log,
	})
	if err != nil {
		return err
	}
	shared.Store(d.team)
	queue := d.core.Store.Queue()
	runs := codeOptions(cfg.Index)
	runs.Turn = d.core.Gate.Do
	d.sandboxes, err = code.NewSandboxes(code.SandboxesOptions{
		Store: d.core.Store, Writer: d.core.Ingest, Queue: runQueue{queue}, Projects: d.core.Projects,
		Run: runs, StaleAfter: cfg.Index.StaleAfter, MaxSize: int64(cfg.Index.MaxSize),
		Watch: cfg.Index.Watch, ReconcileEvery: d.opts.pauses.reconcile, Switch: d.core.Store, Ran: d.runs.Observe, Logger: d.log,
		Indexed: d.indexed, Forgotten: d.forgotten,
	})
	if err != nil {
		return err
	}
	d.models = models.New(models.Options{
		Models: list, Ollama: server, Unused: cfg.Embedding.Ollama.Unused, Adapted: d.adaptation.InUse(),
		Indexer: d.core.Indexer, Queue: queue, Logger: d.log, Absent: d.opts.pauses.absent, Present: d.opts.pauses.present,
	})
	d.pool, err = worker.NewPool(worker.Options{
		Queue: queue, Handlers: jobHandlers(d.models, d.sandboxes), Concurrency: concurrency(),
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

// note logs what may surprise about the settings, and keeps it for status.
func (d *Daemon) note(text string) {
	d.notes = append(d.notes, text)
	d.log.Info(text, attrPart, "daemon")
}

// jobFailed looks for the models when a job that needs one failed.
func (d *Daemon) jobFailed(job worker.Job, _ error) {
	if job.Kind == indexer.EmbedJob {
		d.models.Look()
	}
}

// listen serves the socket and, if the settings say so, TCP.
func (d *Daemon) listen(paths config.Paths) error {
	mux := http.NewServeMux()
	mux.Handle(mcp.Path, d.mcp)
	mux.Handle("/", api.NewHandler(d, api.Options{
		Notice: d.notice,
		Runs:   &d.runs,
		Log:    d.log.With(attrPart, "api"),
	}))
	// Both listeners are there before the first request is served.
	socket, err := httpserver.ListenSocket(paths.Socket)
	if err != nil {
		return err
	}
	d.socket = socket
	d.handler = httpserver.Identify(mux, d.clients)
	endpoints := []httpserver.Endpoint{{Listener: socket, Handler: d.handler}}
	if tcp := d.opts.Config.TCP; tcp.Enabled {
		e, err := tcpEndpoint(tcp, paths.Token, d.clients, mux)
		if err != nil {
			return errors.Join(err, socket.Close())
		}
		d.tcp = e.Listener.Addr().String()
		endpoints = append(endpoints, e)
	}
	for _, e := range endpoints {
		if err := d.server.Start(e); err != nil {
			return err
		}
	}
	return nil
}

// listenToo listens as well where clients look now: a daemon that was started on a
// read-only disk has its socket elsewhere than one of a disk that can be written.
func (d *Daemon) listenToo() error {
	paths := d.opts.Config.Paths()
	if d.second != nil || paths.Socket == d.socket.Path() {
		return nil
	}
	if err := paths.Prepare(); err != nil {
		return err
	}
	socket, err := httpserver.ListenSocket(paths.Socket)
	if err != nil {
		return err
	}
	d.second = socket
	return d.server.Start(httpserver.Endpoint{Listener: socket, Handler: d.handler})
}

func tcpEndpoint(c config.TCP, tokenFile string, clients *access.List, h http.Handler) (httpserver.Endpoint, error) {
	token, err := httpserver.OpenToken(tokenFile)
	if err != nil {
		return httpserver.Endpoint{}, err
	}
	var certificate *tls.Certificate
	if c.Certificate != "" {
		if certificate, err = httpserver.LoadCertificate(c.Certificate, c.Key); err != nil {
			return httpserver.Endpoint{}, err
		}
	}
	l, err := httpserver.ListenTCP(c.Address, certificate)
	if err != nil {
		return httpserver.Endpoint{}, err
	}
	guard := httpserver.GuardOptions{Tokens: token.Tokens, Clients: clients, AllowedOrigins: c.AllowedOrigins, Certificate: certificate}
	return httpserver.Endpoint{Listener: l, Handler: httpserver.Guard(h, guard)}, nil
}

// work is what goes on beside the requests until ctx ends.
func (d *Daemon) work(ctx context.Context) error {
	if err := d.core.Load(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	close(d.loaded)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	debug.FreeOSMemory() // loading leaves as much garbage as it keeps
	var parts sync.WaitGroup
	defer parts.Wait()
	if err := d.holdPaused(); err != nil {
		return err
	}
	d.models.Begin(ctx)
	parts.Go(func() { d.models.Run(ctx) })
	d.pool.Start()
	parts.Go(func() { d.drainSpool(ctx) })
	parts.Go(func() { d.endSessions(ctx) })
	if every := d.opts.Config.FollowEvery; every > 0 {
		parts.Go(func() { d.files.Follow(ctx, every) })
	}
	if d.opts.Config.Backup.Daily {
		parts.Go(func() { d.backUpDaily(ctx) })
	}
	parts.Go(func() { d.team.Run(ctx) })
	parts.Go(func() { d.agentLogs.Follow(ctx, d.opts.pauses.logs) })
	err := d.onceWritable(ctx, func(ctx context.Context) error { return d.sandboxes.Refresh(ctx, d.opts.Config.Sandboxes) })
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("look at sandboxes: %w", err)
	}
	return nil
}

// codeOptions are the settings of the file as the code source takes them.
func codeOptions(c config.Index) code.Options {
	return code.Options{
		MaxFileSize: int64(c.MaxFileSize), MaxFiles: c.MaxFiles, TimeLimit: c.TimeLimit, SkipDirs: c.SkipDirs, SkipFiles: c.SkipFiles,
		KeepGenerated: !c.SkipGenerated, NoChunks: !c.Full, NoHeads: !c.Light,
	}
}
