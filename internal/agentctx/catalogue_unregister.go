package agentctx

import (
	"context"
	"fmt"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// Unregister implements memory.Catalogue. It removes all that is named or nothing.
// With a source it removes that source's settings of servers as well; a source that
// has nothing is no error. An entry that a file has comes back when the repository's
// files are read again: register it with enabled false to keep it out.
//
// CodeNotFound for an entry that is not registered, which the message names;
// CodeUnavailable while the memory is loading.
func (s *Catalogue) Unregister(ctx context.Context, req memory.UnregisterRequest) (*memory.Registered, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	project, _, err := s.opts.Projects.Resolve(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.opts.ready(); err != nil {
		return nil, err
	}
	s.taken.forget(project.ID)
	written, err := s.opts.Writer.WriteWith(ctx, project, func() (memory.Batch, error) { return s.removal(project.ID, &req) })
	if err != nil {
		return nil, err
	}
	return &memory.Registered{
		Project: project.ID, ProjectName: project.Name, Removed: written.Dropped, Total: len(s.byRef(project.ID)), Seq: written.Seq,
	}, nil
}

// removal returns the batch that removes what is named.
func (s *Catalogue) removal(project string, req *memory.UnregisterRequest) (memory.Batch, error) {
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
	return b, nil
}
