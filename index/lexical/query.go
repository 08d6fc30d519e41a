package lexical

import (
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/recalld/recalld/index"
)

// functionWordWeight is what an English function word of a query counts, against
// 1 for any other term. Questions are full of words that carry grammar ("how do
// I …"), and in code, where those are rare, idf alone takes them for content.
// They are not dropped: some questions have nothing else. The figure is at the
// middle of a flat optimum (0.2 to 0.4) over nine retrieval sets.
const functionWordWeight = 0.3

// functionWords are pronouns, articles, conjunctions, prepositions, auxiliaries,
// question words and what is left of contractions ("don't": don, t).
const functionWords = `
	i me my we our us you your he him his she her it its they them their
	what which who whom this that these those when where why how
	am is are was were be been being have has had having do does did doing
	can will could would should might must may shall
	a an the and but if or because as until while
	of at by for with about against between into through during before after
	above below to from up down in out on off over under again further then once
	here there all any both each few more most other some such no nor not only own
	same so than too very just now s t d ll m re ve don`

// functionTerms are the terms of functionWords, worked out at the first query.
var functionTerms = sync.OnceValue(func() map[string]bool {
	terms := make(map[string]bool)
	for _, t := range Analyze(strings.TrimSpace(functionWords)) {
		terms[t.Text] = true
	}
	return terms
})

// Content returns those of a query's terms that are not function words, or all if
// it has no others.
func Content(query index.Terms) index.Terms {
	function := functionTerms()
	content := slices.DeleteFunc(slices.Clone(query), func(t index.Term) bool { return function[t.Text] })
	if len(content) == 0 {
		return query
	}
	return content
}

// queryTerms analyses a query. A term that is said n times weighs √n: what is
// repeated is meant, but a pasted message must not drown in its commonest word.
func queryTerms(text string) []queryTerm {
	analysed := Analyze(text)
	function := functionTerms()
	terms := make([]queryTerm, len(analysed))
	for i, t := range analysed {
		terms[i] = queryTerm{text: t.Text, weight: math.Sqrt(float64(t.Count)), content: !function[t.Text]}
		if !terms[i].content {
			terms[i].weight *= functionWordWeight
		}
	}
	return terms
}
