package recall

import (
	"strings"
	"unicode"

	"github.com/recalld/recalld/internal/memory"
)

const (
	// maxSpelled is how many adjacent words of a question may be one name, maxWords how
	// many words of it are looked at.
	maxSpelled = 4
	maxWords   = 200
	// leastSpelled is the shortest name, in bytes and folded, that words spell.
	leastSpelled = 4
)

// spellings are the names that adjacent words of a question spell: "read file" spells
// readFile, read_file, ReadFile and read-file. The value is the number of words.
type spellings map[string]int

// spelledBy returns the names that a question spells.
func spelledBy(question string) spellings {
	words := strings.FieldsFunc(question, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	words = words[:min(len(words), maxWords)]
	all := make(spellings, maxSpelled*len(words))
	for i := range words {
		name := ""
		for n, word := range words[i:min(i+maxSpelled, len(words))] {
			name += strings.ToLower(word)
			if _, known := all[name]; !known {
				all[name] = n + 1
			}
		}
	}
	return all
}

// words returns how many adjacent words of the question spell a name: of a file, a class,
// a function, a tool, a title. It is 0 if they do not.
func (s spellings) words(name string) int {
	folded := memory.FoldName(name)
	if len(folded) < leastSpelled {
		return 0
	}
	return s[folded]
}
