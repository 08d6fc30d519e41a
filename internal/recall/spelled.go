package recall

import (
	"strings"
	"unicode"
)

const (
	// maxSpelled is how many adjacent words of a question may be one name, maxWords how
	// many words of it are looked at.
	maxSpelled = 4
	maxWords   = 200
	// leastSpelled is the shortest name, in bytes and folded, that words spell.
	leastSpelled = 4
)

// spelledBy returns the names that adjacent words of a question spell, folded, with the
// number of words: "read file" spells readFile, read_file, ReadFile and read-file.
func spelledBy(question string) map[string]int {
	words := strings.FieldsFunc(question, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	words = words[:min(len(words), maxWords)]
	all := make(map[string]int, maxSpelled*len(words))
	for i := range words {
		name := ""
		for n, word := range words[i:min(i+maxSpelled, len(words))] {
			name += strings.ToLower(word)
			if _, known := all[name]; !known && len(name) >= leastSpelled {
				all[name] = n + 1
			}
		}
	}
	return all
}
