package client_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"

	"github.com/recalld/recalld/internal/client"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// A daemon of any protocol can be stopped; nobody need find its process.
func TestStopOfEveryProtocol(t *testing.T) {
	for name, protocol := range map[string]string{"older": "0", "ours": "1", "newer": "99"} {
		t.Run(name, func(t *testing.T) {
			socket := filepath.Join(t.TempDir(), "s")
			l, err := net.Listen("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			mux := http.NewServeMux()
			srv := &http.Server{Handler: mux}
			mux.HandleFunc("GET "+service.Hello.Path, func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte(`{"protocol":` + protocol + `,"version":"x","pid":7}`))
			})
			ended := make(chan error, 1)
			mux.HandleFunc("POST "+service.Stop.Path, func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte(`{}`))
				go func() { ended <- srv.Shutdown(context.WithoutCancel(t.Context())) }()
			})
			go srv.Serve(l)
			who, err := client.Stop(t.Context(), client.Options{Socket: socket})
			if err != nil || who.PID != 7 {
				t.Errorf("stop: %+v, %v; want pid 7", who, err)
			}
			if err := <-ended; err != nil {
				t.Errorf("the daemon's end: %v", err)
			}
		})
	}
	if _, err := client.Stop(t.Context(), client.Options{Socket: filepath.Join(t.TempDir(), "none")}); memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("without a daemon: %v, want unavailable", err)
	}
}

// TestStopWaitsForAStart: a daemon that holds its folder and does not listen yet is stopped
// as well. Without one, Stop does not wait, and makes no lock.
func TestStopWaitsForAStart(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	opts := client.Options{Socket: filepath.Join(dir, "s"), Lock: filepath.Join(dir, "recalld.lock")}
	if _, err := client.Stop(t.Context(), opts); memory.CodeOf(err) != memory.CodeUnavailable {
		t.Errorf("without a daemon: %v, want unavailable", err)
	}
	if _, err := os.Stat(opts.Lock); !os.IsNotExist(err) {
		t.Errorf("the lock of a daemon that never ran: %v, want none", err)
	}
	lock := flock.New(opts.Lock)
	if ok, err := lock.TryLock(); !ok {
		t.Fatal(err)
	}
	defer lock.Unlock()
	daemon := exec.CommandContext(t.Context(), self, "daemon", dir)
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	if who, err := client.Stop(t.Context(), opts); err != nil || who.PID != daemon.Process.Pid {
		t.Errorf("stop: %+v, %v; want pid %d", who, err, daemon.Process.Pid)
		_ = daemon.Process.Kill()
	}
	_ = daemon.Wait()
}
