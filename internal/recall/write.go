package recall

import (
	"slices"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

const (
	// bytesPerToken converts a budget in tokens to bytes; see render.Tokens for the other
	// direction.
	bytesPerToken = 3
	// headTokens is the room for headings and the frame around stored text.
	headTokens = 24 + render.FrameTokens
)

// head is the part of a budget reserved before items are chosen. It is at most half, or a
// small budget would have no room for an item.
func head(budget int) int { return min(headTokens+render.ReceiptTokens, budget/2) }

// fit writes an answer in the order of kinds; its items are ranked. While the headings put
// it over its budget, it withholds the item that ranks last. names maps ids to item names.
func fit(a *memory.RecallResponse, req memory.RecallRequest, names map[string]entryName) {
	for ranked := a.Items; ; {
		if a.Items = ranked; len(req.IDs) == 0 { // otherwise they are in the requested order
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
