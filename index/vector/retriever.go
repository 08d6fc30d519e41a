package vector

import (
	"context"
	"fmt"

	"github.com/recalld/recalld/index"
)

// retriever asks a space in words.
type retriever struct {
	space *Collection
	embed func(ctx context.Context, q index.Query) ([]float32, error)
}

var _ index.Retriever = (*retriever)(nil)

// Retriever returns a retriever over the space, named "vector/" and the model's
// name. embed gives the vector of a query, from the model that the space holds
// vectors of; it may be slow, since vectors of recent queries are remembered,
// equal queries asked at the same time are embedded once, and what a question did
// not wait for is there for the next. Vectors it returns belong to the retriever.
//
// Retrieve returns index.ErrNotReady while the space is empty, the error of
// embed, a *RefusedError for a vector that cannot be searched with, or ctx's.
// Scores are cosines and Best is 1, the cosine of equal directions.
func (s *Collection) Retriever(embed EmbedFunc) index.Retriever {
	queries := newQueryCache(embed, s.options.Dim, s.options.QueryCache)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caches = append(s.caches, queries)
	return &retriever{s, func(ctx context.Context, q index.Query) ([]float32, error) { return queries.vector(ctx, q.Text) }}
}

// Direct is Retriever for a model that takes microseconds: every query is embedded when
// it is asked, and may be embedded by what it is asked about.
func (s *Collection) Direct(embed func(ctx context.Context, q index.Query) ([]float32, error)) index.Retriever {
	return &retriever{s, embed}
}

// Close ends the embeddings that retrievers of the space have under way and waits
// for them. They answer queries that they remember from then on, and no others.
func (s *Collection) Close() {
	s.mu.RLock()
	caches := s.caches
	s.mu.RUnlock()
	for _, c := range caches {
		c.close()
	}
}

// Name implements index.Retriever.
func (r *retriever) Name() string { return "vector/" + r.space.Name() }

// Retrieve implements index.Retriever.
func (r *retriever) Retrieve(ctx context.Context, q index.Query) (index.Result, error) {
	if err := ctx.Err(); err != nil {
		return index.Result{}, err
	}
	if r.space.Len() == 0 {
		return index.Result{}, index.ErrNotReady
	}
	if q.Allow != nil && q.Allow.IsEmpty() {
		return index.Result{}, nil // spares the embedding
	}
	vec, err := r.embed(ctx, q)
	if err != nil {
		return index.Result{}, fmt.Errorf("embed query: %w", err)
	}
	a, err := r.space.search(ctx, vec, q.Allow, q.Limit)
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
