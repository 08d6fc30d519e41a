// Package httpserver serves HTTP on a Unix socket and on TCP of this machine. It bounds
// connections, their bodies and unread answers, asks for a token and checks origins on
// TCP, and lets requests in progress end when it stops.
package httpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/api"
	"github.com/recalld/recalld/internal/memory"
)

const (
	// headerTimeout bounds a request's header; a local client needs no longer.
	headerTimeout = 10 * time.Second
	// idleTimeout closes unused connections.
	idleTimeout = 2 * time.Minute
	// maxHeader bounds a request's header, in bytes.
	maxHeader = 64 << 10
	// bodyTimeout bounds how long a request's body may take to arrive: 8 MiB at most,
	// from a client on this machine.
	bodyTimeout = 30 * time.Second
	// unreadTimeout bounds how long a client may leave a part of its answer unread.
	unreadTimeout = 30 * time.Second
	// maxConnections bounds the open connections. An agent has two or three.
	maxConnections = 1024
	// maxBodies bounds the bodies of all requests in progress together, in bytes: 16 of the
	// largest.
	maxBodies = 128 << 20
	// smallBody is the size of bodies that are always taken, in bytes: hooks and questions go
	// on while somebody sends all that there is room for.
	smallBody = 64 << 10
	// CancelGrace is how long a cancelled request may take to notice.
	CancelGrace = 2 * time.Second
)

// errStuck is returned by Stop when requests outlive their cancellation.
var errStuck = errors.New("requests do not end though they were cancelled")

// Endpoint is a listener and what it serves: the socket the bare handler, TCP a
// guarded one.
type Endpoint struct {
	Listener net.Listener
	Handler  http.Handler
}

// ServerOptions configure a Server.
type ServerOptions struct {
	// DrainTimeout is how long requests in progress may take once the server is
	// stopped; what has not ended then is cancelled.
	DrainTimeout time.Duration
	// OnDrain, if set, is called once when the listeners are closed and draining
	// begins. It ends what would never end by itself: streams that wait for
	// events.
	OnDrain func()
	// MaxConnections bounds the open connections, of all listeners together; 0 is
	// the default. Over it the one that has waited longest for its client is closed.
	MaxConnections int
	// BodyTimeout bounds how long a request's body may take to arrive; 0 is the
	// default.
	BodyTimeout time.Duration
	// MaxBodies bounds the bodies of all requests in progress together, in bytes; 0 is the
	// default. A request over it is answered with CodeLimited.
	MaxBodies int64
	// UnreadTimeout bounds how long a client may leave a part of its answer unread; 0 is
	// the default.
	UnreadTimeout time.Duration
	// Asked, if set, is called at the beginning of every POST request, and done at its end.
	// Other requests do not count: streams stay open, and a caller that waits for background
	// work asks for the state again and again.
	Asked func() (done func())
	// Log receives what goes wrong; nil discards it.
	Log *slog.Logger
}

// Server serves HTTP on several listeners with one life. Start and Stop may be
// called in any order, more than once and from several goroutines. It implements
// the first stages of the daemon's end: intake stops, requests drain, then their
// contexts are cancelled. The rest (workers, bookkeeping, the store) follows
// once Stop has returned, when no request is left that could use them.
type Server struct {
	opts  ServerOptions
	conns *connections
	// base is the context of every request; cancel ends them.
	base   context.Context
	cancel context.CancelFunc
	failed chan error // of listeners that broke; never closed
	serve  sync.WaitGroup

	mu        sync.Mutex
	servers   []*http.Server // guarded by mu
	stopped   bool           // guarded by mu; no endpoint is started any more
	refusing  bool           // guarded by mu; no request is begun any more
	running   int            // guarded by mu; requests in progress
	quiescent chan struct{}  // closed, under mu, once refusing and none is running

	stop    sync.Once
	drained chan struct{} // closed when Stop is done
	stopErr error         // written before drained is closed
}

// NewServer returns a server that serves nothing yet.
func NewServer(opts ServerOptions) *Server {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{opts: opts, conns: newConnections(cmp.Or(opts.MaxConnections, maxConnections), cmp.Or(opts.BodyTimeout, bodyTimeout), cmp.Or(opts.MaxBodies, maxBodies)), failed: make(chan error, 1), drained: make(chan struct{}), quiescent: make(chan struct{})}
	s.base, s.cancel = context.WithCancel(context.Background())
	return s
}

