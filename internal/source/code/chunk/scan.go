package chunk

import (
	"bytes"
	"slices"
	"strings"
)

// lineInfo is the scanner's result for a line.
type lineInfo struct {
	// brace and paren are how many of { and of ( [ are open at its start.
	brace, paren int
	// first and last are its first and last bytes of code; 0 if there are none.
	first, last byte
	// literal: it begins in a string or comment.
	literal bool
	// comment: it has only comment.
	comment bool
}

// scanner reads a text byte by byte and distinguishes code, strings and comments. It
// knows no grammar. After an error it recovers at the end of a one-line string and at
// branches of the preprocessor.
type scanner struct {
	*syntax
	src   []byte
	lines []lineInfo // and one more, which begins at the end of the text
	stop  [256]bool  // bytes that mean something in code

	at, line     int
	brace, paren int
	branches     [][2]int // brace and paren at each open #if
	directive    bool     // this line belongs to one for the preprocessor
	outside      [2]int   // brace and paren around it
	docs         []string // words that end the here-documents of this line
	nested       int      // texts within code within texts
}

func (s *syntax) scan(t *text) []lineInfo {
	sc := &scanner{syntax: s, src: t.src, lines: make([]lineInfo, t.lines()+1)}
	for _, c := range "{}()[]\n" {
		sc.stop[c] = true
	}
	starts := [][]string{s.line, s.multi}
	for _, b := range s.block {
		starts = append(starts, b[:1])
	}
	for _, b := range s.texts {
		starts = append(starts, b[:1])
	}
	for _, list := range starts {
		for _, x := range list {
			sc.stop[x[0]] = true
		}
	}
	for i := range len(s.quotes) {
		sc.stop[s.quotes[i]] = true
	}
	sc.stop['\''] = sc.stop['\''] || s.charQuote
	sc.stop['/'] = sc.stop['/'] || s.regex
	sc.stop['<'] = sc.stop['<'] || s.heredoc
	sc.stop['$'] = sc.stop['$'] || s.dollar
	sc.stop['\\'] = sc.stop['\\'] || s.escapes
	sc.stop['%'] = sc.stop['%'] || s.percent
	sc.run()
	return sc.lines[:t.lines()]
}

func (s *scanner) run() {
	s.beginLine(false)
	for s.at < len(s.src) {
		c := s.src[s.at]
		if c == '\n' {
			s.newline(false)
			s.hereDocs()
			continue
		}
		if !s.stop[c] {
			if c > ' ' {
				s.code(c)
			}
			s.at++
			continue
		}
		if s.comment() || s.literal(c) {
			continue
		}
		if c == '\\' && s.escapes && s.at+1 < len(s.src) && s.src[s.at+1] != '\n' {
			s.code(c)
			s.at += 2
			continue
		}
		switch c {
		case '{':
			s.brace++
		case '}':
			s.brace = max(0, s.brace-1)
		case '(', '[':
			s.paren++
		case ')', ']':
			s.paren = max(0, s.paren-1)
		}
		s.code(c)
		s.at++
	}
}

// code records a byte of code.
func (s *scanner) code(c byte) {
	l := &s.lines[s.line]
	if l.first == 0 {
		l.first = c
	}
	l.last = c
	l.comment = false
}

// newline goes on to the next line; literal says that it is within one.
func (s *scanner) newline(literal bool) {
	s.at++
	s.line++
	s.beginLine(literal)
}

func (s *scanner) beginLine(literal bool) {
	if !literal && len(s.anchors) > 0 {
		for _, a := range s.anchors {
			if hasPrefix(s.src[s.at:], a) {
				s.brace, s.paren = 0, 0
			}
		}
	}
	if s.directive { // brackets of a macro do not count
		s.brace, s.paren = s.outside[0], s.outside[1]
		s.directive = s.lines[s.line-1].last == '\\'
	}
	s.lines[s.line] = lineInfo{brace: s.brace, paren: s.paren, literal: literal}
	if !literal && s.preproc && !s.directive {
		s.preprocess()
	}
}

