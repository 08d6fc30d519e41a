package client_test

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"testing"

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
