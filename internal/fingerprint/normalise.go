package fingerprint

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The marks that replace what differs between machines and runs. Numbers, addresses, dates,
// durations, versions, hashes and ids share one mark: a hash may happen to have only
// digits, and must not change its kind.
const (
	markPath   = "<path>"
	markURL    = "<url>"
	markNumber = "<n>"
)

// normalise returns the line in a form that is the same on any machine: without colours and
// decoration, with case, quotes and white space unified, and with marks for paths and file
// names with their line and column (<path>), web addresses (<url>), and numbers, times,
// versions, hashes and ids (<n>). Codes stay: E0382, TS2345, ORA-01017, SQLSTATE 42P01,
// exit code 137, 404 Not Found. So do names chosen by people: variables, modules, types.
// It is idempotent.
func normalise(line string) string {
	m := marker{in: plain(line)}
	m.run()
	return string(m.out)
}

// plain removes colours, decoration and the differences of case, quotes and white space.
func plain(line string) string {
	// A progress line is overwritten repeatedly: the last state counts.
	line = strings.TrimRight(line, "\r\n")
	if i := strings.LastIndexByte(line, '\r'); i >= 0 {
		line = line[i+1:]
	}
	// pytest marks the lines of an error with E and three blanks.
	if rest, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "E   "); ok {
		line = rest
	}
	out := make([]byte, 0, len(line))
	space := true
	for i := 0; i < len(line); {
		c, size := line[i], 1
		switch {
		case c >= utf8.RuneSelf:
			var r rune
			r, size = utf8.DecodeRuneInString(line[i:])
			switch {
			case isQuote(r):
				c = '\''
			case unicode.IsLetter(r), unicode.IsMark(r), unicode.IsNumber(r):
				out, space = utf8.AppendRune(out, unicode.ToLower(r)), false
				i += size
				continue
			default: // arrows, boxes and pictures
				c = ' '
			}
		case c == 0x1b:
			i += escapeLen(line[i:])
			continue
		case c == '"', c == '`':
			c = '\''
		case c < ' ', c == 0x7f:
			c = ' '
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		i += size
		if c != ' ' || !space {
			out = append(out, c)
		}
		space = c == ' '
	}
	return trimDecoration(string(out))
}

// escapeLen returns the length of the terminal's escape sequence at the front
// of s: ESC [ … letter, ESC ] … BEL, or ESC and one more byte.
func escapeLen(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if c := s[i]; c >= 0x40 && c <= 0x7e {
				return i + 1
			} else if c < 0x20 || c >= 0x80 {
				return i
			}
		}
		return len(s)
	case ']':
		for i := 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b {
				return i
			}
		}
		return len(s)
	}
	if s[1] >= utf8.RuneSelf {
		return 1
	}
	return 2
}

func isQuote(r rune) bool {
	switch r {
	case '\'', '"', '`', '´', '‘', '’', '‚', '“', '”', '„', '«', '»', '‹', '›':
		return true
	}
	return false
}

// trimDecoration removes bullets and frames from the front and full stops from the end.
func trimDecoration(s string) string {
	for {
		t := strings.TrimLeft(s, " |>*#=")
		t = strings.TrimPrefix(strings.TrimPrefix(t, "- "), "+ ")
		if t == s {
			break
		}
		s = t
	}
	return strings.TrimRight(s, " .,:;!|*#=")
}

// marker replaces parts of a line by marks.
type marker struct {
	in  string
	out []byte
}

func (m *marker) run() {
	s := m.in
	m.out = make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		n := wordLen(s[i:])
		// A word between blanks, as most are, is neither an address nor a path.
		bare := n > 0 && (i+n == len(s) || s[i+n] == ' ')
		if !bare && (i == 0 || startsToken(s[i-1])) {
			if n := urlLen(s[i:]); n > 0 {
				i += n
				m.mark(markURL)
				continue
			}
			quoted := i > 0 && s[i-1] == '\''
			if n := pathLen(s[i:], quoted); n > 0 {
				i += n
				m.mark(markPath)
				continue
			}
			if n := ip6Len(s[i:]); n > 0 {
				i += n
				m.mark(markNumber)
				continue
			}
		}
		if n == 0 {
			m.out = append(m.out, s[i])
			i++
			continue
		}
		i += m.word(s[i:i+n], s[i+n:])
	}
}

// mark writes a mark, once for a list of one kind: the length of such a list, of tried
// versions for instance, changes from day to day.
func (m *marker) mark(mark string) {
	before := bytes.TrimSuffix(bytes.TrimSuffix(m.out, []byte(" ")), []byte(","))
	if len(before) < len(m.out) && bytes.HasSuffix(before, []byte(mark)) {
		m.out = before
		return
	}
	m.out = append(m.out, mark...)
}

// word writes a word, or its mark, and returns how much of the line it used.
func (m *marker) word(w, rest string) int {
	if n := uuidLen(w, rest); n > 0 {
		m.mark(markNumber)
		return n
	}
	if isDigit(w[0]) || w[0] == 'v' && len(w) > 1 && isDigit(w[1]) {
		n := len(w) + numberTail(rest)
		if n == len(w) && m.keeps(w, rest) {
			m.out = append(m.out, w...)
			return n
		}
		m.mark(markNumber)
		return n
	}
	if looksMade(w) {
		m.mark(markNumber)
		return len(w)
	}
	// The number after an underscore is a counter: tmp_83742.
	if n := digitsAtEnd(w); n >= 3 && strings.HasSuffix(w[:len(w)-n], "_") {
		m.out = append(m.out, w[:len(w)-n]...)
		m.mark(markNumber)
		return len(w)
	}
	m.out = append(m.out, w...)
	return len(w)
}

