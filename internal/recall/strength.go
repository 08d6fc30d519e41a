package recall

import (
	"github.com/recalld/recalld/internal/memory"
)

// maxBelow is how many candidates below all levels are reported.
const maxBelow = 5

// levels are the least relevance of each strength of a kind.
type levels struct{ sure, likely, maybe float64 }

// lineRelevance is what 78 % of the questions about other programming reach: a line is cheap,
// and the agent judges it.
const lineRelevance = 0.18

// defaultLevels are the levels of a kind.
func defaultLevels(k memory.Kind) levels {
	if k == memory.Chunk {
		return levels{sure: 0.95, likely: memory.DefaultMinRelevance(k), maybe: lineRelevance}
	}
	return levels{sure: 0.75, likely: memory.DefaultMinRelevance(k), maybe: lineRelevance}
}

// of returns the strength of a relevance; "" is below all levels.
func (l levels) of(relevance float64) memory.Strength {
	switch {
	case relevance >= l.sure && relevance >= l.likely:
		return memory.Sure
	case relevance >= l.likely:
		return memory.Likely
	case relevance >= l.maybe:
		return memory.Maybe
	}
	return ""
}

// levels returns the levels of the kinds that a question asks for. The threshold that a
// question names is that of what is likely, and nothing below it is told in a line. The
// settings of the options override both; a kind for which they have no level of lines has
// none.
func (s *Settings) levels(req memory.RecallRequest, opts AskOptions) map[memory.Kind]levels {
	out := make(map[memory.Kind]levels, len(req.Kinds))
	for _, kind := range withRelated(req.Kinds) {
		l := defaultLevels(kind)
		l.likely = s.MinRelevance[kind]
		if req.MinRelevance != nil {
			l.likely, l.maybe = *req.MinRelevance, *req.MinRelevance
		}
		if other := opts.Settings; other != nil {
			l.likely = named(other.MinRelevance, kind, l.likely)
			l.sure = named(other.Sure, kind, l.sure)
			l.maybe = named(other.Maybe, kind, l.likely)
		}
		if l.sure, l.maybe = max(l.sure, l.likely), min(l.maybe, l.likely); opts.NoLines {
			l.maybe = l.likely
		}
		out[kind] = l
	}
	return out
}

// named returns the value that a map has for a kind, or else the given one.
func named(of map[memory.Kind]float64, kind memory.Kind, otherwise float64) float64 {
	if value, ok := of[kind]; ok {
		return value
	}
	return otherwise
}

// strength gives each candidate its strength. What may only be told in a line goes to
// r.maybe, and what is weaker still is withheld.
func (r *run) strength() {
	r.levels = r.settings.levels(r.req, r.opts)
	r.candidates, r.maybe, r.below = byStrength(r.candidates, r.levels)
	r.relevant = len(r.candidates)
}

// byStrength separates the candidates that may be shown in full from those for a line, and
// returns the nearest few of the others.
func byStrength(cs []*candidate, of map[memory.Kind]levels) (full, lines []*candidate, below []memory.Withheld) {
	for _, c := range cs {
		switch c.strength = of[c.Kind].of(c.relevance); {
		case c.strength == memory.Maybe:
			lines = append(lines, c)
		case c.strength != "":
			full = append(full, c)
		case len(below) < maxBelow:
			below = append(below, withheld(c, memory.BelowThreshold))
		}
	}
	return full, lines, below
}

// strengthOrder sorts what is sure first.
func strengthOrder(a, b *candidate) int {
	return memory.CompareStrengths(a.strength, b.strength)
}
