package chunk

import (
	"bytes"
	"strings"
)

// rawStyle is how a language begins strings without escapes, on which their end depends.
type rawStyle int

const (
	noRaw        rawStyle = iota
	rawHashes             // Rust: r#"…"#, with any number of #
	rawDelimiter          // C++: R"name(…)name"
	rawDoubled            // C#: @"…", in which "" stands for one quote
	rawFence              // Swift: #"…"#, with any number of #
)

// rawText skips a raw string whose quote is at the current byte.
func (s *scanner) rawText() bool {
	before := s.src[:s.at]
	hashes := len(before) - len(bytes.TrimRight(before, "#"))
	before = before[:len(before)-hashes]
	var prefix byte
	if n := len(before); n > 0 {
		prefix = before[n-1]
	}
	end := `"` + strings.Repeat("#", hashes)
	switch s.rawStyle {
	case rawHashes:
		if prefix != 'r' || len(before) > 1 && isNameByte(before[len(before)-2]) && before[len(before)-2] != 'b' && before[len(before)-2] != 'c' {
			return false
		}
	case rawFence:
		if hashes == 0 {
			return false
		}
		if hasPrefix(s.src[s.at:], `"""`) {
			end = `""` + end
		}
	case rawDelimiter:
		n := bytes.IndexByte(s.src[s.at:min(len(s.src), s.at+18)], '(')
		if prefix != 'R' || n < 1 || bytes.ContainsAny(s.src[s.at+1:s.at+n], " \t\n\\)\"") {
			return false
		}
		end = ")" + string(s.src[s.at+1:s.at+n]) + `"`
	case rawDoubled:
		if prefix != '@' && (prefix != '$' || len(before) < 2 || before[len(before)-2] != '@') {
			return false
		}
		s.code('"')
		for s.at++; s.until(`"`, false, false) && s.at < len(s.src) && s.src[s.at] == '"'; {
			s.at++
		}
		s.code('"')
		return true
	default:
		return false
	}
	s.code('"')
	s.at += min(len(end), len(s.src)-s.at)
	if s.rawStyle != rawDelimiter {
		s.at -= hashes
	}
	if s.until(end, false, false) {
		s.code('"')
	}
	return true
}

// interpolates reports whether a string in these quotes may contain code.
func (s *scanner) interpolates(quote string) bool {
	return s.interp != "" && s.nested < maxNested && strings.Contains(s.interpIn, quote[:1])
}

// maxNested bounds the nesting of strings in code in strings.
const maxNested = 8

// interpolation skips the code in a string, with the strings in it. In a string of one
// line it ends with the line at the latest.
func (s *scanner) interpolation(oneLine bool) {
	s.at += len(s.interp)
	opens := s.interp[len(s.interp)-1]
	closes := byte('}')
	if opens == '(' {
		closes = ')'
	}
	at, line := s.at, s.line
	s.nested++
	defer func() { s.nested-- }()
	for depth := 1; s.at < len(s.src); {
		switch c := s.src[s.at]; c {
		case '\n':
			if oneLine {
				return
			}
			s.newline(true)
			continue
		case opens:
			depth++
		case closes:
			if depth--; depth == 0 {
				s.at++
				return
			}
		case '"', '\'', '`':
			if s.literal(c) {
				continue
			}
		}
		s.at++
	}
	if s.line > line {
		s.undo(at, line)
	}
}

// percentText skips Ruby's %w[…], %r!…! and %(…).
func (s *scanner) percentText() bool {
	i := s.at + 1
	letter := i < len(s.src) && strings.IndexByte("rqQwWiIxs", s.src[i]) >= 0
	if letter {
		i++
	}
	if i >= len(s.src) || isNameByte(s.src[i]) || s.src[i] <= ' ' || s.src[i] == '=' || !letter && (!s.regexMayBegin() || strings.IndexByte("([{|!", s.src[i]) < 0) {
		return false
	}
	if letter && s.at > 0 && (isNameByte(s.src[s.at-1]) || s.src[s.at-1] == ')') {
		return false // a remainder
	}
	s.code('%')
	s.delimited(i, true)
	return true
}

// sigil skips Elixir's ~r{…}, ~w(…) and ~s"…". Those in three quotes are strings as others.
func (s *scanner) sigil() bool {
	i := s.at + 1
	for i < len(s.src) && isNameByte(s.src[i]) {
		i++
	}
	if i == s.at+1 || i >= len(s.src) || strings.IndexByte("/|\"'([{<", s.src[i]) < 0 || hasPrefix(s.src[i:], `"""`) || hasPrefix(s.src[i:], `'''`) {
		return false
	}
	s.code('~')
	s.delimited(i, false)
	return true
}

// delimited skips a text from its delimiter at i to the one that closes it. In one that nests,
// each bracket is closed.
func (s *scanner) delimited(i int, nests bool) {
	opens := s.src[i]
	closes := opens
	if n := strings.IndexByte("([{<", opens); n >= 0 {
		closes = ")]}>"[n]
	}
	depth, line := 1, s.line
	for s.at = i + 1; s.at < len(s.src); s.at++ {
		switch c := s.src[s.at]; {
		case c == '\n':
			s.newline(true)
			s.at--
		case c == '\\' && s.at+1 < len(s.src) && s.src[s.at+1] != '\n':
			s.at++
		case c == closes:
			if depth--; depth == 0 {
				s.at++
				s.code(closes)
				return
			}
		case c == opens && nests:
			depth++
		}
	}
	s.undo(i+1, line)
}
