package store

import (
	"errors"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

// A refused batch writes nothing and is not remembered by its request; one whose
// request was committed before is answered as then.
func TestRefusedBatch(t *testing.T) {
	s := open(t, Options{})
	refused := errors.New("the state is full")
	batch := memory.Batch{RequestID: "r1", Projects: []memory.Project{{ID: "p-1", Name: "demo"}}, Tombstones: []string{"l-1"}, Action: "act"}
	no := batch
	no.Refused = refused
	seq := s.Seq()
	if _, err := s.Commit(t.Context(), no); !errors.Is(err, refused) {
		t.Fatalf("commit: %v, want its own error", err)
	}
	known, err := s.Projects()
	if err != nil || len(known) != 0 || s.Seq() != seq {
		t.Errorf("%d projects are stored after %d updates, %v; want nothing", len(known), s.Seq()-seq, err)
	}
	first, err := s.Commit(t.Context(), batch)
	if err != nil || first.Repeated {
		t.Fatalf("commit what is no longer refused: %+v, %v", first, err)
	}
	again, err := s.Commit(t.Context(), no)
	if err != nil || !again.Repeated || again.Seq != first.Seq {
		t.Errorf("commit it again, when it would be refused: %+v, %v; want the answer of update %d", again, err, first.Seq)
	}
}
