package recall

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// AskOptions change how one question is answered. The zero value changes nothing.
type AskOptions struct {
	// Settings take the place of the service's, and its floors also of one that the
	// question names. A kind without a floor among them keeps its own. Nil changes
	// nothing.
	Settings *memory.AnswerSettings
	// Project is the question's, found before; it is not looked for again.
	Project *memory.Project
	// Outside leaves out what was followed from the files of the project's repository,
	// wherever the question is asked from.
	Outside bool
	// At is the time that the question is asked at: of what it says about time, and
	// of the age of what it finds. Zero is now.
	At time.Time
	// MinRelevance takes the place of the floors of what is matched; nil leaves them.
	// Ask goes by the question's own.
	MinRelevance *float64
}

// Recall answers a question and has the ledger keep its receipt.
func (s *Service) Recall(ctx context.Context, req memory.RecallRequest) (*memory.RecallResponse, error) {
	a, receipt, err := s.Ask(ctx, req, AskOptions{})
	if err != nil {
		return nil, err
	}
	s.opts.Ledger.EnqueueReceipt(receipt)
	return a, nil
}

// Ask is Recall without the ledger: the receipt is the caller's to keep, or not. It
// changes nothing. Beside the errors of memory.Recaller it returns CodeInvalidInput
// for settings out of their range, and CodeNotFound, field "embedder", for one that
// there is not.
func (s *Service) Ask(ctx context.Context, req memory.RecallRequest, opts AskOptions) (*memory.RecallResponse, memory.Receipt, error) {
	none := memory.Receipt{}
	start := s.opts.Clock()
	if err := req.Validate(); err != nil {
		return nil, none, err
	}
	s, err := s.with(opts.Settings)
	if err != nil {
		return nil, none, err
	}
	asked := cmp.Or(opts.At, start)
	caps := s.caps(req, opts.Settings) // before the settings are filled into the question
	inForce := caps
	if len(req.IDs) > 0 { // they are meant to be seen whole
		req.Limit, req.MaxTokens = len(req.IDs), cmp.Or(req.MaxTokens, memory.MaxTokens)
	}
	req.Limit, req.MaxTokens = cmp.Or(req.Limit, s.settings.Limit), cmp.Or(req.MaxTokens, s.settings.MaxTokens)
	project, err := s.project(ctx, req, opts.Project)
	if err != nil {
		return nil, none, err
	}
	sel, err := selection(req, project.ID, asked)
	if err != nil {
		return nil, none, err
	}
	sel.Followed = !opts.Outside && memory.AsksFrom(ctx, s.opts.Projects, project.ID, req.Project, req.Caller)
	if sel.Repos, err = s.repos(ctx, req.Repo, project, sel); err != nil {
		if opts.Project == nil {
			return nil, none, err
		}
		sel.Repos = []string{req.Repo} // asked again: it was known when it was asked first
	}
	if sel.Session, err = s.session(req.Scope, project.ID, req.Caller); err != nil {
		return nil, none, err
	}

	if len(req.IDs) > 0 {
		return s.answerWhole(ctx, req, project, sel, start)
	}
	found := s.search(ctx, req, sel)
	if ctx.Err() != nil {
		return nil, none, ended(ctx)
	}
	floors := s.thresholds(req, opts.Settings)
	above, below := aboveThreshold(found.candidates, floors)
	from := rankContext{now: asked, project: project.ID, names: project.Names, session: req.Caller.Session}
	ranked := leadLessons(rank(above, s.settings.HalfLife, from), req.Limit)
	s.ownVersions(ranked, req.Caller.Dir)
	caps.tokens = req.MaxTokens - head(req.MaxTokens) - min(tokens(degradedLine(found.degraded)), req.MaxTokens/8)
	if why := s.opts.ReadOnly(); why != "" {
		found.degraded = append(found.degraded, memory.Degraded{Part: partStore, Reason: why})
	}
	shown := s.fill(ctx, req, sel, found, caps, ranked)

	a := &memory.RecallResponse{
		Project: project.ID, ProjectName: project.Name,
		Items:    shown.items,
		Withheld: append(shown.withheld, below...),
		Degraded: append(append(s.lost(), found.degraded...), shown.degraded...),
		Stale:    s.opts.Stale(project.ID, slices.ContainsFunc(shown.withheld, outdated)),
		Redacted: shown.redacted,
		Receipt:  receiptID(start),
	}
	a.Why = cmp.Or(s.whyLost(), found.incomplete, shown.incomplete)
	a.Incomplete = a.Why != ""
	a.NothingRelevant = len(above)+len(shown.items) == 0 && !a.Incomplete
	s.nameWithheld(a.Withheld)
	fit(a, req)
	s.nameWithheld(a.Withheld) // those that did not fit
	a.Withheld = a.Withheld[:min(len(a.Withheld), maxWithheld)]
	receipt := s.receiptOf(req, a, found, shown, start)
	receipt.Settings = s.inForce(floors, inForce)
	if !req.Explain {
		for i := range a.Items {
			a.Items[i].RankFactors = nil
		}
	}
	return a, receipt, nil
}

