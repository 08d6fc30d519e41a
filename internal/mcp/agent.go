package mcp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/recalld/recalld/internal/memory"
)

// A session remembers the agent's session that it has started, so that the
// calls after session_start need not name it, and so that two agents of one
// client and project do not write into each other's. It is kept in memory, and
// in HeaderAgent by the bridge, which survives the daemon. Where neither knows,
// the daemon takes the newest open session of the same project and client.

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

// agentWriter tells the client, with the head of an answer, which agent's session
// its session has by then.
type agentWriter struct {
	http.ResponseWriter
	server  *Server
	request *http.Request
	told    bool
}

var _ http.Flusher = (*agentWriter)(nil)

// tell sets HeaderAgent. In an answer to initialize, the first that knows the new
// session's id, it first takes over what the bridge hands back.
func (w *agentWriter) tell() {
	if w.told {
		return
	}
	w.told = true
	session := w.request.Header.Get(mcpgo.HeaderSessionID)
	s := w.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if session == "" {
		session = w.Header().Get(mcpgo.HeaderSessionID)
		if agent, ok := parseAgent(w.request.Header.Get(HeaderAgent)); ok && session != "" {
			s.agents[session] = agent
		}
	}
	if agent, ok := s.agents[session]; ok {
		w.Header().Set(HeaderAgent, formatAgent(agent))
	}
}

func (w *agentWriter) WriteHeader(status int) {
	w.tell()
	w.ResponseWriter.WriteHeader(status)
}

func (w *agentWriter) Write(b []byte) (int, error) {
	w.tell()
	return w.ResponseWriter.Write(b)
}

// Flush sends what is written, as streams of events must.
func (w *agentWriter) Flush() {
	w.tell()
	// A writer that cannot flush sends everything at the end.
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController set deadlines.
func (w *agentWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// formatAgent writes a session's key as HeaderAgent has it: project and id,
// percent-encoded, with a slash between.
func formatAgent(key memory.SessionKey) string {
	return url.PathEscape(key.Project) + "/" + url.PathEscape(key.ID)
}

// parseAgent reads what formatAgent wrote.
func parseAgent(text string) (key memory.SessionKey, ok bool) {
	project, id, ok := strings.Cut(text, "/")
	if !ok {
		return key, false
	}
	var wrong [2]error
	key.Project, wrong[0] = url.PathUnescape(project)
	key.ID, wrong[1] = url.PathUnescape(id)
	return key, errors.Join(wrong[:]...) == nil && memory.ValidSessionID("sessionId", key.ID) == nil
}

// forget drops what is kept of a session that has ended.
func (s *Server) forget(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.roots, session)
	delete(s.agents, session)
}
