package adaptation

import (
	"hash/fnv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is read and kept, in bytes.
const (
	// maxLine is the longest line that is read: longer ones are data or generated.
	maxLine = 4000
	minText = 10
	maxText = 1900
	// maxStatements is how many lines below a comment inside a function belong to it.
	maxStatements = 8
)

// pairsOf finds the pairs of a file by the form of its lines, in any language: the first
// sentence of a comment and the code below it, the words of a name and the block that it
// names, a message and the code around it, a heading and its section.
func pairsOf(lang, text string, emit func(a, b string)) {
	s := &scanner{emit: emit}
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); len(line) <= maxLine {
			s.lines = append(s.lines, line)
		}
	}
	if lang == "markdown" {
		s.sections()
		return
	}
	for i := 0; i < len(s.lines); {
		if end := s.commentEnd(i); end > i {
			s.comment(i, end)
			i = end
			continue
		}
		s.name(i)
		s.message(i)
		i++
	}
}

// scanner finds pairs in the lines of one file.
type scanner struct {
	lines []string
	emit  func(a, b string)
}

// line returns a line without the white space around it; lines beyond the end are blank.
func (s *scanner) line(i int) string {
	if i >= len(s.lines) {
		return ""
	}
	return strings.TrimSpace(s.lines[i])
}

// lineMarks begin comments that end with the line, blockMarks other comments.
var (
	lineMarks  = []string{"//", "# ", "-- ", ";; ", "% "}
	blockMarks = [][2]string{{"/*", "*/"}, {"<!--", "-->"}, {`"""`, `"""`}, {"'''", "'''"}, {"{-", "-}"}}
)

// commentEnd returns the line after the comment that begins on line i, and i if none
// does.
func (s *scanner) commentEnd(i int) int {
	first := s.line(i)
	for _, mark := range lineMarks {
		end := i
		for strings.HasPrefix(s.line(end)+" ", mark) {
			end++
		}
		if end > i {
			return end
		}
	}
	for _, mark := range blockMarks {
		if rest, ok := strings.CutPrefix(first, mark[0]); ok {
			if strings.Contains(rest, mark[1]) {
				return i + 1
			}
			for end := i + 1; end < len(s.lines); end++ {
				if strings.Contains(s.lines[end], mark[1]) {
					return end + 1
				}
			}
		}
	}
	return i
}

// comment emits the comment of lines [i, end) with the code below it. A string at the
// beginning of a body, as in Python, belongs to the header above it.
func (s *scanner) comment(i, end int) {
	prose := proseOf(s.lines[i:end])
	first := firstSentence(prose)
	if !isProse(first) || s.line(end) == "" {
		return
	}
	code := s.below(end)
	if i > 0 && strings.Trim(s.line(i)[:1], `"'`) == "" && strings.HasSuffix(s.line(i-1), ":") {
		code = s.lines[i-1] + "\n" + code
	}
	first = withoutName(first, s.line(end))
	s.emit(first, code)
	if len(prose) > len(first)+80 {
		s.emit(withoutName(prose, s.line(end)), code)
	}
}

// name emits the words of the name that a block declares with the block.
func (s *scanner) name(i int) {
	line := s.line(i)
	if line == "" || strings.HasSuffix(line, ";") || s.indentAt(i+1) <= s.indentAt(i) {
		return
	}
	open := strings.IndexByte(line, '(')
	for open > 0 && !isNamePart(line[open-1]) { // the receiver of a Go method
		next := strings.IndexByte(line[open+1:], '(')
		if next < 0 {
			return
		}
		open += 1 + next
	}
	if open < 0 {
		return
	}
	start := open
	for start > 0 && isNamePart(line[start-1]) {
		start--
	}
	words := strings.TrimPrefix(nameWords(line[start:open]), "test ")
	if strings.Count(words, " ") < 2 {
		return
	}
	if _, body, _ := strings.Cut(s.below(i), "\n"); strings.Count(body, "\n") >= 2 {
		s.emit(words, body)
	}
}

// message emits a quoted message with the code around its line.
func (s *scanner) message(i int) {
	line := s.line(i)
	for _, quote := range []string{`"`, "'", "`"} {
		_, rest, found := strings.Cut(line, quote)
		text, _, closed := strings.Cut(rest, quote)
		if !found || !closed || len(text) > 200 || !isProse(text) || strings.Count(text, " ") < 3 {
			continue
		}
		var around []string
		for j := max(0, i-4); j < min(len(s.lines), i+3); j++ {
			if s.commentEnd(j) == j {
				around = append(around, strings.ReplaceAll(s.lines[j], text, ""))
			}
		}
		s.emit(text, strings.Join(around, "\n"))
		return
	}
}

// below returns the code from line i on, without comments: a header with the block that
// is indented below it, or statements up to a blank line, a comment or a lower indent.
func (s *scanner) below(i int) string {
	indent := s.indentAt(i)
	block := s.indentAt(i+1) > indent
	var code strings.Builder
	for n := 0; i < len(s.lines) && code.Len() < maxText; {
		if end := s.commentEnd(i); end > i {
			if !block && n > 0 {
				break
			}
			i = end
			continue
		}
		at, line := s.indentAt(i), s.lines[i]
		switch blank := strings.TrimSpace(line) == ""; {
		case blank && !block, !blank && at < indent, n >= maxStatements && !block:
			return code.String()
		case block && n > 0 && !blank && at == indent:
			// The line that closes the block belongs to it, the next declaration does not.
			// A header of several lines ends with the line that opens the block.
			switch rest := strings.TrimSpace(line); {
			case !strings.ContainsRune("})]", rune(rest[0])):
				return code.String()
			case !strings.ContainsRune("{:(", rune(rest[len(rest)-1])):
				return code.String() + line
			}
		}
		code.WriteString(line + "\n")
		n++
		i++
	}
	return code.String()
}

