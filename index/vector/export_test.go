package vector

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
)

// Search returns the hits of a search by vector.
func (s *Collection) Search(ctx context.Context, query []float32, allow *roaring.Bitmap, k int) ([]index.Hit, error) {
	a, err := s.search(ctx, query, allow, k, 0)
	return a.hits, err
}
