package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/server"
)

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
