package config

import (
	"fmt"
	"reflect"
	"strings"
)

// The longest lists and names.
const (
	maxOverrides = 100
	maxToolsets  = 100
	maxName      = 200 // bytes
	maxToolName  = 64  // characters, the limit of MCP clients
	maxPrefix    = 40  // leaves room for the rest of the name
)

func (t *Tasks) validate(v *checks) {
	if len(t.Overrides) > maxOverrides {
		v.fail("tasks.overrides", fmt.Sprintf("at most %d", maxOverrides), "%d of them", len(t.Overrides))
		return
	}
	for i, o := range t.Overrides {
		o.validate(v, fmt.Sprintf("tasks.overrides[%d].", i))
	}
}

// validate checks an override. One that names neither project nor type applies to all.
func (o *TaskOverride) validate(v *checks, field string) {
	if o.Window != nil {
		window := setting{path: field + "window", tag: `limit:"1-100"`, value: reflect.ValueOf(o.Window).Elem()}
		window.validate(v)
	}
	for _, f := range []struct{ name, text string }{{"project", o.Project}, {"task_type", o.TaskType}} {
		if len(f.text) > maxName {
			v.fail(field+f.name, fmt.Sprintf("at most %d bytes", maxName), "%d bytes are too many", len(f.text))
		}
	}
	if o.Window == nil && o.RequiresContext == nil && o.LeaveOut == nil {
		v.fail(strings.TrimSuffix(field, "."), "window, requires_context or leave_out", "changes nothing")
	}
}

func (c *Context) validate(v *checks) {
	if len(c.SummaryModel) > maxName || strings.ContainsFunc(c.SummaryModel, isSpace) {
		v.fail("context.summary_model", fmt.Sprintf("at most %d characters without spaces", maxName), "%q is not the name of a model", c.SummaryModel)
	}
}

func (m *MCP) validate(v *checks) {
	if len(m.Prefix) > maxPrefix || !isToolName(m.Prefix) {
		v.fail("mcp.prefix", fmt.Sprintf("up to %d letters, digits, _ and -", maxPrefix), "%q cannot begin a tool's name", m.Prefix)
	}
	if len(m.Project) > maxName {
		v.fail("mcp.project", fmt.Sprintf("at most %d bytes", maxName), "%d bytes are too many", len(m.Project))
	}
	if n := len(m.Toolsets); n == 0 || n > maxToolsets {
		v.fail("mcp.toolsets", fmt.Sprintf("1–%d", maxToolsets), "%d of them", n)
	}
	// Only the server knows the tools, whose names depend on the prefix.
	for i, set := range m.Toolsets {
		if set == "" || !isToolName(set) {
			v.fail(fmt.Sprintf("mcp.toolsets[%d]", i), strings.Join(Toolsets, ", ")+", or the name of a tool", "%q is neither", set)
		}
	}
}
