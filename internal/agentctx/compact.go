package agentctx

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// Compact carries out service.Compact. Entries that were added or removed by hand stay
// so, because a person decided it for the session; the version and the turns stay, too.
//
// A model may take a minute to write the summary. Entities that are reported meanwhile are
// not in it, and are kept.
func (s *Contexts) Compact(ctx context.Context, req memory.CompactRequest) (*memory.Compacted, error) {
	project, session, err := s.findLoaded(ctx, &req, &req.SessionRef) // a summary could name tools that are not loaded yet
	if err != nil {
		return nil, err
	}
	out := &memory.Compacted{
		Project: project.ID, ProjectName: project.Name, SessionID: session.ID,
		KeepTurns: cmp.Or(req.KeepTurns, s.opts.Settings.KeepTurns), ActiveTools: active(s.visibleItems(ctx, project.ID, req.SessionRef), newWorkingContext(session.ID)),
	}
	tools := s.toolsOf(project.ID)
	var unseen func(memory.Entity) bool // by the model that wrote the summary
	if req.Summary != "" {
		summary, n := s.opts.Writer.Clean(req.Summary, memory.MaxSummary)
		out.Summary, out.Redacted = summary, n > 0
	} else {
		w, err := s.update(ctx, project, session.ID, req.RequestID, func(*memory.WorkingContext, *memory.Batch) (bool, error) { return false, nil })
		if err != nil {
			return nil, err
		}
		if w.repeated { // no model is asked for it again
			out.Version, out.Summary = w.context.Version, w.context.Summary
			return out, nil
		}
		wc, _, err := s.load(session.Key())
		if err != nil {
			return nil, err
		}
		if out.Summary, out.Model, err = s.summarize(ctx, session, wc, tools, req.Transcript); err != nil {
			return nil, err
		}
		unseen = func(e memory.Entity) bool {
			return !slices.ContainsFunc(wc.Entities, func(known memory.Entity) bool { return same(known, e) })
		}
	}
	var clearedTools, clearedEntities int
	w, err := s.update(ctx, project, session.ID, req.RequestID, func(wc *memory.WorkingContext, b *memory.Batch) (bool, error) {
		if err := checkSummary(out.Summary, slices.Concat(tools, wc.UsedTools, wc.DiscoveredTools)); err != nil {
			return false, err
		}
		clearedTools, clearedEntities = compact(wc, unseen)
		wc.Summary, wc.CompactedAt = out.Summary, s.opts.now()
		b.Action, b.Detail = "compact session", map[string]any{
			"session": session.ID, "project": project.ID, "tools": clearedTools, "entities": clearedEntities, "model": out.Model,
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	out.Version = w.context.Version
	if w.repeated {
		out.Summary = w.context.Summary
		return out, nil
	}
	out.ClearedTools, out.ClearedEntities = clearedTools, clearedEntities
	return out, nil
}

// compact clears a working context, except for the entities that keep selects, and counts what it
// removed. Nil keeps none.
func compact(wc *memory.WorkingContext, keep func(memory.Entity) bool) (tools, entities int) {
	gone := setOf(slices.Concat(wc.DiscoveredTools, wc.UsedTools))
	kept := slices.DeleteFunc(slices.Clone(wc.Entities), func(e memory.Entity) bool { return keep == nil || !keep(e) })
	entities = len(wc.Entities) - len(kept)
	wc.DiscoveredTools, wc.UsedTools, wc.Guided, wc.ToolUse = []memory.ToolRef{}, []memory.ToolRef{}, nil, nil
	wc.Entities = kept
	wc.Compactions++
	return len(gone), entities
}

// toolsOf returns the tools that a summary must not name: the tools of the project's
// catalogue, also disabled ones, and recalld's own.
func (s *Contexts) toolsOf(project string) []memory.ToolRef {
	var tools []memory.ToolRef
	for _, p := range []string{project, memory.OwnProject} {
		for _, item := range s.opts.Catalogue.Items(p) {
			if item.Type == memory.Tool {
				tools = append(tools, toolOf(&item))
			}
		}
	}
	return tools
}

// maxNamed bounds the names of tools in an error.
const maxNamed = 10

// checkSummary returns CodeInvalidInput for a summary that is too long or names tools.
func checkSummary(summary string, tools []memory.ToolRef) error {
	if n := render.Tokens(summary); n > memory.MaxSummaryTokens {
		return memory.Invalid("summary", fmt.Sprintf("at most %d tokens", memory.MaxSummaryTokens), "%d tokens are too many", n)
	}
	names := toolNames(summary, tools)
	if len(names) == 0 {
		return nil
	}
	quoted := make([]string, min(len(names), maxNamed))
	for i := range quoted {
		quoted[i] = memory.Quote(names[i])
	}
	list := strings.Join(quoted, ", ")
	if more := len(names) - len(quoted); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	e := memory.Invalid("summary", "no name of a tool", "it names %s", list)
	e.Hint = "say what was done, not with what"
	return e
}
