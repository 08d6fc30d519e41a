package indexer

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/lexical"
	"github.com/recalld/recalld/index/vector"
	"github.com/recalld/recalld/internal/memory"
)

// A long reference or session summary has an answer in a few of its lines, which the other
// lines hide. So its parts are indexed beside it, and it scores by the mean of its own score
// and that of its best part. Parts alone lose what the whole is about; a text below leastParted
// has none. docs/quality.md has the figures.
const (
	leastParted = 2000 // bytes
	partSize    = 700
)

// parts are the parts of long documents: derived from the text of their records, in memory
// only, and removed with their document. They have numbers without a document and no
// attributes, so nothing but a partRetriever ever finds one.
type parts struct {
	vectors *vector.Collection // of the built-in model

	mu     sync.RWMutex        // guards the fields below
	wholes *roaring.Bitmap     // documents with parts
	all    *roaring.Bitmap     // parts
	of     map[uint32][]uint32 // of a document, in order
	whole  map[uint32]uint32   // of a part
}

func newParts() parts {
	return parts{wholes: roaring.New(), all: roaring.New(), of: map[uint32][]uint32{}, whole: map[uint32]uint32{}}
}

// parting is a document that gets parts.
type parting struct {
	doc  uint32
	text string
}

// parted says whether a record's text gets parts.
func parted(r *memory.Record) bool {
	return (r.Kind == memory.Reference || r.Kind == memory.SessionSummary) && len(r.Text) >= leastParted
}

// addParts indexes the parts of a document. Nothing finds them before all are indexed. If
// they cannot be embedded, their words count alone.
func (x *Indexer) addParts(ctx context.Context, p parting) {
	if x.parts.has(p.doc) {
		return
	}
	texts := splitParts(p.text)
	vectors, err := x.opts.Builtin.Embed(ctx, embedder.Document, texts)
	if err != nil && vectors == nil {
		x.opts.Logger.Error("parts are not embedded", "part", "indexer", "error", err)
		vectors = make([][]float32, len(texts))
	}
	nums := make([]uint32, len(texts))
	for i, text := range texts {
		nums[i] = x.numbers.Reserve()
		x.index(lexicalFields{doc: nums[i], text: lexical.Analyze(text)})
		if vectors[i] != nil {
			if err := x.parts.vectors.Upsert(nums[i], vectors[i]); err != nil {
				x.opts.Logger.Error("the vector of a part is unusable", "part", "indexer", "error", err)
			}
		}
	}
	x.parts.put(p.doc, nums)
}

// dropParts removes the parts of a document, if it has any.
func (x *Indexer) dropParts(doc uint32) {
	for _, num := range x.parts.drop(doc) {
		for _, w := range x.words {
			w.Delete(num)
		}
		x.parts.vectors.Delete(num)
	}
}

// dropStaleParts removes the parts of a document that is no reference or session summary any
// more.
func (x *Indexer) dropStaleParts(doc uint32) {
	if !x.parts.has(doc) {
		return
	}
	x.mu.RLock()
	d, _ := x.docs.Get(doc)
	kept := false
	for r := range d.all() {
		e := &x.owners.all[r.owner]
		kept = kept || e.is(memory.Reference) || e.is(memory.SessionSummary)
	}
	x.mu.RUnlock()
	if !kept {
		x.dropParts(doc)
	}
}

func (p *parts) has(doc uint32) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.wholes.Contains(doc)
}

func (p *parts) put(doc uint32, nums []uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wholes.Add(doc)
	p.all.AddMany(nums)
	p.of[doc] = nums
	for _, num := range nums {
		p.whole[num] = doc
	}
}

func (p *parts) drop(doc uint32) []uint32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	nums := p.of[doc]
	p.wholes.Remove(doc)
	delete(p.of, doc)
	for _, num := range nums {
		p.all.Remove(num)
		delete(p.whole, num)
	}
	return nums
}

// within returns the parts of documents; nil stands for all documents.
func (p *parts) within(docs *roaring.Bitmap) *roaring.Bitmap {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if docs == nil || p.wholes.AndCardinality(docs) == p.wholes.GetCardinality() {
		return p.all.Clone()
	}
	out := roaring.New()
	for doc := range roaring.Values(roaring.And(p.wholes, docs)) {
		out.AddMany(p.of[doc])
	}
	return out
}

// partRetriever is a retriever that scores long documents by their best part too.
type partRetriever struct {
	index.Retriever                 // of documents
	found           index.Retriever // of parts
	parts           *parts
	// counted says that parts count in the statistics of words.
	counted bool
}

