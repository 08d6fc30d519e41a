package recall

import "github.com/recalld/recalld/internal/memory"

// partStore names the store among what did not take part in an answer.
const partStore = "store"

// lost says what the store has lost, as every answer does until it was repaired: what
// is not found may have been there.
func (s *Service) lost() []memory.Degraded {
	if d := s.opts.Lost(); d != nil {
		return []memory.Degraded{{Part: partStore, Reason: d.Text()}}
	}
	return nil
}

// whyLost is why a search is incomplete then; empty when nothing was lost.
func (s *Service) whyLost() string {
	if s.opts.Lost() != nil {
		return memory.WhyDamaged
	}
	return ""
}
