package index

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func lexicalPart(hits ...Hit) Ranking {
	return Ranking{Name: "lexical", Result: Result{Hits: hits, Searched: 1_000}, Form: Lexical, Weight: 1}
}

func vectorPart(mean, deviation float32, hits ...Hit) Ranking {
	return Ranking{
		Name:   "vector/m",
		Result: Result{Hits: hits, Searched: 1_000, Mean: mean, Deviation: deviation},
		Form:   ZScore,
		Weight: ZScoreWeight,
	}
}

func hit(doc uint32, score float32) Hit { return Hit{Doc: doc, Score: score} }

func TestFuseScores(t *testing.T) {
	const w = ZScoreWeight
	for _, c := range []struct {
		name  string
		parts []Ranking
		want  map[uint32]float64
	}{
		{"nothing", nil, map[uint32]float64{}},
		{"lexical over its maximum",
			[]Ranking{lexicalPart(hit(1, 8), hit(2, 2))},
			map[uint32]float64{1: 1, 2: .25}},
		{"lexical where a quarter of the question is matched",
			[]Ranking{{Name: "lexical", Result: Result{Hits: []Hit{hit(1, 8), hit(2, 2)}, Best: 32}, Form: Lexical, Weight: 1}},
			map[uint32]float64{1: .5, 2: .125}},
		{"z-scores of the collection",
			[]Ranking{vectorPart(.1, .2, hit(1, .9), hit(2, .3))},
			map[uint32]float64{1: 4 * w, 2: 1 * w}},
		{"z-scores of the hits, the collection's being unknown",
			[]Ranking{vectorPart(0, 0, hit(1, .9), hit(2, .3))},
			map[uint32]float64{1: 1 * w, 2: -1 * w}},
		{"the sum, with 0 for what the words lack and the last z-score for what the vectors lack",
			[]Ranking{lexicalPart(hit(1, 4), hit(2, 3)), vectorPart(.1, .2, hit(2, .9), hit(3, .5))},
			map[uint32]float64{1: 1 + 2*w, 2: .75 + 4*w, 3: 2 * w}},
		{"one empty part",
			[]Ranking{lexicalPart(hit(1, 4)), vectorPart(0, 0)},
			map[uint32]float64{1: 1}},
		{"a single hit and no statistics",
			[]Ranking{vectorPart(0, 0, hit(1, .9))},
			map[uint32]float64{1: 0}},
		{"equal hits and no statistics",
			[]Ranking{vectorPart(0, 0, hit(1, .9), hit(2, .9))},
			map[uint32]float64{1: 0, 2: 0}},
		{"lexical scores of zero",
			[]Ranking{lexicalPart(hit(1, 0), hit(2, 0))},
			map[uint32]float64{1: 0, 2: 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := map[uint32]float64{}
			for _, f := range Fuse(c.parts, 100) {
				got[f.Doc] = f.Score
			}
			if len(got) != len(c.want) {
				t.Errorf("got documents %v, want %v", got, c.want)
			}
			for doc, want := range c.want {
				if math.Abs(got[doc]-want) > 1e-6 { // float32 scores
					t.Errorf("document %d: got %v, want %v", doc, got[doc], want)
				}
			}
		})
	}
}

// A document without a vector is neither helped nor harmed by those that have
// one: a part that returned all it searched knows nothing of it.
func TestFuseDocumentsWithoutVector(t *testing.T) {
	vectors := vectorPart(.1, .2, hit(2, .5), hit(3, -.1))
	vectors.Result.Searched = 2
	fused := Fuse([]Ranking{lexicalPart(hit(1, 4)), vectors}, 10)
	if fused[0].Doc != 1 || fused[0].Score != 1 {
		t.Errorf("got %+v first, want document 1 with its lexical score alone", fused[0])
	}
}

func TestFuseOrder(t *testing.T) {
	fused := Fuse([]Ranking{lexicalPart(hit(9, 4), hit(3, 2), hit(5, 2), hit(7, 2))}, 3)
	var got []uint32
	for _, f := range fused {
		got = append(got, f.Doc)
	}
	if want := []uint32{9, 3, 5}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v: by score, ties by number, cut at the limit", got, want)
	}
	if got := Fuse([]Ranking{lexicalPart(hit(9, 4))}, 0); len(got) != 0 {
		t.Errorf("limit 0: got %v, want nothing", got)
	}
}

func TestFuseKeepsRawHits(t *testing.T) {
	fused := Fuse([]Ranking{lexicalPart(hit(1, 4), hit(2, 3)), vectorPart(.1, .2, hit(2, .9))}, 10)
	got := map[uint32][]RawHit{}
	for _, f := range fused {
		got[f.Doc] = f.Raw
	}
	want := map[uint32][]RawHit{1: {{0, hit(1, 4)}}, 2: {{0, hit(2, 3)}, {1, hit(2, .9)}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("raw hits (-want +got):\n%s", diff)
	}
}

func TestFuseIsPure(t *testing.T) {
	parts := []Ranking{lexicalPart(hit(1, 4), hit(2, 3)), vectorPart(0, 0, hit(2, .9), hit(3, .1))}
	before := []Hit{hit(1, 4), hit(2, 3)}
	first := Fuse(parts, 10)
	if diff := cmp.Diff(first, Fuse(parts, 10)); diff != "" {
		t.Errorf("the same parts twice:\n%s", diff)
	}
	if !slices.Equal(parts[0].Result.Hits, before) {
		t.Errorf("Fuse changed its input: %v", parts[0].Result.Hits)
	}
}
