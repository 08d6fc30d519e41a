package files

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// maxLooks bounds the files that a question is looked for in, counting each once for
// every word, so that a question takes a fraction of a millisecond however long it is.
// The rarest words go first; a word that does not fit any more is one that very many
// files have, and counts for nothing.
const maxLooks = 5_000

// placeWeight is how much of a word's weight counts in a place.
var placeWeight = [...]float64{inName: 1, inFolder: 0.9, inHead: 0.8}

// asked is a word of a question.
type asked struct {
	text string
	rows []uint16
	// may is how many files may have it, found the slots of those that do, in order,
	// and where they have it.
	may    int
	found  []sighting
	weight float64
}

type sighting struct {
	slot  uint32
	place place
}

// Ask returns the files that hold most of what a question in plain language says, at
// most limit. A file's share is the weight of the words that it holds, in its name, or
// for .9 in its folders, or for .8 in its head, over the weight of all words of the
// question. The weight is that of a term in BM25 (Robertson and Spärck Jones, 1976):
// the fewer files have a word the more it is, and a word that none has weighs as much
// as one that a single file has: ln(1 + (N − n + .5)/(n + .5)) for n of N files.
//
// The higher share comes first, then the shorter path, then the order of paths. Words
// that say nothing ("the", "how") are left out, and so are endings ("-ing", "-s").
// For allow see Search; all files of the index count for rarity.
func (x *Index) Ask(question string, allow func(id uint32) bool, limit int) []Match {
	var words []*asked
	for _, text := range questionWords(question) {
		words = append(words, &asked{text: text, rows: rowsOf(text)})
	}
	best := newBest(limit)
	x.mu.RLock()
	defer x.mu.RUnlock()
	words = x.look(words)
	var all float64
	for _, w := range words {
		n := float64(max(len(w.found), 1))
		w.weight = math.Log(1 + (float64(len(x.slots))-n+.5)/(n+.5))
		all += w.weight
	}
	if all <= 0 {
		return nil
	}
	for number, page := range x.pages {
		var shares [pageSize]float64
		var mask uint64
		for _, w := range words {
			for len(w.found) > 0 && w.found[0].slot/pageSize == uint32(number) {
				at := w.found[0].slot % pageSize
				shares[at] += w.weight * placeWeight[w.found[0].place]
				mask |= 1 << at
				w.found = w.found[1:]
			}
		}
		for ; mask != 0; mask &= mask - 1 {
			at := bits.TrailingZeros64(mask)
			f := &page.files[at]
			if allow == nil || allow(f.id) {
				best.offer(hit{file: f, rank: -shares[at], share: shares[at] / all})
			}
		}
	}
	return best.matches()
}

// look finds the files that have each word, and returns the words that it looked for,
// the rarest first.
func (x *Index) look(words []*asked) []*asked {
	for _, page := range x.pages {
		for _, w := range words {
			w.may += bits.OnesCount64(page.may(w.rows))
		}
	}
	slices.SortFunc(words, func(a, b *asked) int {
		return cmp.Or(cmp.Compare(a.may, b.may), cmp.Compare(a.text, b.text))
	})
	looks := 0
	for i, w := range words {
		// The rarest one that any file may have is looked for at whatever cost, or a
		// question of one common word would find nothing.
		if looks > 0 && looks+w.may > maxLooks {
			words = words[:i]
			break
		}
		looks += w.may
	}
	for number, page := range x.pages {
		for _, w := range words {
			for mask := page.may(w.rows); mask != 0; mask &= mask - 1 {
				at := bits.TrailingZeros64(mask)
				if place := page.view(at).find(w.text); place != nowhere {
					w.found = append(w.found, sighting{slot: uint32(number*pageSize + at), place: place})
				}
			}
		}
	}
	return words
}
