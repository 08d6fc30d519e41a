package index

// Term is one analysed word of a document and how often it occurs there.
type Term struct {
	Text string
	// Count is the term frequency, at least 1.
	Count uint32
}

// Terms is a document analysed for lexical search: its distinct terms, sorted by text. The
// store keeps the terms, so that an index can be rebuilt without the text.
type Terms []Term

// Length is the document's length in terms, repeats included.
func (t Terms) Length() int {
	n := 0
	for _, x := range t {
		n += int(x.Count)
	}
	return n
}
