package mcp

import (
	"context"
	"log/slog"
)

// unasked is what mcp-go logs, as an error of the server, where a client answers what nobody
// waits for: a client that says its roots after Options.RootsTimeout does so. The client is told
// by the status of its request.
const unasked = "Failed to handle sampling response"

// clientsOwn is a handler that does not show users what clients do as errors of recalld.
type clientsOwn struct{ slog.Handler }

func (h clientsOwn) Handle(ctx context.Context, r slog.Record) error {
	if r.Message != unasked {
		return h.Handler.Handle(ctx, r)
	}
	if r.Level = slog.LevelDebug; !h.Enabled(ctx, r.Level) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h clientsOwn) WithAttrs(attrs []slog.Attr) slog.Handler {
	return clientsOwn{h.Handler.WithAttrs(attrs)}
}

func (h clientsOwn) WithGroup(name string) slog.Handler { return clientsOwn{h.Handler.WithGroup(name)} }
