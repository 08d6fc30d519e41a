// Package ledger lists and explains receipts, stores verdicts, and replays past queries
// under other settings.
//
// Vocabulary. A receipt says what one answer or context contained, what was withheld and
// why. A context's record is the part of its receipt that contract 6 prescribes: its
// items, when and how each was included. A verdict says how an item, or every item of a
// receipt, turned out; an item has one verdict per receipt, the last one. Only verdicts
// count for or against a record; being handed out does not.
//
// A replay compares three results of a query: the recorded one, from its receipt; the one
// before, with the recorded settings on today's data; and the one after, with the new
// settings on today's data. The data explains what differs between recorded and before,
// the settings what differs between before and after. Both queries use the time of the
// receipt as now, so that ages and "the last two hours" stay the same. Of a context, the
// relevant entries and memories are compared, not the entries it always contains, those
// added by hand, and those that its budget left out. A replay writes nothing.
package ledger

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// Store holds receipts and records.
type Store interface {
	// Receipts returns the receipts that a filter chooses, newest first, at most
	// limit, and whether there are more.
	Receipts(f memory.ReceiptFilter, limit int) (found []memory.Receipt, more bool, err error)
	// Receipt and Record return CodeNotFound for an unknown id.
	Receipt(id string) (memory.Receipt, error)
	Record(id string) (memory.Record, error)
}

// Writer commits batches that follow from what is stored.
type Writer interface {
	// WriteWith commits the batch that prepare makes. Nothing is forgotten between the
	// two; an error of prepare is returned as it is.
	WriteWith(ctx context.Context, project memory.Project, prepare func() (memory.Batch, error)) (memory.Committed, error)
}

// Projects finds the project that a caller means.
type Projects interface {
	// Resolve returns the project of an id, a name or a folder, or of the caller's
	// folder when none is named, and whether it is known already.
	Resolve(ctx context.Context, project string, caller memory.Caller) (p memory.Project, known bool, err error)
}

// Sessions finds the session that a caller means.
type Sessions interface {
	// FindSession returns the session with an id, or the current one of the caller.
	// CodeNotFound for an id that no session has, CodeInvalidInput when none is open.
	FindSession(project, id string, caller memory.Caller) (memory.Session, error)
}

// Texts finds what was handed out again.
type Texts interface {
	// PastText has for each item what is left of its text; inside says that the caller asks
	// from the project. See recall.Service.PastText.
	Then(ctx context.Context, project memory.Project, inside bool, items []memory.ReceiptItem) []memory.PastText
}

// Options configure a ledger. The first four fields are required.
type Options struct {
	Store    Store
	Writer   Writer
	Projects Projects
	Sessions Sessions
	// Texts finds the texts of a context again, and Summary that of the summary of a
	// session's compaction. Nil: of none is said what became of it.
	Texts   Texts
	Summary func(key memory.SessionKey, item memory.ReceiptItem) (memory.PastText, error)
	// Clean takes secrets out of a text, which is cut to most characters then, and
	// says how many there were. Default: nothing.
	Clean func(text string, most int) (string, int)
	// Clock gives the time of verdicts. Default time.Now.
	Clock func() time.Time
}

