package mcp

import (
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// knowledgeCode is the code by which a knowledge tool says why it failed:
// MM_ and the service's own in capitals, whatever the prefix of the names.
//
//	MM_INVALID_INPUT  a field is unknown, malformed or over its limit, the scope
//	                  is "current" and no session is open, or names an unknown one
//	MM_NOT_FOUND      no such project
//	MM_CONFLICT       the caller's folder lies above several repositories
//	MM_FORBIDDEN      the caller may not
//	MM_UNAVAILABLE    the daemon, or a part it needs, cannot answer for now
//	MM_CORRUPT        stored data failed its checksum
//	MM_INCOMPATIBLE   another protocol, or a newer store
//	MM_INTERNAL       a fault of ours
func knowledgeCode(code memory.Code) string { return "MM_" + strings.ToUpper(string(code)) }

// knowledgeAnswer is what a knowledge tool answers: its result, or what went
// wrong. A refusal is {ok: false, error: {code, message, …}} as of every other
// tool. Two things differ, as contract 1 has them: the codes, and that an answer is in
// "result" where the other tools' fields stand by themselves.
type knowledgeAnswer struct {
	OK     bool            `json:"ok"`
	Notice string          `json:"notice,omitempty"` // with a result
	Result any             `json:"result,omitempty"`
	Error  *knowledgeError `json:"error,omitempty"`
}

// knowledgeError says why a knowledge tool failed. Message holds field and
// limit as well, for clients that know code and message only.
type knowledgeError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
	Limit   string `json:"limit,omitempty"`
	Hint    string `json:"hint,omitempty"`
}

// knowledgeRefusal is the result of a knowledge tool that failed.
func knowledgeRefusal(err error) *mcpgo.CallToolResult {
	e := memory.AsError(err)
	code := e.Code
	if code == memory.CodeNotFound && strings.HasSuffix(e.Field, "sessionId") {
		code = memory.CodeInvalidInput // every refused input is, in contract 1
	}
	return mcpgo.NewToolResultError(render.Compact(knowledgeAnswer{Error: &knowledgeError{
		Code: knowledgeCode(code), Message: e.Error(), Field: e.Field, Limit: e.Limit, Hint: e.Hint,
	}}))
}
