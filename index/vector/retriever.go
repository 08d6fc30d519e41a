package vector

import (
	"context"
	"fmt"

	"github.com/recalld/recalld/index"
)

// retriever searches a collection by text.
type retriever struct {
	c     *Collection
	embed func(ctx context.Context, q index.Query) ([]float32, error)
}

var _ index.Retriever = (*retriever)(nil)

// Retriever returns a retriever over the collection, named "vector/" and the model's name.
// embed returns the vector of a query, from the model whose vectors the collection holds.
// embed may be slow: vectors of recent queries are cached, concurrent equal queries are
// embedded once, and an embedding that its query did not wait for is cached for the next.
// The retriever owns the vectors that embed returns.
//
// Retrieve returns index.ErrNotReady while the collection is empty, the error of embed, a
// *RefusedError for an unusable query vector, or ctx's error. Scores are cosines and Best
// is 1, the cosine of equal directions.
func (s *Collection) Retriever(embed EmbedFunc) index.Retriever {
	queries := newQueryCache(embed, s.options.Dim, s.options.QueryCache)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caches = append(s.caches, queries)
	return &retriever{s, func(ctx context.Context, q index.Query) ([]float32, error) { return queries.vector(ctx, q.Text) }}
}

// Direct is Retriever for a model that takes microseconds: every query is embedded at once,
// and its vector may depend on the documents searched.
func (s *Collection) Direct(embed func(ctx context.Context, q index.Query) ([]float32, error)) index.Retriever {
	return &retriever{s, embed}
}

// Close cancels the embeddings in progress of the collection's retrievers and waits for
// them. From then on they answer only queries whose vectors are cached.
func (s *Collection) Close() {
	s.mu.RLock()
	caches := s.caches
	s.mu.RUnlock()
	for _, c := range caches {
		c.close()
	}
}

// Name implements index.Retriever.
func (r *retriever) Name() string { return "vector/" + r.c.Name() }

// Retrieve implements index.Retriever.
func (r *retriever) Retrieve(ctx context.Context, q index.Query) (index.Result, error) {
	if err := ctx.Err(); err != nil {
		return index.Result{}, err
	}
	if r.c.Len() == 0 {
		return index.Result{}, index.ErrNotReady
	}
	if q.Allow != nil && q.Allow.IsEmpty() {
		return index.Result{}, nil // saves the embedding
	}
	vec, err := r.embed(ctx, q)
	if err != nil {
		return index.Result{}, fmt.Errorf("embed query: %w", err)
	}
	a, err := r.c.search(ctx, vec, q.Allow, q.Limit, q.Further)
	if err != nil {
		return index.Result{}, fmt.Errorf("search vectors: %w", err)
	}
	res := index.Result{Hits: a.hits, Searched: a.searched}
	if a.searched > 0 {
		res.Best = 1
		res.Mean, res.Deviation = a.moments.meanAndDeviation()
	}
	return res, nil
}
