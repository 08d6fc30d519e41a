// Package index holds what the retrievers share: the contract they implement,
// the dense document numbers they are keyed by, the attribute bitmaps that a
// filter becomes, and the fusion of their answers.
//
// Vocabulary. A document is one distinct text; records and places hang off it.
// Its number is dense, given at load and never reused while the process lives,
// so that a set of documents is a roaring bitmap. A retriever turns the text of
// a query into scored documents. A filter is applied first, always: a retriever
// is given the documents it may return and never returns another.
//
// The package and the packages below it are libraries: they never import
// internal/.
package index

import (
	"context"
	"errors"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
)

// ErrNotReady is returned when a retriever cannot take part in an answer yet:
// its documents are still being loaded, or none is held.
var ErrNotReady = errors.New("index: not ready")

// Hit is one document and its score. Scores of different retrievers are not
// comparable; within one result they are, and higher is better.
type Hit struct {
	Doc   uint32
	Score float32
	// Held is the share of the question's content that the document holds, by
	// weight, 0 to 1. Zero where the retriever does not know words.
	Held float32
}

// Query is what a retriever is asked.
type Query struct {
	// Text is the question as asked, at most some thousand characters.
	Text string
	// Allow holds the documents that may be returned; nil allows all.
	Allow *roaring.Bitmap
	// Universe holds the documents whose statistics count (document
	// frequencies, mean length): those of the project searched. Nil is all.
	// Retrievers without collection statistics ignore it.
	Universe *roaring.Bitmap
	// Limit is how many hits are wanted; it must be positive.
	Limit int
}

// Result is a retriever's answer.
type Result struct {
	// Hits are ordered by score, highest first, ties by document number.
	Hits []Hit
	// Best is the highest score that any document could reach for this query:
	// the BM25 bound of its terms, or 1 for a cosine. Scores divided by it can
	// be compared between queries. Zero when no document can match.
	Best float32
	// Content is the number of terms of the question that Hit.Held counts: those
	// that say what it is about.
	Content int
	// Searched is the number of documents that were allowed.
	Searched int
	// Mean and Deviation are the mean and the standard deviation of the scores
	// of all documents searched, hits or not, measured or estimated from a
	// sample. Deviation is zero where the retriever does not tell.
	Mean, Deviation float32
}

// Retriever turns text into scored documents under a filter. Implementations
// are safe for concurrent use, also beside changes to what they search.
type Retriever interface {
	// Name identifies the retriever in receipts and settings: "lexical" or
	// "vector/<model>".
	Name() string
	// Retrieve returns at most q.Limit hits, all of them in q.Allow. It returns
	// ctx's error when the deadline passes first, and ErrNotReady when the
	// retriever cannot answer yet. Nothing found is an empty result, no error.
	Retrieve(ctx context.Context, q Query) (Result, error)
}

// Source is a retriever as far as it can take part in an answer.
type Source struct {
	Name string
	// Retriever is nil when it cannot.
	Retriever Retriever
	// Space names the collection of a vector retriever; empty for a lexical one.
	Space string
	// Weight is that of a lexical retriever's scores in Fuse; 0 means 1.
	Weight float64
	// Degraded says why it cannot take part, or why it could not be reached when
	// it was last tried; empty when there is nothing to be said.
	Degraded string
	// Missing are the documents that it is to hold and does not yet; nil is none.
	Missing *roaring.Bitmap
}

// Lacks says what keeps the source from answering with any of the documents that
// are allowed; empty when nothing does.
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
