package embedder

import (
	"errors"
	"fmt"
	"testing"
)

// TestPartialError: the message names the first text that failed, whatever the order of the
// map is.
func TestPartialError(t *testing.T) {
	e := &PartialError{Failed: map[int]error{}}
	if got, want := e.Error(), "embedder: no text failed"; got != want {
		t.Errorf("the error says %q, want %q", got, want)
	}
	for i := range 20 {
		e.Failed[i+3] = fmt.Errorf("fault %d", i+3)
	}
	if got, want := e.Error(), "embedder: 20 texts failed, among them text 3: fault 3"; got != want {
		t.Errorf("the error says %q, want %q", got, want)
	}
	if got, want := errors.Join(e.Unwrap()[:2]...).Error(), "fault 3\nfault 4"; got != want {
		t.Errorf("its errors begin with %q, want %q", got, want)
	}
}
