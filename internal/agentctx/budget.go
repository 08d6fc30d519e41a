package agentctx

import (
	"maps"
	"slices"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// relevantKinds are the kinds that relevance decides on, in the order in which they
// take their shares of the budget.
var relevantKinds = []memory.Kind{memory.Rule, memory.Reference, memory.Tool, memory.Lesson, memory.Step, memory.Chunk}

// DefaultShares are the shares of the budget by kind. Together they are more than all of
// it: what one kind does not take is for the next, and few messages have to do with all
// kinds.
func DefaultShares() map[memory.Kind]float64 {
	return map[memory.Kind]float64{
		memory.Rule: .25, memory.Reference: .25, memory.Tool: .2, memory.Lesson: .15, memory.Step: .1, memory.Chunk: .25,
	}
}

// budget fills a request context up to a number of tokens. What is put into it is
// counted as it is written, with the heading of a section that it begins, and of what
// others build with instead, the schemas of tools and the whole text of a memory, the
// larger. Parts never take fewer tokens than the whole, so the sum is a bound.
type budget struct {
	most, used int
	// room is what may be taken for now, a share of what is left.
	room    int
	entries []placed
	tokens  []int // of the entries
	// guided are the tools whose guidance is handed out.
	guided   []memory.EntryState
	memories []memory.Item
	// memory is what the memories take together.
	memory int
	// framed says that the frame around stored text is counted.
	framed bool
	window *memory.TaskWindow
	// compacted is the summary of the last compaction, and what it takes.
	compacted       string
	compactedTokens int
	// active are active tools that are not among the entries.
	active   []memory.ActiveTool
	withheld []memory.Withheld
}

func newBudget(most int) *budget { return &budget{most: most, room: most} }

// take uses up tokens if there is room for them.
func (b *budget) take(tokens int) bool {
	if tokens > b.room {
		return false
	}
	b.room -= tokens
	b.used += tokens
	return true
}

// stored is take for stored text. With the first goes the frame around all of it,
// which counts against no kind's share.
func (b *budget) stored(tokens int) bool {
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

// summary puts the summary of the last compaction into the context, or withholds it.
func (b *budget) summary(text string) {
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

// schemas puts the schemas of active tools that are not among the entries into the
// context; one that has no room is withheld, and stays active.
func (b *budget) schemas(items []memory.EntryState, active []memory.ToolRef) {
	at := make(map[memory.ToolRef]*memory.EntryState, len(active))
	for _, ref := range active {
		at[ref] = nil
	}
	for _, e := range b.entries {
		delete(at, toolOf(*e.EntryState))
	}
	for i := range items {
		if _, wanted := at[toolOf(items[i])]; wanted && items[i].Type == memory.Tool {
			at[toolOf(items[i])] = &items[i]
		}
	}
	for _, ref := range active {
		e := at[ref]
		if e == nil {
			continue
		}
		tool := activeTool(e)
		if !b.take(tool.Tokens) {
			b.withheld = append(b.withheld, placed{EntryState: e}.withheld(memory.OverBudget))
			continue
		}
		b.active = append(b.active, tool)
	}
}

func activeTool(e *memory.EntryState) memory.ActiveTool {
	return memory.ActiveTool{ToolRef: toolOf(*e), Description: e.Description, InputSchema: e.InputSchema, Tokens: toolTokens(e)}
}

// entry puts an entry into the context, or withholds it.
func (b *budget) entry(e placed) {
	tokens := entryTokens(e.EntryState)
	heading := 0
	if !slices.ContainsFunc(b.entries, func(other placed) bool { return other.Type == e.Type }) {
		heading = render.Tokens(render.Separator + render.EntryHeadings[e.Type])
	}
	if !b.take(tokens + heading) {
		b.withheld = append(b.withheld, e.withheld(memory.OverBudget))
		return
	}
	b.entries, b.tokens = append(b.entries, e), append(b.tokens, tokens)
}

// entryTokens is what an entry takes: a tool goes with its schema.
func entryTokens(e *memory.EntryState) int {
	return render.Tokens(render.ContextEntry{EntryState: e}.Text()) + render.Tokens(string(e.InputSchema))
}

// guide hands out the guidance of the tools in the context that the session was not
// told, as far as there is room for it; the rest is for a later turn.
func (b *budget) guide(wc *memory.WorkingContext) {
	told := setOf(wc.Guided)
	for _, e := range b.entries {
		if e.Type != memory.Tool || e.Guidance == "" || told[toolOf(*e.EntryState)] {
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

// remember puts a memory into the context, or withholds it.
func (b *budget) remember(item memory.Item) {
	memories := append(slices.Clip(b.memories), item)
	tokens := memoryTokens(memories)
	if !b.stored(tokens - b.memory) {
		b.withheld = append(b.withheld, memory.Withheld{
			ID: item.ID, Kind: item.Kind, Reason: memory.OverBudget, NearestScore: item.Relevance, Path: item.Source.Path,
		})
		return
	}
	b.memories, b.memory = memories, tokens
}

// memoryTokens is what memories take, whoever writes them: each by itself, or all of
// them as one text.
func memoryTokens(items []memory.Item) int {
	alone := 0
	for _, item := range items {
		alone += item.Tokens
	}
	return max(alone, render.Tokens(render.Separator+render.Markdown(items)))
}

// show puts the window into the context. Where it is too long its oldest tasks are
// withheld, and if the blockers alone are, all of it. shorter returns the window of the
// last n tasks, n at least 1. Blockers that the text leaves out are withheld, too.
func (b *budget) show(window *memory.TaskWindow, shorter func(n int) *memory.TaskWindow) {
	if window == nil || window.Text == "" {
		return
	}
	shown := withoutLeftOut(window)
	for shown != nil && !b.stored(render.Tokens(render.Separator+render.Visible(shown.Text))) {
		if n := len(shown.Tasks) - 1; n > 0 {
			shown = withoutLeftOut(shorter(n))
		} else {
			shown = nil
		}
	}
	b.window = shown
	kept := map[string]bool{}
	if shown != nil {
		for _, t := range shown.Tasks {
			kept[t.TaskID] = true
		}
	}
	for _, t := range window.Tasks {
		if !kept[t.TaskID] {
			b.withheld = append(b.withheld, memory.Withheld{Kind: memory.Task, Reason: memory.OverBudget, Name: t.TaskID})
		}
	}
	withheld, reason := window.Blockers, memory.OverBudget
	if shown != nil {
		withheld, reason = window.Blockers[:window.LeftOut], memory.OverLimit
	}
	for _, blocker := range withheld {
		b.withheld = append(b.withheld, memory.Withheld{Kind: memory.Blocker, Reason: reason, Name: blocker.TaskID})
	}
}

// withoutLeftOut is a window with the blockers that its text shows, which are the last
// ones: a context hands out no others.
func withoutLeftOut(w *memory.TaskWindow) *memory.TaskWindow {
	if w == nil || w.LeftOut == 0 {
		return w
	}
	shown := *w
	shown.Blockers = w.Blockers[w.LeftOut:]
	return &shown
}

// share gives each kind its share of what is left, and what the kinds before it have
// left of theirs, and has fill take from it.
func (b *budget) share(shares map[memory.Kind]float64, fill func(memory.Kind)) {
	left := b.most - b.used
	over := 0
	for _, kind := range relevantKinds {
		b.room = min(int(shares[kind]*float64(left))+over, b.most-b.used)
		fill(kind)
		over = b.room
	}
}

// held puts a session context and the window into a budget: rules and references first,
// then the window, then tools, which hosts register by the hundred, and their guidance.
func (b *budget) held(h holding, window *memory.TaskWindow, shorter func(n int) *memory.TaskWindow) {
	for _, ref := range h.gone {
		b.withheld = append(b.withheld, memory.Withheld{Kind: ref.Type, Reason: memory.Gone, Name: ref.Name, Server: ref.ServerName})
	}
	for _, e := range h.entries {
		if e.Type != memory.Tool {
			b.entry(e)
		}
	}
	b.show(window, shorter)
	for _, e := range h.entries {
		if e.Type == memory.Tool {
			b.entry(e)
		}
	}
	b.reorder(h.entries)
}

// reorder puts the entries back into the order of a session context.
func (b *budget) reorder(held []placed) {
	tokens := make(map[memory.Ref]int, len(b.entries))
	for i, e := range b.entries {
		tokens[e.Ref] = b.tokens[i]
	}
	b.entries, b.tokens = b.entries[:0], b.tokens[:0]
	for _, e := range held {
		if n, in := tokens[e.Ref]; in {
			b.entries, b.tokens = append(b.entries, e), append(b.tokens, n)
		}
	}
}

// relevant puts what is relevant into a budget, each kind within its share.
func (b *budget) relevant(shares map[memory.Kind]float64, entries []placed, memories []memory.Item, wc *memory.WorkingContext) {
	b.share(shares, func(kind memory.Kind) {
		for _, e := range entries {
			if e.Type == kind {
				b.entry(e)
			}
		}
		if kind == memory.Tool {
			b.guide(wc)
		}
		for _, item := range memories {
			if item.Kind == kind {
				b.remember(item)
			}
		}
	})
}

// validShares checks the shares of a budget.
func validShares(shares map[memory.Kind]float64) error {
	for _, kind := range slices.Sorted(maps.Keys(shares)) {
		if !slices.Contains(relevantKinds, kind) {
			return memory.Invalid("shares", "rule, reference, tool, lesson, step, chunk", "%s has no share", memory.Quote(string(kind)))
		}
		if share := shares[kind]; !(share >= 0 && share <= 1) {
			return memory.Invalid("shares."+string(kind), "0–1", "%v is out of range", share)
		}
	}
	return nil
}
