package recall

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

// mention is a word of a question that may stand for code: a declared name or a place.
// Only a look into the corpus shows which of the two it is. A word that is neither is
// an ordinary word.
type mention struct {
	name  memory.Name         // empty if it cannot be a name
	place memory.CodeLocation // empty if it cannot be a place
}

// mentioned is what a question mentions.
type mentioned struct {
	mentions []mention
	// alone says that the question contains nothing else.
	alone bool
}

const (
	// maxMentions bounds the lookups for one question. A stack trace has about that many
	// frames of interest; pasted code has many more names.
	maxMentions = 16
	// leastName is the shortest name, in bytes, that is looked up from a sentence.
	leastName = 2
)

// mentions parses a question. A word counts as a name if it is written like one
// (readFile, read_file, read-file, utf8, http.Get, read(), `read`), if it is the whole question,
// or if only a name can stand in its place ("what does serve do"). Other words of a
// sentence are not looked up, although code may declare them.
func mentions(question string) mentioned {
	text := flattened(question)
	words := wordsOf(text)
	var a mentioned
	used := 0
	// The innermost frame of a Python traceback is the last one.
	traceback, before := strings.Index(text, "most recent call last"), 0
	add := func(m mention) {
		used++
		if len(a.mentions) == maxMentions && traceback >= 0 && before < maxMentions {
			a.mentions = slices.Delete(a.mentions, before, before+1) // the outermost frame
		}
		if len(a.mentions) < maxMentions {
			a.mentions = append(a.mentions, m)
		}
	}
	for i, w := range words {
		if w.start < traceback {
			before = len(a.mentions)
		}
		place, isPlace := w.place(text)
		name, isName := w.name()
		isName = isName && (len(words) == 1 || len(name.Name) >= leastName && (w.looksNamed(text, name) || asksFor(words, i)))
		switch {
		case isPlace && isName:
			add(mention{name, place})
		case isPlace:
			add(mention{place: place})
		case isName:
			add(mention{name: name})
		}
	}
	if traceback >= 0 {
		slices.Reverse(a.mentions)
	}
	a.alone = used == len(words)
	return a
}

// word is a part of a question between white space, quotes and brackets.
type word struct {
	text       string
	start, end int // in the question, without the punctuation at the word's end
}

const (
	separators = " \t\r\n\"'`()[]{}<>,;|*?!&="
	marks      = ".:,-" // at a word's end they are the sentence's
)

func wordsOf(text string) []word {
	var words []word
	for i := 0; i < len(text); {
		if strings.IndexByte(separators, text[i]) >= 0 {
			i++
			continue
		}
		n := strings.IndexAny(text[i:], separators)
		if n < 0 {
			n = len(text) - i
		}
		if w := strings.TrimRight(text[i:i+n], marks); w != "" {
			words = append(words, word{w, i, i + len(w)})
		}
		i += n
	}
	return words
}

// flattened writes (*Server).Serve and server->serve as Server.Serve.
func flattened(text string) string {
	if !strings.Contains(text, ").") && !strings.Contains(text, "->") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		rest := text[i:]
		switch {
		case strings.HasPrefix(rest, "->") && beginsName(rest[2:]):
			b.WriteByte('.')
			i += len("->")
			continue
		case rest[0] == '(' && (i == 0 || !isNameByte(text[i-1])):
			inner := strings.TrimLeft(rest[1:], "*&")
			n := 0
			for n < len(inner) && (isNameByte(inner[n]) || inner[n] == '.') {
				n++
			}
			if n > 0 && strings.HasPrefix(inner[n:], ").") && beginsName(inner[n+len(")."):]) {
				b.WriteString(inner[:n])
				i = len(text) - len(inner) + n + len(")")
				continue
			}
		}
		b.WriteByte(text[i])
		i++
	}
	return b.String()
}

func isNameByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

func beginsName(s string) bool { return s != "" && isNameByte(s[0]) && !(s[0] >= '0' && s[0] <= '9') }

// qualifiers are the separators between a name and its qualifier.
var qualifiers = strings.NewReplacer("::", ".", "#", ".", `\`, ".")

// name parses a word as a name with its nearest qualifier. A receiver such as this or
// self is no qualifier.
func (w word) name() (memory.Name, bool) {
	if isPlain(w.text) { // most words of a sentence
		return memory.Name{Name: w.text}, true
	}
	if strings.Contains(w.text, "://") {
		return memory.Name{}, false
	}
	text := w.text[strings.LastIndexByte(w.text, '/')+1:] // net/http.Get
	text = qualifiers.Replace(strings.TrimLeft(text, "@$#~%+-."))
	parts := strings.Split(text, ".")
	for _, part := range parts {
		if !beginsName(part) || strings.IndexFunc(part, func(r rune) bool { return r < utf8.RuneSelf && r != '-' && !isNameByte(byte(r)) }) >= 0 {
			return memory.Name{}, false
		}
	}
	n := memory.Name{Name: parts[len(parts)-1]}
	if len(parts) > 1 {
		switch in := parts[len(parts)-2]; in {
		case "self", "this", "cls", "super":
		default:
			n.In = in
		}
	}
	return n, true
}

// isPlain says that a word has nothing but ASCII letters.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return text != ""
}

// looksNamed says that a word is not written like an English word.
func (w word) looksNamed(text string, n memory.Name) bool {
	if n.In != "" || strings.ContainsAny(w.text, ".:#-") { // read-only, too, if code declares just that
		return true
	}
	if w.start > 0 && text[w.start-1] == '`' && strings.HasPrefix(text[w.end:], "`") {
		return true
	}
	if strings.HasPrefix(text[w.end:], "(") && !strings.HasPrefix(text[w.end:], "(s)") {
		return true // a call; but file(s) is not
	}
	return styled(n.Name)
}

