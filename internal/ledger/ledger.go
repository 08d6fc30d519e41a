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
	"strings"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
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

// Writer is the write path.
type Writer interface {
	// WriteWith commits the batch that prepare makes. Nothing is forgotten between the
	// two; an error of prepare is returned as it is.
	WriteWith(ctx context.Context, project memory.Project, prepare func() (memory.Batch, error)) (memory.Committed, error)
	// Clean removes the secrets of a text and returns their number. A text that held one is
	// cut to most characters.
	Clean(text string, most int) (clean string, n int)
}

// Catalogue lists the entries of a project.
type Catalogue interface {
	Items(project string) []memory.EntryState
}

// Options configure a Ledger. The fields up to Catalogue are required.
type Options struct {
	Store     Store
	Writer    Writer
	Projects  memory.ProjectResolver
	Sessions  memory.SessionFinder
	Recall    *recall.Service
	Catalogue Catalogue
	// Summary returns what is left of the summary of a session's compaction. With nil,
	// explanations do not say.
	Summary func(key memory.SessionKey, item memory.ReceiptItem) (memory.PastText, error)
	// Choice is how contexts choose entries today. It is required.
	Choice Choice
	// Clock gives the time of verdicts. Default time.Now.
	Clock func() time.Time
}

func (o *Options) validate() error {
	if err := memory.Required(map[string]bool{
		"store": o.Store == nil, "writer": o.Writer == nil, "projects": o.Projects == nil, "sessions": o.Sessions == nil,
		"recall": o.Recall == nil, "catalogue": o.Catalogue == nil,
	}); err != nil {
		return err
	}
	if o.Choice.TopK < 1 || o.Choice.TopN < 1 {
		return memory.Invalid("choice", "at least 1", "%d of %d entries", o.Choice.TopN, o.Choice.TopK)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return nil
}

// Ledger lists, explains, judges and replays receipts. It is safe for concurrent use.
type Ledger struct {
	opts Options
	// judging is held from reading the verdicts of a receipt until a new one is written.
	judging sync.Mutex
}

// New returns a ledger.
func New(opts Options) (*Ledger, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Ledger{opts: opts}, nil
}

// Receipts carries out service.Receipts. CodeNotFound for an unknown session.
func (l *Ledger) Receipts(ctx context.Context, req memory.ReceiptsRequest) (*memory.ReceiptList, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	project, err := l.project(ctx, req.Project, req.SessionID, req.Caller)
	if err != nil {
		return nil, err
	}
	if req.Before != "" {
		if req.Before, err = l.before(project.ID, req.Before); err != nil {
			return nil, err
		}
	}
	found, more, err := l.opts.Store.Receipts(memory.ReceiptFilter{
		Project: project.ID, Session: req.SessionID, Turn: req.Turn, Since: req.Since, Before: req.Before,
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

// before returns the whole id of a project's receipt: receipts are in the order of their ids,
// which a part of one has not. A whole id stands for its time, also when its receipt is no
// longer kept, for who reads a list on.
func (l *Ledger) before(project, id string) (string, error) {
	r, err := l.receipt("before", id)
	switch code := memory.CodeOf(err); {
	case code == memory.CodeNotFound && len(id) == memory.ReceiptLength && strings.HasPrefix(id, "rc-"):
		return id, nil
	case code == memory.CodeInvalidInput: // the ids of others are not the client's to see
		return "", memory.Invalid("before", "a part that one receipt has", "several receipts are called %s", memory.Quote(id))
	case err == nil && r.Project != project:
		err = memory.NoReceipt("before", id, nil)
	}
	return r.ID, err
}

// project returns the project of a request. CodeNotFound if the request names a session that
// the project does not have.
func (l *Ledger) project(ctx context.Context, name, session string, caller memory.Caller) (memory.Project, error) {
	project, _, err := l.opts.Projects.Resolve(ctx, name, caller)
	if err == nil && session != "" {
		_, err = l.opts.Sessions.FindSession(project.ID, session, caller)
	}
	return project, err
}

// ContextOf carries out service.ContextOf. A turn without a context has no record, which is not
// an error. It returns the errors of Sessions.
func (l *Ledger) ContextOf(ctx context.Context, req memory.ContextOfRequest) (*memory.TurnContext, error) {
	if err := memory.Check(&req); err != nil {
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

// then sets whether the texts of a record's items have changed, and adds the unchanged texts
// if the request asks for them.
func (l *Ledger) then(ctx context.Context, req memory.ContextOfRequest, project memory.Project, r *memory.Receipt, record *memory.ContextRecord) error {
	inside := memory.AsksFrom(ctx, l.opts.Projects, project.ID, req.Project, req.Caller)
	then := l.opts.Recall.Then(ctx, project, inside, r.Items)
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
