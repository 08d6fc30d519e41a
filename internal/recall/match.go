package recall

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// MaxMatched is how many records one Match may return.
const MaxMatched = 200

// Matched is a record that is related to a text.
type Matched struct {
	ID        string
	Kind      memory.Kind
	Project   string
	Relevance float64
	Factors   memory.RankFactors
}

// Matches are the records that are related to a text, and how they were found, for a
// receipt.
type Matches struct {
	// Items are ranked, best first.
	Items []Matched
	// Withheld are the records below the threshold or over the limit; the nearest 50 at
	// most. The caller fills in their names.
	Withheld []memory.Withheld
	Degraded []memory.Degraded
	Spaces   []string
	// Calibration and Settings are those in force. Seq is as in memory.Receipt.
	Calibration string
	Settings    memory.AnswerSettings
	Seq         uint64
	// Incomplete says why the lexical index was not searched; empty if it was. If it is
	// set, an empty result does not mean that there is no match.
	Incomplete string
}

// Match finds at most limit records of a selection that are related to a text. It does
// not search code. It reads no records, records nothing in the ledger and resolves no
// project, so that a context of many parts costs little more than its searches. Its errors
// are CodeInvalidInput and the errors of Ask for settings. A missing part is no error.
func (s *Service) Match(ctx context.Context, text string, sel memory.Selection, limit int, opts AskOptions) (Matches, error) {
	if err := memory.Text("query", text, 1, memory.MaxQuery); err != nil {
		return Matches{}, err
	}
	if len(sel.Kinds) == 0 || slices.Contains(sel.Kinds, memory.Chunk) {
		return Matches{}, memory.Invalid("kinds", "kinds of records", "code is not matched")
	}
	if limit < 1 || limit > MaxMatched {
		return Matches{}, memory.Invalid("limit", fmt.Sprintf("1–%d", MaxMatched), "%d is out of range", limit)
	}
	settings, err := s.settingsWith(opts.Settings)
	if err != nil {
		return Matches{}, err
	}
	r := s.newSearch(ctx, settings, Digest(text), sel)
	if r.find(); r.err != nil {
		return Matches{}, r.err
	}
	opts.NoLines = true
	of := settings.levels(memory.RecallRequest{Kinds: sel.Kinds, MinRelevance: opts.MinRelevance}, opts)
	above, _, below := byStrength(r.candidates, of)
	now := cmp.Or(opts.At, s.opts.Clock())
	ranked := rank(above, settings.HalfLife, rankContext{now: now, project: sel.Project, also: sel.Also})
	out := Matches{
		Items: make([]Matched, 0, min(limit, len(ranked))), Degraded: append(s.lost(), r.degraded...), Spaces: r.spaces,
		Calibration: s.opts.Calibration.Version, Settings: *settings.inForce(of, caps{}),
		Seq: r.seq, Incomplete: cmp.Or(s.whyLost(), r.noWords),
	}
	for i, c := range ranked {
		if i < limit {
			out.Items = append(out.Items, s.matched(c))
		} else if len(out.Withheld) < maxWithheld-len(below) {
			out.Withheld = append(out.Withheld, withheld(c, memory.OverLimit))
		}
	}
	out.Withheld = append(out.Withheld, below...)
	return out, nil
}

// matched describes a candidate. It reads the record's verdicts only if some count.
func (s *Service) matched(c *candidate) Matched {
	m := Matched{
		ID: c.ID, Kind: c.Kind, Project: c.Project, Relevance: round(c.relevance), Factors: *c.shownFactors(),
	}
	if c.Rate != nil {
		if r, err := s.opts.Corpus.Record(c.ID); err == nil {
			m.Factors.Verdicts = r.Verdicts
		}
	}
	return m
}