// styled says that a name is written in camel case or snake case or has digits.
func styled(name string) bool {
	trimmed := strings.Trim(name, "_$")
	if trimmed != name && trimmed != "" || strings.Contains(trimmed, "_") {
		return true
	}
	var before, twice rune // the two previous runes
	for _, r := range trimmed {
		switch {
		case unicode.IsDigit(r):
			return true
		case unicode.IsUpper(r) && unicode.IsLower(before):
			return true
		case unicode.IsLower(r) && unicode.IsUpper(before) && unicode.IsUpper(twice):
			return r != 's' || !strings.HasSuffix(trimmed, "s") // URLs
		}
		twice, before = before, r
	}
	return false
}

// asksFor says that the i-th word of a sentence is in the place of a name, however it is written.
func asksFor(words []word, i int) bool {
	at := func(i int) string {
		if i < 0 || i >= len(words) {
			return ""
		}
		return strings.ToLower(words[i].text)
	}
	if grammar[at(i)] {
		return false
	}
	switch at(i + 1) {
	case "defined", "declared", "implemented": // where is serve defined
		switch at(i - 1) {
		case "is", "are", "was", "function", "func", "method", "class", "type", "struct", "interface", "macro", "constant", "variable":
			return true
		}
	case "do", "work", "return", "mean", "take", "expect": // what does serve do
		return at(i-1) == "does"
	}
	switch at(i - 1) {
	case "func", "fn", "def", "function", "method", "struct":
		return true
	case "of":
		switch at(i - 2) {
		case "definition", "declaration", "implementation", "signature", "callers":
			return i == len(words)-1
		}
	case "calls": // who calls serve
		return i == 2 && i == len(words)-1
	}
	return false
}

// grammar lists words that are not names even in the place of a name.
var grammar = map[string]bool{
	"a": true, "an": true, "the": true, "it": true, "this": true, "that": true, "these": true, "those": true, "they": true, "one": true,
	"is": true, "are": true, "was": true, "in": true, "on": true, "of": true, "to": true, "for": true, "and": true, "or": true,
	"not": true, "which": true, "what": true, "where": true, "how": true, "with": true, "from": true, "by": true, "we": true, "you": true,
}

// place parses a word as a path, with the line number inside or after it.
func (w word) place(text string) (memory.CodeLocation, bool) {
	p := w.text
	if scheme := strings.Index(p, "://"); scheme >= 0 {
		switch p[:scheme] {
		case "file", "webpack", "vscode", "webpack-internal":
			p = strings.TrimLeft(p[scheme+len("://"):], "/")
		default:
			return memory.CodeLocation{}, false
		}
	}
	drive := ""
	if len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') {
		drive, p = p[:2], p[2:]
	}
	p, rest, _ := strings.Cut(p, ":")
	line, told := number(rest)
	if !told {
		var anchor string
		if p, anchor, told = strings.Cut(p, "#L"); told {
			line, told = number(anchor)
		}
	}
	if !told && (rest == "" || rest == "line") {
		line, told = lineBehind(text[w.end:], rest == "line")
	}
	if !isPath(p) && !(told && p != "") {
		return memory.CodeLocation{}, false
	}
	return memory.CodeLocation{Path: drive + p, Line: line}, true
}

// isPath says that a word has folders, or an extension with a letter in it.
func isPath(p string) bool {
	const longest = 12 // bytes of an extension
	if strings.ContainsAny(p, `/\`) {
		return true
	}
	dot := strings.LastIndexByte(p, '.')
	ext := p[dot+1:]
	return dot > 0 && ext != "" && len(ext) <= longest && strings.ContainsFunc(ext, unicode.IsLetter)
}

// lineBehind reads the line number after a path: `", line 12`, ` on line 12`, ` line 12`,
// `(12,5)`; if said is set, also ` 12` after the word "line".
func lineBehind(rest string, said bool) (int, bool) {
	if inner, ok := strings.CutPrefix(rest, "("); ok {
		return number(inner)
	}
	rest = strings.TrimLeft(rest, "\"'`,: ")
	if !said {
		rest = strings.TrimPrefix(rest, "on ")
		var ok bool
		if rest, ok = strings.CutPrefix(rest, "line "); !ok {
			return 0, false
		}
	}
	return number(strings.TrimLeft(rest, " "))
}

// number reads the leading digits of a text as a line number, at least 1.
func number(s string) (int, bool) {
	digits := s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
	if digits == "" { // behind nearly every word; an error would cost more than the rest
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n == 0 {
		return 0, false
	}
	return n, true
}
