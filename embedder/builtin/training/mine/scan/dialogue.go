package scan

import (
	"strings"
)

// turn is what one person of a dialogue says at a time.
type turn struct{ speaker, text string }

// The shape of what dialogue emits: the words a turn must have to be asked
// about by words of it, and how many turns are around one in the piece of a
// talk that is found for every nth question.
const (
	minTold  = 12
	around   = 4
	everyNth = 5
)

// dialogue emits turns with those that answer them, and questions about what
// was said with the turn that says it, some with the piece of the talk around
// it. Speakers without names of their own are given some, so that questions can
// be about them.
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

// retold makes a question of the words of a turn: of the first sentence in which
// somebody speaks of themself, or of what they tell at length.
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

// person is a speaker with the pronouns that are used of them.
type person struct {
	name string
	// subject, object and possessive: she, her, her.
	subject, object, possessive string
}

func woman(name string) person { return person{name, "she", "her", "her"} }
func man(name string) person   { return person{name, "he", "him", "his"} }

// women and men are the names that speakers without one are given.
var (
	women = []string{"Anna", "Maria", "Laura", "Sophie", "Rachel", "Nina", "Emma", "Priya", "Helen", "Grace", "Sara", "Julia", "Mei", "Clara", "Fatima", "Diana",
		"Alice", "Beth", "Carmen", "Elena", "Gina", "Hannah", "Irene", "Jane", "Kate", "Lily", "Megan", "Nora", "Olga", "Paula", "Rosa", "Susan", "Tina", "Vera", "Wendy", "Yuki", "Zoe"}
	men = []string{"Tom", "David", "Peter", "Marcus", "James", "Omar", "Luis", "Kevin", "Daniel", "Victor", "Ben", "Hugo", "Ravi", "Oscar", "Simon", "Paul",
		"Adam", "Brian", "Carlos", "Dennis", "Erik", "Frank", "George", "Henry", "Ivan", "Jack", "Karl", "Leo", "Mike", "Nick", "Owen", "Pablo", "Rob", "Steve", "Tim", "Will", "Yusuf"}
)

// anonymous are what data sets call speakers without a name.
var anonymous = map[string]bool{
	"": true, "user": true, "system": true, "assistant": true, "agent": true, "agent_1": true, "agent_2": true, "a": true, "b": true, "m": true, "w": true,
	"f": true, "agent_3": true, "user 1": true, "user 2": true,
}

// namesOf gives every speaker a person. Which names are given depends on the
// first turn alone, so that the same dialogue gives the same pairs.
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
