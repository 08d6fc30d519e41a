package sessiondir

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/fsx"
)

// maxToolName is how many bytes of a tool's name a file's name takes over.
const maxToolName = 60

// stepName returns the name of a step's file without its end:
// 2026-01-15T12-00-00.000Z-mm_click. Names sort by time and have nothing in them
// that a system does not take. A tool's name that is changed for that gets a hash
// of what it was, so that two tools of one moment have two files.
func stepName(at time.Time, tool string) string {
	return strings.ReplaceAll(formatTime(at), ":", "-") + "-" + safeName(tool, maxToolName)
}

// safeName makes a text a part of a file's name, of at most so many bytes and a
// hash: letters, digits, "_" and "-" and single dots stay.
func safeName(text string, most int) string {
	var b strings.Builder
	for _, r := range text {
		if n := utf8.RuneLen(r); n < 0 || b.Len()+n > most {
			break
		}
		switch {
		case unicode.IsLetter(r) && r != utf8.RuneError, unicode.IsDigit(r), r == '_', r == '-':
			b.WriteRune(r)
		case r == '.' && b.Len() > 0 && !strings.HasSuffix(b.String(), "."):
			b.WriteByte('.')
		default:
			b.WriteByte('_')
		}
	}
	name := strings.TrimRight(b.String(), ".")
	if name != text {
		name += "-" + shortHash([]byte(text))
	}
	return name
}

// shortHash is enough to tell a few names apart.
func shortHash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4])
}

// folderNames are the names that the folder of a session may have: its id, or,
// where a system takes that for a device or another session has it already, its
// id with a hash. Systems that do not tell case give "Run-1" and "run-1" the same
// folder.
func folderNames(id string) []string {
	hashed := "s-" + id + "-" + shortHash([]byte(id))
	if fsx.IsDevice(id) {
		return []string{hashed}
	}
	return []string{id, hashed}
}

// timeInName reads the time that a step's file name begins with, as UTC, in the
// forms that programs give it: 2026-01-15T12-00-00.000Z, with other separators
// or none, with or without a fraction; or milliseconds since 1970.
func timeInName(name string) (time.Time, bool) {
	if n := leadingDigits(name); n == len("1768478400000") {
		ms, err := strconv.ParseInt(name[:n], 10, 64)
		return time.UnixMilli(ms).UTC(), err == nil
	}
	var parts [6]int // year, month, day, hour, minute, second
	rest := name
	for i := range parts {
		width := 2
		if i == 0 {
			width = 4
		} else if rest != "" && strings.IndexByte("-_:.Tt ", rest[0]) >= 0 {
			rest = rest[1:]
		}
		if leadingDigits(rest) < width {
			return time.Time{}, false
		}
		parts[i], _ = strconv.Atoi(rest[:width]) // digits
		rest = rest[width:]
	}
	t := time.Date(parts[0], time.Month(parts[1]), parts[2], parts[3], parts[4], parts[5], fraction(rest), time.UTC)
	// A date that there is not, like 30 February, has been moved.
	same := t.Month() == time.Month(parts[1]) && t.Day() == parts[2] && t.Hour() == parts[3] && t.Minute() == parts[4]
	return t, same
}

// fraction reads the part of a second, ".123" or "-123Z", in nanoseconds. With
// another separator than a dot only a Z tells it from what follows the time.
func fraction(rest string) int {
	if rest == "" || strings.IndexByte(".,-_", rest[0]) < 0 {
		return 0
	}
	n := leadingDigits(rest[1:])
	if n == 0 || n > 9 || rest[0] != '.' && (len(rest) <= 1+n || rest[1+n] != 'Z') {
		return 0
	}
	ns, _ := strconv.Atoi(rest[1:1+n] + strings.Repeat("0", 9-n)) // digits
	return ns
}

func leadingDigits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}
