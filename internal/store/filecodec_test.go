package store

import (
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// TestModTimes: an unknown time is read back as none, and the first of 1970 as it is.
func TestModTimes(t *testing.T) {
	for _, at := range []time.Time{{}, time.Unix(0, 0).UTC(), time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)} {
		if got := modTimeOf(valueOf(&memory.File{ModTime: at}).ModTime); !got.Equal(at) {
			t.Errorf("%v is read back as %v", at, got)
		}
	}
}
