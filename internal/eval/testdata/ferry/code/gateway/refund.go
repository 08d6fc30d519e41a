package gateway

import (
	"fmt"
	"time"
)

// Policy says what share of the price is given back.
type Policy struct{ Full, Half time.Duration }

// Back returns the percentage that is given back for a cancellation so long before departure.
func (p Policy) Back(before time.Duration) int {
	switch {
	case before >= p.Full:
		return 100
	case before >= p.Half:
		return 50
	}
	return 0
}

// idempotencyKey is the same for the same refund, so that a repeated request pays only once.
func idempotencyKey(booking string, cents int64, day time.Time) string {
	return fmt.Sprintf("refund-%s-%d-%s", booking, cents, day.UTC().Format("20060102"))
}
