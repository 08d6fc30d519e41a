package vector

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
)

// ways are the options under which a space of any size is searched in one way.
var ways = map[string]Options{
	"collection": {CollectionUpTo: 1_000_000},
	"exact":      {CollectionUpTo: 1, ExactUpTo: 1_000_000},
	"shortlist":  {CollectionUpTo: 1, ExactUpTo: 1, Shortlist: 1, ShortlistPerHit: 5},
}

// bruteForce is what a search must find: the cosine of each, computed in
// float64, all of them sorted.
func bruteForce(vectors map[uint32][]float32, query []float32, allow *roaring.Bitmap, k int) []index.Hit {
	var hits []index.Hit
	for doc, vec := range vectors {
		if allow != nil && !allow.Contains(doc) {
			continue
		}
		var dot, squares float64
		for i, x := range query {
			dot += float64(x) * float64(vec[i])
			squares += float64(x) * float64(x)
		}
		hits = append(hits, index.Hit{Doc: doc, Score: float32(dot / math.Sqrt(squares))})
	}
	slices.SortFunc(hits, func(a, b index.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
	})
	return hits[:min(k, len(hits))]
}

// rounding is what a score may be off: the components of a query are rounded by up to half a
// step, 1/65,534 of the largest, so at width 8 a cosine is off by √8/65,534 at most.
const rounding = 5e-5

// sameHits compares answers whose scores were rounded differently: close
// scores may change places, so documents are looked up, not compared by place.
func sameHits(t *testing.T, what string, got, want []index.Hit) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d hits, want %d", what, len(got), len(want))
		return
	}
	for i := range got {
		if math.Abs(float64(got[i].Score-want[i].Score)) > rounding {
			t.Errorf("%s: hit %d is %v, want %v", what, i, got[i], want[i])
			return
		}
		if got[i].Doc == want[i].Doc {
			continue
		}
		at := slices.IndexFunc(want, func(h index.Hit) bool { return h.Doc == got[i].Doc })
		last := want[len(want)-1].Score // one just behind the cut may take the place of the last
		if at < 0 && math.Abs(float64(got[i].Score-last)) > rounding ||
			at >= 0 && math.Abs(float64(want[at].Score-got[i].Score)) > rounding {
			t.Errorf("%s: hit %d is %v, want %v", what, i, got[i], want[i])
			return
		}
	}
}

// TestSpaceAgainstBruteForce changes a space at random and searches it with and
// without filters, in every way; each must agree with brute force. What comes
// by shortlist must have exact scores and be nearly complete.
func TestSpaceAgainstBruteForce(t *testing.T) {
	const dim, documents, rounds = 48, 300, 400
	for name, options := range ways {
		t.Run(name, func(t *testing.T) {
			options.Name, options.Dim = "m", dim
			s := openSpace(t, options)
			c := newCorpus(dim, 20, 5)
			model := map[uint32][]float32{}
			found, wanted := 0, 0
			for round := range rounds {
				for range 5 {
					doc := c.random.Uint32N(documents) * 37 // over several pages
					if c.random.IntN(3) == 0 {
						s.Delete(doc)
						delete(model, doc)
						continue
					}
					vec := c.vector()
					model[doc] = rounded(vec)
					if err := s.Upsert(doc, vec); err != nil {
						t.Fatalf("round %d: upserting %d: %v", round, doc, err)
					}
				}
				var allow *roaring.Bitmap
				if round%2 == 1 {
					allow = roaring.New()
					for range c.random.IntN(documents) {
						allow.Add(c.random.Uint32N(documents) * 37)
					}
				}
				query := c.query()
				got, err := s.Search(t.Context(), query, allow, 10)
				if err != nil {
					t.Fatalf("round %d: searching: %v", round, err)
				}
				want := bruteForce(model, query, allow, 10)
				for _, h := range want {
					wanted++
					if slices.ContainsFunc(got, func(g index.Hit) bool { return g.Doc == h.Doc }) {
						found++
					}
				}
				if name == "shortlist" {
					want = bruteForce(model, query, allow, len(model))
					want = slices.DeleteFunc(want, func(h index.Hit) bool {
						return !slices.ContainsFunc(got, func(g index.Hit) bool { return g.Doc == h.Doc })
					})
				}
				sameHits(t, name, got, want)
				if t.Failed() {
					t.Fatalf("in round %d, over %d documents", round, len(model))
				}
			}
			if recall := float64(found) / float64(wanted); recall < .95 {
				t.Errorf("recall@10 is %.3f, want .95", recall)
			}
			checkSpace(t, s, model)
		})
	}
}

