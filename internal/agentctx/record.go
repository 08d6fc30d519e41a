package agentctx

import (
	"slices"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
	"github.com/recalld/recalld/internal/render"
)

// out returns the answer of a filled budget. Active tools are the core tools, the discovered
// ones and those in the answer; a withheld tool cannot be called, because the model does not
// know it.
func (a *assembly) out(b *budget, wc *memory.WorkingContext, guidance string) *memory.Assembled {
	out := &memory.Assembled{
		Project: a.project.ID, ProjectName: a.project.Name, SessionID: a.session.ID,
		Items: make([]memory.AssembledItem, 0, len(b.entries)+1), Memories: append([]memory.Item{}, b.memories...), Window: b.tasks, Guidance: guidance,
		ActiveTools: active(a.items, wc), Withheld: []memory.Withheld{}, Degraded: a.result.degraded,
		Incomplete: a.result.incomplete != "", Why: a.result.incomplete,
		Tokens: b.used, MaxTokens: b.most,
	}
	if b.compacted != "" {
		out.Items = append(out.Items, memory.AssembledItem{
			ContextItem: memory.ContextItem{Ref: memory.Ref{Type: memory.SummaryItem, Name: memory.SummaryName}, IncludeMode: memory.IncludeAlways},
			Text:        b.compacted, Tokens: b.compactedTokens,
		})
	}
	callable := setOf(out.ActiveTools)
	for _, e := range b.entries {
		item := memory.AssembledItem{
			ContextItem: e.item(), ID: e.ID, Description: e.Description, InputSchema: e.InputSchema, Followed: e.Followed(), Tokens: e.tokens,
			State: e.state,
		}
		if e.Type != memory.Tool {
			item.Text = render.EntryBody(e.EntryState)
		} else if !callable[toolOf(e.EntryState)] {
			out.ActiveTools = append(out.ActiveTools, toolOf(e.EntryState))
		}
		out.Items = append(out.Items, item)
	}
	out.ToolSchemas = slices.DeleteFunc(slices.Clone(b.active), func(t memory.ActiveTool) bool {
		return slices.ContainsFunc(b.entries, func(e contextEntry) bool { return e.Type == memory.Tool && toolOf(e.EntryState) == t.ToolRef })
	})
	entries := make([]render.ContextEntry, len(b.entries))
	for i, e := range b.entries {
		entries[i] = render.ContextEntry{EntryState: e.EntryState, Changed: e.state != ""}
	}
	out.Text = render.Context(b.compacted, entries, guidance, b.memories, b.tasks)
	return out
}

