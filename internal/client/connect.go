package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/recalld/recalld/internal/buildinfo"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

const (
	// helloTimeout bounds one hello. The daemon listens before it loads, so a
	// slow answer is a daemon that hangs, not one that starts.
	helloTimeout = 5 * time.Second
	// pollEvery is the pause between two looks for what another process does: no
	// system tells one when a socket appears, or a lock is let go.
	pollEvery = 10 * time.Millisecond
	// afterExit is how long a socket may still appear after the daemon that was
	// started has exited: it has, when another one holds the data folder and is
	// about to listen.
	afterExit = 500 * time.Millisecond
	// listenTimeout bounds the wait for a daemon that holds its folder to listen. Commands
	// such as restore hold it too, and never do.
	listenTimeout = 3 * time.Second
	// startTimeout bounds a start, a takeover included.
	startTimeout = 20 * time.Second
)

// ExitIncompatible is the exit code of Command if the daemon cannot use the store because
// that is of a newer version.
const ExitIncompatible = 7

// Options say where the daemon is and how to start it.
type Options struct {
	// Socket is the path of the daemon's socket.
	Socket string
	// Version is that of this program. A daemon of an older version is replaced if Command
	// is there; empty replaces none.
	Version string
	// Command is the command line that serves this data folder; empty never
	// starts a daemon.
	Command []string
	// StartLock is the file by which clients agree who starts the daemon, and Log
	// the file that takes its output. Both are needed with Command.
	StartLock string
	Log       string
	// Lock is the file that a daemon holds while it runs. Stop waits for one that does not
	// listen yet; empty waits for none.
	Lock string
	// Notice receives, with every answer, what is wrong and concerns all answers; nil
	// ignores it.
	Notice func(text string)
}

// Connect returns a client of the daemon, which it starts where none answers and
// Options say how. However many clients connect at once, one daemon is started.
// A daemon of an older protocol or an older version is asked to drain and is replaced;
// one of a newer protocol is CodeIncompatible, one of a newer version is used. So of
// several installed versions the newest one stays. Without a daemon, and without a
// Command, the error is CodeUnavailable.
func Connect(ctx context.Context, opts Options) (*Client, error) {
	c := newClient(opts)
	if err := c.Ensure(ctx); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// presence is what answers on the socket.
type presence int

const (
	absent   presence = iota // nothing answers
	older                    // a daemon of an older protocol
	outdated                 // a daemon that understands us, of an older version
	ready                    // a daemon that understands us
)

// look says hello. The error is of a daemon that is there and cannot be used.
func (c *Client) look(ctx context.Context) (presence, error) {
	ctx, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	g, err := c.Hello(ctx)
	switch {
	case isRefused(err), isBroken(err): // not there yet, or just going away
		return absent, nil
	case err != nil:
		return absent, err
	case g.Protocol > service.Protocol:
		return absent, &memory.Error{Code: memory.CodeIncompatible,
			Message: fmt.Sprintf("the daemon (version %s, pid %d) speaks protocol %d, this client protocol %d", g.Version, g.PID, g.Protocol, service.Protocol),
			Hint:    "update this recalld to the daemon's version, or stop that one: recalld stop"}
	case g.Protocol < service.Protocol:
		return older, nil
	case buildinfo.Newer(c.opts.Version, g.Version):
		return outdated, nil
	}
	return ready, nil
}

// Ensure returns once a daemon answers that understands us, as Connect does. A
// long-lived client that uses HTTP calls it when the daemon has gone away.
func (c *Client) Ensure(ctx context.Context) error {
	found, err := c.look(ctx)
	if err != nil || found == ready {
		return err
	}
	if len(c.opts.Command) == 0 {
		switch found {
		case outdated: // it understands us
			return nil
		case older:
			return &memory.Error{Code: memory.CodeIncompatible, Message: "the daemon is of an older version",
				Hint: "restart it: recalld stop, then recalld up"}
		}
		return &memory.Error{Code: memory.CodeUnavailable, Message: "no daemon is running", Hint: "start it with: recalld up"}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("the daemon did not start within %v", startTimeout))
	defer cancel()
	return c.start(ctx)
}

// start makes sure, as the only client that does so now, that a daemon runs.
func (c *Client) start(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(c.opts.StartLock), 0o700); err != nil {
		return fmt.Errorf("create folder of the start lock: %w", err)
	}
	lock := flock.New(c.opts.StartLock)
	// On a read-only disk the lock of the data folder decides which daemon stays.
	if _, err := lock.TryLockContext(ctx, pollEvery); err != nil && !errors.Is(err, syscall.EROFS) {
		if ctx.Err() != nil {
			return c.startFailed(ctx, context.Cause(ctx), 0)
		}
		return fmt.Errorf("take start lock: %w", err)
	}
	defer lock.Unlock()

	// Who had the lock before may have started it.
	found, err := c.look(ctx)
	if err != nil || found == ready {
		return err
	}
	if found == older || found == outdated {
		if err := c.replace(ctx); err != nil {
			return err
		}
	}
	return c.spawnAndWait(ctx)
}

