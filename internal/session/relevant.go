package session

import (
	"context"
	"slices"
	"sync"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/session"
	"github.com/recalld/recalld/internal/recall"
)

// Memories finds lessons, steps and code.
type Memories interface {
	// Ask answers a question and leaves its receipt to the caller; see
	// recall.Service.Ask.
	Ask(ctx context.Context, req memory.RecallRequest, opts recall.AskOptions) (*memory.Answer, memory.Receipt, error)
	// Alike says that two texts are near-duplicates.
	Alike(a, b string) bool
}

// What may be missing of a context, as Degraded names it.
const (
	partSearch   = "search"   // all that is relevant
	partEntries  = "entries"  // relevant rules, references and tools
	partMemories = "memories" // lessons and steps
	partCode     = "code"
	partTasks    = "tasks"  // the window
	partRepeat   = "repeat" // what the answer to a repeated request has no text of
)

// found is what a search came to. The zero value is that nothing was searched.
type found struct {
	entries  recall.Matches
	memories []memory.Item // by kind, best first of each
	// withheld are memories, degraded the parts that were missing.
	withheld []memory.Withheld
	degraded []memory.Degraded
	// kinds are those that were searched; spaces, calibration, settings and seq are as in
	// a receipt.
	kinds       []memory.Kind
	spaces      []string
	calibration string
	settings    *memory.AnswerSettings
	seq         uint64
	factors     map[string]*memory.RankFactors // of the memories, by id
}

// considered says for which entries is searched: the kinds of those that relevance may
// decide on, and how many matches are asked for.
type considered struct {
	kinds []memory.Kind
	limit int
}

// consider works out what is to be searched so that topK eligible matches are found:
// what is disabled, or not the agent's choice, may match better and is passed over.
func consider(items []session.EntryState, topK int) considered {
	eligible, others := map[memory.Kind]bool{}, map[memory.Kind]int{}
	for i := range items {
		if e := &items[i]; e.On && e.Mode == memory.IncludeAgent {
			eligible[e.Type] = true
		} else {
			others[e.Type]++
		}
	}
	c := considered{limit: topK}
	for _, kind := range session.EntryKinds {
		if eligible[kind] {
			c.kinds = append(c.kinds, kind)
			c.limit += others[kind]
		}
	}
	c.limit = min(c.limit, recall.MaxMatched)
	return c
}

