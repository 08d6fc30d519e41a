package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/index/vector"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
)

// collection is an index of some documents of a pool; a document's number is its index in
// docs.
type collection struct {
	docs    []int // indices in the pool
	lexical *lexical.Index
	vectors index.Retriever
}

// draw indexes n random documents, or all if there are no more.
func (p *pool) draw(n int, rng *rand.Rand) (*collection, error) {
	c := &collection{docs: rng.Perm(len(p.terms))[:min(n, len(p.terms))]}
	var err error
	if c.lexical, err = lexical.New(lexical.Options{}); err != nil {
		return nil, err
	}
	space, err := vector.NewCollection(vector.Options{Name: builtin.Name, Dim: builtin.Dim})
	if err != nil {
		return nil, err
	}
	for i, d := range c.docs {
		c.lexical.Upsert(uint32(i), p.terms[d])
		if err := space.Upsert(uint32(i), p.vectors[d]); err != nil {
			return nil, err
		}
	}
	model := builtin.New()
	c.vectors = space.Direct(func(ctx context.Context, q index.Query) ([]float32, error) {
		weights, err := c.lexical.Weights(ctx, q.Text, q.Universe)
		if err != nil {
			return nil, err
		}
		return model.EmbedWeighted(ctx, q.Text, weights.Of)
	})
	return c, nil
}

// depth is how many hits of a part are used, shown how many documents an answer shows: a
// right document after them counts as not found.
const (
	depth = 50
	shown = 5
)

// observation is what a question found in a collection.
type observation struct {
	pool *pool
	form string // of the question
	size int    // of the collection
	// words and vectors are the results of the parts, without hits.
	words, vectors part
	// others are the scores of the documents that do not answer the question, without those
	// that another one dominates in both parts, right those of the right documents among the
	// first. If nothing is found, others has an empty hit.
	others, right []pairOfHits
}

// part is the result of a retriever, without hits.
type part struct {
	name   string
	result index.Result
}

// pairOfHits is the hits of both parts for one document.
type pairOfHits struct{ words, vectors index.Hit }

// found returns the two sides of a pair in recall's form.
func (o *observation) found(p pairOfHits) (words, vectors recall.Score) {
	return recall.Score{Part: o.words.name, Hit: p.words, Result: &o.words.result},
		recall.Score{Part: o.vectors.name, Hit: p.vectors, Result: &o.vectors.result}
}

// most is the largest value of a figure over some hits of an observation; of no hits it is 0.
func (o *observation) most(hits []pairOfHits, figure func(kind memory.Kind, words, vectors recall.Score) float64) float64 {
	if len(hits) == 0 {
		return 0
	}
	most := math.Inf(-1)
	for _, p := range hits {
		words, vectors := o.found(p)
		most = max(most, figure(o.pool.kind, words, vectors))
	}
	return most
}

// ask runs a question over a collection of p.
func (c *collection) ask(ctx context.Context, p *pool, q question, own bool) (*observation, error) {
	o := &observation{pool: p, form: q.form, size: len(c.docs)}
	var err error
	if o.words, err = answer(ctx, c.lexical, q.text); err != nil {
		return nil, err
	}
	if o.vectors, err = answer(ctx, c.vectors, q.text); err != nil {
		return nil, err
	}
	// A document that one part lacks gets the score of that part's last hit; without words
	// it gets none.
	other := pairOfHits{vectors: index.Hit{Score: o.vectors.result.Mean}}
	if n := len(o.vectors.result.Hits); n > 0 {
		other.vectors.Score = o.vectors.result.Hits[n-1].Score
	}
	found := map[uint32]pairOfHits{}
	for _, h := range o.words.result.Hits {
		found[h.Doc] = pairOfHits{h, other.vectors}
	}
	for _, h := range o.vectors.result.Hits {
		found[h.Doc] = pairOfHits{found[h.Doc].words, h}
	}
	rankings := []index.Ranking{
		{Name: o.words.name, Result: o.words.result, Form: index.Lexical, Weight: 1},
		{Name: o.vectors.name, Result: o.vectors.result, Form: index.ZScore, Weight: index.ZScoreWeight},
	}
	answers := func(doc uint32) bool { return own && q.right[c.docs[doc]] }
	for _, f := range index.Fuse(rankings, shown) {
		if answers(f.Doc) {
			o.right = append(o.right, found[f.Doc])
		}
	}
	o.words.result.Hits, o.vectors.result.Hits = nil, nil
	maps.DeleteFunc(found, func(doc uint32, _ pairOfHits) bool { return answers(doc) })
	if o.others = front(slices.Collect(maps.Values(found))); len(o.others) == 0 {
		o.others = []pairOfHits{other}
	}
	return o, nil
}

func answer(ctx context.Context, r index.Retriever, text string) (part, error) {
	result, err := r.Retrieve(ctx, index.Query{Text: text, Limit: depth})
	if err != nil {
		return part{}, fmt.Errorf("ask %s: %w", r.Name(), err)
	}
	return part{r.Name(), result}, nil
}

// front removes the pairs that another pair dominates in both parts. Among the others is
// the highest share of the question that any document holds.
func front(pairs []pairOfHits) []pairOfHits {
	slices.SortFunc(pairs, func(a, b pairOfHits) int {
		return cmp.Or(cmp.Compare(b.words.Score, a.words.Score), cmp.Compare(b.vectors.Score, a.vectors.Score))
	})
	held := float32(0)
	var best []pairOfHits
	for _, p := range pairs {
		held = max(held, p.words.Held)
		if len(best) == 0 || p.vectors.Score > best[len(best)-1].vectors.Score {
			best = append(best, p)
		}
	}
	for i := range best {
		best[i].words.Held = held
	}
	return best
}
