package vector

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/index"
)

const (
	// blockSize is how many documents are scored between two checks of the context: some
	// microseconds of codes, less than 0.1 ms of vectors.
	blockSize = 1024
	// sampleSize is how many documents the mean and the deviation of the scores are
	// estimated from when not all are scored. The deviation then has a standard error of 4
	// % (1/√(2n)).
	sampleSize = 256
	// Scoring 5 vectors (inOrder) in the order of their slots took about as long as scoring 2
	// (anywhere) of a shortlist, where the processor waits for memory. Both have become faster
	// since.
	inOrder, anywhere = 5, 2
	// scoredAtOnce is how many rows of the shortlist are read together.
	scoredAtOnce = 16
	// cacheLine is what a processor reads at once, in bytes.
	cacheLine = 64
)

// answer is the hits of a search, and the moments of the scores of all documents searched.
type answer struct {
	hits     []index.Hit
	searched int
	moments  moments
}

// scratch is the memory of one search, reused between searches.
type scratch struct {
	query   []float32 // the unit query
	rounded roundedQuery
	vector  []float32 // a stored vector
	rotated []float32
	planes  []uint64 // the query in the form that codes are compared with
	near    keeper   // the shortlist
	best    keeper   // the hits

	// One block of documents, their slots and the distances of their codes.
	docs, slots, distances [blockSize]uint32
	touched                int8 // see touch
}

func newScratch(c *coder) *scratch {
	return &scratch{
		query:   make([]float32, len(c.flips)),
		vector:  make([]float32, len(c.flips)),
		rotated: make([]float32, c.width),
		planes:  make([]uint64, queryBits*c.words),
	}
}

// search returns the k documents with the highest cosine to query, of those in allow (nil
// allows all), best first and ties by document number, and up to further more that it has at
// hand. The query need not have unit length and is not modified. Scores are cosines, -1 to 1.
//
// Results are exact for vectors as rows keep them and the rounded query, up to
// Options.ExactUpTo allowed documents, and beyond while a shortlist would save nothing. Else a
// hit whose code is far from the query may be missing, but scores and order are exact, and
// equal searches of an unchanged collection give equal results.
//
// search returns ctx's error if ctx ends first, and a *RefusedError for an unusable query.
func (s *Collection) search(ctx context.Context, query []float32, allow *roaring.Bitmap, k, further int) (answer, error) {
	if err := ctx.Err(); err != nil {
		return answer{}, err
	}
	long, err := length(query, s.options.Dim)
	if err != nil {
		return answer{}, fmt.Errorf("search with query: %w", err)
	}
	room := s.scratch.Get().(*scratch)
	defer s.scratch.Put(room)
	copy(room.query, query)
	normalise(room.query, long)
	room.rounded.set(room.query)

	s.mu.RLock()
	defer s.mu.RUnlock()
	a := answer{searched: len(s.docs)}
	if allow != nil {
		a.searched = int(allow.AndCardinality(s.held))
		if a.searched == len(s.docs) {
			allow = nil
		}
	}
	if a.searched == 0 || k <= 0 {
		return a, nil
	}
	k = min(k, a.searched)
	room.best.reset(min(k+max(further, 0), a.searched))
	shortlist := max(s.options.Shortlist, k*s.options.ShortlistPerHit)
	switch {
	case allow == nil && s.small != nil:
		err = s.askCollection(ctx, room, &a)
	case a.searched <= max(s.options.ExactUpTo, shortlist*inOrder/anywhere):
		err = s.scoreAll(ctx, room, allow, &a)
	default:
		err = s.scoreShortlist(ctx, room, allow, shortlist, &a)
	}
	if err != nil {
		return answer{}, err
	}
	keys := room.best.sorted()
	a.hits = make([]index.Hit, len(keys))
	for i, key := range keys {
		a.hits[i] = hitOf(key)
	}
	return a, nil
}

// askCollection has chromem-go score every document. It asks for all of them rather than
// the best, because chromem-go breaks ties at the limit at random.
func (s *Collection) askCollection(ctx context.Context, room *scratch, a *answer) error {
	results, err := s.small.QueryEmbedding(ctx, room.query, a.searched, nil, nil)
	if err != nil {
		return fmt.Errorf("query collection: %w", err)
	}
	// When interrupted, chromem-go returns a partial result without an error.
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, r := range results {
		doc, err := strconv.ParseUint(r.ID, 10, 32)
		if err != nil {
			return fmt.Errorf("query collection: %w", err)
		}
		a.keep(room, uint32(doc), r.Similarity)
	}
	return nil
}

// scoreAll scores every allowed document.
func (s *Collection) scoreAll(ctx context.Context, room *scratch, allow *roaring.Bitmap, a *answer) error {
	for base, slots := range s.blocks(allow, room) {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, at := range slots {
			a.keep(room, s.docs[base+at], s.score(base+at, room))
		}
	}
	return nil
}

