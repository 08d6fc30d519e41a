package mcp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/mark3labs/mcp-go/server"

	"github.com/recalld/recalld/internal/memory"
)

// A session remembers the agent's session that it has started, so that the
// calls after session_start need not name it, and so that two agents of one
// client and project do not write into each other's. It is kept in memory, and
// in HeaderAgent by the bridge, which survives the daemon. Where neither knows,
// the daemon takes the open session of the client's window, which its hooks have
// opened; see store.Store.CurrentSession.

// agent is an agent's session that a session has started. The zero value is none.
type agent struct {
	memory.SessionKey
	// named says that its project was named, and need not be the project of the caller's
	// folder: the calls that name none are then about it.
	named bool
}

// project is what a call is about that names a project, or none.
func (a agent) project(given string) string {
	if given == "" && a.named {
		return a.Project
	}
	return given
}

// agent returns the agent's session that the calling session has started, or that the
// bridge of a client without sessions names.
func (s *Server) agent(ctx context.Context, header http.Header) agent {
	id := connectionOf(ctx)
	if id == "" {
		if named, ok := parseAgent(header.Get(HeaderAgent)); ok && server.IsModernRequest(ctx) {
			return named
		}
		return agent{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.agents[id]
}

// setAgent remembers the agent's session that the calling session has started, here or,
// for a client without sessions, in its bridge.
func (s *Server) setAgent(ctx context.Context, agent agent) {
	id := connectionOf(ctx)
	if id == "" {
		if w := writerOf(ctx); w != nil {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.agent = formatAgent(agent)
		}
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agents[id] = agent
}

// endAgent lets go of an agent's session that has ended, in every session: the
// one that ended it need not be the one that started it. So does the bridge of a client
// without sessions, if it named that one.
func (s *Server) endAgent(ctx context.Context, ended memory.SessionKey) {
	if w := writerOf(ctx); w != nil {
		if named, ok := parseAgent(w.request.Header.Get(HeaderAgent)); ok && named.SessionKey == ended {
			w.mu.Lock()
			w.ended = true
			w.mu.Unlock()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for session, started := range s.agents {
		if started.SessionKey == ended {
			delete(s.agents, session)
		}
	}
}

// namedMark is the third part of the HeaderAgent of a session whose project was
// named.
const namedMark = "named"

// formatAgent writes an agent's session as HeaderAgent has it: project and id,
// percent-encoded, with slashes between.
func formatAgent(a agent) string {
	text := url.PathEscape(a.Project) + "/" + url.PathEscape(a.ID)
	if a.named {
		text += "/" + namedMark
	}
	return text
}

// parseAgent reads what formatAgent wrote.
func parseAgent(text string) (a agent, ok bool) {
	parts := strings.Split(text, "/")
	if a.named = len(parts) == 3 && parts[2] == namedMark; len(parts) != 2 && !a.named {
		return a, false
	}
	var wrong [2]error
	a.Project, wrong[0] = url.PathUnescape(parts[0])
	a.ID, wrong[1] = url.PathUnescape(parts[1])
	return a, errors.Join(wrong[:]...) == nil && memory.ValidSessionID("sessionId", a.ID) == nil
}

// forget drops what is kept of a session that has ended.
func (s *Server) forget(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.roots, session)
	delete(s.agents, session)
	delete(s.found, session)
	delete(s.sessions, session)
}