// replace has an older daemon make way. It holds the data folder until it has drained;
// the daemon started next waits for that.
func (c *Client) replace(ctx context.Context) error {
	if _, err := service.Stop.Do(ctx, c, service.None{}); err != nil && !isRefused(err) && !isBroken(err) {
		return fmt.Errorf("stop the older daemon: %w", err)
	}
	return c.await(ctx, func() bool {
		found, err := c.look(ctx) // a newer one may have been started by hand
		return err == nil && (found == absent || found == ready)
	})
}

// WaitGone returns once the daemon is gone, after Stop: it takes no more calls
// and has removed its socket, which it does when its store is closed.
func (c *Client) WaitGone(ctx context.Context) error {
	return c.await(ctx, func() bool {
		// Any answer, also one that is not understood, means that something listens.
		if _, err := c.Hello(ctx); !isRefused(err) {
			return false
		}
		_, err := os.Lstat(c.opts.Socket)
		return errors.Is(err, fs.ErrNotExist)
	})
}

// await looks until a daemon has stopped.
func (c *Client) await(ctx context.Context, stopped func() bool) error {
	for !stopped() {
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
			return memory.Errorf(memory.CodeUnavailable, "the daemon does not stop: %w", context.Cause(ctx))
		}
	}
	return nil
}

// spawnAndWait starts the daemon and returns once it answers.
func (c *Client) spawnAndWait(ctx context.Context) error {
	var logStart int64
	if info, err := os.Stat(c.opts.Log); err == nil {
		logStart = info.Size()
	}
	exited, err := spawn(c.opts.Command, c.opts.Log)
	if err != nil {
		return fmt.Errorf("start daemon: %w", err)
	}
	var over <-chan time.Time // set when the process has exited
	var exitErr error
	for {
		switch found, err := c.look(ctx); {
		case err != nil && ctx.Err() == nil:
			return err
		case err == nil && (found == ready || found == outdated):
			// One that is outdated still is another one than before: a service manager
			// has started it again, or the program on disk is older than this process.
			// It understands us, and a second try would go the same way.
			return nil
		}
		select {
		case exitErr = <-exited:
			exited = nil
			over = time.After(afterExit)
		case <-over:
			return c.startFailed(ctx, fmt.Errorf("the daemon exited: %w", exitErr), logStart)
		case <-ctx.Done():
			return c.startFailed(ctx, context.Cause(ctx), logStart)
		case <-time.After(pollEvery):
		}
	}
}

// startFailed tells why no daemon runs, with what the one that was tried has
// logged since then.
func (c *Client) startFailed(ctx context.Context, cause error, logStart int64) error {
	message := cause.Error()
	if errors.Is(context.Cause(ctx), context.Canceled) {
		message = "the start was given up"
	}
	if lines := tail(c.opts.Log, logStart); lines != "" {
		message += "; the end of its log:\n" + lines
	}
	code := memory.CodeUnavailable
	if ended, ok := errors.AsType[*exec.ExitError](cause); ok && ended.ExitCode() == ExitIncompatible {
		code = memory.CodeIncompatible
	}
	return &memory.Error{Code: code, Message: message,
		Hint: "run `recalld serve` to see it start, or read " + c.opts.Log, Cause: cause}
}

// Stop ends the daemon of a socket and returns who it was once it is gone. Its
// protocol may be any: hello and stop are what all of them understand, so that a
// daemon can be stopped with which nothing else is possible. Without one the
// error is CodeUnavailable; it is that too when ctx ends before the daemon.
func Stop(ctx context.Context, opts Options) (service.Greeting, error) {
	c := newClient(opts)
	defer c.Close()
	who, err := c.Hello(ctx)
	for end := time.Now().Add(listenTimeout); isRefused(err) && time.Now().Before(end) && Held(opts.Lock); {
		time.Sleep(pollEvery)
		who, err = c.Hello(ctx)
	}
	if err != nil {
		return who, err
	}
	// A connection that broke is a daemon that ends already.
	if _, err := service.Stop.Do(ctx, c, service.None{}); err != nil && !isRefused(err) && !isBroken(err) {
		return who, err
	}
	return who, c.WaitGone(ctx)
}

// Held says whether another process has locked a file.
func Held(path string) bool {
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY)) // and makes none
	got, err := lock.TryRLock()
	_ = lock.Close()
	return err == nil && !got
}

// Greet asks who answers on a socket, whatever its protocol, and starts nothing. Without a
// daemon the error is CodeUnavailable.
func Greet(ctx context.Context, opts Options) (service.Greeting, error) {
	c := newClient(opts)
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	return c.Hello(ctx)
}
