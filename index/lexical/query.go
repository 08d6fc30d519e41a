package lexical

// queryTerms analyses a query.
func queryTerms(text string) []queryTerm {
	analysed := Analyze(text)
	terms := make([]queryTerm, len(analysed))
	for i, t := range analysed {
		terms[i] = queryTerm{text: t.Text, weight: float64(t.Count)}
	}
	return terms
}
