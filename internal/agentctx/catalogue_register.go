package agentctx

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// ownSource is the source of recalld's own tools, unknownSource of what a caller
// registers that says nothing of itself.
const (
	ownSource     = "recalld"
	unknownSource = "host"
)

// Register implements memory.Catalogue. Unless it is larger than a transaction, some
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
	if err := req.Validate(); err != nil {
		return nil, err
	}
	project, _, err := s.opts.Projects.Resolve(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, err
	}
	source := cmp.Or(req.Source, req.Caller.Client, unknownSource)
	if isFile(source) { // a client may call itself anything
		source = unknownSource
	}
	if _, n := s.opts.Writer.Clean(source, memory.MaxNameText); n > 0 {
		return nil, secretName("source")
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

// RegisterOwn makes recalld's own tools those given; it is for each start, once the
// memory is loaded, and writes what is new. They are kept under memory.OwnProject.
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

// clean takes the secrets out of a change. What is stored already as it is was
// cleaned then, and looking for secrets costs more than all else.
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
			if _, n := s.opts.Writer.Clean(name.text, memory.MaxNameText); n > 0 {
				return secretName(fmt.Sprintf("entries[%d].%s", i, name.field))
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
		if _, n := s.opts.Writer.Clean(x.Name, memory.MaxNameText); n > 0 {
			return secretName(fmt.Sprintf("servers[%d].name", i))
		}
	}
	return nil
}

// secretName is the error for a name that holds a secret. Without it, the name would
// be another, and two could become one.
func secretName(field string) error {
	return memory.Invalid(field, "a name without secrets", "holds what looks like a secret")
}