// checkSpace compares everything that a space holds, inside too, with model.
func checkSpace(t *testing.T, s *Collection, model map[uint32][]float32) {
	t.Helper()
	if s.Len() != len(model) || s.slots.Len() != len(model) || len(s.rows.scales) != len(model) {
		t.Errorf("space holds %d documents, %d slots, %d rows, want %d", s.Len(), s.slots.Len(), len(s.rows.scales), len(model))
	}
	if s.small != nil && s.small.Count() != len(model) {
		t.Errorf("chromem-go holds %d documents, want %d", s.small.Count(), len(model))
	}
	held := s.Held()
	if held.GetCardinality() != uint64(len(model)) {
		t.Errorf("Held has %d documents, want %d", held.GetCardinality(), len(model))
	}
	sum := make([]float64, s.Dim())
	for doc, want := range model {
		if !held.Contains(doc) {
			t.Errorf("document %d is not held", doc)
			continue
		}
		if got := s.Vector(doc); !slices.Equal(got, want) {
			t.Errorf("vector of document %d is %v, want %v", doc, got, want)
		}
		if s.small != nil {
			kept, err := s.small.GetByID(context.Background(), collectionID(doc))
			if err != nil || !slices.Equal(kept.Embedding, want) {
				t.Errorf("chromem-go's vector of document %d is %v (error %v), want %v", doc, kept.Embedding, err, want)
			}
		}
		for i, x := range want {
			sum[i] += float64(x)
		}
		if s.codes == nil {
			continue
		}
		slot, _ := s.slots.Get(doc)
		code := make([]uint64, s.coder.words)
		s.coder.encode(want, make([]float32, s.coder.width), code)
		if got := s.code(slot); !slices.Equal(got, code) {
			t.Errorf("code of document %d is %x, want %x", doc, got, code)
		}
	}
	for i := range sum {
		if math.Abs(sum[i]-s.sum[i]) > 1e-6 {
			t.Errorf("the kept sum of dimension %d is %v, want %v", i, s.sum[i], sum[i])
		}
	}
	if s.codes != nil && len(s.codes) != len(model)*s.coder.words {
		t.Errorf("%d words of codes for %d documents", len(s.codes), len(model))
	}
}

func TestShortlistEstimatesMoments(t *testing.T) {
	const documents = 5_000
	c := newCorpus(64, 100, 9)
	s := openSpace(t, Options{Name: "m", Dim: 64})
	for doc := range uint32(documents) {
		if err := s.Upsert(doc, c.vector()); err != nil {
			t.Fatal(err)
		}
	}
	query := c.query()
	estimated, err := s.search(t.Context(), query, nil, 10, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.options.ExactUpTo = documents
	exact, err := s.search(t.Context(), query, nil, 10, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n := estimated.moments.n; n < sampleSize/2 || n > 2*sampleSize {
		t.Errorf("the sample has %v documents, want about %d", n, sampleSize)
	}
	mean, deviation := estimated.moments.meanAndDeviation()
	wantMean, wantDeviation := exact.moments.meanAndDeviation()
	if math.Abs(float64(mean-wantMean)) > .2*float64(wantDeviation) {
		t.Errorf("estimated mean %v, want %v within a fifth of the deviation %v", mean, wantMean, wantDeviation)
	}
	if r := deviation / wantDeviation; r < .85 || r > 1.15 {
		t.Errorf("estimated deviation %v, want %v within 15 %%", deviation, wantDeviation)
	}
}

func TestRefusedVectorsLeaveTheSpaceUnchanged(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		name string
		vec  []float32
		want Reason
	}{
		{"nil", nil, WrongWidth},
		{"narrow", []float32{1, 0}, WrongWidth},
		{"wide", []float32{1, 0, 0, 0}, WrongWidth},
		{"NaN", []float32{1, nan, 0}, NotFinite},
		{"infinite", []float32{1, inf, 0}, NotFinite},
		{"minus infinite", []float32{-inf, inf, 0}, NotFinite},
		{"zero", []float32{0, 0, 0}, Zero},
	} {
		for name, options := range ways {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				options.Name, options.Dim = "m", 3
				s := openSpace(t, options)
				model := map[uint32][]float32{1: {1, 0, 0}, 2: {0, 1, 0}}
				for doc, vec := range model {
					if err := s.Upsert(doc, slices.Clone(vec)); err != nil {
						t.Fatalf("upserting %d: %v", doc, err)
					}
				}
				for _, doc := range []uint32{1, 3} { // in place of one, and a new one
					refused, ok := errors.AsType[*RefusedError](s.Upsert(doc, c.vec))
					if !ok || refused.Reason != c.want || refused.Width != len(c.vec) || refused.Want != 3 {
						t.Errorf("upserting document %d: got %+v, want it refused for reason %d", doc, refused, c.want)
					}
				}
				if _, err := s.Search(t.Context(), c.vec, nil, 1); err == nil {
					t.Error("searching with it: got no error")
				} else if refused, ok := errors.AsType[*RefusedError](err); !ok || refused.Reason != c.want {
					t.Errorf("searching with it: got error %v, want it refused", err)
				}
				checkSpace(t, s, model)
				got, err := s.Search(t.Context(), []float32{2, 0, 0}, nil, 2)
				if want := []index.Hit{{Doc: 1, Score: 1}, {Doc: 2, Score: 0}}; err != nil || !slices.Equal(got, want) {
					t.Errorf("searching afterwards: got %v, error %v, want %v", got, err, want)
				}
			})
		}
	}
}

