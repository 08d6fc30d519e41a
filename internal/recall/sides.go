package recall

import (
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// leastSide is the share of an answer that is kept for code, and the share for all other kinds:
// two places of five. Nothing takes the place of what is surer.
const leastSide = 0.4

// bothSides brings code into an answer that lessons or steps would fill, and the other way
// round.
func (r *run) bothSides() {
	r.candidates = bothSides(r.candidates, r.req.Limit)
}

// bothSides moves the best candidates of the side that lacks places among the first limit to
// their end, for the last ones of the other side. Nothing takes the place of what is surer,
// reports the quoted error or was asked for by name or place.
func bothSides(ranked []*candidate, limit int) []*candidate {
	if len(ranked) <= limit {
		return ranked
	}
	head, rest := ranked[:limit], ranked[limit:]
	least := int(leastSide * float64(limit))
	code := 0
	for _, c := range head {
		if c.Kind == memory.Chunk {
			code++
		}
	}
	missing, bringsCode := least-code, true
	if other := least - (limit - code); other > 0 {
		missing, bringsCode = other, false
	}
	moves := map[*candidate]bool{}
	var coming []*candidate
	at := len(head) - 1
	for _, c := range rest {
		if len(coming) >= missing {
			break
		}
		if (c.Kind == memory.Chunk) != bringsCode {
			continue
		}
		for at >= 0 && (head[at].Kind == memory.Chunk) == bringsCode {
			at--
		}
		if at < 0 || head[at].error || head[at].mention.rank > 0 || strengthOrder(head[at], c) < 0 {
			break
		}
		moves[head[at]], moves[c] = true, true
		coming = append(coming, c)
		at--
	}
	if len(coming) == 0 {
		return ranked
	}
	those := func(list []*candidate, move bool) []*candidate {
		return slices.DeleteFunc(slices.Clone(list), func(c *candidate) bool { return moves[c] != move })
	}
	return slices.Concat(those(head, false), coming, those(head, true), those(rest, false))
}
