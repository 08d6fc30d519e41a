package main

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"sync"
)

// speakers renames the speakers in pairs, so that a name says little about which text is
// meant: all memories are about the same few people, and "Anna: See you!" is no answer to a
// question about Anna. Consecutive pairs of a file get the same names, as many pairs as a
// cohort has (see learnOptions.runs): in a data set every dialogue has other names, and the
// name alone would answer a question. Turns without a speaker get one, so that short turns
// look like stored ones, with a name that does not make them an answer.
type speakers struct {
	pairs map[string]int      // so far, by kind
	names map[string][]string // of the current run of pairs, by kind
}

// sameNames is how many consecutive pairs share names, groupNames how many names they
// share: usually two people talk, some texts have more.
const (
	sameNames  = 64
	groupNames = 4
)

// talk are the kinds of pairs from conversations.
var talk = []string{"recall", "retold", "turn"}

func newSpeakers() *speakers { return &speakers{map[string]int{}, map[string][]string{}} }

// rename renames the speakers of a pair: the names at the beginning of lines of b.
func (s *speakers) rename(p *pair) {
	if !slices.Contains(talk, p.Kind) {
		return
	}
	n := s.pairs[p.Kind]
	s.pairs[p.Kind]++
	if n%sameNames == 0 {
		s.names[p.Kind] = drawNames(rand.New(rand.NewPCG(uint64(n), nameSeed(p.Source))))
	}
	names, turned := s.names[p.Kind], n%2 // the order of speakers alternates
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

// drawNames draws the names of a group of people. Some are invented, since the table must
// handle unknown names.
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

// nameSeed is a checksum of a source's name.
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
