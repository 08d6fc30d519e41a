package recall

import (
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

func TestNamesLiftWhatHasThem(t *testing.T) {
	one := func(doc uint32, title bool) []memory.NamedDoc { return []memory.NamedDoc{{Doc: doc, Title: title}} }
	many := make([]memory.NamedDoc, maxCalled+1)
	for i := range many {
		many[i] = memory.NamedDoc{Doc: 9, Title: true}
	}
	shelf := newShelf()
	shelf.called = map[string][]memory.NamedDoc{
		"query": one(2, true), "readfile": one(2, false), "get": one(2, false), "retry": one(2, false), "utils": many,
		"storage":  {{Doc: 2, Title: true}, {Doc: 2, Title: true, Further: true}},
		"deployed": {{Doc: 0, Title: true}, {Doc: 1, Title: true}, {Doc: 2, Title: true}, {Doc: 9, Title: true}},
	}
	ask := func(query string, kinds ...memory.Kind) string {
		r := &run{s: &Service{opts: Options{Corpus: shelf}}, query: query, searched: memory.Selection{Project: "p", Kinds: kinds}}
		for i, score := range []float64{1, .95, .85} {
			r.candidates = append(r.candidates, &candidate{
				Candidate: memory.Candidate{ID: string("abc"[i]), Kind: memory.Reference}, num: uint32(i), fused: score, match: score,
			})
		}
		lesson := &candidate{Candidate: memory.Candidate{ID: "lesson", Kind: memory.Lesson}, num: 7, fused: .9, match: .9}
		r.candidates = slices.Insert(r.candidates, 2, lesson)
		r.liftNamed()
		var ids []string
		for i, c := range r.candidates {
			ids = append(ids, c.ID)
			if want := []float64{1, .95, .9, .85}[i]; c.fused != want || c.match != want {
				t.Errorf("%q: place %d has the score %v, want that of before, %v", query, i, c.fused, want)
			}
		}
		return strings.Join(ids, " ")
	}
	const stays, lifted = "a b lesson c", "c a lesson b"
	for query, want := range map[string]string{
		"the query fails":             lifted, // a word of a title
		"why does Query.py fail":      lifted,
		"how do I read file contents": lifted, // spelled with two words
		"READ_FILE fails":             lifted,
		"readFile fails":              lifted, // written as a name
		"what calls `retry`":          lifted,
		"what calls retry() here":     lifted,
		"we retry the call":           stays,  // an ordinary word
		"where are the utils":         stays,  // too many have the name
		"the storage is full":         lifted, // further parts do not make it common
		"it was deployed":             stays,  // four have it: all gain the same
		"nothing of this":             stays,
	} {
		if got := ask(query, memory.Reference); got != want {
			t.Errorf("%q: order %s, want %s", query, got, want)
		}
	}
	if got := ask("the query fails", memory.Chunk); got != stays {
		t.Errorf("only code is asked for: order %s, want %s", got, stays)
	}
}
