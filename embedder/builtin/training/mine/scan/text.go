package scan

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// firstSentence returns the text up to the first full stop, question or exclamation mark
// that is followed by a space and no lower-case letter, with single spaces.
func firstSentence(text string) string { return sentenceAt(oneLine(text)) }

// sentenceAt is firstSentence of a text with single spaces.
func sentenceAt(text string) string {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c != '.' && c != '?' && c != '!' {
			continue
		}
		if i+1 == len(text) {
			return text
		}
		if text[i+1] != ' ' {
			continue
		}
		next, _ := utf8.DecodeRuneInString(text[i+2:])
		if word := lastWord(text[:i]); !unicode.IsLower(next) && !abbreviations[strings.ToLower(word)] {
			return text[:i+1]
		}
	}
	return text
}

// abbreviations end in a full stop that does not end a sentence.
var abbreviations = map[string]bool{"e.g": true, "i.e": true, "etc": true, "vs": true, "mr": true, "mrs": true, "dr": true, "cf": true, "no": true}

func lastWord(s string) string { return s[strings.LastIndexAny(s, " (")+1:] }

// oneLine makes all white space single spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// nameWords splits an identifier into lower-case words: camelCase, snake_case
// and runs of capitals ("parseHTTPRequest_2" is "parse http request 2").
func nameWords(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			r = ' '
		}
		if i > 0 {
			before := runes[i-1]
			starts := unicode.IsUpper(r) && (!unicode.IsUpper(before) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
			if starts || unicode.IsDigit(r) != unicode.IsDigit(before) {
				b.WriteByte(' ')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return oneLine(b.String())
}

// wordCount counts the words between white space.
func wordCount(s string) int { return len(strings.Fields(s)) }

// isProse says whether a text reads like prose and not like code: at least atLeast words,
// most of them of letters only.
func isProse(s string, atLeast int) bool {
	words := strings.Fields(s)
	if len(words) < atLeast {
		return false
	}
	plain := 0
	for _, w := range words {
		w = strings.Trim(w, ".,;:!?()'\"`*")
		if w != "" && strings.IndexFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '\'' }) < 0 {
			plain++
		}
	}
	return plain*3 >= len(words)*2
}

// indentOf returns the width of the white space at the beginning of a line; a tab counts
// four.
func indentOf(line string) int {
	n := 0
	for _, c := range line {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 4
		default:
			return n
		}
	}
	return n
}

// dedent removes the common indent from all lines, and blank lines from both ends.
func dedent(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	common, found := "", false
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		lead := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		if !found {
			common, found = lead, true
		}
		for !strings.HasPrefix(lead, common) {
			common = common[:len(common)-1]
		}
	}
	for i, line := range lines {
		lines[i] = strings.TrimRight(strings.TrimPrefix(line, common), " \t\r")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// between returns the text between two marks, and the text after them.
func between(text, start, end string) (inside, rest string, ok bool) {
	_, after, ok := strings.Cut(text, start)
	if !ok {
		return "", "", false
	}
	return strings.Cut(after, end)
}

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}
