package render

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Tokens estimates how many tokens a text takes, as every budget counts them: one for every
// 3.5 bytes. It is no tokenizer's count: against o200k_base it is between 6 % too low (Go code)
// and 14 % too high (prose) on average; see docs/quality.md.
func Tokens(text string) int { return TokensOf(len(text)) }

// TokensOf is Tokens of a text of so many bytes. The parts of a text take no fewer tokens
// than the whole.
func TokensOf(bytes int) int { return (2*bytes + 6) / 7 }

// FrameTokens is TokensOf the frame around stored text.
const FrameTokens = (2*frameBytes + 6) / 7

// MaxBytes is the length of the longest text that takes no more than some tokens.
func MaxBytes(tokens int) int { return 7 * tokens / 2 }

// when is a text, or nothing.
func when(is bool, text string) string {
	if !is {
		return ""
	}
	return text
}

// OneLine joins the words of a text with single blanks.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Ellipsis marks where a text was cut.
const Ellipsis = "…"

// Characters cuts a text to at most n characters, the last one an Ellipsis.
func Characters(text string, n int) string {
	if len(text) <= n || utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + Ellipsis
}

// Lines returns the whole lines that fit into n characters, or the first n characters of
// a longer first line.
func Lines(text string, n int) string {
	if n <= 0 {
		return ""
	}
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	text = string([]rune(text)[:n])
	if i := strings.LastIndexByte(text, '\n'); i > 0 {
		return text[:i]
	}
	return text
}

// Prefix is the longest beginning of a text that has at most n bytes and ends with a
// whole rune.
func Prefix(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:max(n, 0)]
}

// Shorten cuts a line to at most n bytes and ends it with an Ellipsis: after a sentence
// that ends in its second half, else after a word there.
func Shorten(line string, n int) string {
	if len(line) <= n {
		return line
	}
	text := Prefix(line, n-len(Ellipsis))
	for i := len(text) - 1; i > len(text)/2; i-- {
		if (text[i-1] == '.' || text[i-1] == '!' || text[i-1] == '?' || text[i-1] == ';') && text[i] == ' ' {
			return text[:i] + Ellipsis
		}
	}
	// A word that ends exactly here is whole.
	if i := strings.LastIndexByte(text, ' '); i > len(text)/2 && line[len(text)] != ' ' {
		text = text[:i]
	}
	return strings.TrimRight(text, " ,:") + Ellipsis
}

// day writes the day of a time, in UTC.
func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Name writes the name of a catalogue entry, a tool with its server: "filesystem:read_file".
func Name(server, name string) string {
	return when(server != "", server+":") + name
}