// rounded is what a space keeps of a vector: its direction, with a byte for each component.
func rounded(vec []float32) []float32 {
	var most, squares float64
	for _, x := range vec {
		most = max(most, math.Abs(float64(x)))
	}
	steps := make([]float64, len(vec))
	for i, x := range vec {
		steps[i] = math.Round(float64(x) / most * 127)
		squares += steps[i] * steps[i]
	}
	out := make([]float32, len(vec))
	for i, x := range steps {
		out[i] = float32(x / math.Sqrt(squares))
	}
	return out
}

func TestUpsertKeepsTheDirection(t *testing.T) {
	s := openSpace(t, Options{Name: "m", Dim: 3})
	for name, vec := range map[string][]float32{
		"unit":       {.6, .8, 0},
		"negative":   {-.6, -.8, 0},
		"a half":     {.81649658, .40824829, .40824829}, // between two steps
		"long":       {30, 40, 0},
		"very short": {3e-30, 4e-30, 0},
		"very long":  {3e38, 2e38, 0},
		"denormal":   {1e-45, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			given := slices.Clone(vec)
			if err := s.Upsert(1, vec); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(vec, given) {
				t.Errorf("the caller's vector is %v now, was %v", vec, given)
			}
			kept := s.Vector(1)
			if want := rounded(vec); !slices.Equal(kept, want) {
				t.Errorf("kept is %v, want %v", kept, want)
			}
			if got := bruteForce(map[uint32][]float32{1: kept}, vec, nil, 1)[0].Score; got < .999 {
				t.Errorf("its cosine with what is kept is %v, want .999", got)
			}
			if err := s.Upsert(1, kept); err != nil || !slices.Equal(s.Vector(1), kept) {
				t.Errorf("kept again it is %v (error %v), was %v", s.Vector(1), err, kept)
			}
		})
	}
}

// TestRoundedVectorsStayAsTheyAre: what the store has rounded must not be rounded further.
func TestRoundedVectorsStayAsTheyAre(t *testing.T) {
	s := openSpace(t, Options{Name: "m", Dim: 256})
	c := newCorpus(256, 20, 3)
	for range 1_000 {
		vec := rounded(c.vector())
		if err := s.Upsert(1, vec); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(s.Vector(1), vec) {
			t.Fatalf("kept is %v, want %v", s.Vector(1), vec)
		}
	}
}

func TestSearchEdges(t *testing.T) {
	s := openSpace(t, Options{Name: "m", Dim: 2})
	if hits, err := s.Search(t.Context(), []float32{1, 0}, nil, 5); err != nil || len(hits) != 0 {
		t.Errorf("an empty space: got %v, error %v, want nothing", hits, err)
	}
	if err := s.Upsert(4_000_000_000, []float32{1, 0}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ k, want int }{{-1, 0}, {0, 0}, {1, 1}, {1_000_000_000, 1}} {
		if hits, err := s.Search(t.Context(), []float32{1, 0}, nil, c.k); err != nil || len(hits) != c.want {
			t.Errorf("k %d: got %v, error %v, want %d hits", c.k, hits, err, c.want)
		}
	}
	if s.Vector(1) != nil {
		t.Error("a document never added has a vector")
	}
}

