package recall

import (
	"cmp"
	"context"
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// History says how surely the files of a sandbox have to do with a question, by what the
// commits that changed them said: 1 for the best.
type History interface {
	Files(ctx context.Context, sandbox, root, question string) map[string]float64
}

// The shares of what else speaks for a file, where its best chunk is 1. They were chosen on
// the half "tuned" of internal/daemon/testdata/reports.tsv; docs/quality.md has the figures.
const (
	// furtherChunks is the share of a file's second chunk; each further one counts
	// furtherLess of the one before (0 to .4 are alike).
	furtherChunks = 0.2
	furtherLess   = 0.7
	// historyShare is for the file with the best history, if the question is a report (.6
	// to 1.5 are alike). In other questions it is plainHistory: where something is defined
	// history says less (.2 to .4 are alike there, testdata/codequestions; .7 is worse).
	historyShare = 0.7
	plainHistory = 0.4
	// namedShare is for the first file that declares what a report names (.3 to .8 are
	// alike), and falls to half of it at the last of maxMentions.
	namedShare = 0.4
)

// codeFile is a file whose code was found.
type codeFile struct {
	memory.FileKey
	chunks []*candidate // best first
	named  float64      // how early the report names what it declares, 0 to 1
	score  float64
}

// byFile orders code by its file: by the best chunk of the file, a share of its further
// ones, its history, and what a report names. The chunks of a file keep their order, and
// the best code its score beside other kinds. What a report names comes first only if it
// is a line of a file: a report names much that works.
func (r *run) byFile() {
	files := r.codeFiles()
	if len(files) == 0 {
		return
	}
	best, most, top := 0.0, 0.0, 0.0
	for _, f := range files {
		best = max(best, f.chunks[0].fused)
		share := 1.0
		for i, c := range f.chunks {
			f.score += share * max(c.fused, 0)
			if share *= furtherLess; i == 0 {
				share = furtherChunks
			}
		}
		most = max(most, f.score)
	}
	if best <= 0 {
		return
	}
	first := best // of all candidates
	for _, c := range r.candidates {
		first = max(first, c.fused)
	}
	histories, share := r.histories(files), plainHistory
	if titleOf(r.query) != "" {
		share = historyShare
	}
	for _, f := range files {
		f.score = f.score/most + share*histories[f.Sandbox][f.Path] + namedShare*f.named
		if kind := kindOf(f.Path); kind != implementation && !kind.asksFor(r.query) {
			f.score *= besideCode
		}
		top = max(top, f.score)
	}
	for _, f := range files {
		own := f.chunks[0].fused
		for _, c := range f.chunks {
			within := 1.0
			if own > 0 {
				within = max(c.fused, 0) / own
			}
			c.fused = best * f.score / top * within
			if c.mention.rank == 0 {
				c.match = c.fused / first
			}
		}
	}
	r.sortCandidates()
	r.followOrder()
}

// followOrder gives the relevances of the code that was found to the same code in its
// order: what words and vectors say of a chunk alone must not undo what its file says. As
// many chunks as before have each strength.
func (r *run) followOrder() {
	var code []*candidate
	var relevances []float64
	for _, c := range r.candidates {
		if c.Kind == memory.Chunk && c.mention.rank == 0 {
			code, relevances = append(code, c), append(relevances, c.relevance)
		}
	}
	slices.SortFunc(relevances, func(a, b float64) int { return cmp.Compare(b, a) })
	for i, c := range code {
		c.relevance = relevances[i]
	}
}

// codeFiles returns the files of all code among the candidates, by their best chunks.
func (r *run) codeFiles() []*codeFile {
	report := titleOf(r.query) != ""
	byKey := map[memory.FileKey]*codeFile{}
	var files []*codeFile
	for _, c := range r.candidates {
		if c.Kind != memory.Chunk {
			continue
		}
		f := byKey[c.File]
		if f == nil {
			f = &codeFile{FileKey: c.File}
			byKey[c.File] = f
			files = append(files, f)
		}
		f.chunks = append(f.chunks, c)
		if report && c.mention.rank > 0 && c.mention.at.Line == 0 {
			f.named = max(f.named, 1-float64(c.mention.rank-1)/(2*maxLeading*maxMentions))
			c.mention.rank = 0
		}
	}
	return files
}

// histories returns what the histories of the files' sandboxes say about the question; of a
// report the mean of what they say about its title and about the whole.
func (r *run) histories(files []*codeFile) map[string]map[string]float64 {
	if r.s.opts.History == nil {
		return nil
	}
	questions := []string{r.query}
	if title := titleOf(r.query); title != "" {
		questions = append(questions, title)
	}
	all := map[string]map[string]float64{}
	for _, f := range files {
		if all[f.Sandbox] != nil {
			continue
		}
		at, err := r.s.opts.Corpus.Location(f.chunks[0].Candidate)
		if err != nil {
			continue // replaced meanwhile; another file may give the root
		}
		scores := map[string]float64{}
		all[f.Sandbox] = scores
		for _, question := range questions {
			for path, score := range r.s.opts.History.Files(r.ctx, f.Sandbox, at.Root, question) {
				scores[path] += score / float64(len(questions))
			}
		}
	}
	return all
}
