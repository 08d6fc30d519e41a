package indexer

import (
	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/lexical"
)

// wordIndex is a retriever over the words of documents. The indexer keeps it equal to
// the store.
type wordIndex interface {
	index.Retriever
	// UpsertFields replaces the words of a document, from its text and from its paths.
	UpsertFields(doc uint32, text, paths index.Terms)
	// Delete removes a document. Deleting an unknown one is a no-op.
	Delete(doc uint32)
	// Len returns the number of documents.
	Len() int
}

// weightedIndex is a wordIndex with the weight of its scores in index.Fuse.
type weightedIndex struct {
	wordIndex
	weight float64
}

// wordIndexes makes the list of retrievers over words, the lexical index first: recall
// takes the relevance by words from it. A new retriever over words is added here.
func wordIndexes(words *lexical.Index) []weightedIndex {
	return []weightedIndex{{words, 1}}
}
