package store

import (
	"slices"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// flushAfter is how long a receipt may wait for a commit.
const flushAfter = time.Second

// EnqueueReceipt keeps a receipt and writes it with the next commit, within a second. A
// crash before that loses it. It is a no-op while the store is read-only.
func (s *Store) EnqueueReceipt(r memory.Receipt) {
	if s.readOnly() {
		return
	}
	s.mu.Lock()
	s.pending = append(s.pending, r)
	s.mu.Unlock()
	s.wantFlush()
}

// wantFlush asks for a commit soon. Every waiting receipt asks for one: whether a commit
// that is running still includes it cannot be known.
func (s *Store) wantFlush() {
	select {
	case s.flush <- struct{}{}:
	default:
	}
}

// addPending writes the waiting receipts, each as an update of its own: together they
// may not fit, and one that fails must not fail others.
func (s *Store) addPending(g *group) *group {
	s.mu.Lock()
	waiting := slices.Clone(s.pending)
	s.mu.Unlock()
	for _, r := range waiting {
		g = s.run(g, &update{
			fn:   func(tx *Tx) error { return tx.PutReceipt(r) },
			then: func(err error) { s.written(r.ID, err) },
		})
	}
	return g
}

// written removes a receipt from the list. One that could not be written is dropped:
// retrying would delay all later ones forever.
func (s *Store) written(id string, err error) {
	if err != nil && memory.CodeOf(err) != memory.CodeReadOnly { // which is reported once
		s.opts.Logger.Error("receipt was not written", "part", "store", "receipt", id, "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.pending, func(r memory.Receipt) bool { return r.ID == id }); i >= 0 {
		s.pending = slices.Delete(s.pending, i, i+1)
	}
}
