package table

import (
	"unicode"
	"unicode/utf8"
)

// GramSize is the length of a gram in code points of a word with marked ends: "<lock>" has
// the grams "<loc", "lock" and "ock>".
const GramSize = 4

// Tokenizer turns text into tokens. It reuses its buffers, so that neither a text nor a
// token costs an allocation. It is for one goroutine at a time; several may share a
// vocabulary.
type Tokenizer struct {
	vocabulary *Vocabulary
	splitter   Splitter
	piece      func(Kind, []byte) // the method value, made once
	begin      func([]byte)       // may be nil
	emit       func(uint32)
	count      int               // tokens of the text so far
	marked     [MaxWord + 2]rune // a word with marks at both ends
}

// NewTokenizer returns a tokenizer for a vocabulary.
func NewTokenizer(v *Vocabulary) *Tokenizer {
	t := &Tokenizer{vocabulary: v}
	t.piece = t.take
	return t
}

// Tokens calls emit for every token of the text, repeats included. If the pieces of a text
// give no token, its signs do, so that only a blank text has none.
func (t *Tokenizer) Tokens(text string, emit func(token uint32)) { t.Pieces(text, nil, emit) }

// Pieces is Tokens, and also calls begin before the tokens of each piece. The bytes are
// valid only during the call.
func (t *Tokenizer) Pieces(text string, begin func(piece []byte), emit func(token uint32)) {
	t.begin, t.emit, t.count = begin, emit, 0
	t.splitter.Split(text, t.piece)
	if t.count == 0 {
		t.signs(text)
	}
	t.begin, t.emit = nil, nil
}

// take turns one piece into tokens.
func (t *Tokenizer) take(kind Kind, piece []byte) {
	if t.begin != nil {
		t.begin(piece)
	}
	if token, known := t.vocabulary.Token(piece); known {
		t.give(token)
		return
	}
	switch kind {
	case Word:
		t.grams(piece)
	case Number, Pair:
		t.give(t.vocabulary.bucket(hash(piece)))
	}
}

// grams emits the bucket of every gram of a word. A word shorter than a gram is one gram.
func (t *Tokenizer) grams(word []byte) {
	marked := append(t.marked[:0], '<')
	for len(word) > 0 {
		r, size := utf8.DecodeRune(word)
		marked = append(marked, r)
		word = word[size:]
	}
	marked = append(marked, '>')
	t.give(t.vocabulary.bucket(hashRunes(marked[:min(GramSize, len(marked))])))
	for i := GramSize; i < len(marked); i++ {
		t.give(t.vocabulary.bucket(hashRunes(marked[i+1-GramSize : i+1])))
	}
}

// signs emits the bucket of each rune that is not a space.
func (t *Tokenizer) signs(text string) {
	for _, r := range text {
		if !unicode.IsSpace(r) {
			t.give(t.vocabulary.bucket(hashRunes([]rune{r})))
		}
	}
}

func (t *Tokenizer) give(token uint32) {
	t.count++
	t.emit(token)
}
