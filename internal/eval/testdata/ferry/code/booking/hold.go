// Package booking sells places on sailings.
package booking

import (
	"errors"
	"sync"
	"time"
)

// ErrTaken is returned when somebody else has the seat.
var ErrTaken = errors.New("seat is taken")

// Hold keeps a seat for one customer while the payment is open.
type Hold struct {
	Sailing  string
	Seat     string
	Customer string
	Until    time.Time
}

// Holds are the open holds of all sailings.
type Holds struct {
	mu   sync.Mutex
	open map[string]Hold
	now  func() time.Time
}

// Reserve gives a seat to a customer for ten minutes. The same customer may ask again.
func (h *Holds) Reserve(sailing, seat, customer string) (Hold, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := sailing + "/" + seat
	if old, ok := h.open[key]; ok && old.Customer != customer && old.Until.After(h.now()) {
		return Hold{}, ErrTaken
	}
	hold := Hold{sailing, seat, customer, h.now().Add(10 * time.Minute)}
	h.open[key] = hold
	return hold, nil
}

// Extend moves the end of a hold once, for customers whose bank asks for a second factor.
func (h *Holds) Extend(key string, by time.Duration) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	hold, ok := h.open[key]
	if !ok || hold.Until.Before(h.now()) {
		return false
	}
	hold.Until = hold.Until.Add(min(by, 5*time.Minute))
	h.open[key] = hold
	return true
}

// Sweep drops holds whose time is over and returns how many.
func (h *Holds) Sweep() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	dropped := 0
	for key, hold := range h.open {
		if hold.Until.Before(h.now()) {
			delete(h.open, key)
			dropped++
		}
	}
	return dropped
}
