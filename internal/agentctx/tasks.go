package agentctx

import (
	"context"
	"fmt"
	"hash/maphash"
	"log/slog"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// AuditFile appends a line to the audit file of the caller's repository and returns
// the file's path; no path where the caller is in no repository of the project.
type AuditFile func(ctx context.Context, caller memory.Caller, project string, line []byte) (path string, err error)

// TaskOptions configure working memory. The fields up to Tokens are required.
type TaskOptions struct {
	Writer   Writer
	Projects Projects
	Shelf    Records
	Store    Store
	// Tokens counts the tokens of a text.
	Tokens func(text string) int
	// Loaded says that the shelf holds all that is stored. Until then the store is
	// asked, which is slow and right. Nil is always.
	Loaded func() bool
	// AuditFile appends every event to a file as well; nil does not.
	AuditFile AuditFile
	// TaskSettings are by default DefaultTaskSettings.
	Settings *TaskSettings
	// Clock gives the time of what does not say it. Default time.Now.
	Clock func() time.Time
	// Logger receives what is only a warning to the caller. Default: discarded.
	Logger *slog.Logger
}

func (o *TaskOptions) validate() error {
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
		o.Settings = new(DefaultTaskSettings())
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o.Settings.validate()
}

// Tasks is working memory. It is safe for concurrent use.
type Tasks struct {
	opts TaskOptions
	seed maphash.Seed // of turns
	// turns guard what a project holds between the reading of its state and the
	// commit of the next: each the projects whose ids fall on it. There are more than
	// writers at a time, so that projects seldom wait for one another.
	turns [64]sync.Mutex
}

// NewTasks returns working memory over what the options name.
func NewTasks(opts TaskOptions) (*Tasks, error) {
	if err := opts.validate(); err != nil {
		return nil, fmt.Errorf("make working memory: %w", err)
	}
	return &Tasks{opts: opts, seed: maphash.MakeSeed()}, nil
}

// now is the time of an event, in milliseconds as that of every record.
func (s *Tasks) now() time.Time { return s.opts.Clock().UTC().Truncate(time.Millisecond) }

// change commits what prepare makes of the state of a project, as the only writer of
// that state. A request that was done before is answered as then, even where the
// state would refuse it now: that it was done may be why.
func (s *Tasks) change(ctx context.Context, p memory.Project, requestID string, prepare func() (memory.Batch, error)) (memory.Committed, error) {
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
