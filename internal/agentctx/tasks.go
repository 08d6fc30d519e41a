package agentctx

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"

	"github.com/recalld/recalld/internal/memory"
)

// AuditFile appends a line to the audit file of the caller's repository and returns the path
// of the file, or no path if the caller is in no repository of the project.
type AuditFile func(ctx context.Context, caller memory.Caller, project string, line []byte) (path string, err error)

// TaskOptions configure Tasks.
type TaskOptions struct {
	Ports
	// AuditFile also appends every event to a file. Nil writes no file.
	AuditFile AuditFile
	// Settings are by default DefaultTaskSettings.
	Settings *TaskSettings
}

func (o *TaskOptions) validate() error {
	if err := o.Ports.validate(); err != nil {
		return err
	}
	if o.Settings == nil {
		o.Settings = new(DefaultTaskSettings())
	}
	return o.Settings.validate()
}

// Tasks keeps the completed tasks and blockers of projects. It is safe for concurrent use.
type Tasks struct {
	opts TaskOptions
	seed maphash.Seed // of turns
	// turns guard the states of projects from the read of a state to the commit of the next.
	// Each guards the projects whose ids hash to it; there are many, so that projects seldom
	// wait for one another.
	turns [64]sync.Mutex
}

// NewTasks returns Tasks.
func NewTasks(opts TaskOptions) (*Tasks, error) {
	if err := opts.validate(); err != nil {
		return nil, fmt.Errorf("make working memory: %w", err)
	}
	return &Tasks{opts: opts, seed: maphash.MakeSeed()}, nil
}

// commit commits the batch that prepare makes of the state of a project, as the only writer
// of that state. A repeated request is answered like the first one, even if the state would
// refuse it now: the first one may be the reason.
func (s *Tasks) commit(ctx context.Context, p memory.Project, requestID string, prepare func() (memory.Batch, error)) (memory.Committed, error) {
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

// errOtherRequest is the error for a request id that another request had.
func errOtherRequest() error {
	return &memory.Error{Code: memory.CodeConflict, Field: "request_id", Message: "another request had this id"}
}
