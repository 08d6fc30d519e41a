package recall

import "github.com/recalld/recalld/internal/memory"

// partStore is the store's name in the list of parts missing from an answer.
const partStore = "store"

// lost returns what the store has lost. Every answer repeats it until the store is
// repaired, because lost records cannot be found.
func (s *Service) lost() []memory.Degraded {
	if d := s.opts.Lost(); d != nil {
		return []memory.Degraded{{Part: partStore, Reason: d.Text()}}
	}
	return nil
}

// whyLost returns why a search is then incomplete; empty if nothing was lost.
func (s *Service) whyLost() string {
	if s.opts.Lost() != nil {
		return memory.WhyDamaged
	}
	return ""
}

// readOnly returns why the store cannot be written.
func (s *Service) readOnly() []memory.Degraded {
	if why := s.opts.ReadOnly(); why != "" {
		return []memory.Degraded{{Part: partStore, Reason: why}}
	}
	return nil
}