// search asks for relevant entries and for memories, all at once. What cannot be
// answered is missing and named; only the end of ctx is an error.
func (s *Service) search(ctx context.Context, project memory.Project, message string, entries considered, questions []memory.RecallRequest) (found, error) {
	opts := recall.AskOptions{Project: &project, At: s.now()}
	var matches recall.Matches
	var matchErr error
	type answer struct {
		answer  *memory.Answer
		receipt memory.Receipt
		err     error
	}
	answers := make([]answer, len(questions))
	var wg sync.WaitGroup
	if len(entries.kinds) > 0 {
		wg.Go(func() {
			sel := memory.Selection{Kinds: entries.kinds, Project: project.ID}
			matches, matchErr = s.opts.Matcher.Match(ctx, message, sel, entries.limit, opts)
		})
	}
	for i, q := range questions {
		wg.Go(func() {
			a := &answers[i]
			a.answer, a.receipt, a.err = s.opts.Assembly.Memories.Ask(ctx, q, opts)
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return found{}, ctx.Err()
	}

	f := found{settings: &memory.AnswerSettings{MinRelevance: map[memory.Kind]float64{}}, factors: map[string]*memory.RankFactors{}}
	if len(entries.kinds) > 0 {
		if matchErr != nil {
			f.lacks(partEntries, memory.AsError(matchErr).Message)
			s.opts.Logger.Warn("relevant entries cannot be found", "part", "session", "project", project.ID, "error", matchErr)
		} else {
			f.entries = matches
			f.kinds = append(f.kinds, entries.kinds...)
			f.tells(matches.Degraded, matches.Spaces, matches.Calibration, &matches.Settings, matches.Seq)
		}
	}
	for i, a := range answers {
		if a.err != nil {
			part := partMemories
			if slices.Contains(questions[i].Kinds, memory.Chunk) {
				part = partCode
			}
			f.lacks(part, memory.AsError(a.err).Message)
			s.opts.Logger.Warn("relevant memories cannot be found", "part", "session", "project", project.ID, "missing", part, "error", a.err)
			continue
		}
		f.kinds = append(f.kinds, questions[i].Kinds...)
		f.tells(a.answer.Degraded, a.receipt.Spaces, a.receipt.Calibration, a.receipt.Settings, a.receipt.Seq)
		f.withheld = append(f.withheld, a.answer.Withheld...)
		for _, item := range a.answer.Items {
			f.factors[item.ID], item.RankFactors = item.RankFactors, nil // they are the record's
			f.memories = append(f.memories, item)
		}
	}
	return f, nil
}

func (f *found) lacks(part, reason string) {
	if d := (memory.Degraded{Part: part, Reason: reason}); !slices.Contains(f.degraded, d) {
		f.degraded = append(f.degraded, d)
	}
}

// tells adds what one answer says about itself. Of the changes that answers could see,
// the context could surely see the fewest.
func (f *found) tells(degraded []memory.Degraded, spaces []string, calibration string, settings *memory.AnswerSettings, seq uint64) {
	for _, d := range degraded {
		f.lacks(d.Part, d.Reason)
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
		for kind, floor := range settings.MinRelevance {
			f.settings.MinRelevance[kind] = floor
		}
	}
}

// choice says which matches are taken.
type choice struct {
	topK, topN int
	include    float64
}

// choose takes of the entries that were found those that are relevant enough, best
// first, and says why it withholds the others. Only enabled entries with the mode agent
// that the session has nothing decided on are considered, topK of them: the topN first
// are taken, and all others that score include or more. A rule or reference that says
// what another one says is a duplicate; two tools never are.
func choose(items []session.EntryState, h holding, m recall.Matches, c choice, alike func(a, b string) bool) (taken []placed, withheld []memory.Withheld) {
	byID := make(map[string]*session.EntryState, len(m.Items)+len(m.Withheld))
	for _, match := range m.Items {
		byID[match.ID] = nil
	}
	for _, w := range m.Withheld {
		byID[w.ID] = nil
	}
	for i := range items {
		if _, ok := byID[items[i].ID]; ok {
			byID[items[i].ID] = &items[i]
		}
	}
	looked := 0
	for _, match := range m.Items {
		e := byID[match.ID]
		if !eligible(e, h) {
			continue
		}
		p := placed{EntryState: e, mode: memory.IncludeAgent, score: match.Relevance, factors: &match.Factors}
		looked++
		switch {
		case looked > c.topK, len(taken) >= c.topN && match.Relevance < c.include:
			withheld = append(withheld, p.withheld(memory.OverLimit))
		case repeats(p, taken, alike), repeats(p, h.entries, func(a, b string) bool { return a == b }): // those of the session are too many to be compared by their words
			withheld = append(withheld, p.withheld(memory.Duplicate))
		default:
			taken = append(taken, p)
		}
	}
	for _, w := range m.Withheld {
		if e := byID[w.ID]; eligible(e, h) {
			w.Name, w.Server = e.Name, e.ServerName
			withheld = append(withheld, w)
		}
	}
	return taken, withheld
}

// eligible says that relevance decides on an entry. One that is no longer in the
// catalogue is nil.
func eligible(e *session.EntryState, h holding) bool {
	return e != nil && e.On && e.Mode == memory.IncludeAgent && !h.decided[e.Ref]
}

// repeats says that an entry says what one of the others says.
func repeats(p placed, others []placed, alike func(a, b string) bool) bool {
	return p.Type != memory.Tool && slices.ContainsFunc(others, func(other placed) bool {
		return other.Type == p.Type && alike(entryBody(p.EntryState), entryBody(other.EntryState))
	})
}

func (p placed) withheld(reason memory.Reason) memory.Withheld {
	return memory.Withheld{ID: p.ID, Kind: p.Type, Reason: reason, NearestScore: p.score, Name: p.Name, Server: p.ServerName}
}
