package fsx

import (
	"strings"
	"time"
)

// ByteOrderMark begins text files of some editors, mostly on Windows. It is no part of the text.
const ByteOrderMark = "\ufeff"

// IsDevice reports whether Windows takes a name for a device, whatever follows its
// first dot.
func IsDevice(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch stem {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	port := strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")
	return port && len(stem) == 4 && '0' <= stem[3] && stem[3] <= '9'
}

// layouts are the accepted forms of a time. A time without a zone is UTC, which is what
// most programs write.
var layouts = []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", time.DateOnly}

// ParseTime parses a time that another program wrote and returns it in UTC. ok is false
// if text is not a time or its year does not have four digits.
func ParseTime(text string) (t time.Time, ok bool) {
	for _, layout := range layouts {
		// The year may leave this range in UTC.
		if t, err := time.Parse(layout, text); err == nil && t.UTC().Year() >= 0 && t.UTC().Year() <= 9999 {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
