package redact

import (
	"slices"
	"strings"
)

// findAssigned finds the value given to a name such as password or api_key:
// `DB_PASSWORD=value`, `"token": "value"`, `secret: value`. The rules for commands handle
// `--password value`. Calls, references and placeholders are code and are kept.
func findAssigned(text string, at int) (int, int, bool) {
	line, _, _ := strings.Cut(text[at:min(len(text), at+window)], "\n")
	// The rest of the name, as in token_for_tests, and its quote.
	i := 0
	for i < len(line) && (isWordByte(line[i]) || line[i] == '-') {
		i++
	}
	nameEnd := i
	for i < len(line) && (line[i] == '"' || line[i] == '\'' || line[i] == ']') {
		i++
	}
	spaced := i
	i = skipSpace(line, i)
	op := assignment(line[i:])
	if op == "" {
		return 0, at + i, false
	}
	tight := spaced == i && op == "="
	i += len(op)
	valueSpace := i
	i = skipSpace(line, i)
	tight = tight && valueSpace == i
	if i >= len(line) {
		return 0, 0, false
	}
	if q := line[i]; q == '"' || q == '\'' || q == '`' {
		value := quoted(line[i+1:], q)
		if isSecretString(value) {
			return at + i + 1, at + i + 1 + len(value), true
		}
		return 0, at + i + len(value), false
	}
	value := line[i:]
	if end := strings.IndexAny(value, " \t\r\"'`,;)}&<>"); end >= 0 {
		value = value[:end]
	}
	env := tight && isEnvName(text, at, at+nameEnd)
	if isSecretWord(value, env) {
		return at + i, at + i + len(value), true
	}
	return 0, at + i + len(value), false
}

func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

// assignment returns the assignment sign at the front of s.
func assignment(s string) string {
	for _, op := range [...]string{":=", "=>", "==", "=", ":"} {
		if strings.HasPrefix(s, op) {
			if op == "==" {
				return "" // a comparison
			}
			return op
		}
	}
	return ""
}

// quoted returns the text before the closing quote; empty if there is none.
func quoted(s string, quote byte) string {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case quote:
			return s[:i]
		}
	}
	return ""
}

// isEnvName reports whether text[start:end] ends a name in capitals that begins a
// line, or follows export or a space: DB_PASSWORD in a shell or .env file.
func isEnvName(text string, start, end int) bool {
	for start > 0 && isWordByte(text[start-1]) {
		start--
	}
	if start > 0 && !strings.ContainsRune("\n \t\"'", rune(text[start-1])) {
		return false
	}
	for i := start; i < end; i++ {
		if c := text[i]; c >= 'a' && c <= 'z' || c == '-' {
			return false
		}
	}
	return start < end
}

// isSecretString judges a quoted value: at least 6 bytes, no blanks, letters and digits
// or signs mixed, unlike words of a language.
func isSecretString(s string) bool {
	if len(s) < 6 || isPlaceholder(s) || strings.ContainsAny(s, " \t(){}<>") {
		return false
	}
	k := kindsOf(s)
	if k.letters == 0 || k.digits == 0 && k.signs == 0 {
		return false
	}
	if looksRandom(s) {
		return true
	}
	// Paths, addresses, dotted and dashed names have signs between their words.
	return k.signs > 0 && k.digits > 0 && len(s) >= 8 || k.digits > 0 && k.separators == 0 && k.digits*8 >= len(s)
}

// isSecretWord judges a value without quotes, which is an expression in code and a string
// in a file of settings (env).
func isSecretWord(s string, env bool) bool {
	if len(s) < 8 || isPlaceholder(s) || strings.ContainsAny(s, "(){}<>[]|\\") {
		return false
	}
	if env {
		return !strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "./")
	}
	k := kindsOf(s)
	return looksRandom(s) || k.letters > 0 && k.digits > 0 && k.signs > 0 && !strings.ContainsAny(s, "*&")
}

// placeholders stand for a secret to be filled in.
var placeholders = []string{"example", "changeme", "change_me", "change-me", "placeholder", "redacted", "your", "xxxx", "****", "....", "dummy", "sample", "notreal"}

// isPlaceholder reports whether a value only shows where a secret goes: a variable, a
// format, a mark, or a word such as "changeme".
func isPlaceholder(s string) bool {
	if s == "" || strings.ContainsAny(s[:1], "$%<{*&@") || strings.Contains(s, "${") || strings.Contains(s, "{{") ||
		strings.Contains(s, "%s") || strings.Contains(s, "%v") || isMark(s) {
		return true
	}
	lower := strings.ToLower(s)
	switch lower {
	case "password", "passwd", "pass", "secret", "token", "user", "null", "none", "true", "false", "undefined":
		return true
	}
	return slices.ContainsFunc(placeholders, func(p string) bool { return strings.Contains(lower, p) })
}

// kinds counts the bytes of a word by kind.
type kinds struct {
	letters, digits int
	separators      int // _ - . / : which join words
	signs           int // any other
}

func kindsOf(s string) kinds {
	var k kinds
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			k.digits++
		case isAlnum(c) || c >= 0x80:
			k.letters++
		case strings.IndexByte("_-./:", c) >= 0:
			k.separators++
		default:
			k.signs++
		}
	}
	return k
}
