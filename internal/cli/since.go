package cli

import (
	"strconv"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// sinceUsage is what --since takes, for the help of flags.
const sinceUsage = "a day (2026-01-31), an RFC 3339 time, or how long ago: 2d, 36h"

// maxDaysAgo bounds how long ago can be asked for: a hundred years.
const maxDaysAgo = 36_500

// parseSince reads from when on something is meant: a day, in UTC, a time, or how
// long before now it was. Nothing is no time.
func parseSince(field, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	if ago, ok := parseAgo(text); ok {
		return now.Add(-ago).UTC(), nil
	}
	return time.Time{}, memory.Invalid(field, "2026-01-31, 2026-01-31T15:04:05Z, 2d or 36h", "%s is not a time", memory.Quote(text))
}

// parseAgo reads how long ago something was, or how long it lasts: days (2d), weeks (3w), or what Go
// writes for shorter ones.
func parseAgo(text string) (time.Duration, bool) {
	const day = 24 * time.Hour
	for unit, days := range map[string]int{"d": 1, "w": 7} {
		number, ok := strings.CutSuffix(text, unit)
		if n, err := strconv.Atoi(number); ok && err == nil {
			return time.Duration(n*days) * day, n >= 0 && n <= maxDaysAgo/days
		}
	}
	ago, err := time.ParseDuration(text)
	return ago, err == nil && ago >= 0 && ago <= maxDaysAgo*day
}
