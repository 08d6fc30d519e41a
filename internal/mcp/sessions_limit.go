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

	"github.com/recalld/recalld/internal/access"
)

// openSession is what is kept of a session that is open.
type openSession struct {
	used   time.Time // last
	client string    // access.Client.Key of who opened it
}

// opened notes a session and who opened it.
func (s *Server) opened(ctx context.Context, session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[session] = openSession{time.Now(), clientKey(ctx)}
}

// used notes that a session is in use.
func (s *Server) used(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x, ok := s.sessions[session]; ok {
		x.used = time.Now()
		s.sessions[session] = x
	}
}

func clientKey(ctx context.Context) string {
	if c := access.From(ctx); c != nil {
		return c.Key
	}
	return ""
}

// makeRoom ends sessions until there is room for another one: a client that is killed leaves
// its session behind, and each takes memory until it has been idle for Options.SessionTTL.
// A client that still uses one initialises again.
func (s *Server) makeRoom(ctx context.Context) {
	for _, id := range s.tooMany(clientKey(ctx)) {
		r, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodDelete, "http://localhost"+Path, nil)
		if err != nil {
			return // all of it is constant
		}
		r.Header.Set(server.HeaderKeySessionID, id)
		s.http.ServeHTTP(discarded{}, r)
	}
}

// tooMany returns the sessions that must end before a client may open another: those of the
// client that has most, so that one that opens many ends no others', and of these the ones
// that were idle longest.
func (s *Server) tooMany(client string) (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := slices.SortedFunc(maps.Keys(s.sessions), func(a, b string) int { return s.sessions[a].used.Compare(s.sessions[b].used) })
	count := map[string]int{client: 1}
	for _, x := range s.sessions {
		count[x.client]++
	}
	for len(left) >= s.opts.MaxSessions {
		most := slices.Max(slices.Collect(maps.Values(count)))
		i := slices.IndexFunc(left, func(id string) bool { return count[s.sessions[id].client] == most })
		count[s.sessions[left[i]].client]--
		ids, left = append(ids, left[i]), slices.Delete(left, i, i+1)
	}
	return ids
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
