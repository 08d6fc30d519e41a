package config

import (
	"fmt"
	"strings"
	"time"
)

// Limits of lists and names that nobody needs to be longer.
const (
	maxOverrides = 100
	maxToolsets  = 100
	maxName      = 200 // bytes
	maxToolName  = 64  // characters, as MCP clients have it
	maxPrefix    = 40  // of these, so that there is room for the rest
)

func (t *Tasks) validate(v *checks) {
	within(v, "tasks.window", t.Window, 1, 100)
	if len(t.Overrides) > maxOverrides {
		v.fail("tasks.overrides", fmt.Sprintf("at most %d", maxOverrides), "%d of them", len(t.Overrides))
		return
	}
	for i, o := range t.Overrides {
		o.validate(v, fmt.Sprintf("tasks.overrides[%d].", i))
	}
}

// validate checks an override. One that names neither project nor type is of all.
func (o *TaskOverride) validate(v *checks, field string) {
	if o.Window != nil {
		within(v, field+"window", *o.Window, 1, 100)
	}
	for name, text := range map[string]string{"project": o.Project, "task_type": o.TaskType} {
		if len(text) > maxName {
			v.fail(field+name, fmt.Sprintf("at most %d bytes", maxName), "%d are too many", len(text))
		}
	}
	if o.Window == nil && o.RequiresContext == nil && o.LeaveOut == nil {
		v.fail(strings.TrimSuffix(field, "."), "window, requires_context or leave_out", "changes nothing")
	}
}

func (c *Context) validate(v *checks) {
	within(v, "context.max_tokens", c.MaxTokens, 50, 100_000)
	within(v, "context.top_k", c.TopK, 1, 200)
	within(v, "context.top_n", c.TopN, 1, 50)
	within(v, "context.include_score", c.IncludeScore, 0, 1)
	for kind, share := range c.Shares.Map() {
		within(v, "context.shares."+kind, share, 0, 1)
	}
	within(v, "context.keep_turns", c.KeepTurns, 1, 100)
	if len(c.SummaryModel) > maxName || strings.ContainsFunc(c.SummaryModel, isSpace) {
		v.fail("context.summary_model", fmt.Sprintf("at most %d characters without spaces", maxName), "%q is not the name of a model", c.SummaryModel)
	}
	within(v, "context.summary_timeout", c.SummaryTimeout, time.Second, 10*time.Minute)
}

func (m *MCP) validate(v *checks) {
	if len(m.Prefix) > maxPrefix || !isToolName(m.Prefix) {
		v.fail("mcp.prefix", fmt.Sprintf("up to %d letters, digits, _ and -", maxPrefix), "%q cannot begin a tool's name", m.Prefix)
	}
	if n := len(m.Toolsets); n == 0 || n > maxToolsets {
		v.fail("mcp.toolsets", fmt.Sprintf("1–%d", maxToolsets), "%d of them", n)
	}
	// Which names there are depends on the prefix and is the server's to know.
	for i, set := range m.Toolsets {
		if set == "" || !isToolName(set) {
			v.fail(fmt.Sprintf("mcp.toolsets[%d]", i), strings.Join(Toolsets, ", ")+", or the name of a tool", "%q is neither", set)
		}
	}
}
