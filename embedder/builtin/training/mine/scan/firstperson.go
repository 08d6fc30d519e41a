package scan

import (
	"regexp"
	"strings"
	"sync"
)

// maxQuestions is how many questions are made of one turn. Questions made by rules are
// similar, and many of them would teach the rule.
const maxQuestions = 2

// questionsAbout makes questions that a turn answers, from its sentences in the first
// person: "I adopted a dog last May." answers "When did she adopt a dog?". It uses rules
// over verbs and times, so most sentences give none.
func questionsAbout(p person, text string) []string {
	var questions []string
	for _, sentence := range sentencesOf(text) {
		if len(questions) == maxQuestions {
			break
		}
		if n := wordCount(sentence); n < 4 || n > 30 || strings.HasSuffix(sentence, "?") || !speaksOfSelf(sentence) {
			continue
		}
		sentence = strings.TrimRight(sentence, ".! ")
		for _, rule := range personalRules() {
			groups := rule.pattern.FindStringSubmatch(sentence)
			if groups == nil {
				continue
			}
			if q := rule.ask(p, groups[1:]); q != "" {
				questions = append(questions, oneLine(q)+"?")
				break
			}
		}
	}
	return questions
}

// personalRule makes a question from the groups of its pattern.
type personalRule struct {
	pattern *regexp.Regexp
	ask     func(p person, groups []string) string
}

// lead are the words allowed before the subject of a sentence.
const lead = `^(?:(?:so|and|but|well|yeah|yes|oh|actually|also|then|no|hey|hi|anyway|honestly|personally|unfortunately|luckily|by the way)[, ]+)*`

// when matches times at the end or the beginning of a sentence.
const when = `(yesterday|today|tonight|tomorrow|this (?:morning|afternoon|evening|week|weekend|month|year|summer|winter|spring)|last (?:\w+)|next (?:\w+)|(?:a|an|one|two|three|four|five|six|\d+|few|several|a few|a couple of) (?:day|week|month|year|hour)s? ago|on (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)|in (?:january|february|march|april|may|june|july|august|september|october|november|december|\d{4})|at \d+(?::\d+)? ?(?:am|pm|o'clock)?|when i was [\w ]+)`

var personalRules = sync.OnceValue(func() []personalRule {
	rule := func(pattern string, ask func(p person, groups []string) string) personalRule {
		return personalRule{regexp.MustCompile(`(?i)` + lead + pattern), ask}
	}
	past := func(p person, verb string) (base string, ok bool) { return baseVerb(strings.ToLower(verb)) }
	const subject = `(?:I|we)(?: just| recently| finally| also| really| once| actually| even|'ve(?: just| already)?| have(?: just| already)?)? `
	return []personalRule{
		// I adopted a dog last May.
		rule(subject+`(\w+) (.+?),? `+when+`$`, func(p person, g []string) string {
			if base, ok := past(p, g[0]); ok {
				return "When did " + p.name + " " + base + " " + p.third(g[1])
			}
			return ""
		}),
		// Last week I visited my aunt.
		rule(when+`,? (?:I|we) (\w+) (.+)$`, func(p person, g []string) string {
			if base, ok := past(p, g[1]); ok {
				return "What did " + p.name + " do " + p.third(strings.ToLower(g[0])) + "; when did " + p.subject + " " + base + " " + p.third(g[2])
			}
			return ""
		}),
		// I moved here because the rent was low.
		rule(subject+`(\w+) (.+?) (?:because|since|so that) .+$`, func(p person, g []string) string {
			if base, ok := past(p, g[0]); ok {
				return "Why did " + p.name + " " + base + " " + p.third(g[1])
			}
			return ""
		}),
		// I bought a guitar for my brother.
		rule(subject+`(\w+) (?:a|an|the|some|my|two|three|this|that) (?:[\w'-]+ ){1,3}(for|to|from|with|of) (.+)$`, func(p person, g []string) string {
			if base, ok := past(p, g[0]); ok {
				return "What did " + p.name + " " + base + " " + g[1] + " " + p.third(g[2])
			}
			return ""
		}),
		// We went hiking with my sister in Norway.
		rule(subject+`(\w+) (.+?) (?:in|at|to|near) (?:the |a |my )?[A-Z]\w+(?: [A-Z]\w+)?$`, func(p person, g []string) string {
			if base, ok := past(p, g[0]); ok {
				return "Where did " + p.name + " " + base + " " + p.third(g[1])
			}
			return ""
		}),
		// I'm going to start a new job tomorrow.
		rule(`(?:I'm|I am|we're|we are) (?:going to|planning to|about to|hoping to) (\w+) (.+?),? `+when+`$`, func(p person, g []string) string {
			return "When is " + p.name + " going to " + g[0] + " " + p.third(g[1])
		}),
		rule(`(?:I'm|I am|we're|we are) (?:going|planning|about|hoping) to (\w+) .+$`, func(p person, g []string) string {
			return "What is " + p.name + " planning to " + g[0]
		}),
		// I would like to find a restaurant in Oakland.
		rule(`(?:I|we)(?:'d| would|'ll| will)? (?:really )?(?:want|need|like|love|hope) to (\w+) (?:.+?)( (?:in|at|for|on|with|from) .+)?$`, func(p person, g []string) string {
			return "What does " + p.name + " want to " + g[0] + p.third(g[1])
		}),
		// I love hiking in the mountains.
		rule(`I (?:really |just |also |absolutely )*(love|like|enjoy|hate|prefer|dislike|miss) (.+)$`, func(p person, g []string) string {
			if wordCount(g[1]) <= 2 {
				return "What does " + p.name + " " + strings.ToLower(g[0])
			}
			return "How does " + p.name + " feel about " + p.third(g[1])
		}),
		// My sister works at the hospital.
		rule(`my (\w+)(?: \w+)? (is|was|has|works|lives|likes|loves|died|passed|got|just|always|used|went|had) .+$`, func(p person, g []string) string {
			return "What do we know about " + p.name + "'s " + strings.ToLower(g[0])
		}),
		// I work as a nurse.
		rule(`(?:I'm|I am|I work as|I was|I used to be) (?:a|an) (?:\w+ )?(?:\w+(?:er|or|ist|ian)|nurse|cook|chef|pilot|student)(?: .*)?$`, func(p person, _ []string) string {
			return "What does " + p.name + " do for a living"
		}),
	}
})

