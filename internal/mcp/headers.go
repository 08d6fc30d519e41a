package mcp

import (
	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/recalld/recalld/internal/access"
)

// RequestHeaders are the headers of requests to Path beside those of HTTP, and
// AnswerHeaders are the headers of its answers. A server that admits web pages must name them.
var (
	RequestHeaders = []string{"Last-Event-ID", mcpgo.HeaderSessionID, mcpgo.HeaderMethod, mcpgo.HeaderName, mcpgo.HeaderProtocolVersion, HeaderDir, HeaderProject, HeaderWindow, HeaderRequestID, HeaderToolsets, HeaderReadOnly, access.Header}
	AnswerHeaders  = []string{mcpgo.HeaderSessionID}
)
