package recall

import (
	"cmp"
	"slices"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

// Tests, examples and documentation match a question in plain words better than the code that
// defines the thing: they say in words what the code says in names. So they count less.
//
// The constants were chosen with the two repositories of questions for development
// (internal/daemon/testdata/codequestions). Each is within a flat range; docs/quality.md
// has the figures.
const (
	// If code is searched, each retriever is asked for codeDepth times as many hits, and codePool
	// times as many are looked at: three of four hits are not implementations.
	codeDepth = 3
	codePool  = 2
	// codeVectors is the weight of vectors for code, as a multiple of that for all else
	// (2 to 4 are alike): words of a question are names in the code.
	codeVectors = 3
	// besideCode is the factor for what tests, shows, documents or sets (.3 to .7 are
	// alike).
	besideCode = 0.5
	// declaresOnly is the factor for code without a statement: types, constants, interfaces,
	// imports (.8 to .9 are alike).
	declaresOnly = 0.85
	// placeVectors is the weight of the vectors of places, beside ZScoreWeight times
	// codeVectors for those of texts; placedHits is how many hits have one (50 to 800 are
	// alike): what a chunk declares and where it is says in few words what it is for.
	placeVectors = 0.15
	placedHits   = 100
	// spelledShare is the gain of code that declares a name which the question spells with
	// several words, of at most maxSpelling places (.1 to .4 are alike).
	spelledShare = 0.2
	maxSpelling  = 8
)

// further is how many hits beyond the depth each retriever may return.
func (r *run) further() int {
	if r.searchesCode() {
		return (codeDepth - 1) * r.settings.Depth
	}
	return 0
}

func (r *run) searchesCode() bool {
	return !r.nothing && !r.noCode && (len(r.searched.Kinds) == 0 || slices.Contains(r.searched.Kinds, memory.Chunk))
}

// codeHit is a chunk that was found, on its way to its place among the code.
type codeHit struct {
	*candidate
	kind  fileKind
	own   float64 // by its words, its vectors and its place, 1 for the best
	score float64
}

// defineFirst orders the code among the places that it has: what defines before what tests,
// shows or documents. It adds implementations that are found deeper.
func (r *run) defineFirst() {
	if !r.searchesCode() || len(r.rankings) == 0 {
		return
	}
	hits := r.codeHits()
	if len(hits) == 0 || !slices.ContainsFunc(hits, func(h *codeHit) bool { return h.kind == implementation }) {
		return
	}
	r.scoreCode(hits)
	// The places are those of all code found before, then the last one.
	var places []float64
	for _, c := range r.candidates {
		if c.Kind == memory.Chunk {
			places = append(places, c.fused)
		}
	}
	slices.SortStableFunc(hits, func(a, b *codeHit) int { return cmp.Compare(b.score, a.score) })
	best, last := 0.0, 0.0
	if len(r.candidates) > 0 {
		best, last = r.candidates[0].fused, r.candidates[len(r.candidates)-1].fused
	}
	for i, h := range hits {
		if h.fused = last; i < len(places) {
			h.fused = places[i]
		}
		if h.match = 0; best > 0 {
			h.match = max(h.fused/best, 0)
		}
		h.fileKind = h.kind
	}
	r.candidates = slices.DeleteFunc(r.candidates, func(c *candidate) bool { return c.Kind == memory.Chunk })
	for _, h := range hits {
		r.candidates = append(r.candidates, h.candidate)
	}
	r.sortCandidates()
}

// codeHits returns the code among the candidates, and implementations that only the deeper
// hits of the retrievers have. It sets own, not yet the score.
func (r *run) codeHits() []*codeHit {
	deep := slices.Clone(r.rankings)
	for i := range deep {
		deep[i].Result.Hits = r.deep[i]
		if isVector(deep[i].Name) {
			deep[i].Weight *= codeVectors
		}
	}
	known := r.memory().emptyByDoc()
	for _, c := range r.candidates {
		known[c.num] = c
	}
	kinds := map[string]fileKind{} // by path
	asked := map[fileKind]bool{}
	for kind := range asksForKind() {
		asked[kind] = kind.asksFor(r.query)
	}
	var hits []*codeHit
	for _, f := range index.Fuse(deep, codePool*r.settings.Depth) {
		c, found := known[f.Doc]
		if !found {
			places := r.placesOf(f.Doc)
			if len(places) == 0 || places[0].Kind != memory.Chunk {
				continue
			}
			c = &r.memory().candidates.take(1)[0]
			c.Candidate, c.others, c.num = places[0], places[1:], f.Doc
		}
		if c.Kind != memory.Chunk {
			continue
		}
		kind, seen := kinds[c.File.Path]
		if !seen {
			kind = kindOf(c.File.Path)
			if asked[kind] {
				kind = implementation
			}
			kinds[c.File.Path] = kind
		}
		if c.Test && !asked[testFile] {
			kind = testFile
		}
		if !found {
			if kind != implementation {
				continue
			}
			r.score(c, f.Raw, deep)
		}
		hits = append(hits, &codeHit{candidate: c, kind: kind, own: f.Score})
	}
	r.addPlaces(hits)
	best := 0.0
	for _, h := range hits {
		best = max(best, h.own)
	}
	if best <= 0 {
		return nil
	}
	for _, h := range hits {
		h.own = max(h.own/best, 0)
	}
	return hits
}

// addPlaces adds to the first hits how near the names of their places are to the question:
// the z-score, among them, of the cosine with the path and the declared names.
func (r *run) addPlaces(hits []*codeHit) {
	hits = hits[:min(len(hits), placedHits)]
	if r.s.opts.Embedder == nil || len(hits) < 2 {
		return
	}
	chunks := make([]memory.Candidate, len(hits))
	for i, h := range hits {
		chunks[i] = h.Candidate
	}
	texts := r.s.opts.Corpus.Symbols(chunks)
	for i, h := range hits {
		texts[i] = h.File.Path + "\n" + texts[i]
	}
	question, err := r.s.opts.Embedder.Embed(r.ctx, embedder.Query, []string{r.query})
	if err != nil {
		return
	}
	places, err := r.s.opts.Embedder.Embed(r.ctx, embedder.Document, texts)
	if err != nil {
		return
	}
	cosines := make([]index.Hit, len(places))
	for i, v := range places {
		for k := range v {
			cosines[i].Score += v[k] * question[0][k]
		}
	}
	mean, deviation := index.Spread(cosines)
	if deviation == 0 {
		return
	}
	for i, h := range hits {
		h.own += placeVectors * (float64(cosines[i].Score) - mean) / deviation
	}
}

// scoreCode gives each hit its score.
func (r *run) scoreCode(hits []*codeHit) {
	spelled := r.spelled()
	for _, h := range hits {
		if h.kind != implementation {
			h.score = besideCode * h.own
			continue
		}
		h.score = h.own
		if h.Declares {
			h.score *= declaresOnly
		}
		if h.spelled = spelled[h.Doc]; h.spelled != "" {
			h.score += spelledShare
		}
	}
}

// spelled returns the documents that declare a name which the question spells with several
// words, with the name.
func (r *run) spelled() map[memory.DocID]string {
	docs := map[memory.DocID]string{}
	for name, words := range spelledBy(r.query) {
		if words < 2 {
			continue
		}
		defs := r.s.opts.Corpus.Definitions(memory.Name{Name: name}, r.searched)
		if len(defs) > maxSpelling {
			continue
		}
		for _, d := range defs {
			doc := d.Places[0].Doc
			docs[doc] = max(docs[doc], name)
		}
	}
	return docs
}
