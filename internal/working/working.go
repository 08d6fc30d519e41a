// Package working is working memory (contract 3): what was done and what is blocked
// in a project.
//
// Vocabulary. A completed task and a blocker are records, of kinds task and blocker;
// together they are the state of a project. The state is bounded: the oldest
// completed tasks give way to new ones, a blocker never does. A task is opaque
// unless it requires context: its intent and summary are not kept. The window is
// what a prompt is shown of the state: the last completed tasks and all blockers. An
// event is one change of the state; the audit log keeps every event in full, so
// that what gave way can still be read there. An old state is one that another
// program kept, or that was kept before.
package working

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// Writer is the write path.
type Writer interface {
	// WriteWith commits a batch that is made by prepare of what it reads, with the
	// project if that is not stored.
	WriteWith(ctx context.Context, p memory.Project, prepare func() (memory.Batch, error)) (memory.Committed, error)
	// Clean takes the secrets out of a text and says how many; it cuts what it
	// redacted to most characters.
	Clean(text string, most int) (clean string, n int)
	// CleanJSON is Clean for the texts of a JSON value.
	CleanJSON(raw json.RawMessage) (clean json.RawMessage, n int)
}

// Projects finds the project that a caller means.
type Projects interface {
	Resolve(ctx context.Context, project string, caller memory.Caller) (p memory.Project, known bool, err error)
}

// Shelf holds the records of tasks and blockers in memory.
type Shelf interface {
	// Entries returns the records of some kinds, by Created and then by id. What they
	// point to must not be written to.
	Entries(project string, kinds ...memory.Kind) []memory.Record
}

// Store is what is stored.
type Store interface {
	// ProjectRecords walks the records of a kind. It may read all there are.
	ProjectRecords(project string, kind memory.Kind) iter.Seq2[memory.Record, error]
	// Tombstoned says whether an id was forgotten.
	Tombstoned(id string) (bool, error)
	// AuditBack walks the audit log backwards, from before an update on or, with 0, from
	// its end: the lines of one update at a time. It reads no more than it yields.
	AuditBack(before uint64) iter.Seq2[[]memory.AuditEntry, error]
}

// AuditFile appends a line to the audit file of the caller's repository and returns
// the file's path; no path where the caller is in no repository of the project.
type AuditFile func(ctx context.Context, caller memory.Caller, project string, line []byte) (path string, err error)

// Options configure working memory. The fields up to Tokens are required.
type Options struct {
	Writer   Writer
	Projects Projects
	Shelf    Shelf
	Store    Store
	// Tokens counts the tokens of a text.
	Tokens func(text string) int
	// Loaded says that the shelf holds all that is stored. Until then the store is
	// asked, which is slow and right. Nil is always.
	Loaded func() bool
	// AuditFile appends every event to a file as well; nil does not.
	AuditFile AuditFile
	// Settings are by default DefaultSettings.
	Settings *Settings
	// Clock gives the time of what does not say it. Default time.Now.
	Clock func() time.Time
	// Logger receives what is only a warning to the caller. Default: discarded.
	Logger *slog.Logger
}

func (o *Options) validate() error {
	for field, missing := range map[string]bool{
		"writer": o.Writer == nil, "projects": o.Projects == nil, "shelf": o.Shelf == nil, "store": o.Store == nil, "tokens": o.Tokens == nil,
	} {
		if missing {
			return memory.Invalid(field, "", "working memory needs it")
		}
	}
	if o.Loaded == nil {
		o.Loaded = func() bool { return true }
	}
	if o.Settings == nil {
		o.Settings = new(DefaultSettings())
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o.Settings.validate()
}

// Service is working memory. It is safe for concurrent use.
type Service struct {
	opts Options
	seed maphash.Seed // of turns
	// turns guard what a project holds between the reading of its state and the
	// commit of the next: each the projects whose ids fall on it. There are more than
	// writers at a time, so that projects seldom wait for one another.
	turns [64]sync.Mutex
}

var _ memory.WorkingMemory = (*Service)(nil)

// New returns working memory over what the options name.
func New(opts Options) (*Service, error) {
	if err := opts.validate(); err != nil {
		return nil, fmt.Errorf("make working memory: %w", err)
	}
	return &Service{opts: opts, seed: maphash.MakeSeed()}, nil
}

// now is the time of an event, in milliseconds as that of every record.
func (s *Service) now() time.Time { return s.opts.Clock().UTC().Truncate(time.Millisecond) }

// change commits what prepare makes of the state of a project, as the only writer of
// that state. A request that was done before is answered as then, even where the
// state would refuse it now: that it was done may be why.
func (s *Service) change(ctx context.Context, p memory.Project, requestID string, prepare func() (memory.Batch, error)) (memory.Committed, error) {
	turn := &s.turns[maphash.String(s.seed, p.ID)%uint64(len(s.turns))]
	turn.Lock()
	defer turn.Unlock()
	return s.opts.Writer.WriteWith(ctx, p, func() (memory.Batch, error) {
		b, err := prepare()
		if err != nil && requestID != "" {
			b, err = memory.Batch{Refused: err}, nil
		}
		b.RequestID = requestID
		return b, err
	})
}

// errOtherRequest is the error for a request's id under which something else was
// done.
func errOtherRequest() error {
	return &memory.Error{Code: memory.CodeConflict, Field: "request_id", Message: "it is the id of another request"}
}