// indentAt is the width of the white space at the beginning of a line. A blank line has the
// indent of the next line that is not blank.
func (s *scanner) indentAt(i int) int {
	for ; i < len(s.lines); i++ {
		if rest := strings.TrimLeft(s.lines[i], " \t"); rest != "" {
			return len(s.lines[i]) - len(rest)
		}
	}
	return 0
}

// sections emits the headings of Markdown with the text below each.
func (s *scanner) sections() {
	heading, fenced := "", false
	var section strings.Builder
	end := func() {
		if section.Len() > 0 {
			s.emit(heading, section.String())
		}
		section.Reset()
	}
	for i := range s.lines {
		line := s.line(i)
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			if !fenced || i == 0 {
				continue
			}
			if before := s.line(i - 1); before == "" && i > 1 {
				s.example(s.line(i-2), i+1)
			} else {
				s.example(before, i+1)
			}
			continue
		}
		if text := strings.TrimLeft(line, "#"); !fenced && text != line && strings.HasPrefix(text, " ") {
			end()
			heading = strings.Trim(text, " #`*")
			continue
		}
		section.WriteString(line + "\n")
	}
	end()
}

// example emits the sentence before a fenced block with the block, which begins on line i.
func (s *scanner) example(before string, i int) {
	var block strings.Builder
	for ; i < len(s.lines) && !strings.HasPrefix(s.line(i), "```"); i++ {
		block.WriteString(s.lines[i] + "\n")
	}
	if at := strings.LastIndex(before, ". "); at >= 0 {
		before = before[at+2:]
	}
	if isProse(before) {
		s.emit(strings.TrimSuffix(before, ":"), block.String())
	}
}

// proseOf returns the first paragraph of a comment without its marks, on one line.
func proseOf(lines []string) string {
	var words []string
	for _, line := range lines {
		line = strings.Trim(line, " \t/*#-;%<!>\"'{}")
		if line == "" && len(words) > 0 || line != "" && strings.ContainsRune("@:\\`", rune(line[0])) {
			break
		}
		words = append(words, strings.Fields(line)...)
	}
	return strings.Join(words, " ")
}

// firstSentence returns the text up to the first full stop that is followed by a space and
// no lower-case letter.
func firstSentence(text string) string {
	for at := 0; ; {
		i := strings.IndexAny(text[at:], ".?!")
		if at += i + 1; i < 0 || at >= len(text)-1 {
			return text
		}
		if next, _ := utf8.DecodeRuneInString(text[at+1:]); text[at] == ' ' && !unicode.IsLower(next) {
			return text[:at]
		}
	}
}

// withoutName removes the first word of a description if the code declares it, as in Go's
// comments. Otherwise training would learn only the name.
func withoutName(sentence, code string) string {
	name, rest, _ := strings.Cut(sentence, " ")
	name = strings.Trim(name, "`()")
	_, after, declared := strings.Cut(code, name)
	if !declared || name == "" || !isProse(rest) || after != "" && isNamePart(after[0]) {
		return sentence
	}
	return rest
}

// isProse says whether a text reads like prose: at least three words, most of them of
// letters only.
func isProse(s string) bool {
	plain, words := 0, strings.Fields(s)
	for _, w := range words {
		if w = strings.Trim(w, ".,;:!?()'\"`*"); w != "" && strings.IndexFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '\'' }) < 0 {
			plain++
		}
	}
	return len(words) >= 3 && plain*3 >= len(words)*2
}

func isNamePart(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf
}

// nameWords splits an identifier into its words, in lower case: "parseHTTPRequest" is
// "parse http request".
func nameWords(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case r == '_':
			r = ' '
		case i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// fit makes a text valid UTF-8 without control characters, and cuts it after a word within
// maxText.
func fit(s string) string {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "")))
	if len(s) <= maxText {
		return s
	}
	cut := strings.LastIndexAny(s[:maxText], " \n")
	if cut < maxText/2 {
		cut = maxText
	}
	return strings.TrimSpace(strings.ToValidUTF8(s[:cut], ""))
}

// boilerplate are words of texts that are the same everywhere or generated.
var boilerplate = []string{
	"copyright", "licensed under", "spdx-license", "all rights reserved", "permission is hereby granted", "without warranty", "apache license", "redistribution and use",
	"do not edit", "code generated", "auto-generated", "autogenerated", "nolint", "noqa", "eslint-", "prettier-ignore", "ts-ignore", "todo", "fixme",
}

// isWorth says whether a pair is worth learning from.
func isWorth(a, b string) bool {
	if len(a) < minText || len(b) < minText || keyOf(a) == keyOf(b) {
		return false
	}
	lower := strings.ToLower(a)
	for _, words := range boilerplate {
		if strings.Contains(lower, words) {
			return false
		}
	}
	letters, run := 0, 0 // b may be data: few letters, or a very long word
	for _, r := range b {
		if unicode.IsLetter(r) {
			letters += utf8.RuneLen(r)
		}
		if run++; unicode.IsSpace(r) {
			run = 0
		}
		if run > 300 {
			return false
		}
	}
	return letters*10 >= len(b)*3
}

// keyOf is a hash of a text's words: texts that differ only in case, spaces and marks have
// the same.
func keyOf(s string) uint64 {
	h := fnv.New64a()
	for word := range strings.FieldsFuncSeq(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		_, _ = h.Write([]byte(word + "\xff")) // never fails
	}
	return h.Sum64()
}
