package recall

import (
	"cmp"
	"slices"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// Lines tell of what is not shown in full. An agent judges a line better than any score
// does, and asks for the rest by its id. They do not count against the limit.
const (
	// maxLines is how many lines an answer has, maxLinesUnsure how many if nothing in it is
	// sure.
	maxLines, maxLinesUnsure = 3, 5
	// linesHead is the room in tokens for the heading of the lines.
	linesHead = 9
)

// hasLines says that the question lets an answer have lines.
func (r *run) hasLines() bool {
	for _, l := range r.levels {
		if l.maybe < l.likely {
			return true
		}
	}
	return false
}

// mostLines is how many lines the answer may have.
func (r *run) mostLines() int {
	switch {
	case !r.hasLines():
		return 0
	case slices.ContainsFunc(r.items, func(i memory.Item) bool { return i.Strength == memory.Sure }):
		return maxLines
	}
	return maxLinesUnsure
}

// lineRoom is what the lines may take of the budget, in tokens.
func (r *run) lineRoom() int {
	n := min(r.mostLines(), len(r.noRoom)+len(r.later)+len(r.maybe))
	if n == 0 {
		return 0
	}
	return min(linesHead+n*render.LineTokens, max(r.caps.tokens, 0))
}

// addLines adds a line for each of the best candidates that had no room, then for what is
// maybe, while the budget lasts. Of the others, the nearest few are reported.
func (r *run) addLines() {
	most := r.mostLines()
	room := r.caps.tokens - linesHead
	lines := 0
	add := func(c *candidate) memory.Reason {
		if lines == most {
			return memory.OverLimit
		}
		item, reason := r.line(c)
		if reason != "" {
			return reason
		}
		if item.Tokens > room {
			return memory.OverBudget
		}
		room -= item.Tokens
		r.caps.tokens = room
		r.add(item, nil, 0)
		lines++
		return ""
	}
	for _, c := range r.noRoom {
		if reason := add(c); reason == "" {
			id := withheld(c, "").ID
			r.withheld = slices.DeleteFunc(r.withheld, func(w memory.Withheld) bool { return w.ID == id })
		}
	}
	// Across kinds only the relevance says what is nearer: code and lessons have orders of
	// their own. What was followed from a repository's files displaces nothing.
	slices.SortStableFunc(r.maybe, func(a, b *candidate) int {
		return cmp.Or(boolOrder(!a.Followed, !b.Followed), cmp.Compare(b.relevance, a.relevance))
	})
	var below []memory.Withheld
	for _, c := range r.maybe {
		switch reason := add(c); reason {
		case "":
		case memory.OverLimit:
			if len(below) < maxBelow {
				below = append(below, withheld(c, memory.BelowThreshold))
			}
		default: // there is something, and it cannot be shown
			r.relevant++
			r.withheld = append(r.withheld, withheld(c, reason))
		}
	}
	r.below = append(below, r.below...)
	r.below = r.below[:min(len(r.below), maxBelow)]
}

// line makes the line of a candidate. Code must pass the gates for it as for its text.
func (r *run) line(c *candidate) (memory.Item, memory.Reason) {
	var full memory.Item
	var short string
	if c.Kind == memory.Chunk {
		at, v, reason := r.readChunk(c)
		if reason != "" {
			return memory.Item{}, reason
		}
		full = codeItem(at, v, r.redact(v.Text))
		full.Foreign = c.foreign
		short = render.ShortID(full.ID)
	} else {
		var reason memory.Reason
		if full, reason = r.record(c); reason != "" {
			return memory.Item{}, reason
		}
		short = r.s.shortID(full.ID)
	}
	if r.isDuplicate(full, pairsOf(full.Text)) {
		return memory.Item{}, memory.Duplicate
	}
	item := memory.Item{
		ID: full.ID, Kind: full.Kind, Strength: memory.Maybe, Project: full.Project, Relevance: round(c.relevance),
		RankFactors: c.shownFactors(), Text: render.Line(full, short, r.about(&full)), Anchors: full.Anchors,
		Provenance: full.Provenance, Foreign: full.Foreign, Team: full.Team,
		Source: memory.Source{Path: full.Source.Path, Lines: full.Source.Lines, Symbol: full.Source.Symbol},
	}
	item.Tokens = render.ItemTokens(item)
	return item, ""
}

// about is what an item is about: the situation of a lesson before what was learned, the
// intent of a task.
func (r *run) about(i *memory.Item) string {
	switch i.Kind {
	case memory.Lesson:
		if i.Context == "" {
			return i.Lesson
		}
		return i.Context + ": " + i.Lesson
	case memory.Task:
		if rec, err := r.s.opts.Corpus.Record(i.ID); err == nil && rec.Task != nil && rec.Task.Intent != "" {
			return string(i.Kind) + ": " + r.redact(rec.Task.Intent)
		}
	}
	return i.Kind.Words() + ": " + i.Text
}