// scoreShortlist compares the codes of all allowed documents, scores the nearest exactly,
// and scores a sample of all for the moments.
func (s *Collection) scoreShortlist(ctx context.Context, room *scratch, allow *roaring.Bitmap, n int, a *answer) error {
	s.coder.encodeQuery(room.query, room.rotated, room.planes)
	near := &room.near
	near.reset(n)
	if allow == nil {
		near.bound = s.likelyBound(room, n)
	}
	err := s.compare(ctx, room, allow, a)
	if err == nil && len(near.keys) < n && near.bound < math.MaxUint64 { // it was too low
		near.reset(n)
		a.moments = moments{}
		err = s.compare(ctx, room, allow, a)
	}
	if err != nil {
		return err
	}
	for keys := range slices.Chunk(near.kept(), scoredAtOnce) {
		slots := room.slots[:len(keys)]
		for i, key := range keys {
			slots[i], _ = s.slots.Get(uint32(key))
		}
		s.touch(slots, room)
		for i, slot := range slots {
			room.best.add(scoreKey(index.Hit{Doc: uint32(keys[i]), Score: cosine(s.score(slot, room))}))
		}
	}
	return ctx.Err()
}

// compare adds the documents whose codes are nearest to the shortlist, and a sample of all
// to the moments.
func (s *Collection) compare(ctx context.Context, room *scratch, allow *roaring.Bitmap, a *answer) error {
	near, stride := &room.near, uint32(a.searched/sampleSize+1)
	next := uint32(0) // of the sample, counted from the block's first document
	for base, slots := range s.blocks(allow, room) {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := uint32(len(slots))
		for ; next < n; next += stride {
			a.moments.add(s.score(base+slots[next], room))
		}
		next -= n
		s.coder.distances(s.codes[int(base)*s.coder.words:], slots, room.planes, room.distances[:])
		docs := s.docs[base:]
		for i, distance := range room.distances[:n] {
			if far := uint64(distance) << 32; far < near.bound {
				near.add(far | uint64(docs[slots[i]]))
			}
		}
	}
	return nil
}

// likelyBound is a bound that probably more than n documents of all are below, and not many
// more: from a sample, so that few keys are kept that a nearer one drops.
func (s *Collection) likelyBound(room *scratch, n int) uint64 {
	stride := len(s.docs)/blockSize + 1
	slots := room.slots[:0]
	for slot := 0; slot < len(s.docs); slot += stride {
		slots = append(slots, uint32(slot))
	}
	distances := room.distances[:len(slots)]
	s.coder.distances(s.codes, slots, room.planes, distances)
	slices.Sort(distances)
	// Of the n nearest, n/stride are expected in the sample. More than rank of them come with a
	// chance below one in a million (Poisson): then fewer than n documents are below the bound.
	rank := n/stride*3/2 + 16
	if rank >= len(distances) {
		return math.MaxUint64
	}
	return uint64(distances[rank]+1) << 32
}

// touch reads the rows of some slots. Rows lie anywhere in memory, and the processor waits for
// all that it is asked for together, but for each in turn while it computes between them.
func (s *Collection) touch(slots []uint32, room *scratch) {
	var sum int8
	for _, slot := range slots {
		row := s.rows.row(slot)
		for at := 0; at < len(row); at += cacheLine {
			sum += row[at]
		}
	}
	room.touched = sum // else the compiler would leave out the reads
}

// score is the product of the query with the unit vector of a slot.
func (s *Collection) score(slot uint32, room *scratch) float32 {
	return float32(dotRow(s.rows.row(slot), room.rounded.components)) * room.rounded.unit * s.rows.scales[slot]
}

// inTurn are the slots of a block of documents that follow each other.
var inTurn = func() (slots [blockSize]uint32) {
	for i := range slots {
		slots[i] = uint32(i)
	}
	return slots
}()

// blocks yields the slots of the allowed documents, up to blockSize at a time, as a base that
// is to be added to each and the rest. They are valid until the next block.
func (s *Collection) blocks(allow *roaring.Bitmap, room *scratch) iter.Seq2[uint32, []uint32] {
	if allow == nil {
		return func(yield func(uint32, []uint32) bool) {
			for from := 0; from < len(s.docs); from += blockSize {
				if !yield(uint32(from), inTurn[:min(blockSize, len(s.docs)-from)]) {
					return
				}
			}
		}
	}
	return func(yield func(uint32, []uint32) bool) {
		docs := allow.ManyIterator()
		for n := docs.NextMany(room.docs[:]); n > 0; n = docs.NextMany(room.docs[:]) {
			slots := room.slots[:0]
			for _, doc := range room.docs[:n] {
				if slot, ok := s.slots.Get(doc); ok {
					slots = append(slots, slot)
				}
			}
			if !yield(0, slots) {
				return
			}
		}
	}
}

// keep counts a document's score and keeps the document if it is among the best.
func (a *answer) keep(room *scratch, doc uint32, score float32) {
	a.moments.add(score)
	room.best.add(scoreKey(index.Hit{Doc: doc, Score: cosine(score)}))
}

// cosine removes the rounding error of the dot product of unit vectors.
func cosine(dot float32) float32 { return max(-1, min(1, dot)) }