// preprocess makes all branches of an #if begin with the same open brackets.
func (s *scanner) preprocess() {
	rest := bytes.TrimLeft(s.src[s.at:min(len(s.src), s.at+40)], " \t")
	if len(rest) == 0 || rest[0] != '#' {
		return
	}
	rest = bytes.TrimLeft(rest[1:], " \t")
	switch n := len(s.branches); {
	case bytes.HasPrefix(rest, []byte("if")):
		s.branches = append(s.branches, [2]int{s.brace, s.paren})
	case bytes.HasPrefix(rest, []byte("el")) && n > 0:
		s.brace, s.paren = s.branches[n-1][0], s.branches[n-1][1]
	case bytes.HasPrefix(rest, []byte("endif")) && n > 0:
		s.branches = s.branches[:n-1]
	}
	s.directive, s.outside = true, [2]int{s.brace, s.paren}
}

// comment skips a comment, if one begins here.
func (s *scanner) comment() bool {
	rest := s.src[s.at:]
	for _, b := range s.block {
		if !hasPrefix(rest, b[0]) {
			continue
		}
		// = begins a comment of Ruby or Perl only at the start of a line.
		if b[0][0] == '=' && s.at > 0 && s.src[s.at-1] != '\n' {
			continue
		}
		s.markComment()
		s.at += len(b[0])
		if s.nests {
			s.untilNested(b[0], b[1])
		} else {
			s.until(b[1], false, true)
		}
		return true
	}
	for _, start := range s.syntax.line {
		if !hasPrefix(rest, start) {
			continue
		}
		// # within a word begins no comment in a shell, // within one is an address in
		// CSS.
		if start[0] == '#' && s.at > 0 && s.src[s.at-1] > ' ' && s.src[s.at-1] != ';' {
			continue
		}
		s.markComment()
		s.toLineEnd()
		return true
	}
	return false
}

// markComment records that a line has a comment; code on it undoes that.
func (s *scanner) markComment() {
	if l := &s.lines[s.line]; l.first == 0 {
		l.comment = true
	}
}

func (s *scanner) toLineEnd() {
	if n := bytes.IndexByte(s.src[s.at:], '\n'); n >= 0 {
		s.at += n
	} else {
		s.at = len(s.src)
	}
}

// literal skips a string, if one begins here.
func (s *scanner) literal(c byte) bool {
	rest := s.src[s.at:]
	if c == '"' && s.rawStyle != noRaw && s.rawText() {
		return true
	}
	for _, m := range s.multi {
		if hasPrefix(rest, m) {
			s.code(c)
			s.at += len(m)
			if s.until(m, !strings.Contains(s.raw, m), false) {
				s.code(c)
			}
			return true
		}
	}
	for _, b := range s.texts {
		if hasPrefix(rest, b[0]) {
			s.code(c)
			s.at += len(b[0])
			if s.until(b[1], false, false) {
				s.code(b[1][0])
			}
			return true
		}
	}
	switch {
	case c == '\'' && s.charQuote:
		return s.char()
	case strings.IndexByte(s.quotes, c) >= 0:
		s.quoted(c)
		return true
	case c == '/' && s.regex && s.regexMayBegin():
		return s.regexp()
	case c == '<' && s.heredoc:
		return s.hereDoc()
	case c == '%' && s.percent:
		return s.percentText()
	case c == '$' && s.dollar:
		if end := bytes.IndexByte(rest[1:], '$'); end >= 0 && isName(rest[1:1+end]) {
			tag := string(rest[:end+2])
			s.code(c)
			s.at += len(tag)
			s.until(tag, false, false)
			return true
		}
	}
	return false
}

// until skips everything up to and including end, over several lines, and reports whether
// it was found. With escapes, a backslash escapes the next byte.
func (s *scanner) until(end string, escapes, comment bool) bool {
	interp := !comment && s.interpolates(end)
	for s.at < len(s.src) {
		switch c := s.src[s.at]; {
		case c == end[0] && hasPrefix(s.src[s.at:], end):
			s.at += len(end)
			return true
		case interp && c == s.interp[0] && hasPrefix(s.src[s.at:], s.interp):
			s.interpolation(false)
		case c == '\n':
			s.newline(true)
			s.lines[s.line].comment = comment
		case c == '\\' && escapes && s.at+1 < len(s.src) && s.src[s.at+1] != '\n':
			s.at += 2
		default:
			s.at++
		}
	}
	return false
}

// untilNested skips a comment that can contain others.
func (s *scanner) untilNested(begin, end string) {
	for depth := 1; s.at < len(s.src); {
		switch rest := s.src[s.at:]; {
		case rest[0] == '\n':
			s.newline(true)
			s.lines[s.line].comment = true
		case hasPrefix(rest, begin):
			depth++
			s.at += len(begin)
		case hasPrefix(rest, end):
			s.at += len(end)
			if depth--; depth == 0 {
				return
			}
		default:
			s.at++
		}
	}
}

