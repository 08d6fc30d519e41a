package mcp

import (
	"context"
	"fmt"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// reporter returns what sends a client how far its call is; nil if it asked for no progress.
func reporter(ctx context.Context, request mcpgo.CallToolRequest) func(any) {
	if request.Params.Meta == nil || request.Params.Meta.ProgressToken == nil {
		return nil
	}
	token, last := request.Params.Meta.ProgressToken, -1
	return func(report any) {
		p, ok := report.(memory.Progress)
		if !ok || p.FilesDone <= last { // it must grow with each notification
			return
		}
		last = p.FilesDone
		params := map[string]any{"progressToken": token, "progress": p.FilesDone, "message": fmt.Sprintf("%s: %s", p.Phase, memory.Count(p.FilesDone, "file"))}
		if p.FilesTotal > 0 {
			params["total"] = p.FilesTotal
		}
		send(ctx, "notifications/progress", params)
	}
}

// warn tells a client that asks for warnings why its answer is not whole.
func warn(ctx context.Context, why string) {
	logTo(ctx, mcpgo.LoggingLevelWarning, render.Visible(why))
}

// logTo sends a line of log to the client of a call, if it asks for that level: with the
// request, or since protocol version 2026-07-28 with each.
func logTo(ctx context.Context, level mcpgo.LoggingLevel, text string) {
	var asked mcpgo.LoggingLevel
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern {
		asked = info.LogLevel
	} else if session, ok := server.ClientSessionFromContext(ctx).(server.SessionWithLogging); ok {
		asked = session.GetLogLevel()
	}
	if asked != "" && level.ShouldSendTo(asked) {
		send(ctx, "notifications/message", map[string]any{"level": level, "logger": "recalld", "data": text})
	}
}
