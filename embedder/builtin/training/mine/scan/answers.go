package scan

import (
	"encoding/json"
	"encoding/xml"
	"maps"
	"slices"
	"strings"
)

// scanFriendsQA pairs questions about a scene with the lines around the answer.
func scanFriendsQA(text string, emit Emit) {
	var set struct {
		Data []struct {
			Paragraphs []struct {
				// The key of the data set ends in a colon.
				Utterances []struct {
					Speakers  []string
					Utterance string
				} `json:"utterances:"`
				QAs []struct {
					Question string
					Answers  []struct {
						Text      string `json:"answer_text"`
						Utterance int    `json:"utterance_id"`
					}
				}
			}
		}
	}
	if json.Unmarshal([]byte(text), &set) != nil {
		return
	}
	for _, d := range set.Data {
		for _, p := range d.Paragraphs {
			var turns []turn
			for _, u := range p.Utterances {
				turns = append(turns, turn{strings.Join(u.Speakers, ", "), u.Utterance})
			}
			names := namesOf(turns)
			dialogue(turns, emit)
			for _, q := range p.QAs {
				for _, a := range q.Answers {
					if a.Utterance >= 0 && a.Utterance < len(turns) {
						emit(Pair{Recall, q.Question, transcript(turns[a.Utterance:a.Utterance+1], names)})
						emit(Pair{Recall, q.Question, clip(transcript(turns[max(0, a.Utterance-3):min(len(turns), a.Utterance+4)], names))})
					}
				}
			}
		}
	}
}

func scanMedQuAD(text string, emit Emit) {
	var document struct {
		QAPairs []struct{ Question, Answer string } `xml:"QAPairs>QAPair"`
	}
	if xml.Unmarshal([]byte(text), &document) != nil {
		return
	}
	for _, p := range document.QAPairs {
		emit(Pair{Question, strings.ReplaceAll(p.Question, "(are) ", ""), clip(oneLine(p.Answer))})
	}
}

func scanSciTLDR(text string, emit Emit) {
	for line := range strings.Lines(text) {
		var paper struct {
			Title          string
			Source, Target []string
		}
		if json.Unmarshal([]byte(line), &paper) != nil {
			continue
		}
		abstract := clip(strings.Join(paper.Source, " "))
		emit(Pair{Summary, paper.Title, abstract})
		conclusion(paper.Title, paper.Source, emit)
		for _, t := range paper.Target {
			emit(Pair{Summary, t, abstract})
		}
	}
}

// conclusion emits the last sentence of an abstract with its title and the rest.
func conclusion(title string, sentences []string, emit Emit) {
	if last := len(sentences) - 1; last >= 2 && isProse(sentences[last], 8) {
		emit(Pair{Claim, sentences[last], clip(title + "\n" + strings.Join(sentences[:last], " "))})
	}
	cloze(append([]string{title + "."}, sentences...), emit)
}

// scanWordset pairs words with their definitions, and those with examples.
func scanWordset(text string, emit Emit) {
	var entries map[string]struct {
		Meanings []struct {
			Def, Example string
			Synonyms     []string
		}
	}
	if json.Unmarshal([]byte(text), &entries) != nil {
		return
	}
	for _, word := range sortedKeys(entries) {
		for _, m := range entries[word].Meanings {
			gloss(append([]string{word}, m.Synonyms...), m.Def, m.Example, emit)
		}
	}
}

// scanWordNet reads the synsets of the Open English WordNet, which are YAML of
// one fixed form: keys at an indent of two, lists below them.
func scanWordNet(text string, emit Emit) {
	fields := map[string][]string{}
	key := ""
	flush := func() {
		example := ""
		if e := fields["example"]; len(e) > 0 {
			example = e[0]
		}
		if d := fields["definition"]; len(d) > 0 {
			gloss(fields["members"], d[0], example, emit)
		}
		clear(fields)
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		item, isItem := strings.CutPrefix(line, "  - ")
		switch {
		case line != "" && line[0] != ' ':
			flush()
			key = ""
		case isItem:
			fields[key] = append(fields[key], strings.Trim(item, `'"`))
		case strings.HasPrefix(line, "    "):
			if list := fields[key]; len(list) > 0 {
				list[len(list)-1] += " " + strings.Trim(strings.TrimSpace(line), `'"`)
			}
		default:
			key, _, _ = strings.Cut(strings.TrimSpace(line), ":")
		}
	}
	flush()
}

// gloss emits the pairs of a dictionary entry. Words are joined with their synonyms, since
// most are shorter than the least text.
func gloss(words []string, definition, example string, emit Emit) {
	if len(words) > 4 {
		words = words[:4]
	}
	emit(Pair{Gloss, strings.Join(words, ", "), definition})
	if wordCount(example) >= 4 {
		emit(Pair{Gloss, definition, example})
	}
}

// sortedKeys returns the keys of a map in order, so that the pairs of a file are
// deterministic.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
