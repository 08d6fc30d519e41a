package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/recalld/recalld/internal/access"
	"github.com/recalld/recalld/internal/memory"
)

// admit reads the body of a request and puts it back. A body that must not
// reach the protocol is answered here, with the id of its message where that
// can be read, and admit returns false.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) bool {
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxMessage+1))
	if e, ok := errors.AsType[*memory.Error](err); ok { // no room for it now
		w.Header().Set("Retry-After", strconv.Itoa(e.RetryAfter))
		refuse(w, http.StatusTooManyRequests, rpcError(nil, codeInvalidRequest, e.Error()+"; "+e.Hint))
		return false
	}
	if err != nil {
		http.Error(w, "the request was cut short", http.StatusBadRequest)
		return false
	}
	if len(body) > MaxMessage {
		refuse(w, http.StatusRequestEntityTooLarge, rpcError(nil, codeInvalidRequest,
			fmt.Sprintf("the message is longer than %d bytes", MaxMessage)))
		return false
	}
	env, wrong := parseEnvelope(body)
	if wrong != nil {
		refuse(w, http.StatusBadRequest, rpcError(env.ID, wrong.code, wrong.text))
		return false
	}
	if env.Method == string(mcpgo.MethodInitialize) {
		s.makeRoom(r.Context(), clientKey(r.Context()))
	}
	if chosen := splitToolsets(r.Header.Get(HeaderToolsets)); len(chosen) > 0 {
		if _, err := chooseTools(s.tools, chosen); err != nil {
			refuse(w, http.StatusBadRequest, rpcError(env.ID, codeInvalidRequest, err.Error()))
			return false
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return true
}

// clientKey names the client of a request, as the limits of calls do.
func clientKey(ctx context.Context) string {
	if c := access.From(ctx); c != nil {
		return c.Key
	}
	return ""
}

// opened is a session's client, and when the session was last used.
type opened struct {
	client string
	used   time.Time
}

// used notes that a session is in use.
func (s *Server) used(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x, ok := s.sessions[session]; ok {
		s.sessions[session] = opened{x.client, time.Now()}
	}
}

// makeRoom ends the session of a client that was idle longest if the client has as many as it
// may: a client that is killed leaves its session behind, and each takes memory until it has
// been idle for Options.SessionTTL. A client that still uses it initialises again.
func (s *Server) makeRoom(ctx context.Context, client string) {
	s.mu.Lock()
	open, oldest := 0, ""
	for id, x := range s.sessions {
		if x.client != client {
			continue
		}
		if open++; oldest == "" || x.used.Before(s.sessions[oldest].used) {
			oldest = id
		}
	}
	s.mu.Unlock()
	if open < s.opts.MaxSessions {
		return
	}
	r, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodDelete, "http://localhost"+Path, nil)
	if err != nil {
		return // both are constant
	}
	r.Header.Set(server.HeaderKeySessionID, oldest)
	s.http.ServeHTTP(discarded{}, r)
}

// discarded is an answer that nobody reads.
type discarded struct{}

func (discarded) Header() http.Header         { return http.Header{} }
func (discarded) Write(p []byte) (int, error) { return len(p), nil }
func (discarded) WriteHeader(int)             {}

func refuse(w http.ResponseWriter, status int, message []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The client may have gone; then the write fails, and nothing can be done.
	_, _ = w.Write(message)
}
