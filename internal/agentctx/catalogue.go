package agentctx

import (
	"sync"
)

// Catalogue keeps the catalogues of all projects. It is safe for concurrent use.
type Catalogue struct {
	opts Ports

	// writing is held while a catalogue is changed, so that two changes of one do not
	// follow from the same state of it.
	writing sync.Mutex
	taken   takenFiles
	servers serverCache
}

// NewCatalogue returns a catalogue.
func NewCatalogue(opts Ports) (*Catalogue, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Catalogue{opts: opts}, nil
}