// keeps reports whether a number is a code: it follows a word that announces one, or is an
// HTTP status with its name.
func (m *marker) keeps(w, rest string) bool {
	before, gap := lastWord(m.out)
	if before == "sqlstate" && len(w) == 5 {
		return true
	}
	if len(w) > 6 || strings.Trim(w, "0123456789") != "" {
		return false
	}
	switch before {
	case "ora", "pls", "tns", "sql", "cve", "rpc":
		return gap == "-"
	case "errno", "winerror", "signal", "status", "code", "http":
		return len(w) <= 5
	case "error":
		// "Error: 3 problems" counts, "error 1045" and "os error 2" name.
		return len(w) <= 5 && !strings.ContainsRune(gap, ':')
	}
	return len(w) == 3 && isStatusName(rest)
}

// lastWord returns the last word of s and up to three signs after it.
func lastWord(s []byte) (word, gap string) {
	end := len(s)
	for end > 0 && len(s)-end < 3 && !isWord(s[end-1]) {
		end--
	}
	start := end
	for start > 0 && end-start < 16 && isWord(s[start-1]) {
		start--
	}
	return string(s[start:end]), string(s[end:])
}

// isStatusName reports whether rest begins with a blank and the name of an HTTP status.
func isStatusName(rest string) bool {
	if !strings.HasPrefix(rest, " ") {
		return false
	}
	rest = rest[1:]
	n := wordLen(rest)
	if n < len(rest) && strings.IndexByte(" ,;)'", rest[n]) < 0 {
		return false
	}
	switch rest[:n] {
	case "bad", "conflict", "forbidden", "gateway", "gone", "internal", "method", "not", "payment", "service", "too",
		"unauthorized", "unprocessable":
		return true
	}
	return false
}

// looksMade reports whether a word is machine-made: hexadecimal digits, or alternating
// letters and digits. It must not start with a digit.
func looksMade(w string) bool {
	hex, digits, turns, most := true, 0, 0, 0
	for i := range len(w) {
		c := w[i]
		hex = hex && (isDigit(c) || c >= 'a' && c <= 'f')
		if isDigit(c) {
			digits++
		}
		switch {
		case c == '_':
			turns = 0
		case i > 0 && w[i-1] != '_' && isDigit(c) != isDigit(w[i-1]):
			turns++
			most = max(most, turns)
		}
	}
	return hex && len(w) >= 7 && digits > 0 || most >= 3
}

// uuidLen returns the length of the UUID that begins with the word w.
func uuidLen(w, rest string) int {
	const groups = "-0000-0000-0000-000000000000"
	if len(w) != 8 || len(rest) < len(groups) || !isHex(w) {
		return 0
	}
	for i := range len(groups) {
		if groups[i] == '-' && rest[i] != '-' || groups[i] == '0' && !isHex(rest[i:i+1]) {
			return 0
		}
	}
	if len(rest) > len(groups) && isWord(rest[len(groups)]) {
		return 0
	}
	return len(w) + len(groups)
}

// numberTail returns how much of rest belongs to the number before it: more digits after a
// sign, as in 1.2.3, 12:30:45, 2026-01-15, 10,000, 127.0.0.1:80.
func numberTail(rest string) int {
	n := 0
	for n+1 < len(rest) && strings.IndexByte(".:,/-+", rest[n]) >= 0 && isDigit(rest[n+1]) {
		n += 1 + wordLen(rest[n+1:])
	}
	return n
}

// ip6Len returns the length of an IPv6 address that begins with "::", with its
// port.
func ip6Len(s string) int {
	if !strings.HasPrefix(s, "::") {
		return 0
	}
	n := 2
	for n < len(s) && (isHex(s[n:n+1]) || s[n] == ':' || s[n] == '.') {
		n++
	}
	if n == 2 || n < len(s) && isWord(s[n]) {
		return 0
	}
	return n
}

func digitsAtEnd(s string) (n int) {
	for n < len(s) && isDigit(s[len(s)-1-n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isWord treats all bytes beyond ASCII as letters.
func isWord(c byte) bool { return kinds[c]&inWord != 0 }

// kinds is where each byte may be: a table, because every byte of a line is looked up several times.
var kinds = func() (all [256]byte) {
	for c := range all {
		b := byte(c)
		if b >= 'a' && b <= 'z' || isDigit(b) || b == '_' || b >= utf8.RuneSelf {
			all[c] = inWord | inToken
		}
		if strings.IndexByte(`-./\@+~$%#`, b) >= 0 {
			all[c] |= inToken
		}
		if strings.IndexByte(" '([{,;:=<|", b) >= 0 {
			all[c] |= beforeToken
		}
	}
	return all
}()

const (
	inWord = 1 << iota
	inToken
	beforeToken
)

func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isDigit(c) && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func wordLen(s string) int {
	n := 0
	for n < len(s) && isWord(s[n]) {
		n++
	}
	return n
}
