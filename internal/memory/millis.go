package memory

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// Millis is a span of time that is a number of milliseconds in JSON, 1.5 for
// example: a bare number of nanoseconds is mistaken for something else.
type Millis time.Duration

// Duration returns the span as Go has it.
func (m Millis) Duration() time.Duration { return time.Duration(m) }

// MarshalJSON writes milliseconds, to the microsecond.
func (m Millis) MarshalJSON() ([]byte, error) {
	return json.Marshal(float64(time.Duration(m).Microseconds()) / 1000)
}

// UnmarshalJSON reads milliseconds.
func (m *Millis) UnmarshalJSON(b []byte) error {
	var ms float64
	if err := json.Unmarshal(b, &ms); err != nil {
		return fmt.Errorf("read milliseconds: %w", err)
	}
	if ns := ms * float64(time.Millisecond); math.Abs(ns) < math.MaxInt64 {
		*m = Millis(math.Round(ns))
		return nil
	}
	return fmt.Errorf("read milliseconds: %v is too long a time", ms)
}
