package mcp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
)

// A daemon that refuses to take a session up again leaves none behind: the next
// message tries anew, and no stream outlives what it was opened for.
func TestRefusedReplay(t *testing.T) {
	refuse := false
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		env, _ := parseEnvelope(body)
		switch {
		case r.Method == http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case env.Method != "initialize":
			w.WriteHeader(http.StatusAccepted)
		case refuse:
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"not now"}}`)
		default:
			w.Header().Set(mcpgo.HeaderSessionID, "s1")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18"}}`)
		}
	}))
	defer srv.Close()
	to := srv.Listener.Addr().String()
	l := newLink(BridgeOptions{
		Connect: func(context.Context) (*http.Client, error) {
			return &http.Client{Transport: redirect{to}}, nil
		},
		Logger: slog.New(slog.DiscardHandler),
	}, func([]byte) {})
	defer l.close(t.Context())

	initialize := outgoing{env: envelope{ID: []byte("0"), Method: "initialize"}, text: []byte(initializeLine), reply: func([]byte) {}}
	if err := l.deliver(t.Context(), initialize); err != nil {
		t.Fatal(err)
	}
	first := l.current
	refuse = true
	l.lose(first)
	if first.ctx.Err() == nil {
		t.Error("the session that was lost has not ended")
	}
	if s, err := l.session(t.Context()); !errors.Is(err, errLost) || s != nil || l.current != nil {
		t.Errorf("after a refusal: session %+v, %v, current %+v; want none and errLost", s, err, l.current)
	}
	refuse = false
	if s, err := l.session(t.Context()); err != nil || s.id != "s1" {
		t.Errorf("once it is taken up: %+v, %v", s, err)
	}
}

// redirect sends every request to one address.
type redirect struct{ to string }

func (r redirect) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.URL.Host = r.to
	return http.DefaultTransport.RoundTrip(request)
}
