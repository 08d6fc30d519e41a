package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gofrs/flock"

	"github.com/recalld/recalld/internal/api"
	"github.com/recalld/recalld/internal/client"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/service/servicetest"
)

// The test binary is the daemon as well: run as "TestBinary daemon DIR [VERSION]" it
// serves a fake service on a data folder, and as "TestBinary broken CODE" it fails.
func TestMain(m *testing.M) {
	if len(os.Args) >= 3 && os.Args[1] == "daemon" {
		if err := serve(os.Args[2], strings.Join(os.Args[3:], "")); err != nil {
			fmt.Fprintln(os.Stderr, "daemon:", err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	if len(os.Args) == 3 && os.Args[1] == "broken" {
		fmt.Fprintln(os.Stderr, "open store: the disk is on fire")
		code, _ := strconv.Atoi(os.Args[2])
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// serve is a small daemon: it owns the folder by its lock, then the socket, and
// ends when it is told to stop.
func serve(dir, version string) error {
	lock := flock.New(filepath.Join(dir, "data.lock"))
	if ok, err := lock.TryLock(); err != nil || !ok {
		return errors.Join(errors.New("the folder is in use"), err)
	}
	defer lock.Unlock()
	starts, err := os.OpenFile(filepath.Join(dir, "starts"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(starts, os.Getpid()); err != nil {
		return err
	}
	if err := starts.Close(); err != nil {
		return err
	}
	socket := filepath.Join(dir, "s")
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	stopping := make(chan struct{})
	var once sync.Once
	svc := &servicetest.Service{
		Answers: map[string]any{service.Status.Name: &memory.Status{PID: os.Getpid()},
			service.Hello.Name: &service.Greeting{Protocol: service.Protocol, Version: version, PID: os.Getpid()}},
		Before: func(_ context.Context, method string) {
			if method == service.Stop.Name {
				once.Do(func() { close(stopping) })
			}
		},
	}
	srv := &http.Server{Handler: api.NewHandler(svc, api.Options{})}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	select {
	case <-stopping:
	case err := <-ended:
		return err
	}
	err = srv.Shutdown(context.Background())
	<-ended
	return err
}

// startable returns options that start the small daemon in a folder of its own,
// which is stopped when the test ends.
func startable(t *testing.T) (opts client.Options, dir string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	opts = client.Options{
		Socket:    filepath.Join(dir, "s"),
		Command:   []string{self, "daemon", dir},
		StartLock: filepath.Join(dir, "start.lock"),
		Log:       filepath.Join(dir, "log", "daemon.log"),
	}
	t.Cleanup(func() {
		c, err := client.Connect(context.Background(), client.Options{Socket: opts.Socket})
		if err != nil {
			return // none runs
		}
		stop(t, c, dir)
	})
	return opts, dir
}

// stop ends the small daemon and waits until its process has let go of the
// folder.
func stop(t *testing.T, c *client.Client, dir string) {
	t.Helper()
	if _, err := service.Stop.Do(context.Background(), c, service.None{}); err != nil {
		t.Errorf("stop: %v", err)
	}
	if err := c.WaitGone(context.Background()); err != nil {
		t.Errorf("wait until it is gone: %v", err)
	}
	_ = c.Close()
	lock := flock.New(filepath.Join(dir, "data.lock"))
	if err := lock.Lock(); err != nil {
		t.Errorf("wait for the daemon's end: %v", err)
	}
	_ = lock.Unlock()
}

// starts returns how many daemons have owned the folder.
func starts(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "starts"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(text, []byte("\n"))
}

func TestSixteenClientsStartOneDaemon(t *testing.T) {
	opts, dir := startable(t)
	const clients = 16
	pids := make([]int, clients)
	errs := make([]error, clients)
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			<-begin
			c, err := client.Connect(t.Context(), opts)
			if err != nil {
				errs[i] = err
				return
			}
			defer c.Close()
			st, err := service.Status.Do(t.Context(), c, service.None{})
			if err != nil {
				errs[i] = err
				return
			}
			pids[i] = st.PID
		})
	}
	close(begin)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for i, pid := range pids {
		if pid != pids[0] || pid == os.Getpid() {
			t.Errorf("client %d talks to process %d, client 0 to %d", i, pid, pids[0])
		}
	}
	if n := starts(t, dir); n != 1 {
		t.Errorf("%d daemons were started, want 1", n)
	}
}

// A socket whose daemon was killed is still there and refuses.
func TestStaleSocket(t *testing.T) {
	opts, dir := startable(t)
	l, err := net.Listen("unix", opts.Socket)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Connect(t.Context(), client.Options{Socket: opts.Socket}); memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("without a command: error %v, want unavailable", err)
	}
	if _, err := os.Lstat(opts.Socket); err != nil {
		t.Errorf("a client that may not start a daemon removed the socket: %v", err)
	}
	connect(t, opts)
	if n := starts(t, dir); n != 1 {
		t.Errorf("%d daemons were started, want 1", n)
	}
}

// A daemon whose socket may not be opened is not taken for none.
func TestSocketThatMayNotBeOpened(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root opens every socket: run it as another user")
	}
	socket := listen(t, http.NotFoundHandler())
	if err := os.Chmod(filepath.Dir(socket), 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Dir(socket), 0o700) // for the removal of the folder
	if _, err := client.Stop(t.Context(), client.Options{Socket: socket}); !client.MayNotOpen(err) {
		t.Errorf("Stop says %v, want that it may not be opened: a daemon may run", err)
	}
}

// A client outlives its daemon: the next call starts another.
func TestDaemonRestarts(t *testing.T) {
	opts, dir := startable(t)
	c := connect(t, opts)
	before, err := service.Status.Do(t.Context(), c, service.None{})
	if err != nil {
		t.Fatal(err)
	}
	other := connect(t, opts)
	stop(t, other, dir)
	after, err := service.Status.Do(t.Context(), c, service.None{})
	if err != nil {
		t.Fatalf("after the daemon went away: %v", err)
	}
	if before.PID == after.PID {
		t.Error("the same process answered before and after it stopped")
	}
	if n := starts(t, dir); n != 2 {
		t.Errorf("%d daemons were started, want 2", n)
	}
}

func TestFailedStartShowsTheLog(t *testing.T) {
	opts, _ := startable(t)
	opts.Command = []string{opts.Command[0], "broken", "3"}
	if err := os.MkdirAll(filepath.Dir(opts.Log), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(opts.Log, []byte("an old line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := client.Connect(t.Context(), opts)
	e, ok := errors.AsType[*memory.Error](err)
	if !ok || e.Code != memory.CodeUnavailable {
		t.Fatalf("error %v, want unavailable", err)
	}
	if !strings.Contains(e.Message, "the disk is on fire") || strings.Contains(e.Message, "an old line") {
		t.Errorf("message %q, want the lines of this start, and no others", e.Message)
	}
	if !strings.Contains(e.Hint, opts.Log) {
		t.Errorf("hint %q does not name the log", e.Hint)
	}
}

// TestStartOfNewerStore: a daemon that cannot use the store says so by its exit code; trying
// again does not help.
func TestStartOfNewerStore(t *testing.T) {
	opts, _ := startable(t)
	opts.Command = []string{opts.Command[0], "broken", strconv.Itoa(client.ExitIncompatible)}
	if _, err := client.Connect(t.Context(), opts); memory.CodeOf(err) != memory.CodeIncompatible || !strings.Contains(err.Error(), "the disk is on fire") {
		t.Errorf("error %v, want incompatible, with the log", err)
	}
}

func TestMissingProgram(t *testing.T) {
	opts, dir := startable(t)
	opts.Command = []string{filepath.Join(dir, "none")}
	if _, err := client.Connect(t.Context(), opts); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want one of a missing file", err)
	}
}

// Who waits for another client's start can give up.
func TestGiveUpWaiting(t *testing.T) {
	opts, _ := startable(t)
	lock := flock.New(opts.StartLock)
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.Connect(ctx, opts); memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("error %v, want unavailable", err)
	}
}

// A daemon of an older protocol is asked to drain and replaced, whoever else
// connects at the same time.
func TestOlderProtocolIsReplaced(t *testing.T) {
	opts, dir := startable(t)
	l, err := net.Listen("unix", opts.Socket)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	srv := &http.Server{Handler: mux}
	stops := 0 // by one client at a time, under the start lock
	mux.HandleFunc(service.Hello.Path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"protocol": 0}`)) })
	mux.HandleFunc(service.Stop.Path, func(w http.ResponseWriter, _ *http.Request) {
		stops++
		_, _ = w.Write([]byte("{}"))
		_ = l.Close()
		srv.SetKeepAlivesEnabled(false)
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
	t.Cleanup(func() {
		_ = srv.Close()
		<-done
	})

	if _, err := client.Connect(t.Context(), client.Options{Socket: opts.Socket}); memory.CodeOf(err) != memory.CodeIncompatible {
		t.Errorf("without a command: error %v, want incompatible", err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			c, err := client.Connect(t.Context(), opts)
			if err != nil {
				t.Errorf("connect: %v", err)
				return
			}
			defer c.Close()
			if g, err := c.Hello(t.Context()); err != nil || g.Protocol != service.Protocol {
				t.Errorf("hello: %+v, %v, want our protocol", g, err)
			}
		})
	}
	wg.Wait()
	if n := starts(t, dir); n != 1 || stops != 1 {
		t.Errorf("%d stops and %d starts, want one of each", stops, n)
	}
}
