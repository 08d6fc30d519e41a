package agentctx

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// Catalogue keeps the catalogues of all projects. It is safe for concurrent use.
type Catalogue struct {
	opts Ports

	// writing is held while a catalogue changes, so that no two changes start from the same
	// state.
	writing sync.Mutex
	taken   readFiles
}

// NewCatalogue returns a catalogue.
func NewCatalogue(opts Ports) (*Catalogue, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Catalogue{opts: opts}, nil
}

// ownSource is the source of recalld's own tools, unknownSource the source of a caller
// without a name.
const (
	ownSource     = "recalld"
	unknownSource = "host"
)

// Register carries out service.Register. Unless it is larger than a transaction, some
// 1 MiB of texts, a registration is written as one: all of it or nothing. A larger
// one is written in parts, in the order of its entries, and what it removes and its
// settings of servers go with the last; it is completed by repeating it. A repeated
// request is answered as the first was, or, where that was written in parts, as its
// last part.
//
// CodeInvalidInput for what is over a limit, for a name or source that holds a secret, and when
// the catalogue would hold more than memory.MaxEntries; then nothing is written.
// CodeUnavailable while the memory is loading.
func (s *Catalogue) Register(ctx context.Context, req memory.RegisterRequest) (*memory.Registered, error) {
	project, err := s.opts.project(ctx, &req, &req.Project, &req.Caller)
	if err != nil {
		return nil, err
	}
	source := cmp.Or(req.Source, req.Caller.Client, unknownSource)
	if isFile(source) { // a client may call itself anything
		source = unknownSource
	}
	if err := s.opts.withoutSecret("source", source); err != nil {
		return nil, err
	}
	c := &change{
		project: project, request: req.RequestID, action: "register entries",
		replaces: func(of string) bool { return req.Replace && of == source },
	}
	for _, e := range req.Entries {
		c.entries = append(c.entries, sourcedEntry{CatalogueEntry: e, source: source})
	}
	for _, x := range req.Servers {
		c.servers = append(c.servers, storedServer{Server: x, Source: source})
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.clean(c); err != nil {
		return nil, err
	}
	s.taken.forget(project.ID)
	return s.write(ctx, c)
}

// RegisterOwn registers recalld's own tools under memory.OwnProject and removes others.
// It is called at each start, once the memory is loaded, and writes only changes.
func (s *Catalogue) RegisterOwn(ctx context.Context, tools []memory.CatalogueEntry) error {
	tools = slices.Clone(tools)
	if err := memory.ValidEntries(tools); err != nil {
		return fmt.Errorf("register own tools: %w", err)
	}
	c := &change{
		project: memory.Project{ID: memory.OwnProject}, action: "register own tools",
		replaces: func(string) bool { return true },
	}
	for _, e := range tools {
		c.entries = append(c.entries, sourcedEntry{CatalogueEntry: e, source: ownSource, text: Text(e)})
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.opts.ready(); err != nil {
		return fmt.Errorf("register own tools: %w", err)
	}
	if _, err := s.write(ctx, c); err != nil {
		return fmt.Errorf("register own tools: %w", err)
	}
	return nil
}

// clean removes the secrets of a change. Unchanged entries are skipped: they were cleaned
// before, and looking for secrets is the most expensive step.
func (s *Catalogue) clean(c *change) error {
	if err := s.opts.ready(); err != nil {
		return err
	}
	stored := s.byRef(c.project.ID)
	for i := range c.entries {
		e := &c.entries[i]
		e.text = Text(e.CatalogueEntry)
		if old, ok := stored[e.Ref]; ok && isUnchanged(old, e) {
			continue
		}
		for _, name := range [...]struct{ field, text string }{{"name", e.Name}, {"serverName", e.ServerName}} {
			if err := s.opts.withoutSecret(fmt.Sprintf("entries[%d].%s", i, name.field), name.text); err != nil {
				return err
			}
		}
		for _, t := range [...]struct {
			text *string
			most int
		}{{&e.Description, memory.MaxDescription}, {&e.Content, memory.MaxContent}, {&e.Guidance, memory.MaxGuidance}} {
			clean, n := s.opts.Writer.Clean(*t.text, t.most)
			*t.text, c.secrets = clean, c.secrets+n
		}
		clean, n := s.opts.Writer.CleanJSON(e.InputSchema)
		e.InputSchema, c.secrets = clean, c.secrets+n
		e.text = Text(e.CatalogueEntry)
	}
	for i, x := range c.servers {
		if err := s.opts.withoutSecret(fmt.Sprintf("servers[%d].name", i), x.Name); err != nil {
			return err
		}
	}
	return nil
}

// Unregister carries out service.Unregister. It removes all that is named or nothing.
// With a source it removes that source's settings of servers as well; a source that
// has nothing is no error. An entry that a file has comes back when the repository's
// files are read again: register it with enabled false to keep it out.
//
// CodeNotFound for an entry that is not registered, which the message names;
// CodeUnavailable while the memory is loading.
func (s *Catalogue) Unregister(ctx context.Context, req memory.UnregisterRequest) (*memory.Registered, error) {
	project, err := s.opts.project(ctx, &req, &req.Project, &req.Caller)
	if err != nil {
		return nil, err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.opts.ready(); err != nil {
		return nil, err
	}
	s.taken.forget(project.ID)
	written, err := s.opts.Writer.WriteWith(ctx, project, func() (memory.Batch, error) { return s.removal(project.ID, &req), nil })
	if err != nil {
		return nil, err
	}
	return &memory.Registered{
		Project: project.ID, ProjectName: project.Name, Removed: written.Dropped, Total: len(s.byRef(project.ID)), Seq: written.Seq,
	}, nil
}

// removal returns the batch that removes what is named.
func (s *Catalogue) removal(project string, req *memory.UnregisterRequest) memory.Batch {
	b := memory.Batch{RequestID: req.RequestID, Action: "unregister entries"}
	stored := s.byRef(project)
	c := &change{replaces: func(source string) bool { return req.Source != "" && source == req.Source }}
	for _, r := range stored {
		if c.replaces(r.Entry.Source) {
			b.DropRecords = append(b.DropRecords, r.ID)
		}
	}
	b.States = []memory.StateEdit{c.editServers(project)}
	for i, ref := range req.Entries {
		if r, ok := stored[ref]; ok {
			b.DropRecords = append(b.DropRecords, r.ID)
			continue
		}
		b.Refused = &memory.Error{
			Code: memory.CodeNotFound, Field: fmt.Sprintf("entries[%d]", i),
			Message: fmt.Sprintf("there is no %s %s", ref.Type, memory.Quote(render.Name(ref.ServerName, ref.Name))),
		}
		break
	}
	b.Detail = map[string]any{"project": project, "removed": len(b.DropRecords)}
	return b
}