// answerWhole answers a request for ids.
func (s *Service) answerWhole(ctx context.Context, req memory.RecallRequest, project memory.Project, sel memory.Selection, start time.Time) (*memory.RecallResponse, memory.Receipt, error) {
	shown, err := s.askWhole(ctx, req, project, sel)
	if err != nil {
		return nil, memory.Receipt{}, err
	}
	a := &memory.RecallResponse{
		Project: project.ID, ProjectName: project.Name, Items: shown.items, Withheld: shown.withheld,
		Redacted: shown.redacted, Receipt: receiptID(start),
	}
	fit(a, req)
	return a, s.receiptOf(req, a, found{seq: s.opts.Corpus.Seq()}, shown, start), nil
}

// receiptOf is the receipt of an answer, with the session that asked.
func (s *Service) receiptOf(req memory.RecallRequest, a *memory.RecallResponse, found found, shown shown, start time.Time) memory.Receipt {
	receipt := s.receipt(req, a, found, start)
	if receipt.Session = s.asker(a.Project, req.Caller); receipt.Session != "" {
		receipt.Turn = s.opts.Turn(memory.SessionKey{Project: a.Project, ID: receipt.Session})
	}
	for i, item := range receipt.Items {
		receipt.Items[i].Name, receipt.Items[i].Server = shown.names[item.ID].name, shown.names[item.ID].server
	}
	return receipt
}

// ended is why a search whose request has ended gives no answer. Out of time is no
// "nothing": it can be asked again.
func ended(ctx context.Context) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	return &memory.Error{
		Code: memory.CodeUnavailable, Message: "the request's time was over before the search was",
		Hint: "ask again, or allow more time", Cause: ctx.Err(),
	}
}

// project is the project that a question is about.
func (s *Service) project(ctx context.Context, req memory.RecallRequest, known *memory.Project) (memory.Project, error) {
	if known != nil {
		return *known, nil
	}
	p, _, err := s.opts.Projects.Resolve(ctx, req.Project, req.Caller)
	return p, err
}

// asker returns the session that a receipt is of: the one that the caller says, open
// or ended, and else its current one; empty if there is none. A caller that looks into
// another project than its session's has none there.
func (s *Service) asker(project string, caller memory.Caller) string {
	if caller.Session != "" {
		// While it is loading, the shelf knows none.
		if s.sessionKnown(project, caller.Session) || s.ready() != nil {
			return s.clean(caller.Session)
		}
		return ""
	}
	if s.opts.Current == nil {
		return ""
	}
	open, ok, err := s.opts.Current.CurrentSession(project, caller)
	if err != nil && !errors.Is(err, memory.ErrSeveralSessions) { // then it is nobody's
		s.opts.Logger.Warn("the current session is not known", "part", "recall", "project", project, "error", err)
	}
	if !ok {
		return ""
	}
	return open.ID
}
