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

// maxToolName is how many bytes of a tool's name are used in a file's name.
const maxToolName = 60

// stepName returns the name of a step's file without extension:
// 2026-01-15T12-00-00.000Z-mm_click. Names sort by time and are valid on every system. If
// the tool's name must be changed for that, it gets a hash, so that two tools of one
// moment have two files.
func stepName(at time.Time, tool string) string {
	return strings.ReplaceAll(formatTime(at), ":", "-") + "-" + safeName(tool, maxToolName)
}

// safeName returns a text as part of a file's name, of at most most bytes and a hash.
// Letters, digits, "_", "-" and single dots stay.
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

// shortHash distinguishes a few names.
func shortHash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4])
}

// folderNames are the possible names of the folder of a session: its id, or its id with a
// hash if the id is a device on some system or another session has that folder. Systems
// that ignore case give "Run-1" and "run-1" the same folder.
func folderNames(id string) []string {
	hashed := "s-" + id + "-" + shortHash([]byte(id))
	if fsx.IsDevice(id) {
		return []string{hashed}
	}
	return []string{id, hashed}
}

// timeInName returns the time, as UTC, at the start of a step's file name, in any common
// form: 2026-01-15T12-00-00.000Z, with other separators or none, with or without a
// fraction, or milliseconds since 1970.
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
	// time.Date moves a date that does not exist, such as 30 February.
	same := t.Month() == time.Month(parts[1]) && t.Day() == parts[2] && t.Hour() == parts[3] && t.Minute() == parts[4]
	return t, same
}

// fraction returns the fraction of a second, ".123" or "-123Z", in nanoseconds. After
// another separator than a dot it must end in Z, to distinguish it from the rest of the
// name.
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
