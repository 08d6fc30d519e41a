package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/recalld/recalld/internal/access"
	"github.com/recalld/recalld/internal/memory"
)

// admit reads the body of a request and puts it back. A body that must not
// reach the protocol is answered here, with the id of its message where that
// can be read, and admit returns false.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) bool {
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxMessage+1))
	if e, ok := errors.AsType[*memory.Error](err); ok { // no room for it now
		limited(w, nil, e)
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
		if err := s.roomForSession(clientKey(r.Context())); err != nil {
			limited(w, env.ID, err)
			return false
		}
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

// roomForSession returns CodeLimited if a client has as many sessions open as it may: each
// takes memory until it ends or has been idle for Options.SessionTTL.
func (s *Server) roomForSession(client string) *memory.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := 0
	for _, owner := range s.owners {
		if owner == client {
			open++
		}
	}
	if open < s.opts.MaxSessions {
		return nil
	}
	return &memory.Error{Code: memory.CodeLimited, Field: "session", Limit: fmt.Sprintf("%d sessions of one client", s.opts.MaxSessions),
		Message: "the client has too many sessions open", Hint: "end one with DELETE, or make all calls in one session", RetryAfter: 1}
}

// limited answers a message that has to wait.
func limited(w http.ResponseWriter, id json.RawMessage, e *memory.Error) {
	w.Header().Set("Retry-After", strconv.Itoa(e.RetryAfter))
	refuse(w, http.StatusTooManyRequests, rpcError(id, codeInvalidRequest, e.Error()+"; "+e.Hint))
}

func refuse(w http.ResponseWriter, status int, message []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The client may have gone; then the write fails, and nothing can be done.
	_, _ = w.Write(message)
}
