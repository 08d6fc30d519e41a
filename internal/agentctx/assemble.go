package agentctx

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
)

// AssemblySettings are what a user may choose about request contexts. A request that names
// another value overrides them.
type AssemblySettings struct {
	// MaxTokens is the budget, memory.MinBudget to memory.MaxBudget.
	MaxTokens int
	// TopK matches are considered, TopN of them taken, and all that score IncludeScore
	// or more (contract 6).
	TopK, TopN   int
	IncludeScore float64
	// Shares of what is left of the budget that relevant items of a kind may take, from
	// 0 to 1. A kind that is not in it has none.
	Shares map[memory.Kind]float64
}

// DefaultAssemblySettings are those of contract 6.
func DefaultAssemblySettings() AssemblySettings {
	return AssemblySettings{
		MaxTokens: memory.DefaultBudget, TopK: memory.DefaultTopK, TopN: memory.DefaultTopN,
		IncludeScore: memory.DefaultIncludeScore, Shares: DefaultShares(),
	}
}

func (s *AssemblySettings) validate() error {
	for _, n := range []struct {
		field            string
		value, min, most int
	}{
		{"max_tokens", s.MaxTokens, memory.MinBudget, memory.MaxBudget},
		{"top_k", s.TopK, 1, memory.MaxTopK}, {"top_n", s.TopN, 1, memory.MaxTopN},
	} {
		if n.value < n.min || n.value > n.most {
			return memory.Invalid(n.field, fmt.Sprintf("%d–%d", n.min, n.most), "%d is out of range", n.value)
		}
	}
	if !(s.IncludeScore >= 0 && s.IncludeScore <= 1) {
		return memory.Invalid("include_score", "0–1", "%v is out of range", s.IncludeScore)
	}
	return validShares(s.Shares)
}

// assembly is one request on its way to a context.
type assembly struct {
	s       *Contexts
	start   time.Time
	project memory.Project
	session memory.Session
	req     memory.AssembleRequest
	kept    memory.RecallRequest // the request as its receipt has it
	items   []memory.EntryState
	loading bool // the items may not be all
	found   found
	window  *memory.TaskWindow
	shorter func(n int) *memory.TaskWindow
}

