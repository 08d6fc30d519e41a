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
// ends, jobs in progress are given back → models are let go → the indexes are saved → store
// → lock.
package daemon

import (
	"cmp"
	"context"
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
	"github.com/recalld/recalld/internal/agentimport"
	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/httpserver"
	"github.com/recalld/recalld/internal/logging"
	"github.com/recalld/recalld/internal/mcp"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/metrics"
	"github.com/recalld/recalld/internal/models"
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

// closeTimeout is how long saving the indexes and closing the store may take: the store
// writes a buffer of up to some megabytes. With httpserver.CancelGrace it is within
// config.StopGrace, so commands that wait for the end do not give up before it.
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
	// memTable is the store's write buffer; 0 is its default. Tests have a smaller one, which is
	// cleared sooner.
	memTable int64
	// held is how much memory is in use, in bytes; tests say what they like.
	held func() uint64
	// free gives memory back to the system; nil is the runtime's way. Tests keep what the next
	// daemon needs.
	free func()
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
	// logs are the times at which the logs of agents are looked at, once the user has agreed.
	logs <-chan time.Time
	// retry are the pauses of a failed job; zero is the pool's default.
	retry worker.Backoff
	// query is how long a vector retriever may take; zero is recall's default.
	query time.Duration
	// backup are the times at which the daily backup is looked for; nil is backupLook.
	backup <-chan time.Time
	// save are the times at which it is looked whether the indexes should be saved; nil is
	// saveLook.
	save <-chan time.Time
	// receipts is how long they are kept; zero is the setting.
	receipts time.Duration
	// vanish are the times at which the data folder is looked for; see watchVanish.
	vanish <-chan time.Time
}

func (p *pauses) setDefaults() {
	p.load = cmp.Or(p.load, loadPatience)
	p.drain = cmp.Or(p.drain, config.DrainTimeout)
	p.reconcile = cmp.Or(p.reconcile, reconcileEvery)
	p.logs = cmp.Or(p.logs, time.Tick(2*time.Minute))
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
	garbage     garbage
	pausing     sync.Mutex   // keeps the pauses of sandboxes and of backfills in step
	backups     sync.Mutex   // held while a backup is made
	backupError atomic.Value // a string: why the last daily backup was not made
	ownTools    ownTools
	mcp         *mcp.Server
	server      *httpserver.Server
	socket      *httpserver.Socket
	second      *httpserver.Socket      // nil, or see listenToo
	handler     http.Handler            // what sockets serve
	mapWanted   chan struct{}           // of capacity 1; see makeMaps
	lastMap     atomic.Pointer[madeMap] // nil before the first
	paging      sync.Mutex              // guards what follows
	page        *web.Site               // nil until it is opened
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
	defer setGCPercent(gcPercentLong)()
	defer applyBudget(opts.Config.Limits)()
	paths := opts.Config.Paths()
	if err := paths.Prepare(); err != nil {
		return err
	}
	wait := time.Duration(0)
	if opts.Autostarted {
		wait = config.StopTimeout
	}
	lock, err := lockFolder(ctx, paths, opts.Version, wait)
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
	audit, auditFile, err := logging.OpenAudit(paths.Log)
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
	if opts.free == nil {
		opts.free = debug.FreeOSMemory
	}
	handler, kept := logging.KeepErrors(logger.Handler())
	return &Daemon{
		opts: opts, log: slog.New(handler), errors: kept, started: time.Now(),
		garbage:   garbage{held: opts.held, free: opts.free, waited: 1}, // loading, until work has done it
		mapWanted: make(chan struct{}, 1), loaded: make(chan struct{}), stopping: make(chan struct{}), draining: make(chan struct{}),
	}
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
		if onceWritable(background, func(context.Context) error { return d.core.Store.Trouble() }) != nil {
			return
		}
		if err := d.listenToo(); err != nil {
			d.log.Error("the daemon does not listen on the socket of its data folder", attrPart, "daemon", attrError, err)
		}
	})
	vanished := make(chan struct{})
	work.Go(func() {
		if watchVanish(background, []string{paths.Lock, paths.Socket}, d.opts.pauses.vanish) == nil {
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
	go func() {
		saving, done := context.WithTimeout(context.Background(), saveTimeout)
		if err := errors.Join(d.core.Store.StopCompactions(), d.saveIndexes(saving)); err != nil {
			d.log.Warn("the indexes were not saved", attrPart, "daemon", attrError, err)
		}
		done()
		closed <- d.core.Close()
	}()
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

// note logs what may surprise about the settings, and keeps it for status.
func (d *Daemon) note(text string) {
	d.notes = append(d.notes, text)
	d.log.Info(text, attrPart, "daemon")
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
	d.garbage.end(&d.garbage.waited)
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
	parts.Go(func() { d.makeMaps(ctx) })
	if every := d.opts.Config.FollowEvery; every > 0 {
		parts.Go(func() { d.files.Follow(ctx, every) })
	}
	if d.opts.Config.Backup.Daily {
		parts.Go(func() { d.backUpDaily(ctx) })
	}
	parts.Go(func() { d.keepIndexesSaved(ctx) })
	parts.Go(func() { d.team.Run(ctx) })
	parts.Go(func() { d.agentLogs.Follow(ctx, d.opts.pauses.logs) })
	err := onceWritable(ctx, func(ctx context.Context) error { return d.sandboxes.Refresh(ctx, d.opts.Config.Sandboxes) })
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("look at sandboxes: %w", err)
	}
	return nil
}
