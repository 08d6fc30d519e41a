package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/index/vector"
	"github.com/recalld/recalld/internal/eval"
)

// pool is documents that collections are drawn from, analysed and embedded
// once, and the questions that they answer.
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

// collection is some documents of a pool, indexed; a document's number is its
// place in docs.
type collection struct {
	docs    []int // places in the pool
	numbers map[string]uint32
	lexical *lexical.Index
	vectors index.Retriever
}

// draw indexes n documents at random, or all if there are no more.
func (p *pool) draw(n int, rng *rand.Rand) (*collection, error) {
	c := &collection{docs: rng.Perm(len(p.ids))[:min(n, len(p.ids))], numbers: map[string]uint32{}}
	var err error
	if c.lexical, err = lexical.New(lexical.Options{}); err != nil {
		return nil, err
	}
	space, err := vector.NewSpace(vector.Options{Name: builtin.Name, Dim: builtin.Dim})
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
	c.vectors = space.Retriever(func(ctx context.Context, text string) ([]float32, error) {
		vectors, err := model.Embed(ctx, embedder.Query, []string{text})
		if err != nil {
			return nil, err
		}
		return vectors[0], nil
	})
	return c, nil
}

// depth is how many hits are looked at: a judged document below them counts as
// not found.
const depth = 50

// observation is what one question found in one collection: the best document
// for a question from elsewhere, the best judged one for the collection's own.
type observation struct {
	pool, from      string // the collection's and the question's
	size            int    // of the collection
	lexical, vector finding
}

// finding is the best hit in one part and what it is compared with. What it
// holds of the question is the most that any hit holds that counts.
type finding struct {
	part   string
	hit    index.Hit
	result index.Result // without hits
}

// ask asks a question. With judged documents only those count.
func (c *collection) ask(ctx context.Context, q eval.Query, judged eval.Grades) (o observation, err error) {
	counts := func(uint32) bool { return true }
	if judged != nil {
		counts = func(doc uint32) bool {
			for id, grade := range judged {
				if number, in := c.numbers[id]; in && number == doc && grade > 0 {
					return true
				}
			}
			return false
		}
	}
	if o.lexical, err = find(ctx, c.lexical, q.Text, counts); err == nil {
		o.vector, err = find(ctx, c.vectors, q.Text, counts)
	}
	return o, err
}

func find(ctx context.Context, r index.Retriever, text string, counts func(uint32) bool) (finding, error) {
	result, err := r.Retrieve(ctx, index.Query{Text: text, Limit: depth})
	if err != nil {
		return finding{}, fmt.Errorf("ask %s: %w", r.Name(), err)
	}
	f := finding{part: r.Name(), hit: index.Hit{Score: result.Mean}} // not found: like any other
	found := false
	for _, h := range result.Hits {
		if !counts(h.Doc) {
			continue
		}
		if held := max(f.hit.Held, h.Held); found {
			f.hit.Held = held
		} else {
			f.hit, found = h, true
		}
	}
	result.Hits = nil
	f.result = result
	return f, nil
}
