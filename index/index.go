// Package index holds what the retrievers share: their interface, the dense document
// numbers, the attribute bitmaps that filters become, and the fusion of results.
//
// Vocabulary. A document is one distinct text; records and locations refer to it. Its
// number is dense, assigned at load and never reused by the process, so that a set of
// documents is a roaring bitmap. A retriever turns the text of a query into scored
// documents. Filters always apply first: a retriever is given the set of documents that it
// may return.
//
// The package and the packages below it are libraries: they never import internal/.
package index

import (
	"context"
	"errors"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
)

// ErrNotReady is returned when a retriever cannot answer yet: its documents are still
// loading, or it has none.
var ErrNotReady = errors.New("index: not ready")

// Hit is one document and its score. Scores of different retrievers are not
// comparable; within one result they are, and higher is better.
type Hit struct {
	Doc   uint32
	Score float32
	// Held is the share of the question's content that the document contains, by weight, 0
	// to 1. Zero for retrievers that do not match words.
	Held float32
}

// Query is the input of a retriever.
type Query struct {
	// Text is the query as asked, up to a few thousand characters.
	Text string
	// Allow holds the documents that may be returned; nil allows all.
	Allow *roaring.Bitmap
	// Universe holds the documents whose statistics count (document frequencies, mean
	// length): all documents of the project searched. Nil is all. Retrievers without
	// collection statistics ignore it.
	Universe *roaring.Bitmap
	// Limit is how many hits are wanted; it must be positive.
	Limit int
	// Further is how many more hits may be returned if the search for Limit has them at
	// hand. It does not change the first Limit hits, and some of the further ones may be
	// missing.
	Further int
}

// Result is the output of a retriever.
type Result struct {
	// Hits are ordered by score, highest first, ties by document number.
	Hits []Hit
	// Best is the highest score that any document could reach for this query:
	// the BM25 bound of its terms, or 1 for a cosine. Scores divided by it can
	// be compared between queries. Zero when no document can match.
	Best float32
	// Content is the number of content terms of the question, which Hit.Held counts.
	Content int
	// Searched is the number of documents that were allowed.
	Searched int
	// Mean and Deviation are the mean and the standard deviation of the scores of all
	// documents searched, hits or not, measured or estimated from a sample. Deviation is
	// zero if the retriever does not measure it.
	Mean, Deviation float32
}

// Retriever turns text into scored documents under a filter. Implementations
// are safe for concurrent use, also beside changes to what they search.
type Retriever interface {
	// Name identifies the retriever in receipts and settings: "lexical" or
	// "vector/<model>".
	Name() string
	// Retrieve returns at most q.Limit + q.Further hits, all of them in q.Allow. It returns
	// ctx's error when the deadline passes first, and ErrNotReady when the retriever cannot
	// answer yet. If nothing is found, the result is empty and the error nil.
	Retrieve(ctx context.Context, q Query) (Result, error)
}

// Source is a retriever and its state.
type Source struct {
	Name string
	// Retriever is nil if it cannot answer.
	Retriever Retriever
	// Collection names the collection of a vector retriever; empty for a lexical one.
	Collection string
	// Weight is the weight of a lexical retriever's scores in Fuse; 0 means 1.
	Weight float64
	// Degraded says why the retriever cannot answer, or why its last use failed; otherwise
	// empty.
	Degraded string
	// Missing are the documents that it does not contain yet; nil is none.
	Missing *roaring.Bitmap
}

// Lacks says why the source cannot return any of the allowed documents; empty if it can.
func (s Source) Lacks(allow *roaring.Bitmap) string {
	if s.Missing == nil {
		return ""
	}
	all, missing := allow.GetCardinality(), s.Missing.AndCardinality(allow)
	switch {
	case missing == 0:
		return ""
	case s.Degraded != "":
		return s.Degraded
	}
	return fmt.Sprintf("partial: %d %% embedded, %d of %d documents", 100*(all-missing)/all, all-missing, all)
}
