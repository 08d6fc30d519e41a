package recall

import "github.com/recalld/recalld/internal/memory"

// partStore names the store among what did not take part in an answer.
const partStore = "store"

// lost says what the store has lost. Every answer says it until the store is repaired:
// what is not found may have been there.
func (s *Service) lost() []memory.Degraded {
	if d := s.opts.Lost(); d != nil {
		return []memory.Degraded{{Part: partStore, Reason: d.Text()}}
	}
	return nil
}

// whyLost says why a search is incomplete then; empty when nothing was lost.
func (s *Service) whyLost() string {
	if s.opts.Lost() != nil {
		return memory.WhyDamaged
	}
	return ""
}

// readOnly says why nothing can be stored for now.
func (s *Service) readOnly() []memory.Degraded {
	if why := s.opts.ReadOnly(); why != "" {
		return []memory.Degraded{{Part: partStore, Reason: why}}
	}
	return nil
}
