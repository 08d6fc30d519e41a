package recall

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

// candidate is a document on its way through the stages, with its record or chunk.
type candidate struct {
	memory.Candidate
	// others are further places of the same text. They are tried if the first place does
	// not pass the gates.
	others    []memory.Candidate
	fused     float64
	match     float64 // fused, 1 for the best
	around    float64 // what its neighbours add to its score among steps, or turns
	relevance float64
	strength  memory.Strength
	coverage  float64 // the share of the question's content, by words
	error     bool    // it reports an error that the question quotes
	mention   mentionMatch
	foreign   bool   // it belongs to another repository, worktree or clone than the caller's
	num       uint32 // of the document, in the indexes
	// Set by defineFirst.
	fileKind fileKind
	spelled  string // a name that the question spells and it declares
	scores   []score
	factors  memory.RankFactors
	unproven bool // a lesson from history without a success
}

// score is the score that one retriever gives a candidate.
type score struct {
	part string
	memory.RetrieverScore
}

// shownFactors are the factors of a candidate as answers and receipts show them.
func (c *candidate) shownFactors() *memory.RankFactors {
	f := c.factors
	f.Score, f.Retrievers = round(f.Score), make(map[string]memory.RetrieverScore, len(c.scores))
	for _, s := range c.scores {
		f.Retrievers[s.part] = s.RetrieverScore
	}
	return &f
}

func (r *run) find() {
	r.ordered()
	r.byTitle()
	r.byFile()
}

// ordered finds candidates by the question as a whole.
func (r *run) ordered() {
	r.retrieve()
	r.fuse()
	r.resolve()
	r.recordsAlone()
	r.liftNamed()
	r.neighbours()
	r.defineFirst()
}

// retrieve queries all retrievers in parallel. Vector retrievers have a deadline. The
// lexical one has only the request's deadline: every answer needs it, and on a busy
// machine a deadline of its own would lose matches.
func (r *run) retrieve() {
	r.seq = r.s.opts.Corpus.Seq()
	if r.nothing {
		return
	}
	sources := r.sources()
	allow, universe := r.selected(r.searched)
	if r.searchesCode() {
		code := r.searched
		code.Kinds = []memory.Kind{memory.Chunk}
		chunks, _ := r.s.opts.Corpus.Select(code)
		r.noCode = chunks.IsEmpty() // then nothing is searched deeper for it
	}
	q := index.Query{Text: r.query, Allow: allow, Universe: universe, Limit: r.settings.Depth, Further: r.further()}

	if r.vectorsUntil.IsZero() {
		r.vectorsUntil = time.Now().Add(r.settings.Deadline)
	}
	brief, cancel := context.WithDeadline(r.ctx, r.vectorsUntil)
	defer cancel()
	results := make([]index.Result, len(sources))
	errs := make([]error, len(sources))
	var wg sync.WaitGroup
	for i, src := range sources {
		if src.Retriever == nil {
			continue
		}
		within := r.ctx
		if src.Collection != "" {
			within = brief
		}
		wg.Go(func() { results[i], errs[i] = src.Retriever.Retrieve(within, q) })
	}
	wg.Wait()

	r.rankings = make([]index.Ranking, 0, len(sources))
	for i, src := range sources {
		reason, words := "", src.Collection == ""
		switch err := errs[i]; {
		case src.Retriever == nil:
			if reason = src.Degraded; words {
				r.noWords = "the memory is " + reason
			}
		case errors.Is(err, index.ErrNotReady): // the index is empty
			reason = src.Lacks(allow)
		case errors.Is(err, context.DeadlineExceeded) && !words:
			reason = "deadline: no answer within " + r.settings.Deadline.String()
		case err != nil:
			if reason = embedder.Reason(err); words {
				r.noWords = "words could not be searched: " + reason
			}
		default:
			reason = src.Lacks(allow)
			r.deep = append(r.deep, results[i].Hits)
			results[i].Hits = results[i].Hits[:min(len(results[i].Hits), r.settings.Depth)]
			ranking := index.Ranking{Name: src.Name, Result: results[i], Form: index.Lexical, Weight: cmp.Or(src.Weight, 1)}
			if !words {
				ranking.Form, ranking.Weight = index.ZScore, r.settings.VectorWeight
				r.spaces = append(r.spaces, src.Collection)
			}
			r.rankings = append(r.rankings, ranking)
		}
		if reason != "" {
			r.degraded = append(r.degraded, memory.Degraded{Part: src.Name, Reason: reason})
		}
	}
	r.err = ended(r.ctx)
}

