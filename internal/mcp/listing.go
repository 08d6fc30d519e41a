package mcp

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/recalld/recalld/internal/service"
)

// What tools/list shows to a session: the toolsets that its client or the settings
// name, and the groups that it has found since. All tools stay registered, and so
// answer even when they are called without being listed; mcp-go's own tool filters
// would refuse that. What was found is kept in memory, and by the bridge, which
// survives the daemon, as the agent's session is.

// found is what a session has found: groups in the order in which they were found.
type found struct {
	// version counts the changes, so that of two answers that overtake one another
	// the later state is kept.
	version int
	groups  []service.Group
}

// listChanged is the notification that the list of tools is another one.
const listChanged = `{"jsonrpc":"2.0","method":"` + mcpgo.MethodNotificationToolsListChanged + `"}`

// onListed leaves out of an answer to tools/list what its session is not shown.
func (s *Server) onListed(ctx context.Context, _ any, request *mcpgo.ListToolsRequest, result *mcpgo.ListToolsResult) {
	if result == nil {
		return
	}
	result.Tools = slices.DeleteFunc(result.Tools, func(t mcpgo.Tool) bool { return !s.shows(ctx, request.Header, t.Name) })
}

// toolsetsOf returns the names of the tools that HeaderToolsets asks for; nil
// without it. ServeHTTP has refused one that does not hold.
func (s *Server) toolsetsOf(header http.Header) map[string]bool {
	chosen := splitToolsets(header.Get(HeaderToolsets))
	if len(chosen) == 0 {
		return nil
	}
	names, _ := chooseTools(s.tools, chosen)
	return names
}

// foundBy returns what the calling session has found.
func (s *Server) foundBy(ctx context.Context) found {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.found[connectionOf(ctx)]
}

// list adds groups to what the calling session is shown, and tells its client when
// that is more than before.
func (s *Server) list(ctx context.Context, groups ...service.Group) {
	s.changeFound(ctx, func(before []service.Group) []service.Group {
		after := slices.Clone(before) // a reader may hold the old one
		for _, g := range groups {
			if g != service.Core && !slices.Contains(after, g) {
				after = append(after, g)
			}
		}
		return after
	})
}

// unlist takes what was found out of the list again.
func (s *Server) unlist(ctx context.Context) {
	s.changeFound(ctx, func([]service.Group) []service.Group { return nil })
}

func (s *Server) changeFound(ctx context.Context, change func([]service.Group) []service.Group) {
	connection := connectionOf(ctx)
	if connection == "" {
		return
	}
	s.mu.Lock()
	before := s.found[connection]
	after := change(before.groups)
	changed := !slices.Equal(before.groups, after)
	if changed {
		s.found[connection] = found{before.version + 1, after}
	}
	s.mu.Unlock()
	if changed {
		tell(ctx, listChanged)
	}
}

// formatFound writes what was found as HeaderFound has it: the version, a
// semicolon, and the groups with commas between.
func formatFound(f found) string {
	names := make([]string, len(f.groups))
	for i, g := range f.groups {
		names[i] = string(g)
	}
	return fmt.Sprintf("%d;%s", f.version, strings.Join(names, ","))
}

// parseFound reads what formatFound wrote. Groups that this version does not know
// are kept: they match no tool.
func parseFound(text string) (f found, ok bool) {
	version, names, ok := strings.Cut(text, ";")
	if !ok {
		return found{}, false
	}
	var err error
	if f.version, err = strconv.Atoi(version); err != nil || f.version < 1 {
		return found{}, false
	}
	if names == "" {
		return f, true
	}
	for name := range strings.SplitSeq(names, ",") {
		if name == "" || strings.ContainsFunc(name, notInName) || len(f.groups) == maxGroups {
			return found{}, false
		}
		f.groups = append(f.groups, service.Group(name))
	}
	return f, true
}

// maxGroups bounds what a header may hold; there are fewer.
const maxGroups = 50

// latestFound is what a client has found, as the answers to its calls tell, in
// whatever order they come.
type latestFound struct {
	mu    sync.Mutex // guards found
	found found
}

// keep takes over a HeaderFound unless a later one is known.
func (l *latestFound) keep(header string) {
	found, ok := parseFound(header)
	l.mu.Lock()
	defer l.mu.Unlock()
	if ok && found.version > l.found.version {
		l.found = found
	}
}

// header writes it as HeaderFound; nothing has been found is no header.
func (l *latestFound) header() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.found.version == 0 {
		return ""
	}
	return formatFound(l.found)
}
