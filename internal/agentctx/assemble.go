package agentctx

import (
	"cmp"
	"context"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
)

// AssemblySettings are the user's choices for contexts. A request may override them.
type AssemblySettings struct {
	// MaxTokens is the budget.
	MaxTokens int `json:"max_tokens" limit:"50-100000"`
	// TopK matches are considered, TopN of them taken, and all that score IncludeScore
	// or more (contract 6).
	TopK         int     `json:"top_k" limit:"1-200"`
	TopN         int     `json:"top_n" limit:"1-50"`
	IncludeScore float64 `json:"include_score" limit:"0-1"`
	// KeepTurns is the number of recent turns that a host should keep after a compaction.
	KeepTurns int `json:"keep_turns" limit:"1-100"`
}

// assembly is a request context in the making.
type assembly struct {
	s          *Contexts
	start      time.Time
	project    memory.Project
	session    memory.Session
	req        memory.AssembleRequest
	kept       memory.RecallRequest // the request as its receipt has it
	items      []memory.EntryState
	loading    bool // the items may not be all
	result     searchResult
	tasks      *memory.TaskWindow
	fewerTasks func(n int) *memory.TaskWindow
}

// Assemble carries out service.Assemble.
func (s *Contexts) Assemble(ctx context.Context, req memory.AssembleRequest) (*memory.Assembled, error) {
	a := &assembly{s: s, start: s.opts.Clock()}
	var err error
	if a.project, a.session, err = s.find(ctx, &req, &req.SessionRef); err != nil {
		return nil, err
	}
	a.req = s.opts.Settings.fill(req)
	a.kept = a.withoutSecrets()
	a.loading = !s.opts.Records.Loaded() // before they are read, or the last may be missed
	a.items = s.visibleItems(ctx, a.project.ID, req.SessionRef)
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
		return a.repeat(ctx, w.context)
	}
	return out, nil
}

// fill sets what a request leaves open.
func (s *AssemblySettings) fill(req memory.AssembleRequest) memory.AssembleRequest {
	req.TopK, req.TopN = cmp.Or(req.TopK, s.TopK), cmp.Or(req.TopN, s.TopN)
	req.MaxTokens = cmp.Or(req.MaxTokens, s.MaxTokens)
	req.IncludeScore = cmp.Or(req.IncludeScore, &s.IncludeScore)
	return req
}

// gather reads the tasks and searches. History (tasks and steps) and code are left out if
// the task requires no context; lessons are not.
func (a *assembly) gather(ctx context.Context) error {
	bare := a.req.RequiresContext != nil && !*a.req.RequiresContext ||
		a.req.RequiresContext == nil && a.s.opts.Tasks.Settings(a.project, a.req.TaskType).LeaveOut
	var missing []memory.Degraded
	if a.loading {
		missing = append(missing, memory.Degraded{Part: partCatalogue, Reason: "loading"})
		defer func() { a.result.incomplete = cmp.Or(a.result.incomplete, "the catalogue is loading") }()
	}
	if tasks := a.s.opts.Tasks; !bare {
		request := memory.TaskWindowRequest{TaskType: a.req.TaskType, Project: a.project.ID, Caller: a.req.Caller}
		summary, err := tasks.TaskWindow(ctx, request)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			missing = append(missing, memory.Degraded{Part: partTasks, Reason: memory.AsError(err).Message})
			a.s.opts.Logger.Warn("the task summary is missing", "part", "session", "project", a.project.ID, "error", err)
		default:
			a.tasks = summary
		}
		a.fewerTasks = func(n int) *memory.TaskWindow {
			request.Limit = n
			fewer, err := tasks.TaskWindow(ctx, request)
			if err != nil {
				return nil
			}
			return fewer
		}
	}
	if a.req.NoSearch {
		a.result.degrade(partSearch, "switched off")
	} else {
		wc, err := a.s.loadHead(a.session.Key())
		if err != nil {
			return err
		}
		if a.result, err = a.s.search(ctx, a.project, a.req.Message, entrySearchFor(a.items, sessionContextOf(a.items, wc, a.session.Started()), a.req.TopK), a.questions(bare)); err != nil {
			return err
		}
		set := a.result.settings
		set.TopK, set.TopN, set.IncludeScore = a.req.TopK, a.req.TopN, *a.req.IncludeScore
	}
	a.result.degraded = append(a.result.degraded, missing...)
	return nil
}

// question returns the message as a question for recall. A budget above the answer's does not
// enlarge the answer.
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

// questions are the queries for memories.
func (a *assembly) questions(bare bool) []memory.RecallRequest {
	q := a.question()
	q.Explain, q.Kinds = true, []memory.Kind{memory.Lesson}
	if !bare {
		q.Kinds = append(q.Kinds, memory.Step, memory.Chunk)
	}
	return recall.ContextQuestions(q)
}

// withoutSecrets is the query as it can be stored: like that of an answer, without a whole log.
func (a *assembly) withoutSecrets() memory.RecallRequest {
	q := a.question()
	a.s.clean(&q.Query, &q.Project, &q.Caller.Dir, &q.Caller.Client)
	q.Query = recall.Digest(q.Query)
	return q
}

// assemble makes the request context for a working context, and updates the working context.
// It is a pure function of what was gathered.
func (a *assembly) assemble(wc *memory.WorkingContext) (*memory.Assembled, memory.Receipt) {
	h := sessionContextOf(a.items, wc, a.session.Started())
	if a.loading {
		h.gone = nil // not known yet
	}
	chosen, withheld := choose(a.items, h, a.result.entries, choice{a.req.TopK, a.req.TopN, *a.req.IncludeScore}, a.s.opts.Recall.Alike)
	b := newBudget(a.req.MaxTokens)
	b.schemas = a.req.Schemas
	b.addSummary(wc.Summary)
	b.addSessionContext(h, a.tasks, a.fewerTasks)
	if a.req.Schemas {
		b.addSchemas(a.items, active(a.items, wc))
	}
	fromSession := b.withheld
	b.withheld = nil
	b.addRelevant(a.s.shares, chosen, a.result.memories, wc)
	wc.Turn++
	guidance := guide(wc, b.guided)
	out := a.out(b, wc, guidance)
	out.Turn = wc.Turn
	out.Withheld = joinWithheld(b.withheld, withheld, a.result.withheld, h.out, fromSession)
	receipt := a.receipt(out, b)
	out.Receipt, out.Record = receipt.ID, memory.RecordOf(&receipt)
	return out, receipt
}

// maxWithheld bounds the withheld items of an answer.
const maxWithheld = 200

// joinWithheld joins lists of withheld items, at most maxWithheld together. Each list has a
// share, and leaves its rest to the next: a thousand tools that are always included must not
// hide what was nearly relevant.
func joinWithheld(lists ...[]memory.Withheld) []memory.Withheld {
	all := []memory.Withheld{}
	for i, list := range lists {
		share := (maxWithheld - len(all)) / (len(lists) - i)
		all = append(all, list[:min(len(list), share)]...)
	}
	return all
}
