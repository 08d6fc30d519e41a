package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
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

// TestRefusedRequest: a request that the daemon refuses before it reaches the protocol, with or
// without having read its id, is answered in the protocol with the code, the reason and when to
// try again.
func TestRefusedRequest(t *testing.T) {
	refused := &memory.Error{Code: memory.CodeLimited, Field: "rate", Limit: "5 calls a second", Message: "the client asks too often", Hint: "try again in 7 seconds", RetryAfter: 7}
	outside, err := json.Marshal(service.ErrorBody{Error: refused})
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string][]byte{"outside the protocol": outside, "without an id": rpcRefusal(nil, codeUnavailable, refused)} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", service.MIMEJSON)
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write(body)
		}))
		defer srv.Close()
		p := startBridge(t, func(context.Context) (*http.Client, error) {
			return &http.Client{Transport: redirect{srv.Listener.Addr().String()}}, nil
		}, "")
		p.write(initializeLine)
		var got struct {
			ID    *int
			Error fault
		}
		line := p.read()
		if err := json.Unmarshal([]byte(line), &got); err != nil || got.ID == nil || *got.ID != 0 || got.Error.Code != codeUnavailable {
			t.Errorf("%s: %v, answered %s, want the id 0 and the code %d", name, err, line, codeUnavailable)
		}
		if want := "recalld: limited: rate: the client asks too often (limit: 5 calls a second); try again in 7 seconds"; got.Error.Text != want {
			t.Errorf("%s: the error says %q, want %q", name, got.Error.Text, want)
		}
		var data memory.Error
		if err := json.Unmarshal(got.Error.Data, &data); err != nil || data.Code != memory.CodeLimited || data.RetryAfter != 7 {
			t.Errorf("%s: its data is %s (%v)", name, got.Error.Data, err)
		}
	}
}

// linkTo is a link to a daemon that a test server stands for.
func linkTo(srv *httptest.Server) *link {
	return newLink(BridgeOptions{
		Connect: func(context.Context) (*http.Client, error) {
			return &http.Client{Transport: redirect{srv.Listener.Addr().String()}}, nil
		},
		Logger: slog.New(slog.DiscardHandler),
	}, func([]byte) {})
}

// TestLateAnswerDoesNotLoseTheSession: the answer to a question that was asked
// before a session was opened may come after that, and knows none.
func TestLateAnswerDoesNotLoseTheSession(t *testing.T) {
	answers := map[string]string{"recall": "", service.StartSession.Name: "p/abcd", "status": "p/other", service.EndSession.Name: ""}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		env, _ := parseEnvelope(body)
		switch {
		case r.Method == http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		case env.Method == "initialize":
			w.Header().Set(mcpgo.HeaderSessionID, "s1")
		}
		for tool, agent := range answers {
			if agent != "" && strings.Contains(string(body), `"`+tool+`"`) {
				w.Header().Set(HeaderAgent, agent)
			}
		}
		w.Header().Set(HeaderFound, "2;admin")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18"}}`)
	}))
	defer srv.Close()
	l := linkTo(srv)
	defer l.close(t.Context())
	current := func() string {
		if agent := l.agent.Load(); agent != nil {
			return *agent
		}
		return ""
	}
	for _, step := range []struct{ message, want string }{
		{initializeLine, ""}, {toolCall(1, service.StartSession.Name, `{}`), "p/abcd"}, {toolCall(1, "recall", `{"query":"session_end"}`), "p/abcd"},
		{toolCall(1, "status", `{}`), "p/abcd"}, {toolCall(1, service.EndSession.Name, `{}`), ""},
	} {
		env, wrong := parseEnvelope([]byte(step.message))
		if wrong != nil {
			t.Fatalf("%s: %v", step.message, wrong)
		}
		// Known by the time that the client has its answer, and may send more.
		reply := func([]byte) {
			if got := current(); got != step.want {
				t.Errorf("when %s is answered the session is %q, want %q", step.message, got, step.want)
			}
			if got := l.found.header(); env.Method != "initialize" && got != "2;admin" {
				t.Errorf("when %s is answered %q is known to be found, want 2;admin", step.message, got)
			}
		}
		if err := l.deliver(t.Context(), outgoing{env: env, text: []byte(step.message), reply: reply}); err != nil {
			t.Fatalf("%s: %v", step.message, err)
		}
		if got := current(); got != step.want {
			t.Errorf("after %s the session is %q, want %q", step.message, got, step.want)
		}
	}
}

// TestInitializeTwice: a client that begins anew has no use for its former session, and the
// daemon may drop it.
func TestInitializeTwice(t *testing.T) {
	var ended []string
	opened := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case http.MethodDelete:
			ended = append(ended, r.Header.Get(mcpgo.HeaderSessionID))
		default:
			opened++
			w.Header().Set(mcpgo.HeaderSessionID, fmt.Sprintf("s%d", opened))
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18"}}`)
		}
	}))
	defer srv.Close()
	l := linkTo(srv)
	initialize := outgoing{env: envelope{ID: []byte("0"), Method: "initialize"}, text: []byte(initializeLine), reply: func([]byte) {}}
	for range 2 {
		if err := l.deliver(t.Context(), initialize); err != nil {
			t.Fatal(err)
		}
	}
	l.close(t.Context())
	if want := []string{"s1", "s2"}; !slices.Equal(ended, want) {
		t.Errorf("the sessions %q were ended, want %q", ended, want)
	}
}

// redirect sends every request to one address.
type redirect struct{ to string }

func (r redirect) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.URL.Host = r.to
	return http.DefaultTransport.RoundTrip(request)
}
