package files

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// maxLooks bounds the file look-ups of one question, over all words, so that any question
// takes a fraction of a millisecond. The rarest words are looked up first. Words beyond the
// limit occur in very many files and are ignored.
const maxLooks = 5_000

// placeWeight is how much of a word's weight counts at each place.
var placeWeight = [...]float64{inName: 1, inFolder: 0.9, inHead: 0.8}

// asked is a word of a question.
type asked struct {
	text string
	rows []uint16
	// may is the number of candidate files; found are the slots of the files that contain
	// the word, in order, with the place.
	may    int
	found  []sighting
	weight float64
}

type sighting struct {
	slot  uint32
	place place
}

// Ask returns at most limit files that contain most of a question in plain language. A
// file's share is the weight of the words it contains over the weight of all words of the
// question. A word counts in full in the file's name, for .9 in its folders and for .8 in
// its head. The weight is the term weight of BM25 (Robertson and Spärck Jones, 1976); a
// word in no file weighs as much as a word in a single file: ln(1 + (N − n + .5)/(n + .5))
// for n of N files.
//
// The higher share comes first, then the shorter path, then the order of paths. Stop words
// ("the", "how") and endings ("-ing", "-s") are ignored. For allow see Search; rarity is
// measured over all files of the index.
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

// look finds the files that contain each word, and returns the words that it looked up, the
// rarest first.
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
		// The rarest word with candidates is looked up at any cost. Otherwise a question of
		// one common word would find nothing.
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
