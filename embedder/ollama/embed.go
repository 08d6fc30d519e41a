package ollama

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/recalld/recalld/embedder"
)

// maxBatchBytes bounds a request, so that a batch of long texts does not take minutes.
const maxBatchBytes = 128 << 10

// minWindow is the length in bytes below which a text is not split further: if the server
// refuses even this as too long, the length is not the problem.
const minWindow = 16

// control is a text that any model can embed. If the server refuses another text and
// accepts this one, the other text is at fault.
const control = "control"

// item is a text, or a window of one, to be embedded.
type item struct {
	text   int // the index of the text in the call
	input  string
	weight int // its length in bytes without the prefix
	vector []float32
	err    error
}

// Embed implements embedder.Embedder. Besides the errors named there it returns
// ErrModelChanged, ErrRemote and ErrClosed. If the server goes away, the vectors made
// before are returned, and the other texts fail with embedder.ErrUnavailable.
func (e *Embedder) Embed(ctx context.Context, purpose embedder.Purpose, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, ctx.Err()
	}
	ctx, done, err := e.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	known, err := e.identify(ctx)
	if err != nil {
		return nil, ended(ctx, err)
	}
	failed := map[int]error{}
	items := e.items(*known, purpose, texts, failed)
	if err := e.all(ctx, purpose, items); err != nil {
		if ctx.Err() != nil || !errors.Is(err, embedder.ErrUnavailable) || !fail(items, err) {
			return nil, ended(ctx, err)
		}
	}
	vectors, err := assemble(len(texts), items, failed, known.Dim)
	if err != nil {
		e.stale.Store(true)
		return nil, err
	}
	if len(failed) > 0 {
		return vectors, &embedder.PartialError{Failed: failed}
	}
	return vectors, nil
}

// items makes the inputs of the texts and records the blank ones as failed.
func (e *Embedder) items(m embedder.Model, purpose embedder.Purpose, texts []string, failed map[int]error) []*item {
	prefix := e.prefix.Document
	if purpose == embedder.Query {
		prefix = e.prefix.Query
	}
	budget := 0
	if m.ContextTokens > 0 {
		// A tenth is reserved for texts denser than the average.
		room := float64(m.ContextTokens-2-estimate(prefix)) * 0.9
		budget = max(1, int(room/e.ratio.of()))
	}
	items := make([]*item, 0, len(texts))
	for i, text := range texts {
		text = strings.ToValidUTF8(text, "\uFFFD") // as JSON encoding would replace it
		if strings.TrimSpace(text) == "" {
			failed[i] = errBlank
			continue
		}
		for _, w := range windows(text, budget) {
			items = append(items, &item{text: i, input: prefix + w, weight: len(w)})
		}
	}
	return items
}

// all embeds the items in batches, several at a time. It returns after all its goroutines
// have ended.
func (e *Embedder) all(caller context.Context, purpose embedder.Purpose, items []*item) error {
	ctx, cancel := context.WithCancelCause(caller)
	defer cancel(nil)
	slots := e.documents
	if purpose == embedder.Query {
		slots = e.queries
	}
	var batches sync.WaitGroup
	for len(items) > 0 && ctx.Err() == nil {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			continue
		}
		n := cut(items, int(e.batch.Load()))
		batch := items[:n]
		items = items[n:]
		batches.Go(func() {
			defer func() { <-slots }()
			err := e.resolve(ctx, batch)
			if purpose == embedder.Document {
				e.pace(err)
			}
			if err != nil {
				cancel(err) // the first error counts; it cancels the others
			}
		})
	}
	batches.Wait()
	if err := caller.Err(); err != nil {
		return err
	}
	return context.Cause(ctx) // nil if nothing failed
}

// pace halves the requests after a time-out, so that the next try finishes in time, and lets
// them grow again by one input for each answer.
func (e *Embedder) pace(err error) {
	switch now := e.batch.Load(); {
	case errors.Is(err, errTimeout):
		e.batch.CompareAndSwap(now, max(1, now/2))
	case err == nil:
		e.batch.CompareAndSwap(now, min(int32(e.opts.BatchSize), now+1))
	}
}

// cut returns the number of items in the next batch, at least one.
func cut(items []*item, most int) int {
	bytes := 0
	for n, it := range items {
		bytes += len(it.input)
		if n >= most || n > 0 && bytes > maxBatchBytes {
			return n
		}
	}
	return len(items)
}

