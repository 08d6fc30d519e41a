package scan

import (
	"strings"
)

// turn is what one person of a dialogue says at a time.
type turn struct{ speaker, text string }

// dialogue emits turns with those that answer them, and questions about what
// was said with the turn that says it. Speakers without names of their own are
// given some, so that questions can be about them.
func dialogue(turns []turn, emit Emit) {
	names := namesOf(turns)
	for i, t := range turns {
		if i > 0 && turns[i-1].speaker != t.speaker && wordCount(turns[i-1].text) >= 5 && wordCount(t.text) >= 5 {
			emit(Pair{Turn, turns[i-1].text, t.text})
		}
		said := names[t.speaker].name + ": " + t.text
		for _, question := range questionsAbout(names[t.speaker], t.text) {
			emit(Pair{Recall, question, said})
		}
	}
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
	women = []string{"Anna", "Maria", "Laura", "Sophie", "Rachel", "Nina", "Emma", "Priya", "Helen", "Grace", "Sara", "Julia", "Mei", "Clara", "Fatima", "Diana"}
	men   = []string{"Tom", "David", "Peter", "Marcus", "James", "Omar", "Luis", "Kevin", "Daniel", "Victor", "Ben", "Hugo", "Ravi", "Oscar", "Simon", "Paul"}
)

// anonymous are what data sets call speakers without a name.
var anonymous = map[string]bool{
	"": true, "user": true, "system": true, "assistant": true, "agent": true, "agent_1": true, "agent_2": true, "a": true, "b": true, "m": true, "w": true,
	"f": true, "#person1#": true, "#person2#": true, "#person3#": true, "agent_3": true, "#person4#": true,
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
