// Package catalogue keeps what may get into a context: the rules, references and
// tools of a project, which hosts register and files of the repository hold.
//
// Vocabulary. An entry is one rule, reference or tool; its ref, which is its type,
// its name and a tool's server, is what it is known by. Every entry is a record, so
// that it is embedded, found, forgotten and checked like any other. Its source is who
// registered it: a host by its name, or a file by "file:" and its path. An entry
// belongs to one source, the newest that registered it; only a file takes nothing
// over from a host, so that what somebody set by hand stays. A server is known by its
// name and may have settings, the defaults of its tools; all of a project's are one
// state. A version counts the changes of an entry, from 1, of which getting another
// source is one; registering what is there already writes nothing.
//
// The worktrees of a repository are one project and have one catalogue: the files of
// the one that was read last fill it.
package catalogue

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// Writer is the write path.
type Writer interface {
	// WriteWith commits the batch that prepare makes of what it reads, with the
	// project, unless that is stored or only an id, and the documents of its records.
	// When it returns, what was written is read back by Shelf and States.
	WriteWith(ctx context.Context, project memory.Project, prepare func() (memory.Batch, error)) (memory.Committed, error)
	// Clean takes secrets out of a text and says how many; the text is trimmed and,
	// where it held one, cut to most characters.
	Clean(text string, most int) (clean string, n int)
	// CleanJSON is Clean for the texts of a JSON value.
	CleanJSON(raw json.RawMessage) (clean json.RawMessage, n int)
}

// Shelf holds the entries in memory.
type Shelf interface {
	// Entries returns a project's records of these kinds that have an Entry, by
	// Created, then Entry.Ord, then id. What they point to must not be written to.
	Entries(project string, kinds ...memory.Kind) []memory.Record
	// Entry returns one of them by its id, and whether it is there.
	Entry(id string) (memory.Record, bool)
	// Loaded says that all that is stored is there.
	Loaded() bool
}

// States reads states.
type States interface {
	// State returns a state, or CodeNotFound.
	State(key memory.StateKey) ([]byte, error)
}

// Projects finds the project that a caller means.
type Projects interface {
	// Resolve returns the project of an id, a name or a folder, or of the caller's
	// folder when none is named, and whether it is known already.
	Resolve(ctx context.Context, project string, caller memory.Caller) (p memory.Project, known bool, err error)
}

// Options configure a catalogue. The fields up to Projects are required.
type Options struct {
	Writer   Writer
	Shelf    Shelf
	States   States
	Projects Projects
	// Clock gives the time of registrations. Default time.Now.
	Clock func() time.Time
	// Logger is told what was passed over. Default: nothing is.
	Logger *slog.Logger
}

func (o *Options) validate() error {
	for _, field := range []struct {
		name    string
		missing bool
	}{{"writer", o.Writer == nil}, {"shelf", o.Shelf == nil}, {"states", o.States == nil}, {"projects", o.Projects == nil}} {
		if field.missing {
			return memory.Invalid(field.name, "", "the catalogue needs it")
		}
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

// Service keeps the catalogues of all projects. It is safe for concurrent use.
type Service struct {
	opts Options

	// writing is held while a catalogue is changed, so that two changes of one do not
	// follow from the same state of it.
	writing sync.Mutex
	taken   takenFiles
	servers serverCache
}

// New returns a catalogue.
func New(opts Options) (*Service, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Service{opts: opts}, nil
}

// ready returns CodeUnavailable as long as the shelf is being filled: what is there
// already would be taken for new.
func (s *Service) ready() error {
	if s.opts.Shelf.Loaded() {
		return nil
	}
	return &memory.Error{Code: memory.CodeUnavailable, Message: "the memory is still loading", Hint: "try again in a moment"}
}
