package scan

import (
	"strings"
)

// turn is what one person of a dialogue says at a time.
type turn struct{ speaker, text string }

// Parameters of dialogue: the least words of a turn to make a question of its words, and
// the number of turns around the answer that form the passage for every nth question.
const (
	minTold  = 12
	around   = 4
	everyNth = 5
)

// dialogue emits turns with the turns that answer them, and questions about a turn with
// that turn, some with the passage around it. Anonymous speakers get names, so that
// questions can be about them.
func dialogue(turns []turn, emit Emit) {
	names := namesOf(turns)
	asked := 0
	recall := func(kind Kind, question string, i int) {
		emit(Pair{kind, question, transcript(turns[i:i+1], names)})
		if asked++; asked%everyNth == 0 && len(turns) > around {
			emit(Pair{kind, question, clip(transcript(turns[max(0, i-around):min(len(turns), i+around+1)], names))})
		}
	}
	for i, t := range turns {
		p := names[t.speaker]
		if i > 0 && turns[i-1].speaker != t.speaker {
			if wordCount(turns[i-1].text) >= 5 && wordCount(t.text) >= 5 {
				emit(Pair{Turn, turns[i-1].text, t.text})
			}
			if question, ok := askedOf(p, names[turns[i-1].speaker].name, lastQuestion(turns[i-1].text)); ok && wordCount(t.text) >= 4 {
				recall(Recall, question, i)
			}
		}
		questions := questionsAbout(p, t.text)
		for _, question := range questions {
			recall(Recall, question, i)
		}
		if question, ok := retold(p, t.text); ok && len(questions) == 0 {
			recall(Retold, question, i)
		}
	}
}

// retold makes a question from the words of a turn: from the first sentence in the first
// person, or from a long statement.
func retold(p person, text string) (question string, ok bool) {
	chance := seeded(text)
	for _, sentence := range sentencesOf(text) {
		if strings.HasSuffix(sentence, "?") {
			continue
		}
		if question, ok := recast(p, sentence, chance); ok {
			return question, true
		}
	}
	if wordCount(text) < minTold {
		return "", false
	}
	return toldOf(p, text, chance)
}

// transcript returns a dialogue as text, a turn a line.
func transcript(turns []turn, names map[string]person) string {
	var b strings.Builder
	for _, t := range turns {
		b.WriteString(names[t.speaker].name + ": " + t.text + "\n")
	}
	return strings.TrimSpace(b.String())
}

// person is a speaker with their pronouns.
type person struct {
	name string
	// subject, object and possessive: she, her, her.
	subject, object, possessive string
}

func woman(name string) person { return person{name, "she", "her", "her"} }
func man(name string) person   { return person{name, "he", "him", "his"} }

// women and men are names for speakers without one.
var (
	women = []string{"Anna", "Maria", "Laura", "Sophie", "Rachel", "Nina", "Emma", "Priya", "Helen", "Grace", "Sara", "Julia", "Mei", "Clara", "Fatima", "Diana",
		"Alice", "Beth", "Carmen", "Elena", "Gina", "Hannah", "Irene", "Jane", "Kate", "Lily", "Megan", "Nora", "Olga", "Paula", "Rosa", "Susan", "Tina", "Vera", "Wendy", "Yuki", "Zoe"}
	men = []string{"Tom", "David", "Peter", "Marcus", "James", "Omar", "Luis", "Kevin", "Daniel", "Victor", "Ben", "Hugo", "Ravi", "Oscar", "Simon", "Paul",
		"Adam", "Brian", "Carlos", "Dennis", "Erik", "Frank", "George", "Henry", "Ivan", "Jack", "Karl", "Leo", "Mike", "Nick", "Owen", "Pablo", "Rob", "Steve", "Tim", "Will", "Yusuf"}
)

// anonymous are placeholders for speakers in data sets.
var anonymous = map[string]bool{
	"": true, "user": true, "system": true, "assistant": true, "agent": true, "agent_1": true, "agent_2": true, "a": true, "b": true, "m": true, "w": true,
	"f": true, "agent_3": true, "user 1": true, "user 2": true,
}

// namesOf gives every speaker a person. The names depend only on the first turn, so that
// the same dialogue gives the same pairs.
func namesOf(turns []turn) map[string]person {
	names := map[string]person{}
	seed := 0
	if len(turns) > 0 {
		for _, c := range turns[0].text {
			seed = (seed*31 + int(c)) & 0xffff
		}
	}
	for _, t := range turns {
		if _, ok := names[t.speaker]; ok {
			continue
		}
		lower := strings.ToLower(t.speaker)
		if !anonymous[lower] {
			first, _, _ := strings.Cut(t.speaker, " ")
			names[t.speaker] = person{first, "they", "them", "their"}
			continue
		}
		n := seed + 5*len(names)
		if lower == "w" || lower == "f" || lower != "m" && (seed+len(names))%2 == 0 {
			names[t.speaker] = woman(women[n%len(women)])
		} else {
			names[t.speaker] = man(men[n%len(men)])
		}
	}
	return names
}