// resolve gives every item of a batch a vector or an error. A refused batch is halved until
// the bad item is alone. resolve returns the error of the whole call.
func (e *Embedder) resolve(ctx context.Context, batch []*item) error {
	inputs := make([]string, len(batch))
	for i, it := range batch {
		inputs[i] = it.input
	}
	vectors, err := e.attempt(ctx, inputs)
	switch {
	case err == nil:
		for i, it := range batch {
			it.vector = vectors[i]
		}
		return nil
	case !aboutText(err):
		return err
	}
	if !errors.Is(err, errTooLong) {
		if blame := e.blame(ctx); blame != nil {
			return blame
		}
	}
	switch {
	case len(batch) > 1:
		half := len(batch) / 2
		if err := e.resolve(ctx, batch[:half]); err != nil {
			return err
		}
		return e.resolve(ctx, batch[half:])
	case errors.Is(err, errTooLong):
		return e.split(ctx, batch[0], err)
	}
	batch[0].err = err
	return nil
}

// blame finds out whether the server is at fault for a refusal: it returns nil if the
// control text is embedded, and otherwise the error for it.
func (e *Embedder) blame(ctx context.Context) error {
	_, err := e.guarded(ctx, func() ([][]float32, error) {
		vectors, err := e.try(ctx, []string{e.prefix.Document + control})
		if aboutText(err) {
			err = fmt.Errorf("%w: it fails on any text: %v", embedder.ErrUnavailable, err) // whatever its kind
		}
		return vectors, err
	})
	return err
}

// split embeds the halves of an item that is too long for the model, and sets its vector to
// their mean.
func (e *Embedder) split(ctx context.Context, it *item, tooLong error) error {
	prefix, text := it.input[:len(it.input)-it.weight], it.input[len(it.input)-it.weight:]
	parts, ok := halve(text)
	if !ok || len(text) < minWindow {
		it.err = tooLong
		return nil
	}
	halves := make([]*item, len(parts))
	for i, part := range parts {
		halves[i] = &item{text: it.text, input: prefix + part, weight: len(part)}
	}
	if err := e.resolve(ctx, halves); err != nil {
		return err
	}
	it.vector, it.err = combine(halves)
	return nil
}

// combine returns the weighted mean of the vectors of one text's items, scaled to unit
// length, or the error of the first that failed: the vector of half a text must not stand
// for the whole. If the vectors differ in width, the error is ErrModelChanged.
func combine(items []*item) ([]float32, error) {
	for _, it := range items {
		if it.err != nil {
			return nil, it.err
		}
		if first := len(items[0].vector); len(it.vector) != first {
			return nil, fmt.Errorf("the server sent vectors of width %d and %d for one text: %w", first, len(it.vector), ErrModelChanged)
		}
	}
	if len(items) == 1 {
		return items[0].vector, nil
	}
	sums, total := make([]float64, len(items[0].vector)), 0
	for _, it := range items {
		total += it.weight
		for j, x := range it.vector {
			sums[j] += float64(it.weight) * float64(x)
		}
	}
	mean := make([]float32, len(sums))
	for j, s := range sums {
		mean[j] = float32(s / float64(total))
	}
	return mean, normalise(mean)
}

// fail sets the error of all unfinished items, and reports whether some are finished.
func fail(items []*item, err error) bool {
	done := false
	for _, it := range items {
		if it.vector != nil {
			done = true
		} else if it.err == nil {
			it.err = err
		}
	}
	return done
}

// assemble combines the vectors of the windows of each text, and writes the errors to
// failed. If a width differs from the model's, it returns ErrModelChanged.
func assemble(n int, items []*item, failed map[int]error, dim int) ([][]float32, error) {
	vectors := make([][]float32, n)
	for len(items) > 0 {
		first, k := items[0].text, 1
		for k < len(items) && items[k].text == first {
			k++
		}
		v, err := combine(items[:k])
		switch {
		case errors.Is(err, ErrModelChanged):
			return nil, err
		case err != nil:
			failed[first] = fmt.Errorf("embed text: %w", err)
		case len(v) != dim:
			return nil, fmt.Errorf("the server sent a vector of width %d, the model had %d: %w", len(v), dim, ErrModelChanged)
		default:
			vectors[first] = v
		}
		items = items[k:]
	}
	return vectors, nil
}
