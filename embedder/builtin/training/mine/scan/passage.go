package scan

import (
	"slices"
	"strings"
)

// minPassage is the least number of sentences in a paragraph for removing one.
const minPassage = 4

// passage emits a sentence of a paragraph with the rest of the paragraph (the inverse cloze
// task of Lee et al., "Latent Retrieval for Weakly Supervised Open Domain Question
// Answering", 2019), and a cloze. The choice of the sentence depends only on the text.
func passage(paragraph string, emit Emit) {
	// The items of a list and the rows of a table do not describe one another.
	apart := func(line string) bool { return isItem(line) || strings.HasPrefix(line, "|") }
	if slices.ContainsFunc(strings.Split(paragraph, "\n"), apart) {
		return
	}
	sentences := sentencesOf(paragraph)
	cloze(sentences, emit)
	if len(sentences) < minPassage {
		return
	}
	for i := range sentences {
		at := (len(paragraph) + i) % len(sentences)
		if sentence := sentences[at]; isProse(sentence, 6) {
			emit(Pair{Passage, sentence, clip(strings.Join(slices.Delete(sentences, at, at+1), " "))})
			return
		}
	}
}

// commands emits the comments in a block of shell code with the lines below them. If
// commands have a prompt, lines without it are output.
func commands(block string, emit Emit) {
	const prompt = "$ "
	prompted := strings.HasPrefix(block, prompt) || strings.Contains(block, "\n"+prompt)
	comment, below := "", ""
	flush := func() {
		if below != "" && isProse(comment, 3) {
			emit(Pair{Command, strings.TrimSuffix(comment, ":"), strings.TrimSpace(below)})
		}
		comment, below = "", ""
	}
	for line := range strings.Lines(block) {
		line, isCommand := strings.CutPrefix(strings.TrimSpace(line), prompt)
		words, isComment := strings.CutPrefix(line, "# ")
		words = strings.TrimLeft(words, "# ")
		switch {
		case isComment && below == "" && comment != "":
			comment += " " + words
		case isComment:
			flush()
			comment = words
		case line == "":
			flush()
		case comment != "" && isCommand == prompted && strings.Count(below, "\n") < 4:
			below += line + "\n"
		}
	}
	flush()
}
