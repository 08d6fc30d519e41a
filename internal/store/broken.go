package store

import (
	"fmt"

	"github.com/recalld/recalld/internal/memory"
)

// breakDown keeps the error of a commit that Badger began and did not finish, and returns
// the error for its caller. The log may end in half an entry, and the next start reads it
// only up to there: a later commit would be acknowledged and then lost. So the store takes
// no more writes until it is opened again.
func (s *Store) breakDown(err error) error {
	broken := &memory.Error{
		Code: memory.CodeUnavailable, Field: "data", Cause: err,
		Message: fmt.Sprintf("nothing can be stored: a write to %s failed: %v", s.opts.Dir, err),
		Hint:    "the daemon ends, and the next command starts it again. If that repeats, examine the disk, and run `recalld doctor`",
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		s.broken = broken
		close(s.failed)
	}
	return broken
}

// Broken returns why the store takes no more writes until it is opened again, nil if it
// does.
func (s *Store) Broken() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		return nil // not a nil *memory.Error
	}
	return s.broken
}

// Failed is closed when a commit has failed; see Broken.
func (s *Store) Failed() <-chan struct{} { return s.failed }
