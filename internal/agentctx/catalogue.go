package agentctx

import (
	"sync"
)

// Catalogue keeps the catalogues of all projects. It is safe for concurrent use.
type Catalogue struct {
	opts Ports

	// writing is held while a catalogue changes, so that no two changes start from the same
	// state.
	writing sync.Mutex
	taken   readFiles
	servers serverCache
}

// NewCatalogue returns a catalogue.
func NewCatalogue(opts Ports) (*Catalogue, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	return &Catalogue{opts: opts}, nil
}
