package agentctx

import (
	"slices"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
	"github.com/recalld/recalld/internal/render"
)

// entrySearch selects the entries to search, those that relevance decides on, and the number
// of matches.
type entrySearch struct {
	kinds []memory.Kind
	// only are their ids; nil if they are all entries of the kinds.
	only  map[string]bool
	limit int
	// followed reports that entries from the repository's files are among them, which this
	// caller may see.
	followed bool
}

// entrySearchFor selects entries so that topK eligible matches are found: disabled entries,
// and those decided by mode or session, take no places.
func entrySearchFor(items []memory.EntryState, h sessionContext, topK int) entrySearch {
	c := entrySearch{limit: topK}
	var ids []string
	n := map[memory.Kind]int{} // of entries by kind
	for i := range items {
		e := &items[i]
		if n[e.Type]++; eligible(e, h) {
			ids = append(ids, e.ID)
			c.followed = c.followed || e.Followed()
			if !slices.Contains(c.kinds, e.Type) {
				c.kinds = append(c.kinds, e.Type)
			}
		}
	}
	all := 0
	for _, kind := range c.kinds {
		all += n[kind]
	}
	if len(ids) < all {
		c.only = make(map[string]bool, len(ids))
		for _, id := range ids {
			c.only[id] = true
		}
	}
	return c
}

// choice says which matches are taken.
type choice struct {
	topK, topN int
	include    float64
}

// choose returns the entries that are relevant enough, best first, and the others with
// reasons. It considers topK enabled entries of mode agent that the session has not decided
// on, and takes the first topN and all that score include or more. A rule or reference with
// the text of another one is a duplicate; a tool never is.
func choose(items []memory.EntryState, h sessionContext, m recall.Matches, c choice, alike func(a, b string) bool) (taken []contextEntry, withheld []memory.Withheld) {
	byID := make(map[string]*memory.EntryState, len(m.Items)+len(m.Withheld))
	for _, match := range m.Items {
		byID[match.ID] = nil
	}
	for _, w := range m.Withheld {
		byID[w.ID] = nil
	}
	for i := range items {
		if _, ok := byID[items[i].ID]; ok {
			byID[items[i].ID] = &items[i]
		}
	}
	looked := 0
	for _, match := range m.Items {
		e := byID[match.ID]
		if !eligible(e, h) {
			continue
		}
		p := contextEntry{EntryState: e, mode: memory.IncludeAgent, score: match.Relevance, factors: &match.Factors}
		looked++
		switch {
		case looked > c.topK, len(taken) >= c.topN && match.Relevance < c.include:
			withheld = append(withheld, p.withheld(memory.OverLimit))
		// The session has too many to compare them by words.
		case repeats(p, taken, alike), repeats(p, h.entries, func(a, b string) bool { return a == b }):
			withheld = append(withheld, p.withheld(memory.Duplicate))
		default:
			taken = append(taken, p)
		}
	}
	for _, w := range m.Withheld {
		if e := byID[w.ID]; eligible(e, h) {
			w.Name, w.Server = e.Name, e.ServerName
			withheld = append(withheld, w)
		}
	}
	return taken, withheld
}

// eligible reports whether relevance decides on an entry. An entry that left the catalogue
// is nil.
func eligible(e *memory.EntryState, h sessionContext) bool {
	return e != nil && e.On && e.Mode == memory.IncludeAgent && !h.decided[e.Ref]
}

// repeats reports whether another entry has the same text.
func repeats(p contextEntry, others []contextEntry, alike func(a, b string) bool) bool {
	return p.Type != memory.Tool && slices.ContainsFunc(others, func(other contextEntry) bool {
		return other.Type == p.Type && alike(render.EntryBody(p.EntryState), render.EntryBody(other.EntryState))
	})
}

func (p contextEntry) withheld(reason memory.Reason) memory.Withheld {
	return memory.Withheld{ID: p.ID, Kind: p.Type, Reason: reason, NearestScore: p.score, Name: p.Name, Server: p.ServerName}
}
