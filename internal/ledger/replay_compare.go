package ledger

import (
	"maps"
	"slices"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// compare joins the three results of a query: the items after, then those only before, then
// those only recorded. A result has changed if an item comes, goes, or changes places with
// another item that stays.
func compare(recorded []hit, before, after result) (items []memory.ReplayedItem, byData, bySettings bool) {
	items = []memory.ReplayedItem{}
	ranks := [3]map[string]int{ranksOf(recorded), ranksOf(before.items), ranksOf(after.items)}
	seen := map[string]bool{}
	for _, list := range [][]hit{after.items, before.items, recorded} {
		for _, h := range list {
			if seen[h.id] {
				continue
			}
			seen[h.id] = true
			item := memory.ReplayedItem{
				ID: h.id, Kind: h.kind, Title: h.title,
				Recorded: ranks[0][h.id], Before: ranks[1][h.id], After: ranks[2][h.id],
			}
			if item.After == 0 {
				item.Reason = after.reason(h)
			}
			items = append(items, item)
		}
	}
	for _, x := range items {
		byData = byData || (x.Recorded == 0) != (x.Before == 0)
		bySettings = bySettings || (x.Before == 0) != (x.After == 0)
	}
	byData = byData || len(movedBetween(items, recordedRank, beforeRank)) > 0
	bySettings = bySettings || len(movedBetween(items, beforeRank, afterRank)) > 0
	return items, byData, bySettings
}

// ranksOf returns the ranks of items, from 1; the first of equal ids counts.
func ranksOf(hits []hit) map[string]int {
	ranks := make(map[string]int, len(hits))
	for i, h := range hits {
		if ranks[h.id] == 0 {
			ranks[h.id] = i + 1
		}
	}
	return ranks
}

func recordedRank(i memory.ReplayedItem) int { return i.Recorded }
func beforeRank(i memory.ReplayedItem) int   { return i.Before }
func afterRank(i memory.ReplayedItem) int    { return i.After }

// movedBetween returns the ids of items that two results share in another order. An item
// that moves up only because another one went has not moved.
func movedBetween(items []memory.ReplayedItem, from, to func(memory.ReplayedItem) int) map[string]bool {
	both := slices.DeleteFunc(slices.Clone(items), func(i memory.ReplayedItem) bool { return from(i) == 0 || to(i) == 0 })
	then := slices.SortedFunc(slices.Values(both), func(a, b memory.ReplayedItem) int { return from(a) - from(b) })
	now := slices.SortedFunc(slices.Values(both), func(a, b memory.ReplayedItem) int { return to(a) - to(b) })
	moved := map[string]bool{}
	for i := range then {
		if then[i].ID != now[i].ID {
			moved[then[i].ID], moved[now[i].ID] = true, true
		}
	}
	return moved
}

// movedInAnswer returns the ids of the items that the data or the settings moved.
func movedInAnswer(items []memory.ReplayedItem) map[string]bool {
	moved := movedBetween(items, beforeRank, afterRank)
	maps.Copy(moved, movedBetween(items, recordedRank, beforeRank))
	return moved
}

// tally counts the items of answers.
func tally(answers []memory.ReplayedAnswer) memory.ReplayCounts {
	var t memory.ReplayCounts
	count := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	for _, a := range answers {
		t.Questions++
		count(&t.Failed, a.Error != "")
		for _, x := range a.Items {
			count(&t.Same, x.Recorded > 0 && x.Before > 0 && x.After > 0)
			count(&t.DataAdded, x.Recorded == 0 && x.Before > 0)
			count(&t.DataRemoved, x.Recorded > 0 && x.Before == 0)
			count(&t.SettingsAdded, x.Before == 0 && x.After > 0)
			count(&t.SettingsRemoved, x.Before > 0 && x.After == 0)
		}
		t.SettingsMoved += len(movedBetween(a.Items, beforeRank, afterRank))
	}
	return t
}

// title sets the titles of items that only the receipt has, if their records exist. From outside
// the project it removes those of what its files have.
func (l *Ledger) title(items []memory.ReplayedItem, outside bool) {
	for i := range items {
		x := &items[i]
		if x.Kind == memory.Chunk || x.Title != "" && !outside {
			continue
		}
		record, err := l.opts.Store.Record(x.ID)
		switch {
		case err != nil:
		case outside && record.Provenance.Followed():
			x.Title = ""
		case x.Title == "":
			x.Title = render.Title(record.Text)
		}
	}
}
