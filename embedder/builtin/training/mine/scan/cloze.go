package scan

import (
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// The bounds of a cloze: the least words kept of the sentence, and the least sentences in
// its passage.
const (
	minClozeWords = 5
	minClozeText  = 3
)

// seeded returns a random source with the text as its seed, so that the same text gives the
// same pairs.
func seeded(text string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // it never fails
	return rand.New(rand.NewPCG(h.Sum64(), 0))
}

// cloze emits some words of a sentence with the passage that the sentence is from. In two
// cases of three the sentence is removed from the passage; in the third it stays, which
// teaches the model exact words too (Lee et al., "Latent Retrieval for Weakly Supervised
// Open Domain Question Answering", 2019, section 4, leave it in one case of ten, for a
// model that reads in order).
func cloze(sentences []string, emit Emit) {
	if len(sentences) < minClozeText {
		return
	}
	chance := seeded(strings.Join(sentences, " "))
	at := chance.IntN(len(sentences))
	asked := thinned(sentences[at], chance)
	if !isProse(sentences[at], minClozeWords+2) || wordCount(asked) < minClozeWords {
		return
	}
	rest := sentences
	if chance.IntN(3) > 0 {
		rest = append(append([]string(nil), sentences[:at]...), sentences[at+1:]...)
	}
	emit(Pair{Cloze, asked, clip(strings.Join(rest, " "))})
}

// thinned drops words of a sentence at random, a fifth to a half of them.
func thinned(sentence string, chance *rand.Rand) string {
	share := .2 + .3*chance.Float64()
	var kept []string
	for _, w := range strings.Fields(sentence) {
		if chance.Float64() >= share {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

// sentencesOf splits a text after each sentence.
func sentencesOf(text string) []string {
	var sentences []string
	for rest := oneLine(text); rest != ""; {
		first := sentenceAt(rest)
		sentences = append(sentences, first)
		rest = strings.TrimSpace(rest[len(first):])
	}
	return sentences
}

// claims emits each sentence of a summary with the text of a list that shares most words
// with it.
func claims(summary string, texts []string, emit Emit) {
	for _, sentence := range sentencesOf(summary) {
		if !isProse(sentence, 5) {
			continue
		}
		if at := closest(texts, sentence); at >= 0 {
			emit(Pair{Claim, sentence, clip(texts[at])})
		}
	}
}

// closest returns the index of the text that has most long words of a sentence, or -1 if
// none has three, or none a third of them.
func closest(texts []string, sentence string) int {
	wanted := longWords(sentence)
	best, most := -1, max(2, len(wanted)/3)
	for i, text := range texts {
		n := 0
		for w := range longWords(text) {
			if wanted[w] {
				n++
			}
		}
		if n > most {
			best, most = i, n
		}
	}
	return best
}

// longWords returns the words of a text that probably say what it is about: words of more
// than three letters.
func longWords(text string) map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq(strings.ToLower(text)) {
		if w = strings.Trim(w, ".,;:?!'\"()“”"); len(w) > 3 {
			words[w] = true
		}
	}
	return words
}
