package mcp

import (
	"context"

	"github.com/mark3labs/mcp-go/server"
)

// Since protocol version 2026-07-28 there are no sessions: a request says by itself who
// calls, and the server keeps nothing between two of them. So there is no list of tools
// that grows and no connection to ask for roots; the agent's session that a client over stdio
// has started is kept by its bridge, which sends HeaderAgent with every such request.

// connectionOf is the id of the session that a call belongs to; empty for one of a
// protocol version without sessions.
func connectionOf(ctx context.Context) string {
	session := server.ClientSessionFromContext(ctx)
	if session == nil || server.IsModernRequest(ctx) {
		return ""
	}
	return session.SessionID()
}
