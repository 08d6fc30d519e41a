package chunk

import (
	"bytes"
	"cmp"
	"regexp"
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
// branches of the preprocessor. A text at whose end something is open is scanned a second
// time: then it recovers where a line begins a declaration, too.
type scanner struct {
	*syntax
	src   []byte
	lines []lineInfo // and one more, which begins at the end of the text
	stop  [256]bool  // bytes that mean something in code
	esc   byte       // in strings

	lost      bool           // a bracket or string has no end, or no beginning
	recovers  *regexp.Regexp // where a line matches, syntax.declares; nil in the first scan
	depths    map[int][2]int // brace and paren at the first declaration with an indentation
	undone    int            // strings and here-documents without an end
	classless int            // up to here, no [ of a regular expression is closed

	at, line     int
	brace, paren int
	branches     []branch // one for each open #if
	directive    bool     // this line belongs to one for the preprocessor
	outside      [2]int   // brace and paren around it
	docs         []string // words that end the here-documents of this line
	nested       int      // texts within code within texts
}

// scan returns what is known of each line, and whether it lost its way. It recovers where a
// line matches recovers, unless that is nil.
func (s *syntax) scan(t *text, recovers *regexp.Regexp) (lines []lineInfo, lost bool) {
	sc := &scanner{syntax: s, src: t.src, lines: make([]lineInfo, t.lines()+1), esc: cmp.Or(s.escape, '\\'), recovers: recovers, depths: map[int][2]int{}}
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
	sc.stop[sc.esc] = sc.stop[sc.esc] || s.escapes
	sc.stop['%'] = sc.stop['%'] || s.percent
	sc.stop['~'] = sc.stop['~'] || s.sigils
	for i := range len(s.charSigns) {
		sc.stop[s.charSigns[i]] = true
	}
	sc.run()
	return sc.lines[:t.lines()], sc.lost || sc.brace > 0 || sc.paren > 0
}

func (s *scanner) run() {
	s.beginLine(false)
	for s.at < len(s.src) {
		c := s.src[s.at]
		if c == '\n' {
			s.newline(len(s.docs) > 0)
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
		if c == s.esc && s.escapes && s.at+1 < len(s.src) && s.src[s.at+1] != '\n' {
			s.code(c)
			s.at += 2
			continue
		}
		switch c {
		case '{':
			s.brace++
		case '}':
			s.brace--
		case '(', '[':
			s.paren++
		case ')', ']':
			s.paren--
		}
		if s.brace < 0 || s.paren < 0 {
			s.brace, s.paren, s.lost = max(0, s.brace), max(0, s.paren), true
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
	if !literal {
		s.recover()
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

// recover gives a line that begins a declaration as many open brackets as the first one with
// its indentation has.
func (s *scanner) recover() {
	indent := s.declaredIndent()
	if indent < 0 {
		return
	}
	depth, ok := s.depths[indent]
	if !ok {
		s.depths[indent] = [2]int{s.brace, s.paren}
		return
	}
	// A bracket too many was closed: what is above has not ended.
	for i := s.line - 1; s.brace < depth[0] && i >= max(0, s.line-maxRecovered) && s.lines[i].brace < depth[0]; i-- {
		s.lines[i].brace = depth[0]
	}
	s.brace, s.paren = depth[0], depth[1]
}

// maxRecovered is how many lines above a declaration are taken to be in its container.
const maxRecovered = 50

// declaredIndent returns the indentation of the line that begins here if it declares
// something and the scanner recovers there, and else -1.
func (s *scanner) declaredIndent() int {
	if s.recovers == nil {
		return -1
	}
	line := s.src[s.at:min(len(s.src), s.at+maxDeclared)]
	if !s.recovers.Match(line) {
		return -1
	}
	return len(line) - len(bytes.TrimLeft(line, " \t"))
}

// maxDeclared is how many bytes of a line are searched for a declaration.
const maxDeclared = 200

// branch is how many brackets are open, brace and paren, at an #if and where its first branch
// ends.
type branch struct {
	begin, end [2]int
	ended      bool
}

// preprocess makes all branches of an #if begin with the same open brackets, and what follows
// them with those that the first one leaves open: a later #if of the same closes them.
func (s *scanner) preprocess() {
	rest := bytes.TrimLeft(s.src[s.at:min(len(s.src), s.at+40)], " \t")
	if len(rest) == 0 || rest[0] != '#' {
		return
	}
	rest = bytes.TrimLeft(rest[1:], " \t")
	n := len(s.branches)
	switch {
	case bytes.HasPrefix(rest, []byte("if")):
		s.branches = append(s.branches, branch{begin: [2]int{s.brace, s.paren}})
	case n == 0:
	case bytes.HasPrefix(rest, []byte("el")):
		b := &s.branches[n-1]
		if !b.ended {
			b.end, b.ended = [2]int{s.brace, s.paren}, true
		}
		s.brace, s.paren = b.begin[0], b.begin[1]
	case bytes.HasPrefix(rest, []byte("endif")):
		if b := s.branches[n-1]; b.ended {
			s.brace, s.paren = b.end[0], b.end[1]
		}
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
	case strings.IndexByte(s.charSigns, c) >= 0:
		return s.signedChar()
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
	case c == '~' && s.sigils:
		return s.sigil()
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
	at, line := s.at, s.line
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
			if len(end) == 1 && s.declaredIndent() >= 0 { // its end was taken for its beginning
				s.beginLine(false)
				return false
			}
		case c == s.esc && escapes && s.at+1 < len(s.src) && s.src[s.at+1] != '\n':
			s.at += 2
		default:
			s.at++
		}
	}
	if len(end) == 1 {
		s.undo(at, line)
	}
	return false
}

// undo goes back to where a literal without an end began: it is none.
func (s *scanner) undo(at, line int) {
	s.lost = true
	if s.undone++; s.undone <= maxUndone {
		s.at, s.line = at, line
	}
}

// maxUndone bounds the work for texts that begin many literals and end none.
const maxUndone = 16

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
			s.interpolation(!s.interpLines)
			s.at--
			continue
		}
		switch s.src[s.at] {
		case quote:
			s.code(quote)
			s.at++
			return
		case s.esc:
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

// signedChar skips a character behind its sign. After a name or a bracket, ? asks.
func (s *scanner) signedChar() bool {
	i := s.at + 1
	if s.afterValue() || i >= len(s.src) || s.src[i] <= ' ' {
		return false
	}
	s.code(s.src[s.at])
	if s.src[i] == '\\' && i+1 < len(s.src) && s.src[i+1] > ' ' {
		i++
	}
	s.at = i + 1
	return true
}

// afterValue reports whether a name, a number or a bracket ends just before.
func (s *scanner) afterValue() bool {
	return s.at > 0 && (isNameByte(s.src[s.at-1]) || s.src[s.at-1] == ')' || s.src[s.at-1] == ']')
}

// char skips 'x' or '\x'; any other ' is a lifetime, separates digits, or is part of a name.
func (s *scanner) char() bool {
	if s.primes && s.afterValue() {
		return false
	}
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
	if i >= 0 && s.src[i] == '<' { // </a>
		return false
	}
	for i >= 0 && (s.src[i] == ' ' || s.src[i] == '\t') {
		i--
	}
	if i < 0 || bytes.IndexByte([]byte("(,=:[!&|?{};\n+-*%~^<>"), s.src[i]) >= 0 {
		return i < 0 || s.src[i] != '}' || !hasPrefix(s.src[s.at:], "/>") // <A b={c} />
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
	if s.percent && hasPrefix(s.src[s.at:], "/\n") { // Ruby's may span lines
		s.code('/')
		s.delimited(s.at, false)
		return true
	}
	class, i := false, s.at+1
	for ; i < len(s.src) && s.src[i] != '\n'; i++ {
		switch c := s.src[i]; {
		case c == '\\':
			i++
		case c == '[' && i < s.classless:
			return false
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
	if class {
		s.classless = i
	}
	return false
}

// hereDoc records a here-document that begins after this line, and skips its sign.
func (s *scanner) hereDoc() bool {
	rest := s.src[s.at:min(len(s.src), s.at+100)]
	if !hasPrefix(rest, "<<") || hasPrefix(rest, "<<<") && s.raw != "" {
		return false
	}
	word := bytes.TrimLeft(rest[2:], "<-~")
	sure := len(word) < len(rest)-2 // << also shifts and appends, <<~ does not
	if s.heredocSpace {
		sure = s.at > 0 && s.src[s.at-1] <= ' ' && !hasPrefix(word, " ") // not in $((n<<m))
		word = bytes.TrimLeft(word, " ")
	}
	rest = bytes.TrimLeft(word, "\"'")
	sure = sure || len(rest) < len(word)
	n := 0
	for n < len(rest) && isNameByte(rest[n]) {
		n++
	}
	if n < 2 || !sure && (rest[0] < 'A' || rest[0] > 'Z') {
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
	if len(s.docs) == 0 {
		return
	}
	for _, word := range s.docs {
		at, line, ended := s.at, s.line, false
		for s.at < len(s.src) && !ended {
			start := s.at
			s.toLineEnd()
			text := bytes.TrimSpace(s.src[start:s.at])
			if s.at < len(s.src) {
				s.newline(true)
			}
			ended = hasPrefix(text, word) && (len(text) == len(word) || !isNameByte(text[len(word)]))
		}
		if !ended {
			s.undo(at, line)
		}
	}
	s.docs = s.docs[:0]
	if s.at < len(s.src) {
		s.beginLine(false)
	}
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
