package ollama

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// estimate guesses a text's number of tokens: one for about four letters of a word, the
// average of common tokenizers in English, and one for each other rune. ratio corrects it
// for the model and its texts.
func estimate(text string) int {
	tokens, letters := 0, 0
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			letters++
			continue
		case !unicode.IsSpace(r):
			tokens++
		}
		tokens += (letters + 3) / 4
		letters = 0
	}
	return tokens + (letters+3)/4
}

// ratio is the measured number of tokens per estimated token.
type ratio struct {
	mu      sync.Mutex // guards learned
	learned float64    // 0 is nothing yet
}

// of returns the ratio to use.
func (r *ratio) of() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.learned == 0 {
		return 1
	}
	return r.learned
}

// learn takes in how many tokens the server counted in a batch.
func (r *ratio) learn(inputs []string, tokens int) {
	guess := 0
	for _, in := range inputs {
		guess += estimate(in) + 2 // the marks at both ends
	}
	if tokens <= 0 || guess <= 0 {
		return // old servers do not count tokens
	}
	now := min(max(float64(tokens)/float64(guess), 0.25), 4)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.learned == 0 {
		r.learned = now
	}
	// Rise at once and fall slowly: a window that is too long costs extra requests.
	if now > r.learned {
		r.learned += (now - r.learned) / 2
	} else {
		r.learned += (now - r.learned) / 16
	}
}

// windows splits a text into the fewest parts of about equal length that fit the budget of
// estimated tokens. A budget of 0 is unlimited.
func windows(text string, budget int) []string {
	n := estimate(text)
	if budget <= 0 || n <= budget {
		return []string{text}
	}
	parts := (n + budget - 1) / budget
	out := make([]string, 0, parts)
	for ; parts > 1; parts-- {
		cut := cutNear(text, len(text)/parts)
		if cut <= 0 || cut >= len(text) {
			break
		}
		out = appendPart(out, text[:cut])
		text = text[cut:]
	}
	return appendPart(out, text)
}

// halve splits a text in two; ok says whether it could.
func halve(text string) (parts []string, ok bool) {
	cut := cutNear(text, len(text)/2)
	if cut <= 0 || cut >= len(text) {
		return nil, false
	}
	parts = appendPart(appendPart(nil, text[:cut]), text[cut:])
	return parts, len(parts) > 0 && len(parts[0]) < len(text)
}

func appendPart(parts []string, part string) []string {
	if strings.TrimSpace(part) == "" {
		return parts // a part of white space would add the vector of the marks to the mean
	}
	return append(parts, part)
}

// cutNear returns the split position nearest to at and not after it: after a line, else
// after white space, within the last quarter, else between two runes.
func cutNear(text string, at int) int {
	if at >= len(text) {
		return len(text)
	}
	from := at - at/4
	if i := strings.LastIndexByte(text[from:at], '\n'); i >= 0 {
		return from + i + 1
	}
	if i := strings.LastIndexByte(text[from:at], ' '); i >= 0 {
		return from + i + 1
	}
	cut := at
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	if cut == 0 { // the first rune is longer: take all of it
		_, size := utf8.DecodeRuneInString(text)
		return size
	}
	return cut
}
