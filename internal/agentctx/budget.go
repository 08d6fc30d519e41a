package agentctx

import (
	"slices"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// relevantKinds are the kinds that relevance decides on, in the order in which they take
// their shares.
var relevantKinds = []memory.Kind{memory.Rule, memory.Reference, memory.Tool, memory.Lesson, memory.Step, memory.Chunk}

// defaultShares are the parts of the remaining budget for relevant items of a kind, 0 to 1. A
// kind without a share gets what others leave. Their sum exceeds 1: a kind leaves its rest to
// the next, and few messages concern all kinds.
var defaultShares = map[memory.Kind]float64{
	memory.Rule: .25, memory.Reference: .25, memory.Tool: .2, memory.Lesson: .15, memory.Step: .1, memory.Chunk: .25,
}

// budget fills a request context up to a number of tokens. Every part is counted as it is
// written, with the heading of a section that it starts. Where hosts use another form, tool
// schemas and whole memories, the larger form counts. Parts never take fewer tokens than the
// whole, so the sum is an upper bound.
type budget struct {
	most, used int
	// room is what may be taken now, a share of the rest.
	room    int
	entries []contextEntry
	// guided are the tools whose guidance is handed out.
	guided   []memory.EntryState
	memories []memory.Item
	// memory is the number of tokens of all memories.
	memory int
	// framed reports that the frame around stored text is counted.
	framed bool
	tasks  *memory.TaskWindow
	// compacted is the summary of the last compaction, with its tokens.
	compacted       string
	compactedTokens int
	// active are active tools that are not among the entries.
	active []memory.ActiveTool
	// schemas reports that the schemas of tools are written below the text, each on a line with
	// the tool's name; headed, that the heading of the lines is counted.
	schemas, headed bool
	withheld        []memory.Withheld
}

func newBudget(most int) *budget { return &budget{most: most, room: most} }

// take takes tokens if there is room.
func (b *budget) take(tokens int) bool {
	if tokens > b.room {
		return false
	}
	b.room -= tokens
	b.used += tokens
	return true
}

// takeFenced is take for stored text. The first stored text also takes the frame, which no
// kind's share pays for.
func (b *budget) takeFenced(tokens int) bool {
	frame := render.FrameTokens
	if b.framed {
		frame = 0
	}
	if b.used+tokens+frame > b.most || !b.take(tokens) {
		return false
	}
	b.used += frame
	b.room = min(b.room, b.most-b.used)
	b.framed = true
	return true
}

// addSummary puts the summary of the last compaction into the context, or withholds it.
func (b *budget) addSummary(text string) {
	if text == "" {
		return
	}
	tokens := render.Tokens(render.Separator + render.Compaction(text))
	if !b.take(tokens) {
		b.withheld = append(b.withheld, memory.Withheld{Kind: memory.SummaryItem, Reason: memory.OverBudget, Name: memory.SummaryName})
		return
	}
	b.compacted, b.compactedTokens = text, tokens
}

// addSchemas adds the schemas of active tools that are not among the entries. A tool without
// room is withheld and stays active.
func (b *budget) addSchemas(items []memory.EntryState, active []memory.ToolRef) {
	at := make(map[memory.ToolRef]*memory.EntryState, len(active))
	for _, ref := range active {
		at[ref] = nil
	}
	for _, e := range b.entries {
		delete(at, toolOf(e.EntryState))
	}
	for i := range items {
		if _, wanted := at[toolOf(&items[i])]; wanted && items[i].Type == memory.Tool {
			at[toolOf(&items[i])] = &items[i]
		}
	}
	for _, ref := range active {
		e := at[ref]
		if e == nil {
			continue
		}
		tool := activeTool(e)
		line, heading := b.schemaLine(e)
		tool.Tokens = max(tool.Tokens, line)
		if !b.take(tool.Tokens + heading) {
			b.withheld = append(b.withheld, contextEntry{EntryState: e}.withheld(memory.OverBudget))
			continue
		}
		b.headed = b.headed || line > 0
		b.active = append(b.active, tool)
	}
}

// schemaLine is the number of tokens of the line of a tool's schema, and of the heading if it is
// the first; 0 if there is none.
func (b *budget) schemaLine(e *memory.EntryState) (line, heading int) {
	if !b.schemas || e.Type != memory.Tool || len(e.InputSchema) == 0 {
		return 0, 0
	}
	if !b.headed {
		heading = render.Tokens(render.SchemasHeading)
	}
	return render.Tokens(render.ToolSchema(toolOf(e), e.InputSchema, e.Followed())), heading
}

func activeTool(e *memory.EntryState) memory.ActiveTool {
	return memory.ActiveTool{ToolRef: toolOf(e), Description: e.Description, InputSchema: e.InputSchema, Followed: e.Followed(), Tokens: toolTokens(e)}
}

// addEntry puts an entry into the context, or withholds it.
func (b *budget) addEntry(e contextEntry) {
	e.tokens = entryTokens(e.EntryState)
	heading := 0
	if !slices.ContainsFunc(b.entries, func(other contextEntry) bool { return other.Type == e.Type }) {
		heading = render.Tokens(render.Separator + render.EntryHeadings[e.Type])
	}
	line, above := b.schemaLine(e.EntryState)
	if line > 0 {
		e.tokens += line - render.Tokens(string(e.InputSchema))
	}
	if !b.take(e.tokens + heading + above) {
		b.withheld = append(b.withheld, e.withheld(memory.OverBudget))
		return
	}
	b.headed = b.headed || line > 0
	b.entries = append(b.entries, e)
}

// entryTokens is the number of tokens of an entry, a tool with its schema.
func entryTokens(e *memory.EntryState) int {
	return render.Tokens(render.ContextEntry{EntryState: e}.Text()) + render.Tokens(string(e.InputSchema))
}

// addGuidance adds the guidance that the session has not received, for the tools in the
// context, as far as there is room; the rest follows in a later turn.
func (b *budget) addGuidance(wc *memory.WorkingContext) {
	known := setOf(wc.Guided)
	for _, e := range b.entries {
		if e.Type != memory.Tool || e.Guidance == "" || known[toolOf(e.EntryState)] {
			continue
		}
		tokens := render.Tokens(render.Guidance(e.EntryState))
		if len(b.guided) == 0 {
			tokens += render.Tokens(render.Separator + memory.GuidanceHeading + "\n")
		}
		if b.take(tokens) {
			b.guided = append(b.guided, *e.EntryState)
		}
	}
}

// addMemory puts a memory into the context, or withholds it.
func (b *budget) addMemory(item memory.Item) {
	memories := append(slices.Clip(b.memories), item)
	tokens := memoryTokens(memories)
	if !b.takeFenced(tokens - b.memory) {
		b.withheld = append(b.withheld, memory.Withheld{
			ID: item.ID, Kind: item.Kind, Reason: memory.OverBudget, NearestScore: item.Relevance, Path: item.Source.Path,
		})
		return
	}
	b.memories, b.memory = memories, tokens
}

// memoryTokens is the number of tokens of memories in either form: one by one, or all as one
// text.
func memoryTokens(items []memory.Item) int {
	alone := 0
	for _, item := range items {
		alone += item.Tokens
	}
	return max(alone, render.Tokens(render.Separator+render.Markdown(items)))
}

// addTasks adds the task summary. If it is too long, its oldest tasks are withheld; if the
// blockers alone are, all of it. shorter returns the summary of the last n tasks, n at least
// 1. Blockers that the text leaves out are withheld, too.
func (b *budget) addTasks(summary *memory.TaskWindow, shorter func(n int) *memory.TaskWindow) {
	if summary == nil || summary.Text == "" {
		return
	}
	shown := withoutLeftOut(summary)
	for shown != nil && !b.takeFenced(render.Tokens(render.Separator+render.Visible(shown.Text))) {
		if n := len(shown.Tasks) - 1; n > 0 {
			shown = withoutLeftOut(shorter(n))
		} else {
			shown = nil
		}
	}
	b.tasks = shown
	kept := map[string]bool{}
	if shown != nil {
		for _, t := range shown.Tasks {
			kept[t.TaskID] = true
		}
	}
	for _, t := range summary.Tasks {
		if !kept[t.TaskID] {
			b.withheld = append(b.withheld, memory.Withheld{Kind: memory.Task, Reason: memory.OverBudget, Name: t.TaskID})
		}
	}
	withheld, reason := summary.Blockers, memory.OverBudget
	if shown != nil {
		withheld, reason = summary.Blockers[:summary.LeftOut], memory.OverLimit
	}
	for _, blocker := range withheld {
		b.withheld = append(b.withheld, memory.Withheld{Kind: memory.Blocker, Reason: reason, Name: blocker.TaskID})
	}
}

// withoutLeftOut returns a task summary with only the blockers that its text shows, which
// are the last ones.
func withoutLeftOut(w *memory.TaskWindow) *memory.TaskWindow {
	if w == nil || w.LeftOut == 0 {
		return w
	}
	shown := *w
	shown.Blockers = w.Blockers[w.LeftOut:]
	return &shown
}

// addSessionContext adds a session context and the tasks: rules and references first, then
// the tasks, then tools, which hosts register by the hundred.
func (b *budget) addSessionContext(h sessionContext, summary *memory.TaskWindow, shorter func(n int) *memory.TaskWindow) {
	for _, ref := range h.gone {
		b.withheld = append(b.withheld, memory.Withheld{Kind: ref.Type, Reason: memory.Gone, Name: ref.Name, Server: ref.ServerName})
	}
	for _, e := range h.entries {
		if e.Type != memory.Tool {
			b.addEntry(e)
		}
	}
	b.addTasks(summary, shorter)
	for _, e := range h.entries {
		if e.Type == memory.Tool {
			b.addEntry(e)
		}
	}
	b.reorder(h.entries)
}

// reorder restores the order of the session context.
func (b *budget) reorder(order []contextEntry) {
	added := make(map[memory.Ref]contextEntry, len(b.entries))
	for _, e := range b.entries {
		added[e.Ref] = e
	}
	b.entries = b.entries[:0]
	for _, e := range order {
		if e, in := added[e.Ref]; in {
			b.entries = append(b.entries, e)
		}
	}
}

// addRelevant adds relevant items, each kind within its share of the rest and what the kinds
// before it left.
func (b *budget) addRelevant(shares map[memory.Kind]float64, entries []contextEntry, memories []memory.Item, wc *memory.WorkingContext) {
	left, over := b.most-b.used, 0
	for _, kind := range relevantKinds {
		b.room = min(int(shares[kind]*float64(left))+over, b.most-b.used)
		for _, e := range entries {
			if e.Type == kind {
				b.addEntry(e)
			}
		}
		if kind == memory.Tool {
			b.addGuidance(wc)
		}
		for _, item := range memories {
			if item.Kind == kind {
				b.addMemory(item)
			}
		}
		over = b.room
	}
}