// fuse merges the rankings of the retrievers into one.
func (r *run) fuse() { r.fused = index.Fuse(r.rankings, r.settings.Depth) }

// resolve turns documents into candidates with their relevance.
func (r *run) resolve() {
	r.candidates = make([]*candidate, 0, len(r.fused))
	all := r.memory().candidates.take(len(r.fused))
	for i, hit := range r.fused {
		places := r.placesOf(hit.Doc)
		if len(places) == 0 {
			continue
		}
		// Of records with the same text, one that was recorded or imported comes first, and
		// among these the project's own.
		slices.SortStableFunc(places, func(a, b memory.Candidate) int {
			if order := cmp.Or(boolOrder(!a.Followed, !b.Followed), boolOrder(a.Project == r.searched.Project, b.Project == r.searched.Project)); order != 0 || a.Kind != memory.Step {
				return order
			}
			return b.Created.Compare(a.Created) // of equal steps, the newest first
		})
		c := &all[i]
		c.Candidate, c.others, c.num, c.fused = places[0], places[1:], hit.Doc, hit.Score
		r.score(c, hit.Raw, r.rankings)
		r.candidates = append(r.candidates, c)
	}
	for _, c := range r.candidates {
		if best := r.candidates[0].fused; best > 0 {
			c.match = max(c.fused/best, 0)
		}
	}
}

// score sets what the retrievers say of a candidate.
func (r *run) score(c *candidate, hits []index.RawHit, rankings []index.Ranking) {
	c.scores = r.memory().scores.take(len(hits))[:0]
	for _, raw := range hits {
		p := &rankings[raw.Part]
		relevance := r.s.opts.Calibration.Relevance(c.Kind, foundBy(p, raw.Hit))
		c.scores = append(c.scores, score{p.Name, memory.RetrieverScore{Score: round(float64(raw.Hit.Score)), Relevance: round(relevance)}})
		c.coverage = max(c.coverage, float64(raw.Hit.Held))
	}
	c.relevance = r.s.opts.Calibration.relevance(c.Kind, hits, rankings)
}

// foundBy returns the score of one part's hit.
func foundBy(p *index.Ranking, hit index.Hit) Score {
	return Score{Part: p.Name, Hit: hit, Result: &p.Result}
}

// relevance returns how surely a document is related to the question. It is the highest
// joint evidence of words and one model's vectors. If one of the two did not answer or
// does not know the document, it is the evidence of the other alone.
func (c Calibration) relevance(kind memory.Kind, hits []index.RawHit, parts []index.Ranking) float64 {
	var words Score
	for i := range parts {
		if !isVector(parts[i].Name) { // the lexical index is first
			hit, _ := hitOf(hits, parts, i)
			words = foundBy(&parts[i], hit)
			break
		}
	}
	best, told := 0.0, false
	for i := range parts {
		hit, known := hitOf(hits, parts, i)
		if !isVector(parts[i].Name) || !known {
			continue
		}
		told = true
		if v := foundBy(&parts[i], hit); words.Result == nil {
			best = max(best, c.Relevance(kind, v))
		} else {
			best = max(best, c.Joint(kind, words, v))
		}
	}
	if !told && words.Result != nil {
		return c.Relevance(kind, words)
	}
	return best
}

// hitOf returns the hit of a document in a part, and whether the part knows the document.
// If a vector search found more than it returned, a missing document gets the score of the
// last hit (see index.ZScore). In the lexical index a missing document scores zero.
func hitOf(hits []index.RawHit, parts []index.Ranking, part int) (hit index.Hit, known bool) {
	for _, h := range hits {
		if h.Part == part {
			return h.Hit, true
		}
	}
	r := &parts[part].Result
	if last := len(r.Hits) - 1; isVector(parts[part].Name) && last >= 0 && r.Searched > len(r.Hits) {
		return index.Hit{Score: r.Hits[last].Score}, true
	}
	return index.Hit{}, false
}

func withheld(c *candidate, reason memory.Reason) memory.Withheld {
	id := c.ID
	switch {
	case c.Head:
		id = memory.ChunkID(c.File.Sandbox, c.File.Path, memory.FileChunk{})
	case c.Kind == memory.Chunk:
		id = memory.TextID(c.Doc)
	}
	return memory.Withheld{ID: id, Kind: c.Kind, Reason: reason, NearestScore: round(c.relevance), Path: c.File.Path}
}

// vectorPrefix is the prefix of every vector retriever's name; the model's name follows.
const vectorPrefix = "vector/"

func isVector(name string) bool { return strings.HasPrefix(name, vectorPrefix) }
