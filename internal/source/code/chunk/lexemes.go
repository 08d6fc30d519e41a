package chunk

import "strings"

// lexeme is a word, a sign or a bracketed group of a head.
type lexeme struct {
	// kind is 'w' for a word, '"' for a quoted text, ( [ and < for a bracketed group, '>'
	// for an arrow, 'e' for ==, else the sign itself.
	kind byte
	// text is the word, the text without its quotes, or the inside of the group.
	text string
}

// headReader has the lexemes of a head. in is the word of its container; body is true if a
// brace opens after it.
type headReader struct {
	lang, in string
	list     []lexeme
	body     bool
}

// at returns a lexeme, an empty one outside of the head.
func (r *headReader) at(i int) lexeme {
	if i >= 0 && i < len(r.list) {
		return r.list[i]
	}
	return lexeme{}
}

// lexemes reads a head up to the brace that opens its body, which is the last lexeme
// then. Words keep their qualifiers, joined by dots: "ns::Type::method" is one word.
// Comments are left out; # begins a comment only if hash is set.
func lexemes(s string, hash bool) []lexeme {
	list := make([]lexeme, 0, 16)
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c <= ' ':
			i++
		case c == '/' && strings.HasPrefix(s[i:], "//"), c == '#' && hash:
			comment, _, _ := strings.Cut(s[i:], "\n")
			i += len(comment)
		case c == '/' && strings.HasPrefix(s[i:], "/*"):
			end := strings.Index(s[i+2:], "*/")
			if end < 0 {
				return list
			}
			i += end + 4
		case isWordByte(c), c == '.' && len(list) == 0 && i+1 < len(s) && isNameByte(s[i+1]): // .onLoad in R
			end := wordEnd(s, i)
			list = append(list, lexeme{'w', qualified(s[i:end])})
			i = end
		case c == '"' || c == '\'' || c == '`':
			end := quoteEnd(s, i)
			if end < 0 {
				i++ // a lifetime, or a text that continues after the head
				continue
			}
			list = append(list, lexeme{'"', s[i+1 : end]})
			i = end + 1
		case c == '(' || c == '[':
			end := groupEnd(s, i)
			list = append(list, lexeme{c, strings.TrimSpace(strings.TrimRight(s[i+1:end], ")]"))})
			i = end
		case c == '<':
			end := anglesEnd(s, i)
			if end < 0 {
				list = append(list, lexeme{c, "<"})
				i++
				continue
			}
			list = append(list, lexeme{c, s[i+1 : end-1]})
			i = end
			// C++: the method of a type with parameters, "Type<T>::method".
			if n := len(list); n > 1 && list[n-2].kind == 'w' && strings.HasPrefix(s[i:], "::") && i+2 < len(s) && isWordByte(s[i+2]) {
				end := wordEnd(s, i+2)
				list[n-2].text += separator + qualified(s[i+2:end])
				list = list[:n-1]
				i = end
			}
		case (c == '=' || c == '-') && i+1 < len(s) && s[i+1] == '>':
			list = append(list, lexeme{'>', s[i : i+2]})
			i += 2
		case c == '=' && i+1 < len(s) && s[i+1] == '=':
			list = append(list, lexeme{'e', "=="})
			i += 2
		case c == '{':
			return append(list, lexeme{'{', ""})
		default:
			list = append(list, lexeme{c, s[i : i+1]})
			i++
		}
	}
	return list
}

func isWordByte(c byte) bool { return isNameByte(c) || c == '$' || c == '~' || c == '@' }

// wordEnd returns the end of the word that begins at i.
func wordEnd(s string, i int) int {
	for i++; i < len(s); {
		next := i + 1
		switch c := s[i]; {
		case isWordByte(c) && c != '@':
			i++
		case (c == '.' || c == '\\') && next < len(s) && isNameByte(s[next]):
			i += 2
		case c == ':' && next+1 < len(s) && s[next] == ':' && (isNameByte(s[next+1]) || s[next+1] == '~'):
			i += 3
		default:
			return i
		}
	}
	return i
}

// qualified writes the qualifiers of a word with dots.
func qualified(word string) string {
	if strings.ContainsAny(word, `:\`) {
		return strings.ReplaceAll(strings.ReplaceAll(word, "::", separator), `\`, separator)
	}
	return word
}

// quoteEnd returns the end of the quoted text that begins at i, -1 if it does not end in
// its line.
func quoteEnd(s string, i int) int {
	for j := i + 1; j < len(s) && s[j] != '\n'; j++ {
		switch s[j] {
		case s[i]:
			return j
		case '\\':
			j++
		}
	}
	return -1
}

// groupEnd returns the position after the bracket that closes the one at i, or the end.
func groupEnd(s string, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '(', '[':
			depth++
		case ')', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"', '\'', '`':
			if end := quoteEnd(s, i); end > 0 {
				i = end
			}
		}
	}
	return len(s)
}

// anglesEnd returns the position after the angle that closes the one at i, -1 if that is
// an operator.
func anglesEnd(s string, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '<':
			depth++
		case '>':
			if s[i-1] == '-' || s[i-1] == '=' { // an arrow within
				continue
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case '(', '[':
			i = groupEnd(s, i) - 1
		case ';', ')', '{':
			return -1
		}
	}
	return -1
}

// firstWord returns the first word of a text.
func firstWord(s string) string {
	for i := range len(s) {
		if isNameByte(s[i]) {
			return s[i:wordEnd(s, i)]
		}
	}
	return ""
}
