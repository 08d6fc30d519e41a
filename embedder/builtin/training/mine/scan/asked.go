package scan

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// askedOf puts a question to a person into the third person, as in a later search of the
// conversation: "So where do you work?" to Anna is "where does Anna work?". It returns
// nothing for questions that are not about "you".
func askedOf(p person, asker, question string) (asked string, ok bool) {
	words := strings.Fields(strings.TrimRight(question, "?!. "))
	for len(words) > 0 && openers[strings.ToLower(strings.Trim(words[0], ",.!"))] {
		words = words[1:]
	}
	if len(words) < 3 || len(words) > 25 {
		return "", false
	}
	for i := 0; i < len(words); i++ {
		bare, marks := splitMarks(words[i])
		switch lower := strings.ToLower(bare); {
		case lower == "you":
			words[i] = p.name + marks
			if i > 0 {
				if verb, ok := thirdVerbs[strings.ToLower(words[i-1])]; ok {
					words[i-1] = verb
				}
			}
			if ok {
				words[i] = p.subject + marks
			}
			ok = true
		case strings.HasPrefix(lower, "you'") || strings.HasPrefix(lower, "you’"):
			words[i] = p.name + marks
			ok = true
		case lower == "your" || lower == "yours":
			words[i] = p.name + "'s" + marks
			if ok {
				words[i] = p.possessive + marks
			}
			ok = true
		case lower == "yourself":
			words[i] = p.object + "self" + marks
		case lower == "i" || lower == "me":
			words[i] = asker + marks
		case lower == "my":
			words[i] = asker + "'s" + marks
		}
	}
	asked = strings.Join(words, " ") + "?"
	return asked, ok && telling(asked) > telling(p.name)
}

// splitMarks splits a word from the marks after it.
func splitMarks(word string) (bare, marks string) {
	bare = strings.TrimRight(word, ",.;:!")
	return bare, word[len(bare):]
}

// openers are words at the beginning of speech that carry no information.
var openers = wordSet(`so and but well yeah yes no oh ah um uh okay ok hey hi hello wow really great nice cool actually also then right now haha interesting awesome`)

// thirdVerbs are the third-person forms of verbs before "you".
var thirdVerbs = map[string]string{"do": "does", "are": "is", "were": "was", "have": "has", "don't": "doesn't", "aren't": "isn't", "haven't": "hasn't"}

// lastQuestion returns the question at the end of a turn, or nothing.
func lastQuestion(text string) string {
	last := lastSentence(text)
	if !strings.HasSuffix(last, "?") {
		return ""
	}
	return last
}

// features are the possible kinds of answers, in the order in which they are tried: the
// question word, and the part of the sentence that answers it.
var features = sync.OnceValue(func() []feature {
	compile := func(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?i)` + pattern) }
	return []feature{
		{"When", compile(`,? ?` + when)},
		{"How long", compile(` (?:for|over) (?:about |almost |nearly |over )?(?:a|an|\d+|two|three|four|five|six|seven|eight|nine|ten|a few|several|many|a couple of) (?:minute|hour|day|week|month|year|decade)s?`)},
		{"Why", compile(`,? (?:because|since|so that) .+$`)},
		{"Where", regexp.MustCompile(` (?:in|at|to|from|near) (?:the )?[A-Z]\w+(?:,? [A-Z]\w+)*`)},
		{"How many", compile(` (?:\d+|two|three|four|five|six|seven|eight|nine|ten|twenty|hundred|dozens)\b`)},
		{"Who", compile(` with (?:my|our|a|the) \w+(?: and \w+)?`)},
	}
})

type feature struct {
	ask    string
	answer *regexp.Regexp
}

// recast makes a question of a sentence in the first person, whatever its form: it removes
// the answer, puts the person into the third person and verbs into the infinitive, and
// drops some words, because a later question does not repeat all of them. The result is not
// good English, but a table of words ignores order.
func recast(p person, sentence string, chance *rand.Rand) (question string, ok bool) {
	sentence = strings.TrimRight(sentence, ".! ")
	if n := wordCount(sentence); n < 7 || n > 30 || !speaksOfSelf(sentence) {
		return "", false
	}
	ask := "What"
	for _, f := range features() {
		if at := f.answer.FindStringIndex(sentence); at != nil {
			ask, sentence = f.ask, sentence[:at[0]]+sentence[at[1]:]
			break
		}
	}
	words := strings.Fields(p.third(sentence))
	if ask == "What" && len(words) > 8 { // some consecutive words are the answer
		n := len(words) / 3
		at := chance.IntN(len(words) - n + 1)
		words = slices.Delete(words, at, at+n)
	}
	aux := "does"
	var kept []string
	for _, w := range words {
		bare, _ := splitMarks(w)
		lower := strings.ToLower(bare)
		if lower == p.subject || openers[lower] || chance.Float64() < .15 {
			continue
		}
		if base, ok := baseVerb(lower); ok {
			aux, bare = "did", base
		}
		kept = append(kept, bare)
	}
	if telling(strings.Join(kept, " ")) < 3 {
		return "", false
	}
	return ask + " " + aux + " " + p.name + " " + strings.Join(kept, " ") + "?", true
}

// telling counts the informative words of a text.
func telling(text string) int {
	n := 0
	for w := range longWords(text) {
		if !common[w] {
			n++
		}
	}
	return n
}

// common are long words of every conversation.
var common = wordSet(`that that's this these those them they they're with have haven't having what what's when where which while does doesn't don't didn't about
	would could should there their theirs here like just really think know been being some something from your yours much very good great well more most many also
	then than into over only even ever never always said says make makes made want wants going gonna been come came take yeah sure okay right thing things stuff
	because anything everything maybe kind sort actually probably pretty little`)

// speaksOfSelf says whether a sentence has a first-person word.
func speaksOfSelf(sentence string) bool {
	for w := range strings.FieldsSeq(strings.ToLower(sentence)) {
		switch strings.TrimRight(w, ",.;:!") {
		case "i", "we", "my", "our", "i'm", "i've", "we've", "we're", "we'd", "we'll", "i'd", "i'll", "me", "us":
			return true
		}
	}
	return false
}

// toldOf makes a question from a statement that is not about the speaker, with some of its
// long words.
func toldOf(p person, text string, chance *rand.Rand) (question string, ok bool) {
	var words []string
	for _, w := range strings.Fields(text) {
		if w = strings.Trim(w, ".,;:?!'\"()"); len(w) > 3 && !common[strings.ToLower(w)] && !openers[strings.ToLower(w)] && chance.IntN(3) > 0 {
			words = append(words, w)
		}
	}
	if len(words) < 4 {
		return "", false
	}
	ask := []string{"What did %s say about", "What does %s think of", "What did %s tell about", "Did %s mention"}[chance.IntN(4)]
	return strings.Replace(ask, "%s", p.name, 1) + " " + strings.Join(words[:min(6, len(words))], " ") + "?", true
}
