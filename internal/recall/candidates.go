package recall

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

// candidate is a document on its way through the stages, with the record or
// chunk that would be shown for it.
type candidate struct {
	memory.Candidate
	// others are further places of the same text, tried when the first one does
	// not pass the gates.
	others    []memory.Candidate
	fused     float64
	match     float64 // fused, 1 for the best
	relevance float64
	coverage  float64 // the share of the question's content, by words
	error     bool    // it tells of an error that the question quotes
	mention   mentionMatch
	foreign   bool // it is of another repository, worktree or clone than the one that asked
	scores    []score
	factors   memory.RankFactors
}

// score is what one retriever says of a candidate.
type score struct {
	part string
	memory.RetrieverScore
}

// retrievers are the scores by the names of their parts.
func (c *candidate) retrievers() map[string]memory.RetrieverScore {
	byName := make(map[string]memory.RetrieverScore, len(c.scores))
	for _, s := range c.scores {
		byName[s.part] = s.RetrieverScore
	}
	return byName
}

// find retrieves candidates.
func (r *run) find() {
	r.retrieve()
	r.fuse()
	r.resolve()
}

// retrieve asks all retrievers at once. Vector retrievers have a deadline. Words have
// only that of the request: the answer rests on them, and on a busy machine a deadline
// of their own would turn what is there into nothing.
func (r *run) retrieve() {
	r.seq = r.s.opts.Corpus.Seq()
	if r.nothing {
		return
	}
	sources := r.sources()
	allow, universe := r.s.opts.Corpus.Select(r.searched)
	q := index.Query{Text: r.query, Allow: allow, Universe: universe, Limit: r.settings.Depth}

	brief, cancel := context.WithTimeout(r.ctx, r.settings.Deadline)
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
		case errors.Is(err, index.ErrNotReady): // it holds nothing
			reason = src.Lacks(allow)
		case errors.Is(err, context.DeadlineExceeded) && !words:
			reason = "deadline: no answer within " + r.settings.Deadline.String()
		case err != nil:
			if reason = embedder.Reason(err); words {
				r.noWords = "words could not be searched: " + reason
			}
		default:
			reason = src.Lacks(allow)
			ranking := index.Ranking{Name: src.Name, Result: results[i], Form: index.Lexical, Weight: cmp.Or(src.Weight, 1)}
			if src.Collection != "" {
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

// fuse makes one list of documents out of those of the retrievers.
func (r *run) fuse() { r.fused = index.Fuse(r.rankings, r.settings.Depth) }

// resolve turns documents into candidates with their relevance.
func (r *run) resolve() {
	r.candidates = make([]*candidate, 0, len(r.fused))
	// One allocation for all candidates and one for their scores.
	all := make([]candidate, len(r.fused))
	scores := make([]score, 0, len(r.fused)*len(r.rankings))
	for i, hit := range r.fused {
		places := r.s.opts.Corpus.Candidates(hit.Doc, r.searched)
		if len(places) == 0 {
			continue
		}
		// Of records with one text, one that was told or imported stands for all, the
		// project's own first.
		slices.SortStableFunc(places, func(a, b memory.Candidate) int {
			if order := cmp.Or(boolOrder(!a.Followed, !b.Followed), boolOrder(a.Project == r.searched.Project, b.Project == r.searched.Project)); order != 0 || a.Kind != memory.Step {
				return order
			}
			return b.Created.Compare(a.Created) // of equal steps, the last one
		})
		c := &all[i]
		c.Candidate, c.others, c.fused = places[0], places[1:], hit.Score
		first := len(scores)
		for _, raw := range hit.Raw {
			p := &r.rankings[raw.Part]
			relevance := r.s.opts.Calibration.Relevance(foundBy(p, raw.Hit))
			scores = append(scores, score{p.Name, memory.RetrieverScore{Score: round(float64(raw.Hit.Score)), Relevance: round(relevance)}})
			c.coverage = max(c.coverage, float64(raw.Hit.Held))
		}
		c.scores = scores[first:len(scores):len(scores)]
		c.relevance = r.s.opts.Calibration.relevance(hit.Raw, r.rankings)
		r.candidates = append(r.candidates, c)
	}
	if len(r.candidates) > 0 {
		best := r.candidates[0].fused
		for _, c := range r.candidates {
			if best > 0 {
				c.match = max(c.fused/best, 0)
			}
		}
	}
}

// foundBy is a hit of a part.
func foundBy(p *index.Ranking, hit index.Hit) Score {
	return Score{Part: p.Name, Hit: hit, Result: &p.Result}
}

// relevance is how surely a document has to do with the question, by its hits: jointly
// by words and by the vectors of each model, of which the surest counts, and by what
// there is alone where one of the two did not answer or does not know the document.
func (c Calibration) relevance(hits []index.RawHit, parts []index.Ranking) float64 {
	var words Score
	for i := range parts {
		if hit, _ := hitOf(hits, parts, i); !isVector(parts[i].Name) && words.Result == nil { // the lexical index is first
			words = foundBy(&parts[i], hit)
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
			best = max(best, c.Relevance(v))
		} else {
			best = max(best, c.Joint(words, v))
		}
	}
	if !told && words.Result != nil {
		return c.Relevance(words)
	}
	return best
}

// hitOf is the hit of a document in a part. In one that lacks it a document is as good
// as the last hit if more was searched than returned, as for index.ZScore; words that it
// lacks it has none of. Otherwise the part does not know the document.
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

// threshold withholds what is not relevant enough for its kind.
func (r *run) threshold() {
	r.thresholds = r.settings.thresholds(r.req, r.opts.Settings)
	r.candidates, r.below = aboveThreshold(r.candidates, r.thresholds)
	r.relevant = len(r.candidates)
}

// aboveThreshold separates what is relevant by the thresholds of the kinds from what is
// not; of the latter it returns the nearest few.
func aboveThreshold(cs []*candidate, thresholds map[memory.Kind]float64) (above []*candidate, below []memory.Withheld) {
	const nearest = 5
	for _, c := range cs {
		switch {
		case c.relevance >= thresholds[c.Kind]:
			above = append(above, c)
		case len(below) < nearest:
			below = append(below, withheld(c, memory.BelowThreshold))
		}
	}
	return above, below
}

func withheld(c *candidate, reason memory.Reason) memory.Withheld {
	id := c.ID
	switch {
	case c.Head:
		id = memory.ChunkID(c.File.Sandbox, c.File.Path, memory.FileChunk{})
	case c.Kind == memory.Chunk:
		id = "c-" + c.Doc.String()[:16]
	}
	return memory.Withheld{ID: id, Kind: c.Kind, Reason: reason, NearestScore: round(c.relevance), Path: c.File.Path}
}

// vectorPrefix begins the name of every vector retriever, before its model's.
const vectorPrefix = "vector/"

// isVector says whether a part is a vector retriever, by its name.
func isVector(name string) bool { return strings.HasPrefix(name, vectorPrefix) }
