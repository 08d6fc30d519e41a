package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

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
		if len(env.ID) == 0 {
			refuse(w, http.StatusBadRequest, rpcError(nil, codeInvalidRequest, "initialize needs an id"))
			return false
		}
		s.makeRoom(r.Context())
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

// used notes that a session is in use.
func (s *Server) used(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.sessions[session]; ok {
		s.sessions[session] = time.Now()
	}
}

// makeRoom ends the sessions that were idle longest until there is room for another one: a
// client that is killed leaves its session behind, and each takes memory until it has been
// idle for Options.SessionTTL. A client that still uses one initialises again.
func (s *Server) makeRoom(ctx context.Context) {
	s.mu.Lock()
	open := slices.Collect(maps.Keys(s.sessions))
	slices.SortFunc(open, func(a, b string) int { return s.sessions[a].Compare(s.sessions[b]) })
	s.mu.Unlock()
	for _, id := range open[:max(len(open)+1-s.opts.MaxSessions, 0)] {
		r, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodDelete, "http://localhost"+Path, nil)
		if err != nil {
			return // all of it is constant
		}
		r.Header.Set(server.HeaderKeySessionID, id)
		s.http.ServeHTTP(discarded{}, r)
	}
}

// sessionIDs are the ids of the sessions that are open, and were not ended.
type sessionIDs struct{ open sync.Map }

func (x *sessionIDs) Generate() string {
	id := rand.Text()
	x.open.Store(id, true)
	return id
}

func (x *sessionIDs) Validate(id string) (ended bool, err error) {
	if _, ok := x.open.Load(id); !ok {
		return false, errors.New("no such session")
	}
	return false, nil
}

func (x *sessionIDs) Terminate(id string) (refused bool, err error) {
	x.open.Delete(id)
	return false, nil
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