// third puts words from the first person into the third.
func (p person) third(text string) string {
	words := strings.Fields(text)
	for i, w := range words {
		bare := strings.ToLower(strings.TrimRight(w, ".,;!"))
		switch bare {
		case "i", "we":
			words[i] = p.subject
		case "me", "us":
			words[i] = p.object
		case "my", "our":
			words[i] = p.possessive
		case "myself":
			words[i] = p.object + "self"
		case "am":
			words[i] = "is"
		case "i'm":
			words[i] = p.subject + " is"
		}
	}
	if len(words) == 0 {
		return ""
	}
	return " " + strings.Join(words, " ")
}

// irregular are the past forms of frequent irregular verbs.
var irregular = map[string]string{
	"went": "go", "got": "get", "bought": "buy", "saw": "see", "met": "meet", "made": "make", "took": "take", "had": "have", "did": "do", "gave": "give",
	"found": "find", "lost": "lose", "left": "leave", "came": "come", "ran": "run", "ate": "eat", "drank": "drink", "drove": "drive", "flew": "fly",
	"wrote": "write", "read": "read", "won": "win", "sold": "sell", "spent": "spend", "paid": "pay", "built": "build", "broke": "break", "caught": "catch",
	"chose": "choose", "felt": "feel", "fell": "fall", "forgot": "forget", "grew": "grow", "heard": "hear", "held": "hold", "kept": "keep", "knew": "know",
	"learnt": "learn", "led": "lead", "put": "put", "quit": "quit", "rode": "ride", "said": "say", "sang": "sing", "sat": "sit", "sent": "send", "set": "set",
	"slept": "sleep", "spoke": "speak", "stood": "stand", "swam": "swim", "taught": "teach", "thought": "think", "threw": "throw", "told": "tell",
	"understood": "understand", "woke": "wake", "wore": "wear", "began": "begin", "brought": "bring", "cut": "cut", "drew": "draw", "fought": "fight",
	"hit": "hit", "hurt": "hurt", "seen": "see", "gone": "go", "been": "be", "done": "do", "taken": "take", "given": "give", "written": "write", "eaten": "eat",
}

// notVerbs end in -ed but are not past forms.
var notVerbs = map[string]bool{"need": true, "indeed": true, "feed": true, "speed": true, "red": true, "bed": true, "hundred": true, "used": true, "supposed": true}

// baseVerb returns the infinitive of a past form. Regular ones are made by the
// rules of spelling, which are right for most verbs.
func baseVerb(past string) (base string, ok bool) {
	if base, ok := irregular[past]; ok {
		return base, true
	}
	stem, ok := strings.CutSuffix(past, "ed")
	if !ok || len(stem) < 2 || notVerbs[past] {
		return "", false
	}
	last, before := stem[len(stem)-1], stem[len(stem)-2]
	switch {
	case last == 'i':
		return stem[:len(stem)-1] + "y", true
	case last == before && strings.IndexByte("bdgmnprt", last) >= 0:
		return stem[:len(stem)-1], true
	case strings.IndexByte("cvuz", last) >= 0, last == 's' && before != 's', last == 'g' && before != 'n',
		strings.HasSuffix(stem, "at"), strings.HasSuffix(stem, "ir"), strings.HasSuffix(stem, "id") && stem != "avoid", strings.HasSuffix(stem, "ik"), strings.HasSuffix(stem, "ak") && !strings.HasSuffix(stem, "eak"),
		strings.HasSuffix(stem, "in") && !strings.HasSuffix(stem, "ain") && !strings.HasSuffix(stem, "oin"):
		return stem + "e", true
	}
	return stem, true
}