func (o *Options) validate() error {
	for field, missing := range map[string]bool{
		"store": o.Store == nil, "writer": o.Writer == nil, "projects": o.Projects == nil, "sessions": o.Sessions == nil,
	} {
		if missing {
			return memory.Invalid(field, "", "the ledger needs it")
		}
	}
	if o.Clean == nil {
		o.Clean = func(text string, _ int) (string, int) { return text, 0 }
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return nil
}

// Ledger answers for what was handed out: memory.Ledger but for Replay, which
// package replay implements. It is safe for concurrent use.
type Ledger struct {
	opts Options
	// judging is held while a verdict is taken: from reading what was said of a
	// receipt until what is said now is written.
	judging sync.Mutex
}

// New returns a ledger.
func New(opts Options) (*Ledger, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Ledger{opts: opts}, nil
}

var _ interface {
	Receipts(context.Context, memory.ReceiptsRequest) (*memory.ReceiptList, error)
	ContextOf(context.Context, memory.ContextOfRequest) (*memory.TurnContext, error)
	Feedback(context.Context, memory.FeedbackRequest) (*memory.FeedbackResult, error)
} = (*Ledger)(nil)

// Receipts implements memory.Ledger. CodeNotFound for a session that there is not.
func (l *Ledger) Receipts(ctx context.Context, req memory.ReceiptsRequest) (*memory.ReceiptList, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	project, _, err := l.opts.Projects.Resolve(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, err
	}
	if req.SessionID != "" {
		if _, err := l.opts.Sessions.FindSession(project.ID, req.SessionID, req.Caller); err != nil {
			return nil, err
		}
	}
	found, more, err := l.opts.Store.Receipts(memory.ReceiptFilter{
		Project: project.ID, Session: req.SessionID, Turn: req.Turn, Since: req.Since,
	}, req.Limit)
	if err != nil {
		return nil, fmt.Errorf("list receipts: %w", err)
	}
	list := &memory.ReceiptList{Project: project.ID, ProjectName: project.Name, Receipts: found, More: more}
	if found == nil {
		list.Receipts = []memory.Receipt{}
	}
	return list, nil
}

// ContextOf implements memory.Ledger. A turn that was given no context is no error:
// it has no record. The errors are those of session.Which.
func (l *Ledger) ContextOf(ctx context.Context, req memory.ContextOfRequest) (*memory.TurnContext, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	project, _, err := l.opts.Projects.Resolve(ctx, req.Project, req.Caller)
	if err != nil {
		return nil, err
	}
	of, err := l.opts.Sessions.FindSession(project.ID, req.SessionID, req.Caller)
	if err != nil {
		return nil, err
	}
	filter := memory.ReceiptFilter{Project: project.ID, Session: of.ID, Purposes: []memory.Purpose{memory.PurposeContext}}
	if req.Turn > 0 {
		filter.Turn = &req.Turn
	}
	found, _, err := l.opts.Store.Receipts(filter, 1)
	if err != nil {
		return nil, fmt.Errorf("find context: %w", err)
	}
	out := &memory.TurnContext{
		Project: project.ID, ProjectName: project.Name, SessionID: of.ID, Turn: req.Turn,
		Withheld: []memory.Withheld{}, Summary: memory.NoContext, Text: memory.NoContext,
	}
	if len(found) == 0 {
		return out, nil
	}
	r := found[0]
	record := memory.RecordOf(&r)
	if err := l.then(ctx, req, project, &r, &record); err != nil {
		return nil, err
	}
	out.Turn, out.Record, out.Receipt = r.Turn, &record, r.ID
	out.Summary, out.Text = render.RecordSummary(record), render.Record(record)
	out.Withheld = append(out.Withheld, r.Withheld...)
	return out, nil
}

// then says of the items of a record what became of their texts, and adds those that are
// as they were if the request asks for them.
func (l *Ledger) then(ctx context.Context, req memory.ContextOfRequest, project memory.Project, r *memory.Receipt, record *memory.ContextRecord) error {
	then := make([]memory.PastText, len(r.Items))
	if l.opts.Texts != nil {
		inside := memory.AsksFrom(ctx, l.opts.Projects, project.ID, req.Project, req.Caller)
		then = l.opts.Texts.Then(ctx, project, inside, r.Items)
	}
	for i, item := range r.Items {
		if item.Kind == memory.SummaryItem && l.opts.Summary != nil {
			var err error
			if then[i], err = l.opts.Summary(memory.SessionKey{Project: r.Project, ID: r.Session}, item); err != nil {
				return fmt.Errorf("find summary: %w", err)
			}
		}
		if record.Items[i].State = then[i].State; req.Texts {
			record.Items[i].Text = then[i].Text
		}
	}
	return nil
}
