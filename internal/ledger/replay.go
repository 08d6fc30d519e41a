package ledger

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
	"github.com/recalld/recalld/internal/render"
)

// Asker is the read path; see recall.Service.
type Asker interface {
	Ask(ctx context.Context, req memory.RecallRequest, opts recall.AskOptions) (*memory.RecallResponse, memory.Receipt, error)
	Match(ctx context.Context, text string, sel memory.Selection, limit int, opts recall.AskOptions) (recall.Matches, error)
	// Settings are those that answers are made with today.
	Settings() memory.AnswerSettings
}

// Receipts lists receipts.
type Receipts interface {
	// Receipts returns the receipts that a filter chooses, newest first, at most limit,
	// and whether there are more.
	Receipts(f memory.ReceiptFilter, limit int) (found []memory.Receipt, more bool, err error)
	// Record returns a record, or CodeNotFound.
	Record(id string) (memory.Record, error)
}

// Catalogue lists the entries of a project with what applies to them.
type Catalogue interface {
	Items(project string) []memory.EntryState
}

// ReplayOptions configure a replayer. All but the last two fields are required.
type ReplayOptions struct {
	Asker    Asker
	Ledger   Receipts
	Projects Projects
	Sessions Sessions
	// Catalogue says which entries a context may choose. Nil: none, so that only the
	// memories of contexts are compared.
	Catalogue Catalogue
	// Taken says how many of the relevant entries a context takes. Default: contract 6's.
	Taken Taken
}

// Taken says which of the entries that are relevant a context takes: of the first TopK
// the first TopN, and all that score IncludeScore or more.
type Taken struct {
	TopK, TopN   int
	IncludeScore float64
}

// ContractTaken is what contract 6 takes.
func ContractTaken() Taken {
	return Taken{TopK: memory.DefaultTopK, TopN: memory.DefaultTopN, IncludeScore: memory.DefaultIncludeScore}
}

func (o *ReplayOptions) validate() error {
	for field, missing := range map[string]bool{
		"asker": o.Asker == nil, "ledger": o.Ledger == nil, "projects": o.Projects == nil, "sessions": o.Sessions == nil,
	} {
		if missing {
			return memory.Invalid(field, "", "replay needs it")
		}
	}
	if o.Taken == (Taken{}) {
		o.Taken = ContractTaken()
	}
	if o.Taken.TopK < 1 || o.Taken.TopN < 1 {
		return memory.Invalid("taken", "at least 1", "%d of %d entries", o.Taken.TopN, o.Taken.TopK)
	}
	return nil
}

// Replayer asks again. It is safe for concurrent use.
type Replayer struct{ opts ReplayOptions }

// NewReplayer returns a replayer.
func NewReplayer(opts ReplayOptions) (*Replayer, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Replayer{opts}, nil
}

var _ interface {
	Replay(context.Context, memory.ReplayRequest, func(memory.ReplayProgress)) (*memory.Replayed, error)
} = (*Replayer)(nil)

// Replay implements memory.Receipts. Questions are asked one after the other, oldest
// first; of more than the limit the newest. One that cannot be asked is told of with
// its error. The errors are those of the request, and CodeNotFound for an unknown
// session or embedder; a nil progress is told nothing.
func (p *Replayer) Replay(ctx context.Context, req memory.ReplayRequest, progress func(memory.ReplayProgress)) (*memory.Replayed, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	if progress == nil {
		progress = func(memory.ReplayProgress) {}
	}
	project, _, err := p.opts.Projects.Resolve(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, err
	}
	if req.SessionID != "" {
		if _, err := p.opts.Sessions.FindSession(project.ID, req.SessionID, req.Caller); err != nil {
			return nil, err
		}
	}
	receipts, more, err := p.opts.Ledger.Receipts(memory.ReceiptFilter{
		Project: project.ID, Session: req.SessionID, Since: req.Since,
		Purposes: []memory.Purpose{memory.PurposeRecall, memory.PurposeContext},
	}, req.Limit)
	if err != nil {
		return nil, fmt.Errorf("list receipts: %w", err)
	}
	slices.SortFunc(receipts, func(a, b memory.Receipt) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })

	out := &memory.Replayed{
		Project: project.ID, ProjectName: project.Name, New: changed(p.opts.Asker.Settings(), req),
		Answers: []memory.ReplayedAnswer{}, More: more,
	}
	progress(memory.ReplayProgress{Total: len(receipts)})
	outside := !memory.AsksFrom(ctx, p.opts.Projects, project.ID, req.Project, req.Caller)
	entries := sync.OnceValue(func() map[string]memory.EntryState { return p.choosable(project) })
	for i, r := range receipts {
		a, degraded, err := p.again(ctx, &question{p: p, receipt: r, project: project, outside: outside, entries: entries}, req)
		if err != nil {
			return nil, fmt.Errorf("replay receipt %s: %w", r.ID, err)
		}
		out.Answers = append(out.Answers, a)
		for _, d := range degraded {
			if !slices.Contains(out.Degraded, d) {
				out.Degraded = append(out.Degraded, d)
			}
		}
		progress(memory.ReplayProgress{Done: i + 1, Total: len(receipts)})
	}
	out.Tally = tally(out.Answers)
	out.Text = render.Replay(out, movedInAnswer)
	return out, nil
}

// again asks the questions of one receipt twice. Only what concerns all receipts is an
// error: the end of ctx, and an embedder that there is not.
func (p *Replayer) again(ctx context.Context, q *question, req memory.ReplayRequest) (memory.ReplayedAnswer, []memory.Degraded, error) {
	r := q.receipt
	out := memory.ReplayedAnswer{Receipt: r.ID, Query: r.Request.Query, At: r.At, Items: []memory.ReplayedItem{}}
	q.prepare()
	before, err := q.ask(ctx, r.Settings, nil)
	if err == nil {
		base := p.recorded(r)
		after, failed := q.ask(ctx, new(changed(base, req)), req.MinRelevance)
		if failed == nil {
			out.Items, out.DataChanged, out.SettingsChanged = compare(q.recorded(), before, after)
			p.title(out.Items, r, before, after, q.outside)
			return out, append(before.degraded, after.degraded...), nil
		}
		if e := memory.AsError(failed); req.Embedder != "" && e.Field == "embedder" {
			return out, nil, failed
		}
		err = failed
	}
	if ctx.Err() != nil {
		return out, nil, ctx.Err()
	}
	out.Error = memory.AsError(err).Error()
	return out, nil, nil
}

// recorded are the settings that a receipt was made with: those of today where it does
// not say, with the floor that its question names.
func (p *Replayer) recorded(r memory.Receipt) memory.AnswerSettings {
	if r.Settings != nil {
		return *r.Settings
	}
	today := p.opts.Asker.Settings()
	if floor := r.Request.MinRelevance; floor != nil {
		for kind := range today.MinRelevance {
			today.MinRelevance[kind] = *floor
		}
	}
	return today
}

// changed are settings with those that a request names.
func changed(s memory.AnswerSettings, req memory.ReplayRequest) memory.AnswerSettings {
	s.Embedder = cmp.Or(req.Embedder, s.Embedder)
	if req.VectorWeight != nil {
		s.VectorWeight = *req.VectorWeight
	}
	if s.MinRelevance = maps.Clone(s.MinRelevance); s.MinRelevance == nil {
		s.MinRelevance = map[memory.Kind]float64{}
	}
	maps.Copy(s.MinRelevance, req.MinRelevance)
	return s
}
