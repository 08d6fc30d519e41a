package recall

import (
	"context"
	"errors"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// AskOptions change how one question is answered. The zero value changes nothing.
type AskOptions struct {
	// Settings replace the service's settings. Their thresholds also replace the one that
	// the question names. A kind without a threshold keeps its own. Nil changes nothing.
	Settings *memory.AnswerSettings
	// Project is the question's project, if it is already resolved.
	Project *memory.Project
	// Outside leaves out records that were followed from the files of the project's
	// repository, even if the question is asked from there.
	Outside bool
	// NoLines leaves out what would be told in a line.
	NoLines bool
	// At is the time of the question. Its time filters and the age of records refer to it.
	// Zero means now.
	At time.Time
	// MinRelevance replaces the thresholds of Match; nil keeps them. Ask uses the
	// question's own threshold.
	MinRelevance *float64
}

// Recall answers a question and records its receipt in the ledger, unless the question is
// still being typed.
func (s *Service) Recall(ctx context.Context, req memory.RecallRequest) (*memory.RecallResponse, error) {
	a, receipt, err := s.Ask(ctx, req, AskOptions{})
	if err == nil && !req.Typing {
		s.opts.Ledger.EnqueueReceipt(receipt)
	}
	return a, err
}

// Ask is Recall without the ledger. It returns the receipt, and it stores nothing. Besides
// the errors of service.Recall it returns CodeInvalidInput for settings out of range, and
// CodeNotFound, field "embedder", for an unknown embedder.
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
	} else if len(req.IDs) == 0 { // what was asked for by its id may be withheld because it is another project's
		r.answer.Withheld = r.titled(r.answer.Withheld)
	}
	return r.answer, r.receipt, nil
}

// ended returns an error if the request of a search has ended, otherwise nil. A search
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

// asker returns the session that a receipt belongs to: the one that the caller names, open
// or ended, otherwise the caller's current one. It returns "" if there is none, also for a
// caller that asks about a project other than its session's.
func (s *Service) asker(project string, caller memory.Caller) string {
	if caller.Session != "" {
		// A corpus that is still loading knows no sessions.
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
