package agentctx

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
)

// The parts of a context that Degraded may name.
const (
	partSearch    = "search"   // all that is relevant
	partEntries   = "entries"  // relevant rules, references and tools
	partMemories  = "memories" // lessons and steps
	partCode      = "code"
	partCatalogue = "catalogue" // entries of the session
	partTasks     = "tasks"     // the task summary
	partRepeat    = "repeat"    // items of a repeated request whose text is gone
)

// searchResult is the result of a search. The zero value means that nothing was searched.
type searchResult struct {
	entries  recall.Matches
	memories []memory.Item // by kind, best first of each
	// withheld are memories, degraded the missing parts.
	withheld []memory.Withheld
	degraded []memory.Degraded
	// incomplete says why not everything was searched; empty if it was.
	incomplete string
	// kinds were searched; spaces, calibration, settings and seq are as in a receipt.
	kinds       []memory.Kind
	spaces      []string
	calibration string
	settings    *memory.AnswerSettings
	seq         uint64
	factors     map[string]*memory.RankFactors // of the memories, by id
}

// search finds relevant entries and memories, in parallel. A part that fails is named in the
// result; only the end of ctx is an error.
func (s *Contexts) search(ctx context.Context, project memory.Project, message string, entries entrySearch, questions []memory.RecallRequest) (searchResult, error) {
	opts := recall.AskOptions{Project: &project, At: s.opts.now(), NoLines: true}
	var matches recall.Matches
	var matchErr error
	type answer struct {
		answer  *memory.RecallResponse
		receipt memory.Receipt
		err     error
	}
	answers := make([]answer, len(questions))
	var wg sync.WaitGroup
	if len(entries.kinds) > 0 {
		wg.Go(func() {
			sel := memory.Selection{Kinds: entries.kinds, Only: entries.only, Project: project.ID, Followed: entries.followed}
			matches, matchErr = s.opts.Recall.Match(ctx, message, sel, entries.limit, opts)
		})
	}
	for i, q := range questions {
		wg.Go(func() {
			a := &answers[i]
			a.answer, a.receipt, a.err = s.opts.Recall.Ask(ctx, q, opts)
		})
	}
	wg.Wait()
	// A cancelled request has no use for a partial answer.
	if ctx.Err() != nil {
		return searchResult{}, ctx.Err()
	}

	f := searchResult{settings: &memory.AnswerSettings{MinRelevance: map[memory.Kind]float64{}, Sure: map[memory.Kind]float64{}}, factors: map[string]*memory.RankFactors{}}
	switch {
	case len(entries.kinds) == 0:
	case matchErr != nil:
		f.incomplete = memory.AsError(matchErr).Message
		f.degrade(partEntries, f.incomplete)
		s.opts.Logger.Warn("relevant entries cannot be found", "part", "session", "project", project.ID, "error", matchErr)
	default:
		f.entries, f.incomplete = matches, matches.Incomplete
		f.kinds = append(f.kinds, entries.kinds...)
		f.merge(matches.Degraded, matches.Spaces, matches.Calibration, &matches.Settings, matches.Seq)
	}
	for i, a := range answers {
		if a.err != nil {
			part := partMemories
			if slices.Contains(questions[i].Kinds, memory.Chunk) {
				part = partCode
			}
			f.degrade(part, memory.AsError(a.err).Message)
			f.incomplete = cmp.Or(f.incomplete, memory.AsError(a.err).Message)
			s.opts.Logger.Warn("relevant memories cannot be found", "part", "session", "project", project.ID, "missing", part, "error", a.err)
			continue
		}
		f.kinds = append(f.kinds, questions[i].Kinds...)
		f.merge(a.answer.Degraded, a.receipt.Spaces, a.receipt.Calibration, a.receipt.Settings, a.receipt.Seq)
		f.withheld = append(f.withheld, a.answer.Withheld...)
		f.incomplete = cmp.Or(f.incomplete, a.answer.Why)
		for _, item := range a.answer.Items {
			f.factors[item.ID], item.RankFactors = item.RankFactors, nil // they are the record's
			f.memories = append(f.memories, item)
		}
	}
	return f, nil
}

// degrade adds a missing part, once however many answers lack it.
func (f *searchResult) degrade(part, reason string) {
	if d := (memory.Degraded{Part: part, Reason: reason}); !slices.Contains(f.degraded, d) {
		f.degraded = append(f.degraded, d)
	}
}

// merge adds what one answer reports about itself. The sequence number of the context is the
// smallest of its answers.
func (f *searchResult) merge(degraded []memory.Degraded, spaces []string, calibration string, settings *memory.AnswerSettings, seq uint64) {
	for _, d := range degraded {
		f.degrade(d.Part, d.Reason)
	}
	for _, space := range spaces {
		if !slices.Contains(f.spaces, space) {
			f.spaces = append(f.spaces, space)
		}
	}
	if f.calibration == "" || seq < f.seq {
		f.seq = seq
	}
	f.calibration = calibration
	if settings != nil {
		f.settings.VectorWeight, f.settings.Embedder = settings.VectorWeight, settings.Embedder
		f.settings.Code, f.settings.CodeBytes = max(f.settings.Code, settings.Code), max(f.settings.CodeBytes, settings.CodeBytes)
		maps.Copy(f.settings.MinRelevance, settings.MinRelevance)
		maps.Copy(f.settings.Sure, settings.Sure)
	}
}