func TestOptions(t *testing.T) {
	for name, c := range map[string]struct {
		options Options
		problem string
	}{
		"no name":       {Options{Dim: 3}, "name"},
		"no dim":        {Options{Name: "m"}, "dim"},
		"huge dim":      {Options{Name: "m", Dim: 100_000}, "dim"},
		"negative size": {Options{Name: "m", Dim: 3, Shortlist: -1}, "negative"},
	} {
		if _, err := NewCollection(c.options); err == nil || !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: got error %v, want one about %q", name, err, c.problem)
		}
	}
}

// TestSpaceConcurrently is for the race detector; it also looks for answers
// from outside the filter and for a space out of step at the end.
func TestSpaceConcurrently(t *testing.T) {
	const dim, each = 32, 400
	for name, options := range ways {
		t.Run(name, func(t *testing.T) {
			options.Name, options.Dim = "m", dim
			s := openSpace(t, options)
			models := make([]map[uint32][]float32, 3)
			var wg sync.WaitGroup
			for w := range models {
				wg.Go(func() {
					c := newCorpus(dim, 10, uint64(w))
					models[w] = map[uint32][]float32{}
					for range each {
						doc := uint32(w)*1_000 + c.random.Uint32N(60)
						if c.random.IntN(4) == 0 {
							s.Delete(doc)
							delete(models[w], doc)
							continue
						}
						vec := c.vector()
						models[w][doc] = rounded(vec)
						if err := s.Upsert(doc, vec); err != nil {
							t.Errorf("upserting: %v", err)
						}
					}
				})
				wg.Go(func() {
					c := newCorpus(dim, 10, uint64(w))
					allow := roaring.New()
					allow.AddRange(1_000, 1_060)
					for range each / 4 {
						hits, err := s.Search(t.Context(), c.vector(), allow, 5)
						if err != nil {
							t.Errorf("searching: %v", err)
						}
						for _, h := range hits {
							if !allow.Contains(h.Doc) {
								t.Errorf("document %d is returned and not allowed", h.Doc)
							}
						}
						if _, err := s.Search(t.Context(), c.vector(), nil, 5); err != nil {
							t.Errorf("searching: %v", err)
						}
						s.Held()
						s.Vector(1_001)
					}
				})
			}
			wg.Wait()
			all := map[uint32][]float32{}
			for _, m := range models {
				for doc, vec := range m {
					all[doc] = vec
				}
			}
			checkSpace(t, s, all)
		})
	}
}

// TestDirectEmbedsByWhatIsAsked: nothing is remembered, and the whole query is known.
func TestDirectEmbedsByWhatIsAsked(t *testing.T) {
	s := openSpace(t, Options{Name: "toy", Dim: 2})
	for doc, v := range [][]float32{{1, 0}, {0, 1}} {
		if err := s.Upsert(uint32(doc), v); err != nil {
			t.Fatalf("put vector: %v", err)
		}
	}
	r := s.Direct(func(_ context.Context, q index.Query) ([]float32, error) {
		if q.Universe.Contains(7) {
			return []float32{0, 1}, nil
		}
		return []float32{1, 0}, nil
	})
	for want, universe := range []*roaring.Bitmap{roaring.New(), roaring.BitmapOf(7)} {
		got, err := r.Retrieve(t.Context(), index.Query{Text: "the same", Universe: universe, Limit: 1})
		if err != nil || len(got.Hits) != 1 || got.Hits[0].Doc != uint32(want) {
			t.Errorf("asked among %v: %+v, error %v, want document %d", universe, got.Hits, err, want)
		}
	}
}

// TestShortlistOfMisleadingSample: the documents that the sample meets are the nearest, so
// too few are below the bound that it gives.
func TestShortlistOfMisleadingSample(t *testing.T) {
	const n, k, dim = 8 * blockSize, 1200, 32
	s, err := NewCollection(Options{Name: "m", Dim: dim, Shortlist: k, ShortlistPerHit: 1})
	if err != nil {
		t.Fatal(err)
	}
	c := newCorpus(dim, 5, 1)
	query := c.vector()
	stride := n/blockSize + 1
	for slot := range n {
		vec := query
		if slot%stride != 0 {
			vec = c.vector()
		}
		if err := s.Upsert(uint32(slot), vec); err != nil {
			t.Fatal(err)
		}
	}
	a, err := s.search(t.Context(), query, nil, k, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.hits) != k {
		t.Errorf("%d hits, want %d", len(a.hits), k)
	}
	if want := float64(n/(n/sampleSize+1) + 1); a.moments.n != want {
		t.Errorf("the moments are of %v documents, want %v", a.moments.n, want)
	}
}
