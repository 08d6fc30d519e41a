package agentctx

import (
	"cmp"
	"context"
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// Items returns the entries of a project with what applies to them, in the order in
// which they were registered; memory.OwnProject has recalld's own tools. Their
// schemas must not be written to. Settings of servers that cannot be read, which is
// logged, count as none.
func (s *Catalogue) Items(project string) []memory.EntryState {
	records := s.opts.Records.Entries(project, memory.EntryKinds...)
	servers, err := s.serversOf(project)
	if err != nil {
		s.opts.Logger.Error("settings of servers are left out", "project", project, "error", err)
	}
	settings, items := byName(servers), make([]memory.EntryState, len(records))
	for i := range records {
		items[i] = stateOf(&records[i], settings)
	}
	return items
}

// Entries carries out service.Entries. An unknown project has none. CodeUnavailable while the
// memory is loading.
func (s *Catalogue) Entries(ctx context.Context, req memory.EntriesRequest) (*memory.EntryList, error) {
	project, err := s.opts.project(ctx, &req, &req.Project, &req.Caller)
	if err != nil {
		return nil, err
	}
	if err := s.opts.ready(); err != nil {
		return nil, err
	}
	inside := memory.AsksFrom(ctx, s.opts.Projects, project.ID, req.Project, req.Caller)
	servers, err := s.serversOf(project.ID)
	if err != nil {
		return nil, err
	}
	kinds := req.Types
	if len(kinds) == 0 {
		kinds = memory.EntryKinds
	}
	out := &memory.EntryList{Project: project.ID, ProjectName: project.Name, Entries: []memory.EntryState{}, Servers: []memory.Server{}}
	settings, named := byName(servers), map[string]bool{}
	for _, x := range servers {
		if (req.Server == "" || x.Name == req.Server) && (inside || !isFile(x.Source)) {
			named[x.Name] = true
			out.Servers = append(out.Servers, x.Server)
		}
	}
	for _, r := range s.opts.Records.Entries(project.ID, memory.EntryKinds...) {
		name := r.Entry.Server
		if isFile(r.Entry.Source) && !inside {
			continue
		}
		if req.Server != "" && name != req.Server {
			continue
		}
		if name != "" && !named[name] {
			named[name] = true
			out.Servers = append(out.Servers, memory.Server{Name: name})
		}
		if !slices.Contains(kinds, r.Kind) {
			continue
		}
		e := stateOf(&r, settings)
		if !req.Content {
			e.Content, e.Guidance, e.InputSchema = "", "", nil
		}
		out.Entries = append(out.Entries, e)
	}
	return out, nil
}

// stateOf returns a record's entry with what applies to it.
func stateOf(r *memory.Record, servers map[string]storedServer) memory.EntryState {
	e := r.Entry
	state := memory.EntryState{
		ID: r.ID, Source: e.Source, Version: e.Version,
		CatalogueEntry: memory.CatalogueEntry{
			Ref: refOf(r), Description: e.Description, Content: e.Content, Guidance: e.Guidance,
			InputSchema: e.InputSchema, Core: e.Core, Include: e.Include, Enabled: e.Enabled,
		},
	}
	server := servers[e.Server] // rules and references have the settings of none
	state.Mode = cmp.Or(e.Include, server.Include, memory.IncludeAlways)
	state.Since = e.Since
	if (e.Include == "" || e.Enabled == nil) && server.Since.After(e.Since) {
		state.Since = server.Since
	}
	state.On = true
	if enabled := cmp.Or(e.Enabled, server.Enabled); enabled != nil {
		state.On = *enabled
	}
	return state
}

func refOf(r *memory.Record) memory.Ref {
	return memory.Ref{Type: r.Kind, Name: r.Entry.Name, ServerName: r.Entry.Server}
}
