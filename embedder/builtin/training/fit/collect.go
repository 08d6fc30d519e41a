package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/index/vector"
	"github.com/recalld/recalld/internal/eval"
	"github.com/recalld/recalld/internal/recall"
)

// pool is a set of documents, analysed and embedded once, with their questions. Collections
// are drawn from it.
type pool struct {
	name    string
	queries []eval.Query
	judged  map[string]eval.Grades
	ids     []string
	terms   []index.Terms
	vectors [][]float32
}

// loadPool reads a set. Documents without a single word are left out.
func loadPool(ctx context.Context, dir string) (*pool, error) {
	set, err := eval.OpenSet(dir)
	if err != nil {
		return nil, err
	}
	p := &pool{name: set.Name, queries: set.Queries, judged: set.Judged}
	model := builtin.New()
	for d, err := range set.Documents() {
		if err != nil {
			return nil, err
		}
		text := d.Text
		if d.Title != "" {
			text = d.Title + "\n" + d.Text
		}
		terms := lexical.Analyze(text)
		if len(terms) == 0 {
			continue
		}
		vectors, err := model.Embed(ctx, embedder.Document, []string{text})
		if err != nil {
			return nil, fmt.Errorf("embed document %s: %w", d.ID, err)
		}
		p.ids, p.terms, p.vectors = append(p.ids, d.ID), append(p.terms, terms), append(p.vectors, vectors[0])
	}
	return p, nil
}

// collection is an index of some documents of a pool; a document's number is its index in
// docs.
type collection struct {
	docs    []int // indices in the pool
	numbers map[string]uint32
	lexical *lexical.Index
	vectors index.Retriever
}

// draw indexes n random documents, or all if there are no more.
func (p *pool) draw(n int, rng *rand.Rand) (*collection, error) {
	c := &collection{docs: rng.Perm(len(p.ids))[:min(n, len(p.ids))], numbers: map[string]uint32{}}
	var err error
	if c.lexical, err = lexical.New(lexical.Options{}); err != nil {
		return nil, err
	}
	space, err := vector.NewCollection(vector.Options{Name: builtin.Name, Dim: builtin.Dim})
	if err != nil {
		return nil, err
	}
	for i, d := range c.docs {
		c.numbers[p.ids[d]] = uint32(i)
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

// depth is how many hits of a part are used: a judged document outside both counts as not
// found.
const depth = 50

// observation is the result of one question in one collection: all documents for an
// unrelated question, the judged ones for the collection's own question.
type observation struct {
	pool, from string // names of the collection's and the question's pool
	size       int    // of the collection
	// words and vectors are the results of the parts, without hits.
	words, vectors part
	// hits are the scores of the found documents, without documents that another one
	// dominates in both parts. There is at least one: if nothing is found, an empty hit.
	hits []pair
}

// part is the result of a retriever, without hits.
type part struct {
	name   string
	result index.Result
}

// pair is the hits of both parts for one document.
type pair struct{ words, vectors index.Hit }

// found returns the two sides of a pair in recall's form.
func (o *observation) found(p pair) (words, vectors recall.Score) {
	return recall.Score{Part: o.words.name, Hit: p.words, Result: &o.words.result},
		recall.Score{Part: o.vectors.name, Hit: p.vectors, Result: &o.vectors.result}
}

// most is the largest value of a figure over the found documents.
func (o *observation) most(figure func(words, vectors recall.Score) float64) float64 {
	most := math.Inf(-1)
	for _, p := range o.hits {
		most = max(most, figure(o.found(p)))
	}
	return most
}

// ask runs a question. If judged documents are given, only those count.
func (c *collection) ask(ctx context.Context, q eval.Query, judged eval.Grades) (o observation, err error) {
	if o.words, err = answer(ctx, c.lexical, q.Text); err != nil {
		return o, err
	}
	if o.vectors, err = answer(ctx, c.vectors, q.Text); err != nil {
		return o, err
	}
	counts := make(map[uint32]bool, len(judged))
	for id, grade := range judged {
		if number, in := c.numbers[id]; in {
			counts[number] = grade > 0
		}
	}
	// A document that one part lacks gets the score of that part's last hit; without words
	// it gets none.
	other := pair{vectors: index.Hit{Score: o.vectors.result.Mean}}
	if n := len(o.vectors.result.Hits); n > 0 {
		other.vectors.Score = o.vectors.result.Hits[n-1].Score
	}
	found := map[uint32]pair{}
	for _, h := range o.words.result.Hits {
		found[h.Doc] = pair{h, other.vectors}
	}
	for _, h := range o.vectors.result.Hits {
		found[h.Doc] = pair{found[h.Doc].words, h}
	}
	if judged != nil {
		maps.DeleteFunc(found, func(doc uint32, _ pair) bool { return !counts[doc] })
	}
	o.words.result.Hits, o.vectors.result.Hits = nil, nil
	o.hits = front(slices.Collect(maps.Values(found)))
	if len(o.hits) == 0 {
		o.hits = []pair{other}
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
func front(pairs []pair) []pair {
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.words.Score, a.words.Score), cmp.Compare(b.vectors.Score, a.vectors.Score))
	})
	held := float32(0)
	var best []pair
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
