package mcp

import (
	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/recalld/recalld/internal/service"
)

// The fields of a tool's _meta that Claude Code reads; other clients ignore them.
const (
	// metaAlwaysLoad keeps a tool in the model's context, where Claude Code hides tools
	// behind a search of its own.
	metaAlwaysLoad = "anthropic/alwaysLoad"
	// metaSearchHint is a phrase that Claude Code's search matches beside the name.
	metaSearchHint = "anthropic/searchHint"
	// metaMaxResult is how many characters of a result are shown. Claude Code writes a longer
	// one to a file, by default from 50,000 on.
	metaMaxResult = "anthropic/maxResultSizeChars"
)

// searchHints are phrases for tools that an agent looks for in words of its own.
var searchHints = map[*service.Spec]string{
	service.Recall.Spec:       "project memory: lessons, known errors, earlier steps, code",
	service.Remember.Spec:     "keep a lesson for later sessions",
	service.Feedback.Spec:     "say whether a recalled lesson worked",
	service.SearchTools.Spec:  "find a tool for a task in words",
	service.StartSession.Spec: "record the steps of this task for other agents",
	service.TaskWindow.Spec:   "recent tasks and what blocks them",
	service.IndexRepo.Spec:    "index the code of a repository for recall",
}

// maxResults are the most characters of answers that may be longer than Claude Code shows
// by default. 100,000 tokens of a context are some 400,000.
var maxResults = map[*service.Spec]int{service.Recall.Spec: 100_000, service.Assemble.Spec: 500_000}

// meta is what Claude Code is told about a tool; nil is nothing.
func (t ownTool) meta() *mcpgo.Meta {
	fields := map[string]any{}
	if t.op.Group == service.Core {
		fields[metaAlwaysLoad] = true
	}
	if hint := searchHints[t.op]; hint != "" {
		fields[metaSearchHint] = hint
	}
	if n := maxResults[t.op]; n > 0 {
		fields[metaMaxResult] = n
	}
	if len(fields) == 0 {
		return nil
	}
	return &mcpgo.Meta{AdditionalFields: fields}
}
