package mcp

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/recalld/recalld/internal/memory"
)

// A call over HTTP has no folder, unless its client answers roots/list. What it is about
// is then said by an argument of the tool, by HeaderProject or by Options.Project, in
// this order; the answer says which of the last two it was.

// assumed is the project of the calls that name none: a name or id, or a folder.
type assumed struct {
	project string
	by      string // what named it, for the answer; empty if nothing did
}

// assume returns the project that a header or else a setting names. A header is of this
// client, so it counts more than the client's folder; the setting is for those without one.
func (s *Server) assume(header http.Header, dir string) assumed {
	named := strings.TrimSpace(header.Get(HeaderProject))
	if text, err := url.PathUnescape(named); err == nil {
		named = text
	}
	switch {
	case named != "":
		return assumed{named, "the header " + HeaderProject}
	case dir == "" && s.opts.Project != "":
		return assumed{s.opts.Project, "the setting mcp.project"}
	}
	return assumed{}
}

// note says in an answer of which project it is, and why.
func (a assumed) note() string { return "Project: " + a.project + ", named by " + a.by + "." }

// explainProject adds to the refusal of a call without a project how to name one.
func explainProject(err error, caller memory.Caller) error {
	e := memory.AsError(err)
	if caller.Dir != "" || e.Code != memory.CodeInvalidInput || e.Field != "project" || e.Limit != "" {
		return err
	}
	told := *e
	told.Hint = "give the tool's argument project, if it has one; or have the client's user set the header " + HeaderProject +
		" of the MCP server, or the setting mcp.project of recalld, to a name, an id or a folder"
	return &told
}