// quoted skips a string that ends with its line at the latest.
func (s *scanner) quoted(quote byte) {
	s.code(quote)
	interp := s.interpolates(string(quote))
	for s.at++; s.at < len(s.src); s.at++ {
		if interp && s.src[s.at] == s.interp[0] && hasPrefix(s.src[s.at:], s.interp) {
			s.interpolation(true)
			s.at--
			continue
		}
		switch s.src[s.at] {
		case quote:
			s.code(quote)
			s.at++
			return
		case '\\':
			if s.at+1 < len(s.src) && s.src[s.at+1] != '\n' {
				s.at++
			} else if s.at+1 < len(s.src) {
				s.at++ // the string continues on the next line
				s.newline(true)
				s.at--
			}
		case '\n':
			return
		}
	}
}

// char skips 'x' or '\x'; any other ' is a lifetime or separates digits.
func (s *scanner) char() bool {
	rest := s.src[s.at+1 : min(len(s.src), s.at+12)]
	end := -1
	if len(rest) > 1 && rest[0] == '\\' {
		if i := bytes.IndexByte(rest[2:], '\''); i >= 0 {
			end = i + 2
		}
	} else if i := bytes.IndexByte(rest, '\''); i > 0 && (i == 1 || rest[0] >= 0x80) {
		end = i
	}
	if end < 0 || bytes.IndexByte(rest[:end], '\n') >= 0 {
		return false
	}
	s.code('\'')
	s.at += end + 2
	return true
}

// regexMayBegin decides by the text before whether / begins a regular expression or
// divides.
func (s *scanner) regexMayBegin() bool {
	i := s.at - 1
	for i >= 0 && (s.src[i] == ' ' || s.src[i] == '\t') {
		i--
	}
	if i < 0 || bytes.IndexByte([]byte("(,=:[!&|?{};\n+-*%~^<>"), s.src[i]) >= 0 {
		return true
	}
	start := i + 1
	for start > 0 && isNameByte(s.src[start-1]) {
		start--
	}
	return beforeRegex[string(s.src[start:i+1])]
}

// beforeRegex are words before a value, after which / begins an expression.
var beforeRegex = words("return typeof case in of when if unless while and or not split grep match")

func (s *scanner) regexp() bool {
	class := false
	for i := s.at + 1; i < len(s.src) && s.src[i] != '\n'; i++ {
		switch c := s.src[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			s.code('/')
			s.at = i + 1
			return true
		}
	}
	return false
}

// hereDoc records a here-document that begins after this line, and skips its sign.
func (s *scanner) hereDoc() bool {
	rest := s.src[s.at:min(len(s.src), s.at+100)]
	if !hasPrefix(rest, "<<") || hasPrefix(rest, "<<<") && s.raw != "" {
		return false
	}
	rest = bytes.TrimLeft(rest[2:], "<-~")
	if s.heredocSpace {
		rest = bytes.TrimLeft(rest, " ")
	}
	rest = bytes.TrimLeft(rest, "\"'")
	n := 0
	for n < len(rest) && isNameByte(rest[n]) {
		n++
	}
	// Only words in capitals, because << also shifts and appends.
	if n < 2 || rest[0] < 'A' || rest[0] > 'Z' {
		return false
	}
	s.docs = append(s.docs, string(rest[:n]))
	s.code('<')
	for s.src[s.at] != rest[0] {
		s.at++
	}
	s.at += n
	if s.at < len(s.src) && (s.src[s.at] == '"' || s.src[s.at] == '\'') {
		s.at++
	}
	return true
}

// hereDocs skips the here-documents of the line before.
func (s *scanner) hereDocs() {
	for _, word := range s.docs {
		for s.at < len(s.src) {
			s.lines[s.line].literal = true
			start := s.at
			s.toLineEnd()
			line := bytes.TrimSpace(s.src[start:s.at])
			if s.at < len(s.src) {
				s.newline(false)
			}
			if hasPrefix(line, word) && (len(line) == len(word) || !isNameByte(line[len(word)])) {
				break
			}
		}
	}
	s.docs = s.docs[:0]
}

func hasPrefix(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix
}

func isNameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

func isName(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return !isNameByte(c) })
}
