package indexer

import (
	"iter"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/vector"
)

// collection is the vector collection of one model.
type collection struct {
	name      string
	vectors   *vector.Collection
	retriever index.Retriever
	embed     embedder.Embedder
	// background is set if new documents are embedded by jobs, not at ingest.
	background bool

	mu       sync.Mutex      // guards the fields below
	skipped  *roaring.Bitmap // documents that could not be embedded; none has a vector
	attempts []*attempt      // being made
	err      error           // of the last attempt to reach the model
}

// attempt is one attempt to embed some documents. A document that was written since
// its start is in written: what it lacked may be there now, so a failure does not
// skip it.
type attempt struct{ written *roaring.Bitmap } // guarded by the collection's mu

func (c *collection) begin() *attempt {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &attempt{roaring.New()}
	c.attempts = append(c.attempts, a)
	return a
}

func (c *collection) end(a *attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.attempts = slices.DeleteFunc(c.attempts, func(other *attempt) bool { return other == a })
}

// noteOutcome keeps the outcome of an attempt to reach the model.
func (c *collection) noteOutcome(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// progress returns how many documents are embedded, how many of all still wait, and
// the error of the last attempt. Skipped documents do not wait.
func (c *collection) progress(all int) (embedded, waiting int, err error) {
	embedded = c.vectors.Len()
	c.mu.Lock()
	defer c.mu.Unlock()
	return embedded, max(all-embedded-int(c.skipped.GetCardinality()), 0), c.err
}

// skip marks a document as skipped until a record or file with its text is written
// again. A nil attempt means that it failed while it was written.
func (c *collection) skip(a *attempt, num uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a == nil || !a.written.Contains(num) {
		c.skipped.Add(num)
	}
}

// retry ends the skipping of a document, also by the attempts being made. It is
// called after what was written of the document can be found.
func (c *collection) retry(num uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skipped.Remove(num)
	for _, a := range c.attempts {
		a.written.Add(num)
	}
}

// anySkipped reports whether any of the documents is skipped.
func (c *collection) anySkipped(docs iter.Seq[uint32]) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.skipped.IsEmpty() {
		return false
	}
	for num := range docs {
		if c.skipped.Contains(num) {
			return true
		}
	}
	return false
}

// embeddedOrSkipped returns the documents that do not wait.
func (c *collection) embeddedOrSkipped() *roaring.Bitmap {
	done := c.vectors.Held()
	c.mu.Lock()
	defer c.mu.Unlock()
	done.Or(c.skipped)
	return done
}