// Start serves an endpoint in the background; there may be several. After Stop
// it closes the listener and returns http.ErrServerClosed.
func (s *Server) Start(e Endpoint) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return errors.Join(http.ErrServerClosed, e.Listener.Close())
	}
	// Shutdown closes only the listeners that Serve has come to know, which it has
	// once it asks for the context.
	known := make(chan struct{})
	serving := sync.OnceFunc(func() { close(known) })
	srv := &http.Server{
		Handler:           s.counted(s.conns.handler(e.Handler)),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		BaseContext: func(net.Listener) context.Context {
			serving()
			return s.base
		},
		ConnContext: s.conns.attach,
		ConnState:   s.conns.state,
		ErrorLog:    slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelWarn),
	}
	if socket, ok := e.Listener.(*Socket); ok {
		socket.refused = func(err error) { s.opts.Log.Warn("a connection of another user was refused", "error", err) }
	}
	s.servers = append(s.servers, srv)
	s.serve.Go(func() {
		defer serving() // also if it could not begin
		if err := srv.Serve(impatientListener{e.Listener, cmp.Or(s.opts.UnreadTimeout, unreadTimeout)}); !errors.Is(err, http.ErrServerClosed) {
			select {
			case s.failed <- fmt.Errorf("serve %s: %w", e.Listener.Addr(), err):
			default: // the first failure is told
			}
		}
	})
	<-known
	return nil
}

// counted wraps a handler so that Stop can wait for its requests: net/http waits
// for connections, and gives up those that it closes.
func (s *Server) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.begin() {
			api.WriteError(w, &memory.Error{Code: memory.CodeUnavailable, Message: "the daemon is stopping", Hint: "try again"})
			return
		}
		defer s.end()
		if s.opts.Asked != nil && r.Method == http.MethodPost {
			defer s.opts.Asked()()
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refusing {
		return false
	}
	s.running++
	return true
}

func (s *Server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running--; s.running == 0 && s.refusing {
		close(s.quiescent)
	}
}

// refuse has no request begin any more.
func (s *Server) refuse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refusing = true; s.running == 0 {
		close(s.quiescent)
	}
}

// Running returns the number of requests in progress.
func (s *Server) Running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// Failed receives when a listener breaks: the daemon should end then.
func (s *Server) Failed() <-chan error { return s.failed }

// Stop closes the listeners, lets requests in progress end for at most the drain
// timeout or until ctx ends, cancels what is left, and returns when no request
// runs any more, or CancelGrace after the cancellation at the latest. The error
// holds context.DeadlineExceeded when something had to be cancelled, and says so
// when it still runs. Further calls wait for the first and return the same.
func (s *Server) Stop(ctx context.Context) error {
	s.stop.Do(func() {
		defer close(s.drained)
		s.stopErr = s.shutdown(ctx)
	})
	<-s.drained
	return s.stopErr
}

func (s *Server) shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.stopped = true
	servers := s.servers
	s.mu.Unlock()

	drain, cancel := context.WithTimeout(ctx, s.opts.DrainTimeout)
	defer cancel()
	errs := make([]error, len(servers))
	var closed, wg sync.WaitGroup
	closed.Add(len(servers))
	for i, srv := range servers {
		srv.RegisterOnShutdown(closed.Done) // called with its listeners closed
		wg.Go(func() { errs[i] = srv.Shutdown(drain) })
	}
	closed.Wait()
	// Only now: what was ended sooner could come back by an open listener.
	if s.opts.OnDrain != nil {
		s.opts.OnDrain()
	}
	wg.Wait()
	s.refuse()
	s.cancel()
	for i, srv := range servers {
		if errs[i] != nil {
			_ = srv.Close() // connections that outlived the deadline
		}
	}
	s.serve.Wait()
	select {
	case <-s.quiescent:
	case <-time.After(CancelGrace):
		errs = append(errs, errStuck)
	}
	return errors.Join(errs...)
}