// receipt is the record of a turn: what is handed out, with scores. Tools that the session
// may call count as handed out by name: core tools always, discovered ones because the agent
// found them.
func (a *assembly) receipt(out *memory.Assembled, b *budget) memory.Receipt {
	r := memory.Receipt{
		ID: recall.ReceiptID(a.start), At: a.start.UTC(), RequestID: a.req.RequestID,
		Purpose: memory.PurposeContext, Session: a.session.ID, Turn: out.Turn, Project: a.project.ID,
		Request:  a.kept,
		Withheld: out.Withheld, Degraded: out.Degraded, Tokens: out.Tokens, Budget: out.MaxTokens,
		Spaces: a.result.spaces, Calibration: a.result.calibration, Settings: a.result.settings, Seq: a.result.seq,
		Took: memory.Millis(a.s.opts.Clock().Sub(a.start)), Items: []memory.ReceiptItem{},
	}
	r.Request.Kinds = a.result.kinds
	if b.compacted != "" {
		r.Items = append(r.Items, memory.ReceiptItem{
			Kind: memory.SummaryItem, Name: memory.SummaryName, Mode: memory.IncludeAlways, Tokens: b.compactedTokens, Hash: hashOf(b.compacted),
		})
	}
	shown := map[memory.ToolRef]bool{}
	for _, e := range b.entries {
		if e.Type == memory.Tool {
			shown[toolOf(e.EntryState)] = true
		}
		r.Items = append(r.Items, memory.ReceiptItem{
			ID: e.ID, Kind: e.Type, Name: e.Name, Server: e.ServerName, Mode: e.mode,
			Relevance: e.score, RankFactors: e.factors, Tokens: e.tokens, Provenance: new(memory.ProvenanceOf(e.Source)),
			Hash: hashOf(handedOutText(e.EntryState)),
		})
	}
	r.Items = append(r.Items, a.callable(out, shown)...)
	for _, m := range b.memories {
		text := recall.TextOf(m)
		item := memory.ReceiptItem{
			ID: m.ID, Kind: m.Kind, Mode: memory.IncludeAgent, Relevance: m.Relevance, RankFactors: a.result.factors[m.ID], Tokens: m.Tokens,
			Provenance: m.Provenance, Hash: hashOf(text),
		}
		if m.Cut || m.Kind == memory.Chunk {
			item.Bytes = len(text)
		}
		if m.Kind == memory.Chunk {
			item.Path = m.Source.Path
		}
		r.Items = append(r.Items, item)
	}
	// Tasks have no scores, and their tokens count the whole text.
	if b.tasks == nil {
		return r
	}
	records := a.taskRecords()
	task := func(kind memory.Kind, name string) {
		item := memory.ReceiptItem{Kind: kind, Name: name, Mode: memory.IncludeAlways}
		if r, ok := records[taskKey{kind, name}]; ok {
			item.ID, item.Hash = r.ID, hashOf(memory.TaskText(r.Task))
		}
		r.Items = append(r.Items, item)
	}
	for _, t := range b.tasks.Tasks {
		task(memory.Task, t.TaskID)
	}
	for _, t := range b.tasks.Blockers {
		task(memory.Blocker, t.TaskID)
	}
	return r
}

// callable returns the tools that the session may call and that are not among its entries.
func (a *assembly) callable(out *memory.Assembled, shown map[memory.ToolRef]bool) []memory.ReceiptItem {
	entries := make(map[memory.ToolRef]*memory.EntryState, len(out.ActiveTools))
	for i := range a.items {
		if e := &a.items[i]; e.Type == memory.Tool {
			entries[toolOf(e)] = e
		}
	}
	tokens := make(map[memory.ToolRef]int, len(out.ToolSchemas))
	for _, t := range out.ToolSchemas {
		tokens[t.ToolRef] = t.Tokens
	}
	var items []memory.ReceiptItem
	for _, ref := range out.ActiveTools {
		e := entries[ref]
		if shown[ref] || e == nil {
			continue
		}
		item := memory.ReceiptItem{ID: e.ID, Kind: memory.Tool, Name: e.Name, Server: e.ServerName, Mode: memory.IncludeAgent, Active: true, Tokens: tokens[ref]}
		if e.Core {
			item.Mode = memory.IncludeAlways
		}
		if item.Tokens > 0 { // with its schema
			item.Hash = hashOf(handedOutText(e))
		}
		items = append(items, item)
	}
	return items
}

// taskKey names a completed task or a blocker.
type taskKey struct {
	kind memory.Kind
	name string
}

// taskRecords returns the records of a project's tasks and blockers.
func (a *assembly) taskRecords() map[taskKey]memory.Record {
	records := map[taskKey]memory.Record{}
	for _, r := range a.s.opts.Records.Entries(a.project.ID, memory.Task, memory.Blocker) {
		if r.Task != nil {
			records[taskKey{r.Kind, r.Task.TaskID}] = r
		}
	}
	return records
}

// handedOutText is the text of an entry in a context.
func handedOutText(e *memory.EntryState) string {
	return memory.EntryText(e.Type, e.Description, e.Content, e.InputSchema)
}

// hashOf returns the hash of a text for its receipt.
func hashOf(text string) string { return memory.DocumentID(text).String() }