// Assemble implements memory.Contexts.
func (s *Contexts) Assemble(ctx context.Context, req memory.AssembleRequest) (*memory.Assembled, error) {
	a := &assembly{s: s, start: s.opts.Clock()}
	if err := req.Validate(); err != nil {
		return nil, err
	}
	var err error
	if a.project, a.session, err = s.find(ctx, req.SessionRef); err != nil {
		return nil, err
	}
	a.req = s.opts.Settings.fill(req)
	a.kept = a.withoutSecrets()
	a.loading = !s.opts.Records.Loaded() // before they are read, or the last may be missed
	a.items = s.items(ctx, a.project.ID, req.SessionRef)
	if err := a.gather(ctx); err != nil {
		return nil, err
	}
	var out *memory.Assembled
	w, err := s.update(ctx, a.project, a.session.ID, req.RequestID, func(wc *memory.WorkingContext, b *memory.Batch) (bool, error) {
		var receipt memory.Receipt
		out, receipt = a.assemble(wc)
		b.Receipts = []memory.Receipt{receipt}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	if w.repeated {
		return a.again(ctx, w.context)
	}
	return out, nil
}

// fill gives a request the settings that it leaves open.
func (s *AssemblySettings) fill(req memory.AssembleRequest) memory.AssembleRequest {
	req.TopK, req.TopN = cmp.Or(req.TopK, s.TopK), cmp.Or(req.TopN, s.TopN)
	req.MaxTokens = cmp.Or(req.MaxTokens, s.MaxTokens)
	if req.IncludeScore == nil {
		req.IncludeScore = &s.IncludeScore
	}
	return req
}

// gather reads the window and searches. History, which is the window and steps, and
// code are left out for a task that requires no context; what was learned is not.
func (a *assembly) gather(ctx context.Context) error {
	bare := a.req.RequiresContext != nil && !*a.req.RequiresContext ||
		a.req.RequiresContext == nil && a.s.opts.Tasks.Settings(a.project, a.req.TaskType).LeaveOut
	var missing []memory.Degraded
	if a.loading {
		missing = append(missing, memory.Degraded{Part: partCatalogue, Reason: "loading"})
		defer func() { a.found.incomplete = cmp.Or(a.found.incomplete, "the catalogue is loading") }()
	}
	if tasks := a.s.opts.Tasks; !bare {
		request := memory.TaskWindowRequest{TaskType: a.req.TaskType, Project: a.project.ID, Caller: a.req.Caller}
		window, err := tasks.TaskWindow(ctx, request)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			missing = append(missing, memory.Degraded{Part: partTasks, Reason: memory.AsError(err).Message})
			a.s.opts.Logger.Warn("the window of tasks is missing", "part", "session", "project", a.project.ID, "error", err)
		default:
			a.window = window
		}
		a.shorter = func(n int) *memory.TaskWindow {
			request.Limit = n
			fewer, err := tasks.TaskWindow(ctx, request)
			if err != nil {
				return nil
			}
			return fewer
		}
	}
	if a.req.NoSearch {
		a.found.lacks(partSearch, "switched off")
	} else {
		wc, err := a.s.loadHead(a.session.Key())
		if err != nil {
			return err
		}
		if a.found, err = a.s.search(ctx, a.project, a.req.Message, consider(a.items, hold(a.items, wc, a.session.Started()), a.req.TopK), a.questions(bare)); err != nil {
			return err
		}
		set := a.found.settings
		set.TopK, set.TopN, set.IncludeScore = a.req.TopK, a.req.TopN, *a.req.IncludeScore
	}
	a.found.degraded = append(a.found.degraded, missing...)
	return nil
}

// question is the message as a question of recall. A budget that is larger than that of
// an answer leaves answers theirs.
func (a *assembly) question() memory.RecallRequest {
	q := memory.RecallRequest{
		Query: a.req.Message, Project: a.req.Project,
		Caller: memory.Caller{Dir: a.req.Caller.Dir, Client: a.req.Caller.Client, Session: a.session.ID},
	}
	if a.req.MaxTokens < memory.DefaultTokens {
		q.MaxTokens = a.req.MaxTokens
	}
	return q
}

// questions are what is asked of the memories.
func (a *assembly) questions(bare bool) []memory.RecallRequest {
	q := a.question()
	q.Explain, q.Kinds = true, []memory.Kind{memory.Lesson}
	if !bare {
		q.Kinds = append(q.Kinds, memory.Step, memory.Chunk)
	}
	return recall.ContextQuestions(q)
}

// withoutSecrets is the question as it can be kept.
func (a *assembly) withoutSecrets() memory.RecallRequest {
	q := a.question()
	for _, text := range []*string{&q.Query, &q.Project, &q.Caller.Dir, &q.Caller.Client} {
		*text, _ = a.s.opts.Writer.Clean(*text, len(*text))
	}
	return q
}

// assemble works out a request context on a working context, and changes that to what
// it is after the turn. It is a pure function of what was gathered.
func (a *assembly) assemble(wc *memory.WorkingContext) (*memory.Assembled, memory.Receipt) {
	h := hold(a.items, wc, a.session.Started())
	if a.loading {
		h.gone = nil // nobody knows that yet
	}
	chosen, withheld := choose(a.items, h, a.found.entries, choice{a.req.TopK, a.req.TopN, *a.req.IncludeScore}, a.s.opts.Recall.Alike)
	b := newBudget(a.req.MaxTokens)
	b.summary(wc.Summary)
	b.held(h, a.window, a.shorter)
	if a.req.Schemas {
		b.schemas(a.items, active(a.items, wc))
	}
	held := b.withheld
	b.withheld = nil
	b.relevant(a.s.opts.Settings.Shares, chosen, a.found.memories, wc)
	wc.Turn++
	guidance := guide(wc, b.guided)
	out := a.out(b, wc, guidance)
	out.Turn = wc.Turn
	out.Withheld = tell(b.withheld, withheld, a.found.withheld, h.out, held)
	receipt := a.receipt(out, b)
	out.Receipt, out.Record = receipt.ID, memory.RecordOf(&receipt)
	return out, receipt
}

// maxWithheld bounds what is told of what was not handed out.
const maxWithheld = 200

// tell joins lists of what is withheld, at most maxWithheld. Each has its share, and what
// it leaves is for the next: a catalogue with a thousand tools that are always included
// must not hide what nearly was relevant.
func tell(lists ...[]memory.Withheld) []memory.Withheld {
	told := []memory.Withheld{}
	for i, list := range lists {
		share := (maxWithheld - len(told)) / (len(lists) - i)
		told = append(told, list[:min(len(list), share)]...)
	}
	return told
}
