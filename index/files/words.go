package files

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

const (
	// maxWords is how many words of a question are searched for: the first ones. Longer
	// questions usually quote something.
	maxWords = 24
	// leastPart is the least number of characters in a part of a compound; leastStem the
	// least that must remain of a word without its ending.
	leastPart, leastStem = 3, 4
)

// stopWords are words that say nothing about a file.
var stopWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(`a about after all also an and any are as at be because been before but by can could did do does
	for from had has have he her his how i if in into is it its just me more most my no not of on only or other our out over please she
	should so some such tell than that the their them then there these they this those to too under up us was we were what when where
	which while who whose why will with would you your`) {
		words[word] = true
	}
	return words
})

// endings are removed from a word of a question, the longest first. Words match as
// substrings, so the stem finds the other forms as well.
var endings = []string{"ies", "ing", "ed", "es", "s"}

// questionWords returns the folded words of a question to search for: each word without its
// ending, and the parts of compounds (paths, file names, identifiers).
func questionWords(question string) []string {
	var words []string
	stop := stopWords()
	add := func(word string) {
		if word != "" && len(words) < maxWords && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	for word := range strings.FieldsFuncSeq(question, func(r rune) bool { return !isWordRune(r) }) {
		word = strings.Trim(word, "./-_")
		parts := compound(word)
		if len(parts) < 2 {
			if folded := fold(word); !stop[folded] {
				add(stem(folded))
			}
			continue
		}
		add(fold(word))
		for _, part := range parts {
			if folded := fold(part); utf8.RuneCountInString(part) >= leastPart && !stop[folded] {
				add(stem(folded))
			}
		}
	}
	return words
}

// isWordRune says whether a character can be part of a word, path or name.
func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || strings.ContainsRune("./-_", r)
}

// stem removes an ending from a word if enough remains.
func stem(word string) string {
	for _, end := range endings {
		if left, ok := strings.CutSuffix(word, end); ok && utf8.RuneCountInString(left) >= leastStem && !strings.HasSuffix(word, "ss") {
			return left
		}
	}
	return word
}

// compound splits a word at punctuation and where a capital follows a small letter.
func compound(word string) []string {
	var parts []string
	start := 0
	cut := func(end, next int) {
		if end > start {
			parts = append(parts, word[start:end])
		}
		start = next
	}
	small := false
	for i, r := range word {
		switch {
		case strings.ContainsRune("./-_", r):
			cut(i, i+1)
		case small && unicode.IsUpper(r):
			cut(i, i)
		}
		small = unicode.IsLower(r)
	}
	cut(len(word), len(word))
	return parts
}
