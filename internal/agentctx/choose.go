package agentctx

import (
	"slices"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
	"github.com/recalld/recalld/internal/render"
)

// considered says for which entries is searched: those that relevance may decide on, and
// how many matches are asked for.
type considered struct {
	kinds []memory.Kind
	// only are their ids; nil where they are all entries of the kinds.
	only  map[string]bool
	limit int
	// followed says that there are entries from files of the repository among them,
	// which this caller may be shown.
	followed bool
}

// consider works out what is to be searched so that topK eligible matches are found:
// what is disabled, not the agent's choice, or decided by the session may match better,
// and takes nobody's place.
func consider(items []memory.EntryState, h holding, topK int) considered {
	c := considered{limit: topK}
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

// choose takes of the entries that were found those that are relevant enough, best
// first, and says why it withholds the others. Only enabled entries with the mode agent
// that the session has nothing decided on are considered, topK of them: the topN first
// are taken, and all others that score include or more. A rule or reference that says
// what another one says is a duplicate; two tools never are.
func choose(items []memory.EntryState, h holding, m recall.Matches, c choice, alike func(a, b string) bool) (taken []placed, withheld []memory.Withheld) {
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
		p := placed{EntryState: e, mode: memory.IncludeAgent, score: match.Relevance, factors: &match.Factors}
		looked++
		switch {
		case looked > c.topK, len(taken) >= c.topN && match.Relevance < c.include:
			withheld = append(withheld, p.withheld(memory.OverLimit))
		// The session's are too many to be compared by their words.
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

// eligible says that relevance decides on an entry. One that is no longer in the
// catalogue is nil.
func eligible(e *memory.EntryState, h holding) bool {
	return e != nil && e.On && e.Mode == memory.IncludeAgent && !h.decided[e.Ref]
}

// repeats says that an entry says what one of the others says.
func repeats(p placed, others []placed, alike func(a, b string) bool) bool {
	return p.Type != memory.Tool && slices.ContainsFunc(others, func(other placed) bool {
		return other.Type == p.Type && alike(render.EntryBody(p.EntryState), render.EntryBody(other.EntryState))
	})
}

func (p placed) withheld(reason memory.Reason) memory.Withheld {
	return memory.Withheld{ID: p.ID, Kind: p.Type, Reason: reason, NearestScore: p.score, Name: p.Name, Server: p.ServerName}
}
