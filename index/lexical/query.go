package lexical

import (
	"math"
	"slices"
	"sync"

	"github.com/recalld/recalld/index"
)

// functionWordWeight is what an English function word of a query counts, against 1 for any
// other term. Questions are full of grammatical words ("how do I …"). They are rare in
// code, so idf alone would weigh them as content. They are not dropped, because some
// questions consist only of them. The value is the middle of a flat optimum (0.2 to 0.4)
// over nine retrieval sets.
const functionWordWeight = 0.3

// functionWords are pronouns, articles, conjunctions, prepositions, auxiliaries, question
// words and the parts of contractions ("don't": don, t).
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

// troubleWords say that something went wrong but not what: "npm error" asks about npm, and
// a lesson about a fix for npm may not contain the word "error". They keep full weight,
// since documents that contain them match better.
const troubleWords = `error errors problem issue trouble fail failed failing failure fix fixed`

// functionTerms and troubleTerms are the terms of these words, computed at the first query.
var (
	functionTerms = sync.OnceValue(func() map[string]bool { return termsOf(functionWords) })
	troubleTerms  = sync.OnceValue(func() map[string]bool { return termsOf(troubleWords) })
)

func termsOf(words string) map[string]bool {
	terms := make(map[string]bool)
	for _, t := range Analyze(words) {
		terms[t.Text] = true
	}
	return terms
}

// Content returns the terms that say what a query is about: all but function words and
// trouble words. Without such terms it returns the trouble words, and without those all
// terms.
func Content(query index.Terms) index.Terms {
	function, trouble := functionTerms(), troubleTerms()
	content := slices.DeleteFunc(slices.Clone(query), func(t index.Term) bool { return function[t.Text] })
	if len(content) == 0 {
		return query
	}
	about := slices.DeleteFunc(slices.Clone(content), func(t index.Term) bool { return trouble[t.Text] })
	if len(about) == 0 {
		return content
	}
	return about
}

// queryTerms analyses a query. A term that occurs n times weighs √n: repetition is
// emphasis, but the most frequent word of a pasted message must not dominate.
func queryTerms(text string) []queryTerm {
	analysed := Analyze(text)
	function, trouble := functionTerms(), troubleTerms()
	terms := make([]queryTerm, len(analysed))
	about := false // a term is content and no trouble word
	for i, t := range analysed {
		terms[i] = queryTerm{text: t.Text, weight: math.Sqrt(float64(t.Count)), content: !function[t.Text]}
		if !terms[i].content {
			terms[i].weight *= functionWordWeight
		}
		about = about || terms[i].content && !trouble[t.Text]
	}
	for i := range terms {
		terms[i].content = terms[i].content && !(about && trouble[terms[i].text])
	}
	return terms
}
