package agentctx

import (
	"log/slog"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// CatalogueOptions configure a catalogue. The fields up to Projects are required.
type CatalogueOptions struct {
	Writer   Writer
	Shelf    Records
	States   States
	Projects Projects
	// Clock gives the time of registrations. Default time.Now.
	Clock func() time.Time
	// Logger is told what was passed over. Default: nothing is.
	Logger *slog.Logger
}

func (o *CatalogueOptions) validate() error {
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

// Catalogue keeps the catalogues of all projects. It is safe for concurrent use.
type Catalogue struct {
	opts CatalogueOptions

	// writing is held while a catalogue is changed, so that two changes of one do not
	// follow from the same state of it.
	writing sync.Mutex
	taken   takenFiles
	servers serverCache
}

// NewCatalogue returns a catalogue.
func NewCatalogue(opts CatalogueOptions) (*Catalogue, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Catalogue{opts: opts}, nil
}

// ready returns CodeUnavailable as long as the shelf is being filled: what is there
// already would be taken for new.
func (s *Catalogue) ready() error {
	if s.opts.Shelf.Loaded() {
		return nil
	}
	return &memory.Error{Code: memory.CodeUnavailable, Message: "the memory is still loading", Hint: "try again in a moment"}
}
