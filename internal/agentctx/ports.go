package agentctx

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// Writer is the write path.
type Writer interface {
	// Write commits a batch, and the project with it if it is not stored.
	Write(ctx context.Context, project memory.Project, b memory.Batch) (memory.Committed, error)
	// WriteWith is Write for the batch that prepare makes of what it reads: nothing is
	// forgotten between the two.
	WriteWith(ctx context.Context, project memory.Project, prepare func() (memory.Batch, error)) (memory.Committed, error)
	// Clean removes the secrets of a text and returns their number. A text that held one
	// is cut to most characters.
	Clean(text string, most int) (clean string, n int)
	// CleanJSON is Clean for the strings of a JSON value.
	CleanJSON(raw json.RawMessage) (clean json.RawMessage, n int)
}

// Records holds the records of tasks and catalogue entries in memory.
type Records interface {
	// Entries returns a project's records of these kinds, ordered by Created, Entry.Ord
	// and id. What they point to is read-only.
	Entries(project string, kinds ...memory.Kind) []memory.Record
	// Loaded reports whether all stored records are in memory.
	Loaded() bool
}

// Store reads what is stored.
type Store interface {
	// State returns the bytes of a state as they were written, or CodeNotFound.
	State(key memory.StateKey) ([]byte, error)
	// ProjectRecords walks the records of a kind. It may scan the whole store.
	ProjectRecords(ctx context.Context, project string, kind memory.Kind) iter.Seq2[memory.Record, error]
	// Tombstoned reports whether an id was forgotten.
	Tombstoned(id string) (bool, error)
	// AuditBack walks the audit log backwards, from before an update or, with 0, from its
	// end: the lines of one update at a time. It reads no more than it yields.
	AuditBack(before uint64) iter.Seq2[[]memory.AuditEntry, error]
}

// Ports are the parts of recalld that tasks, catalogue and contexts work on. All are
// required but Clock and Logger.
type Ports struct {
	Writer   Writer
	Projects memory.ProjectResolver
	Records  Records
	Store    Store
	// Clock gives the time of writes. Default time.Now.
	Clock func() time.Time
	// Logger receives problems that fail no request. Default: discarded.
	Logger *slog.Logger
}

func (p *Ports) validate() error {
	if p.Clock == nil {
		p.Clock = time.Now
	}
	p.Logger = cmp.Or(p.Logger, slog.New(slog.DiscardHandler))
	return memory.Required(map[string]bool{
		"writer": p.Writer == nil, "projects": p.Projects == nil, "records": p.Records == nil, "store": p.Store == nil,
	})
}

// project checks a request and returns the project that it is about. The name and the caller
// are the request's: they are read after the check, which trims them.
func (p *Ports) project(ctx context.Context, request any, name *string, caller *memory.Caller) (memory.Project, error) {
	if err := memory.Check(request); err != nil {
		return memory.Project{}, err
	}
	project, _, err := p.Projects.Resolve(ctx, *name, *caller)
	return project, err
}

// now is the time of a write, in milliseconds like the times of all records.
func (p *Ports) now() time.Time { return p.Clock().UTC().Truncate(time.Millisecond) }

// withoutSecret refuses a name that holds a secret. Without the secret the name would be
// another, and two could become one.
func (p *Ports) withoutSecret(field, name string) error {
	if _, n := p.Writer.Clean(name, len(name)); n > 0 {
		return memory.Invalid(field, "a name without secrets", "holds what looks like a secret")
	}
	return nil
}

// ready returns CodeUnavailable until all records are in memory: before, a missing entry
// would look new or gone.
func (p *Ports) ready() error {
	if p.Records.Loaded() {
		return nil
	}
	return &memory.Error{Code: memory.CodeUnavailable, Message: "the memory is still loading", Hint: "try again in a moment"}
}