// Retrieve implements index.Retriever.
func (r partRetriever) Retrieve(ctx context.Context, q index.Query) (index.Result, error) {
	allowed := r.parts.within(q.Allow)
	if allowed.IsEmpty() {
		return r.Retriever.Retrieve(ctx, q)
	}
	if r.counted && q.Universe != nil {
		q.Universe = roaring.Or(q.Universe, r.parts.within(q.Universe))
	}
	whole, err := r.Retriever.Retrieve(ctx, q)
	if err != nil {
		return whole, err
	}
	q.Allow = allowed
	found, err := r.found.Retrieve(ctx, q)
	if err != nil {
		return whole, err
	}
	whole.Hits = r.parts.join(whole.Hits, found.Hits, q.Limit)
	return whole, nil
}

// join gives each document with parts the mean of its score and its best part's. What is
// not among the hits has at most the score of the last of them if there is a limit.
func (p *parts) join(docs, found []index.Hit, limit int) []index.Hit {
	last := func(hits []index.Hit) float32 {
		if len(hits) < limit {
			return 0
		}
		return hits[len(hits)-1].Score
	}
	lastDoc, lastPart := last(docs), last(found)
	p.mu.RLock()
	defer p.mu.RUnlock()
	best := map[uint32]index.Hit{} // by document; hits come best first
	for _, h := range found {
		if doc, ok := p.whole[h.Doc]; ok {
			if _, known := best[doc]; !known {
				best[doc] = h
			}
		}
	}
	out := make([]index.Hit, 0, len(docs)+len(best))
	for _, h := range docs {
		if p.wholes.Contains(h.Doc) {
			part, known := best[h.Doc]
			if !known {
				part.Score = min(lastPart, h.Score)
			}
			h.Score = (h.Score + part.Score) / 2
			delete(best, h.Doc)
		}
		out = append(out, h)
	}
	for doc, part := range best {
		out = append(out, index.Hit{Doc: doc, Score: (min(lastDoc, part.Score) + part.Score) / 2, Held: part.Held})
	}
	slices.SortFunc(out, func(a, b index.Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc)) })
	return out[:min(limit, len(out))]
}

// splitParts cuts a text at line ends into parts of about partSize bytes; a longer line is
// cut at spaces. Blank parts are left out.
func splitParts(text string) []string {
	n := max(1, int(math.Round(float64(len(text))/partSize)))
	size := len(text) / n
	var out []string
	from := 0
	cut := func(to int) {
		if part := text[from:to]; strings.TrimSpace(part) != "" {
			out = append(out, part)
		}
		from = to
	}
	for at := 0; at < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if at > from && at-from+(end-at)/2 > size {
			cut(at)
		}
		for end-from > size+size/2 {
			to := from + size
			if i := strings.LastIndexByte(text[from:to], ' '); i > size/2 {
				to = from + i + 1
			}
			for !utf8.RuneStart(text[to]) {
				to--
			}
			cut(to)
		}
		at = end
	}
	cut(len(text))
	return out
}

// partLoader indexes parts beside the load.
type partLoader struct {
	jobs    chan parting
	workers sync.WaitGroup
	queued  map[uint32]bool
}

func (x *Indexer) startPartLoader(ctx context.Context, saved *restored) *partLoader {
	l := &partLoader{jobs: make(chan parting, 64), queued: map[uint32]bool{}}
	for range runtime.GOMAXPROCS(0) {
		l.workers.Go(func() {
			saved.wait() // words are added to those that were saved
			for p := range l.jobs {
				x.addParts(ctx, p)
			}
		})
	}
	return l
}

// add is called from one goroutine.
func (l *partLoader) add(p parting) {
	if !l.queued[p.doc] {
		l.queued[p.doc] = true
		l.jobs <- p
	}
}

func (l *partLoader) end() {
	close(l.jobs)
	l.workers.Wait()
}

// compareParts reports where parts differ from those of indexes that were just loaded.
func (x *Indexer) compareParts(fresh *Indexer, bad func(string, ...any)) {
	if a, b := len(x.parts.of), len(fresh.parts.of); a != b {
		bad("%d documents have parts, should be %d", a, b)
	}
	for theirs, want := range fresh.parts.of {
		id, _ := fresh.numbers.ID(theirs)
		ours, _ := x.numbers.Lookup(id)
		have := x.parts.of[ours]
		same := func(a, b uint32) bool {
			return slices.Equal(x.parts.vectors.Vector(a), fresh.parts.vectors.Vector(b))
		}
		if !slices.EqualFunc(have, want, same) {
			bad("document %s: its %d parts differ from the %d that it should have", memory.DocID(id), len(have), len(want))
		}
	}
}
