package agentctx

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
)

// EntryLister lists the entries of a project.
type EntryLister interface {
	// Items returns them with their settings, in the order of registration. The result is
	// read-only.
	Items(project string) []memory.EntryState
}

// Summarizer writes texts with a chat model.
type Summarizer interface {
	// Summarize returns the model's answer to a prompt, and the model's name. Callers report
	// its errors as CodeUnavailable.
	Summarize(ctx context.Context, prompt string) (text, model string, err error)
}

// Receipts writes and reads receipts.
type Receipts interface {
	// EnqueueReceipt writes a receipt a little later.
	EnqueueReceipt(memory.Receipt)
	// Receipts returns the receipts that a filter selects, newest first, at most limit.
	Receipts(f memory.ReceiptFilter, limit int) (found []memory.Receipt, more bool, err error)
}

// Recall is the read path; see recall.Service.
type Recall interface {
	// Ask answers a query for lessons, steps and code. The caller writes its receipt.
	Ask(ctx context.Context, req memory.RecallRequest, opts recall.AskOptions) (*memory.RecallResponse, memory.Receipt, error)
	// Match finds the catalogue entries that are relevant to a text.
	Match(ctx context.Context, text string, sel memory.Selection, limit int, opts recall.AskOptions) (recall.Matches, error)
	// Alike reports whether two texts are near-duplicates.
	Alike(a, b string) bool
	// Then returns the texts that a receipt's items had.
	Then(ctx context.Context, project memory.Project, inside bool, items []memory.ReceiptItem) []memory.PastText
	// Pinned returns the pinned lessons of a project. Proven returns those that have worked
	// best.
	Pinned(ctx context.Context, project string, caller memory.Caller, n int) ([]memory.Item, error)
	Proven(ctx context.Context, project memory.Project, caller memory.Caller, n int) ([]memory.Item, error)
	// LastSteps returns the newest steps of a session.
	LastSteps(ctx context.Context, req memory.LastStepsRequest) (*memory.StepList, error)
	// SummarizeSession summarizes the steps of a session.
	SummarizeSession(ctx context.Context, req memory.SummarizeRequest) (*memory.Summary, error)
}

// TaskReader reads the tasks of a project; see Tasks.
type TaskReader interface {
	TaskWindow(ctx context.Context, req memory.TaskWindowRequest) (*memory.TaskWindow, error)
	// Settings returns the settings of a type of task.
	Settings(project memory.Project, taskType string) TaskTypeSettings
}

// ContextOptions configure Contexts. The fields up to Tasks are required.
type ContextOptions struct {
	Ports
	Sessions  memory.SessionFinder
	Receipts  Receipts
	Catalogue EntryLister
	Recall    Recall
	Tasks     TaskReader
	// Summarizer writes the summary of a compaction when the host gives none. With nil,
	// the host must.
	Summarizer Summarizer
	// SummaryTimeout bounds the Summarizer for one compaction. Default 1 minute.
	SummaryTimeout time.Duration
	// Settings are the user's choices. They are required.
	Settings AssemblySettings
}

func (o *ContextOptions) validate() error {
	if err := o.Ports.validate(); err != nil {
		return err
	}
	if err := memory.Required(map[string]bool{
		"sessions": o.Sessions == nil, "receipts": o.Receipts == nil, "catalogue": o.Catalogue == nil,
		"recall": o.Recall == nil, "tasks": o.Tasks == nil,
	}); err != nil {
		return err
	}
	o.SummaryTimeout = cmp.Or(o.SummaryTimeout, time.Minute)
	return memory.Check(&o.Settings)
}

// Contexts keeps the contexts of sessions. It is safe for concurrent use.
type Contexts struct {
	opts   ContextOptions
	shares map[memory.Kind]float64 // defaultShares, except in tests
}

// NewContexts returns Contexts.
func NewContexts(opts ContextOptions) (*Contexts, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Contexts{opts, defaultShares}, nil
}

// visibleItems returns the catalogue of a project for a caller. Entries from the
// repository's files come last, and are left out for a caller outside the project.
func (s *Contexts) visibleItems(ctx context.Context, project string, which memory.SessionRef) []memory.EntryState {
	inside := memory.AsksFrom(ctx, s.opts.Projects, project, which.Project, which.Caller)
	all := s.opts.Catalogue.Items(project)
	if !slices.ContainsFunc(all, memory.EntryState.Followed) {
		return all
	}
	items := slices.DeleteFunc(slices.Clone(all), func(e memory.EntryState) bool { return e.Followed() && !inside })
	slices.SortStableFunc(items, func(a, b memory.EntryState) int { return followedLast(&a, &b) })
	return items
}

// followedLast sorts entries from the repository's files last.
func followedLast(a, b *memory.EntryState) int {
	switch {
	case a.Followed() == b.Followed():
		return 0
	case a.Followed():
		return 1
	}
	return -1
}

// find checks a request and returns the project and the session that it is about. The
// reference is the request's.
func (s *Contexts) find(ctx context.Context, request any, which *memory.SessionRef) (memory.Project, memory.Session, error) {
	project, err := s.opts.project(ctx, request, &which.Project, &which.Caller)
	if err != nil {
		return memory.Project{}, memory.Session{}, err
	}
	session, err := s.opts.Sessions.FindSession(project.ID, which.SessionID, which.Caller)
	return project, session, err
}

// findLoaded is find, or CodeUnavailable until all records are in memory.
func (s *Contexts) findLoaded(ctx context.Context, request any, which *memory.SessionRef) (memory.Project, memory.Session, error) {
	if err := s.opts.ready(); err != nil {
		return memory.Project{}, memory.Session{}, err
	}
	return s.find(ctx, request, which)
}
