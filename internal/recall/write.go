package recall

import (
	"slices"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

const (
	// bytesPerToken is how much text a token is taken to be where a budget in
	// tokens becomes one in bytes; see render.Tokens for the other direction.
	bytesPerToken = 3
	// headTokens is set aside for headings and the frame around stored text.
	headTokens = 24 + render.FrameTokens
)

// head is what a budget sets aside before items are chosen: a small one less than
// headTokens, or it would have no room for one.
func head(budget int) int { return min(headTokens, budget/2) }

// fit writes an answer whose items are ranked, in the order of their kinds. As long as
// headings and the like put it over its budget, it withholds the item that ranks last.
// names are those of items, by id.
func fit(a *memory.RecallResponse, req memory.RecallRequest, names map[string]entryName) {
	for ranked := a.Items; ; {
		if a.Items = ranked; len(req.IDs) == 0 { // else they are in the order asked for
			a.Items = byKind(ranked)
		}
		render.Answer(a, req)
		if a.Tokens <= req.MaxTokens || len(ranked) == 0 {
			return
		}
		last := ranked[len(ranked)-1]
		ranked = ranked[:len(ranked)-1]
		a.Withheld = slices.Insert(a.Withheld, 0, memory.Withheld{
			ID: last.ID, Kind: last.Kind, Reason: memory.OverBudget, NearestScore: last.Relevance, Path: last.Source.Path,
			Name: names[last.ID].name, Server: names[last.ID].server,
		})
	}
}
