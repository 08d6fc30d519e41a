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
	"github.com/recalld/recalld/internal/fingerprint"
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

// found is the outcome of the retrievers.
type found struct {
	candidates []*candidate // by fused score, best first
	degraded   []memory.Degraded
	spaces     []string
	// incomplete says why the words were not searched; empty when they were. Words are
	// what an answer promises to find: without them it cannot say "nothing".
	incomplete string
	// seq is of the last change that was surely searched: what is committed while
	// a question is answered may be found or not.
	seq uint64
}

// search returns what a question finds and what it asks for by name or place. Code is
// among it unless the full index is switched off.
func (s *Service) search(ctx context.Context, req memory.RecallRequest, sel memory.Selection) found {
	if !s.settings.Full {
		sel.Kinds = slices.DeleteFunc(slices.Clone(sel.Kinds), func(k memory.Kind) bool { return k == memory.Chunk })
		if len(sel.Kinds) == 0 { // which would mean all of them
			return found{seq: s.opts.Corpus.Seq()}
		}
	}
	f := s.find(ctx, req.Query, sel)
	if ctx.Err() == nil {
		f.candidates = s.lookUp(f.candidates, req, sel)
	}
	return f
}

// find returns what tells of an error that the question quotes, and what the
// retrievers found.
func (s *Service) find(ctx context.Context, query string, sel memory.Selection) found {
	f := s.candidates(ctx, query, sel)
	if prints := fingerprint.Of(query); len(prints) > 0 {
		f.candidates = s.sameError(f.candidates, s.opts.Sessions.Fingerprinted(prints, sel))
	}
	return f
}

// candidates asks all retrievers at once and fuses what they found. Vector retrievers
// have the deadline. Words have none but the request's own: they are what the answer
// rests on, and on a busy machine a deadline would turn what is there into nothing.
func (s *Service) candidates(ctx context.Context, query string, sel memory.Selection) found {
	f := found{seq: s.opts.Corpus.Seq()}
	sources := s.sources()
	allow, universe := s.opts.Corpus.Select(sel)
	q := index.Query{Text: query, Allow: allow, Universe: universe, Limit: s.settings.Depth}

	brief, cancel := context.WithTimeout(ctx, s.settings.Deadline)
	defer cancel()
	results := make([]index.Result, len(sources))
	errs := make([]error, len(sources))
	var wg sync.WaitGroup
	for i, src := range sources {
		if src.Retriever == nil {
			continue
		}
		within := ctx
		if src.Space != "" {
			within = brief
		}
		wg.Go(func() { results[i], errs[i] = src.Retriever.Retrieve(within, q) })
	}
	wg.Wait()

	parts := make([]index.Ranking, 0, len(sources))
	for i, src := range sources {
		reason, words := "", src.Space == ""
		switch err := errs[i]; {
		case src.Retriever == nil:
			if reason = src.Degraded; words {
				f.incomplete = "the memory is " + reason
			}
		case errors.Is(err, index.ErrNotReady): // it holds nothing
			reason = src.Lacks(allow)
		case errors.Is(err, context.DeadlineExceeded) && !words:
			reason = "deadline: no answer within " + s.settings.Deadline.String()
		case err != nil:
			if reason = embedder.Reason(err); words {
				f.incomplete = "words could not be searched: " + reason
			}
		default:
			reason = src.Lacks(allow)
			part := index.Ranking{Name: src.Name, Result: results[i], Form: index.Lexical, Weight: 1}
			if src.Space != "" {
				part.Form, part.Weight = index.ZScore, s.settings.VectorWeight
				f.spaces = append(f.spaces, src.Space)
			}
			parts = append(parts, part)
		}
		if reason != "" {
			f.degraded = append(f.degraded, memory.Degraded{Part: src.Name, Reason: reason})
		}
	}
	f.candidates = s.resolve(index.Fuse(parts, s.settings.Depth), parts, sel)
	return f
}

// resolve turns documents into candidates with their relevance.
func (s *Service) resolve(fused []index.Fused, parts []index.Ranking, sel memory.Selection) []*candidate {
	out := make([]*candidate, 0, len(fused))
	// One piece of memory for all of them and one for their scores.
	all := make([]candidate, len(fused))
	scores := make([]score, 0, len(fused)*len(parts))
	for i, hit := range fused {
		places := s.opts.Corpus.Candidates(hit.Doc, sel)
		if len(places) == 0 {
			continue
		}
		// Of records with one text one that was told or imported stands for all, the
		// project's own first.
		slices.SortStableFunc(places, func(a, b memory.Candidate) int {
			if order := cmp.Or(boolOrder(!a.Followed, !b.Followed), boolOrder(a.Project == sel.Project, b.Project == sel.Project)); order != 0 || a.Kind != memory.Step {
				return order
			}
			return b.Created.Compare(a.Created) // what was done again was done last
		})
		c := &all[i]
		c.Candidate, c.others, c.fused = places[0], places[1:], hit.Score
		first := len(scores)
		for _, raw := range hit.Raw {
			p := &parts[raw.Part]
			r := s.opts.Calibration.Relevance(foundBy(p, raw.Hit))
			scores = append(scores, score{p.Name, memory.RetrieverScore{Score: round(float64(raw.Hit.Score)), Relevance: round(r)}})
			c.coverage = max(c.coverage, float64(raw.Hit.Held))
		}
		c.scores = scores[first:len(scores):len(scores)]
		c.relevance = s.opts.Calibration.relevance(hit.Raw, parts)
		out = append(out, c)
	}
	if len(out) > 0 {
		best := out[0].fused
		for _, c := range out {
			if best > 0 {
				c.match = max(c.fused/best, 0)
			}
		}
	}
	return out
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
		if hit, _ := hitOf(hits, parts, i); !isVector(parts[i].Name) {
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

// aboveThreshold separates what is relevant by the floors of the kinds from what is not; of the
// latter the nearest few are told.
func aboveThreshold(cs []*candidate, floors map[memory.Kind]float64) (above []*candidate, below []memory.Withheld) {
	const tell = 5
	for _, c := range cs {
		switch {
		case c.relevance >= floors[c.Kind]:
			above = append(above, c)
		case len(below) < tell:
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
