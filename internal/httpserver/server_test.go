package httpserver

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// start serves a handler on a new socket and returns a client of it.
func start(t *testing.T, srv *Server, h http.HandlerFunc) *http.Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := ListenSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Start(Endpoint{Listener: l, Handler: h}); err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", path) }}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// A request in progress ends well while the server drains; a new one is refused.
func TestStopDrains(t *testing.T) {
	draining := make(chan struct{})
	srv := NewServer(ServerOptions{DrainTimeout: time.Minute, OnDrain: func() { close(draining) }})
	entered, release := make(chan struct{}), make(chan struct{})
	c := start(t, srv, func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-release
		if r.Context().Err() != nil {
			t.Error("the request was cancelled before the drain deadline")
		}
		_, _ = io.WriteString(w, "done")
	})
	answer := make(chan string, 1)
	go func() {
		resp, err := c.Get("http://d/")
		if err != nil {
			answer <- err.Error()
			return
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		answer <- string(text)
	}()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- srv.Stop(t.Context()) }()
	<-draining
	select {
	case err := <-stopped:
		t.Fatalf("stopped (%v) with a request in progress", err)
	default:
	}
	close(release)
	if got := <-answer; got != "done" {
		t.Errorf("the request in progress got %q", got)
	}
	if err := <-stopped; err != nil {
		t.Errorf("stop: %v", err)
	}
	if _, err := c.Get("http://d/"); err == nil {
		t.Error("a request after the stop was served")
	}
}

// Nobody gets in any more when draining begins: a stream that was just ended
// would be opened again.
func TestDrainingBeginsWithClosedListeners(t *testing.T) {
	var addresses []net.Addr
	drained := false
	srv := NewServer(ServerOptions{DrainTimeout: time.Minute, OnDrain: func() {
		drained = true
		for _, at := range addresses {
			if conn, err := net.Dial(at.Network(), at.String()); err == nil {
				_ = conn.Close()
				t.Errorf("%s took a connection while draining", at)
			}
		}
	}})
	for range 3 {
		l, err := ListenTCP("127.0.0.1:0", nil)
		if err != nil {
			t.Fatal(err)
		}
		addresses = append(addresses, l.Addr())
		if err := srv.Start(Endpoint{Listener: l, Handler: http.NotFoundHandler()}); err != nil {
			t.Fatal(err)
		}
	}
	if err := srv.Stop(t.Context()); err != nil {
		t.Errorf("stop: %v", err)
	}
	if !drained {
		t.Error("draining was not told")
	}
}

// What does not end within the drain timeout is cancelled, and Stop says so.
func TestStopCancelsAfterTheDeadline(t *testing.T) {
	srv := NewServer(ServerOptions{DrainTimeout: time.Millisecond})
	entered, cancelled, mayEnd := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var ended atomic.Bool
	c := start(t, srv, func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
		close(cancelled)
		<-mayEnd
		ended.Store(true)
	})
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		if resp, err := c.Get("http://d/"); err == nil {
			_ = resp.Body.Close()
		}
	}()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- srv.Stop(t.Context()) }()
	<-cancelled
	select {
	case err := <-stopped:
		t.Fatalf("stopped (%v) while a request was still running", err)
	default:
	}
	close(mayEnd)
	if err := <-stopped; !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errStuck) {
		t.Errorf("stop: %v, want context.DeadlineExceeded alone", err)
	}
	if !ended.Load() {
		t.Error("stop returned before the request did")
	}
	<-answered
}

func TestServerStopTwiceAndStartAfterwards(t *testing.T) {
	srv := NewServer(ServerOptions{})
	for range 2 {
		if err := srv.Stop(t.Context()); err != nil {
			t.Errorf("stop of a server that serves nothing: %v", err)
		}
	}
	path := filepath.Join(t.TempDir(), "s")
	l, err := ListenSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Start(Endpoint{Listener: l, Handler: http.NotFoundHandler()}); !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("start after stop: %v, want http.ErrServerClosed", err)
	}
	if conn, err := net.Dial("unix", path); err == nil {
		_ = conn.Close()
		t.Error("the listener was left open")
	}
}

// Starts and stops from many goroutines: every listener ends up closed.
func TestServerStress(t *testing.T) {
	for range 50 {
		srv := NewServer(ServerOptions{DrainTimeout: time.Minute})
		var listeners []net.Listener
		for range 4 {
			l, err := ListenTCP("127.0.0.1:0", nil)
			if err != nil {
				t.Fatal(err)
			}
			listeners = append(listeners, l)
		}
		var wg sync.WaitGroup
		for _, l := range listeners {
			wg.Go(func() {
				if err := srv.Start(Endpoint{Listener: l, Handler: http.NotFoundHandler()}); err != nil && !errors.Is(err, http.ErrServerClosed) {
					t.Errorf("start: %v", err)
				}
			})
			wg.Go(func() {
				if err := srv.Stop(t.Context()); err != nil {
					t.Errorf("stop: %v", err)
				}
			})
		}
		wg.Wait()
		for _, l := range listeners {
			if err := l.Close(); !errors.Is(err, net.ErrClosed) {
				t.Fatalf("listener %s was still open (%v)", l.Addr(), err)
			}
		}
	}
}

func TestServerTellsOfABrokenListener(t *testing.T) {
	srv := NewServer(ServerOptions{})
	l, err := ListenTCP("127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Start(Endpoint{Listener: l, Handler: http.NotFoundHandler()}); err != nil {
		t.Fatal(err)
	}
	_ = l.Close() // as if the system had
	if err := <-srv.Failed(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("failed with %v, want net.ErrClosed", err)
	}
	if err := srv.Stop(t.Context()); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Errorf("stop: %v", err)
	}
}

// TestAsked: Asked is called around requests that post something, and around no others.
func TestAsked(t *testing.T) {
	asking := 0
	during := map[string]int{}
	srv := NewServer(ServerOptions{Asked: func() func() {
		asking++
		return func() { asking-- }
	}})
	client := start(t, srv, func(_ http.ResponseWriter, r *http.Request) { during[r.Method] = asking })
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://daemon/", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Body.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if during[http.MethodGet] != 0 || during[http.MethodPost] != 1 {
		t.Errorf("requests that were told of while they ran: %v, want none of GET and one of POST", during)
	}
}
