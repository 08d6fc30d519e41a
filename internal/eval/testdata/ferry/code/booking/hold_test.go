package booking

import (
	"testing"
	"time"
)

// TestSweepDropsWhatIsOver checks that an unpaid seat can be sold again after ten minutes.
func TestSweepDropsWhatIsOver(t *testing.T) {
	now := time.Date(2025, 5, 1, 8, 0, 0, 0, time.UTC)
	h := &Holds{open: map[string]Hold{}, now: func() time.Time { return now }}
	if _, err := h.Reserve("0800-north", "14C", "ada"); err != nil {
		t.Fatal(err)
	}
	now = now.Add(11 * time.Minute)
	if n := h.Sweep(); n != 1 {
		t.Errorf("dropped %d holds, want 1", n)
	}
	if _, err := h.Reserve("0800-north", "14C", "bob"); err != nil {
		t.Errorf("the seat is not for sale again: %v", err)
	}
}

// TestReserveRefusesASecondCustomer: first come, first served.
func TestReserveRefusesASecondCustomer(t *testing.T) {
	h := &Holds{open: map[string]Hold{}, now: time.Now}
	_, _ = h.Reserve("0800-north", "14C", "ada")
	if _, err := h.Reserve("0800-north", "14C", "bob"); err != ErrTaken {
		t.Errorf("error is %v", err)
	}
}
