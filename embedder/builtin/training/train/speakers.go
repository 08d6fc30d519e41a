package main

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"sync"
)

// speakers gives the people who talk in pairs other names, so that a name tells
// little of which text is meant: a memory is of the same few people, and "Anna:
// See you!" is no answer to a question about Anna. Pairs that follow one another
// in a file get the same names, as many as a cohort of them has (see
// learnOptions.runs); in a data set every dialogue has others, and a question
// would be answered by the name alone. Turns that have no speaker are given one,
// so that short ones are met as they are stored, with a name that does not make
// them an answer.
type speakers struct {
	pairs map[string]int      // so far, by kind
	names map[string][]string // of the row of pairs that is being read, by kind
}

// sameNames is how many pairs in a row have the same names, groupNames how many
// names those are: two talk most, some texts hold more people.
const (
	sameNames  = 64
	groupNames = 4
)

// talk are the kinds of pairs that people's talk is in.
var talk = []string{"recall", "retold", "turn"}

func newSpeakers() *speakers { return &speakers{map[string]int{}, map[string][]string{}} }

// rename renames the speakers of a pair: those who begin a line of b.
func (s *speakers) rename(p *pair) {
	if !slices.Contains(talk, p.Kind) {
		return
	}
	n := s.pairs[p.Kind]
	s.pairs[p.Kind]++
	if n%sameNames == 0 {
		s.names[p.Kind] = drawNames(rand.New(rand.NewPCG(uint64(n), nameSeed(p.Source))))
	}
	names, turned := s.names[p.Kind], n%2 // whoever speaks first is now the one, now the other
	if p.Kind == "turn" {
		p.A, p.B = names[turned]+": "+p.A, names[1-turned]+": "+p.B
		return
	}
	places := map[string]int{}
	for _, found := range speaker().FindAllStringSubmatch(p.B, -1) {
		if _, known := places[found[1]]; !known && len(places) < len(names) {
			places[found[1]] = len(places)
		}
	}
	if len(places) == 0 {
		return
	}
	for _, text := range []*string{&p.A, &p.B} {
		*text = word().ReplaceAllStringFunc(*text, func(w string) string {
			if at, ok := places[w]; ok {
				return names[at^turned]
			}
			return w
		})
	}
}

// drawNames draws the names of a group of people: known ones, or such as might
// be, since the table must do with names that it has never met.
func drawNames(draw *rand.Rand) []string {
	names := make([]string, groupNames)
	for i := range names {
		if draw.IntN(2) == 0 {
			names[i] = firstNames[draw.IntN(len(firstNames))]
			continue
		}
		for n := 2 + draw.IntN(2); n > 0; n-- {
			names[i] += string("bcdfghjklmnprstvwyz"[draw.IntN(19)]) + string("aeiou"[draw.IntN(5)])
		}
		names[i] = string(names[i][0]-'a'+'A') + names[i][1:] + []string{"", "n", "l", "r", "s"}[draw.IntN(5)]
	}
	return names
}

// nameSeed is a sum over a source's name.
func nameSeed(source string) (seed uint64) {
	for _, c := range source {
		seed = seed*31 + uint64(c)
	}
	return seed
}

var (
	speaker = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^([A-Z][\p{L}]+):`) })
	word    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\p{L}]+`) })
)

// firstNames are names that are common among English speakers, and some that
// are not.
var firstNames = []string{
	"Aaron", "Abigail", "Ahmed", "Aisha", "Albert", "Amanda", "Amir", "Amy", "Andrea", "Angela", "Anthony", "Arjun", "Ashley", "Barbara", "Benjamin",
	"Brandon", "Brenda", "Bruce", "Carol", "Catherine", "Charles", "Chen", "Chloe", "Christina", "Cynthia", "Deepak", "Denise", "Derek", "Diego", "Donna",
	"Douglas", "Edward", "Eleanor", "Elizabeth", "Emily", "Eric", "Ethan", "Eva", "Farah", "Fiona", "Gabriel", "Gary", "Gloria", "Gregory", "Hana",
	"Harold", "Hassan", "Heather", "Ines", "Isaac", "Isabel", "Jacob", "Janet", "Jason", "Javier", "Jennifer", "Jeremy", "Jessica", "Joan", "Jordan",
	"Joseph", "Joyce", "Justin", "Karen", "Kenji", "Kyle", "Larry", "Leila", "Linda", "Lucas", "Luke", "Madison", "Margaret", "Marta", "Martin",
	"Mason", "Matthew", "Megan", "Miguel", "Mohammed", "Nadia", "Natalie", "Nathan", "Noah", "Olivia", "Patricia", "Patrick", "Philip", "Rafael", "Raymond",
	"Rebecca", "Richard", "Robert", "Ronald", "Ruth", "Ryan", "Samuel", "Sandra", "Scott", "Sergei", "Shirley", "Sofia", "Stephen", "Teresa", "Thomas",
	"Tyler", "Valerie", "Vanessa", "Vincent", "Walter", "William", "Xavier", "Yasmin", "Zachary",
}
