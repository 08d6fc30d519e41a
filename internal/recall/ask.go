package recall

import (
	"context"
	"errors"
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

// Ask is Recall without the ledger: the caller may keep the receipt. Ask changes
// nothing. Beside the errors of service.Recall it returns CodeInvalidInput for settings
// out of their range, and CodeNotFound, field "embedder", for an unknown embedder.
func (s *Service) Ask(ctx context.Context, req memory.RecallRequest, opts AskOptions) (*memory.RecallResponse, memory.Receipt, error) {
	r, err := s.newRun(ctx, req, opts)
	if err != nil {
		return nil, memory.Receipt{}, err
	}
	defer r.end()
	way := stages
	if len(req.IDs) > 0 {
		way = idStages
	}
	if err := r.do(way); err != nil {
		return nil, memory.Receipt{}, err
	}
	if !req.Explain { // only the receipt keeps them
		for i := range r.answer.Items {
			r.answer.Items[i].RankFactors = nil
		}
	}
	return r.answer, r.receipt, nil
}

// ended is the error of a search whose request has ended; nil if it has not. A search
// that ran out of time must not look like one that found nothing.
func ended(ctx context.Context) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	return &memory.Error{
		Code: memory.CodeUnavailable, Message: "the request timed out before the search ended",
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
	if err != nil && !errors.Is(err, memory.ErrSeveralSessions) { // then it belongs to no session
		s.opts.Logger.Warn("the current session is unknown", "part", "recall", "project", project, "error", err)
	}
	if !ok {
		return ""
	}
	return open.ID
}
