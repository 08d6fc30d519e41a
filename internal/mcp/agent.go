package mcp

import (
	"context"

	"github.com/mark3labs/mcp-go/server"

	"github.com/recalld/recalld/internal/memory"
)

// A session remembers the agent's session that it has started, so that the
// calls after session_start need not name it, and so that two agents of one
// client and project do not write into each other's. It is kept in memory only:
// after a restart, or when the bridge replays initialize, nothing is remembered,
// and the daemon takes the newest open session of the same project and client.

// agent returns the agent's session that the calling session has started, or "".
func (s *Server) agent(ctx context.Context) string {
	session := server.ClientSessionFromContext(ctx)
	if session == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.agents[session.SessionID()].ID
}

// setAgent remembers the agent's session that the calling session has started.
func (s *Server) setAgent(ctx context.Context, agent memory.SessionKey) {
	session := server.ClientSessionFromContext(ctx)
	if session == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agents[session.SessionID()] = agent
}

// endAgent lets go of an agent's session that has ended, in every session: the
// one that ended it need not be the one that started it.
func (s *Server) endAgent(agent memory.SessionKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for session, started := range s.agents {
		if started == agent {
			delete(s.agents, session)
		}
	}
}

// forget drops what is kept of a session that has ended.
func (s *Server) forget(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.roots, session)
	delete(s.agents, session)
}
