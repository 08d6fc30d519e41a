package agentctx

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/recall"
)

// Sessions finds the session that a request means.
type Sessions interface {
	// FindSession returns the session with an id, or the current one of the caller.
	// CodeNotFound for an id that no session has, CodeInvalidInput when none is open.
	FindSession(project, id string, caller memory.Caller) (memory.Session, error)
}

// Entries lists the entries of a project.
type Entries interface {
	// Items returns them with what applies to them, in the order in which they were
	// registered. Nobody writes to what it returns.
	Items(project string) []memory.EntryState
}

// Matcher finds entries by meaning.
type Matcher interface {
	// Match finds the records of a selection that have to do with a text; see
	// recall.Contexts.Match.
	Match(ctx context.Context, text string, sel memory.Selection, limit int, opts recall.AskOptions) (recall.Matches, error)
}

// Receipts keeps receipts that need not be durable at once.
type Receipts interface{ EnqueueReceipt(memory.Receipt) }

// Steps tells what a session did.
type Steps interface {
	SummarizeSession(ctx context.Context, req memory.HistoryRequest) (*memory.Summary, error)
}

// Summarizer writes texts with a chat model.
type Summarizer interface {
	// Summarize returns what the model answers to a prompt, and the model's name. Its
	// errors are told to the caller as CodeUnavailable.
	Summarize(ctx context.Context, prompt string) (text, model string, err error)
}

// ContextOptions configure a Contexts. The fields up to Steps are required.
type ContextOptions struct {
	Projects  Projects
	Sessions  Sessions
	States    States
	Writer    Writer
	Catalogue Entries
	Matcher   Matcher
	Receipts  Receipts
	Steps     Steps
	// Summarizer writes the summary of a compaction where the host gives none. Nil:
	// nobody does.
	Summarizer Summarizer
	// SummaryTimeout bounds what the Summarizer takes for one compaction; 1 minute.
	SummaryTimeout time.Duration
	// Assembly is what request contexts are made from.
	Assembly Assembly
	// KeepTurns is how many recent turns a host is told to keep after a compaction,
	// 1–100; DefaultKeepTurns when zero.
	KeepTurns int
	// Clock gives the time of writes. Default time.Now.
	Clock func() time.Time
	// Logger is told what is wrong and not worth an error. Default: silent.
	Logger *slog.Logger
}

func (o *ContextOptions) validate() error {
	for field, missing := range map[string]bool{
		"projects": o.Projects == nil, "sessions": o.Sessions == nil, "states": o.States == nil,
		"writer": o.Writer == nil, "catalogue": o.Catalogue == nil, "steps": o.Steps == nil,
		"matcher": o.Matcher == nil, "receipts": o.Receipts == nil,
	} {
		if missing {
			return memory.Invalid(field, "", "contexts need it")
		}
	}
	if o.KeepTurns == 0 {
		o.KeepTurns = memory.DefaultKeepTurns
	}
	if o.KeepTurns < 1 || o.KeepTurns > memory.MaxKeepTurns {
		return memory.Invalid("keep_turns", fmt.Sprintf("1–%d", memory.MaxKeepTurns), "%d is out of range", o.KeepTurns)
	}
	if o.SummaryTimeout = cmp.Or(o.SummaryTimeout, time.Minute); o.SummaryTimeout < 0 {
		return memory.Invalid("summary_timeout", "more than 0", "%v is negative", o.SummaryTimeout)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o.Assembly.validate()
}

// Contexts keeps the contexts of sessions. It is safe for concurrent use.
type Contexts struct{ opts ContextOptions }

// NewContexts returns a Contexts.
func NewContexts(opts ContextOptions) (*Contexts, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Contexts{opts: opts}, nil
}

// now is the time of a write, in milliseconds as other programs keep it.
func (s *Contexts) now() time.Time { return s.opts.Clock().UTC().Truncate(time.Millisecond) }

// items returns the entries of a project's catalogue for a caller: what was followed
// from files of its repository is last, and left out for one who asks from elsewhere.
func (s *Contexts) items(ctx context.Context, project string, which memory.SessionRef) []memory.EntryState {
	inside := memory.AsksFrom(ctx, s.opts.Projects, project, which.Project, which.Caller)
	all := s.opts.Catalogue.Items(project)
	if !slices.ContainsFunc(all, memory.EntryState.Followed) {
		return all
	}
	items := slices.DeleteFunc(slices.Clone(all), func(e memory.EntryState) bool { return e.Followed() && !inside })
	slices.SortStableFunc(items, func(a, b memory.EntryState) int {
		switch {
		case a.Followed() == b.Followed():
			return 0
		case a.Followed():
			return 1
		}
		return -1
	})
	return items
}

// find returns the project and the session that a request means.
func (s *Contexts) find(ctx context.Context, which memory.SessionRef) (memory.Project, memory.Session, error) {
	project, _, err := s.opts.Projects.Resolve(ctx, which.Project, which.Caller)
	if err != nil {
		return memory.Project{}, memory.Session{}, err
	}
	meant, err := s.opts.Sessions.FindSession(project.ID, which.SessionID, which.Caller)
	return project, meant, err
}
