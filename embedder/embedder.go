// Package embedder holds the contract of everything that turns text into
// vectors. Implementations sit in the folders below, one technology each, and
// all of them pass the suite in embeddertest.
//
// Vocabulary. A model is identified by its name, its width and the vectors it
// gives three probe texts; together they name its space, and vectors of
// different spaces are never compared. Vectors are unit length (L2), float32.
package embedder

import (
	"context"
	"errors"
	"fmt"
)

var (
	// ErrUnavailable is returned when the model cannot be reached for now:
	// the server is down, busy or too slow, or the circuit breaker is open.
	// The same call may succeed later.
	ErrUnavailable = errors.New("embedder: unavailable")
	// ErrModelNotFound is returned when the server does not have the model.
	// Retrying does not help; pulling the model does.
	ErrModelNotFound = errors.New("embedder: model not found")
	// ErrNotEmbedding is returned when the model exists but cannot embed.
	ErrNotEmbedding = errors.New("embedder: not an embedding model")
)

// Purpose says which side of a search a text is on. Asymmetric models want a
// different prefix for each.
type Purpose int

const (
	// Document is a text to be found.
	Document Purpose = iota
	// Query is a text to find with.
	Query
)

// String returns "document" or "query".
func (p Purpose) String() string {
	if p == Query {
		return "query"
	}
	return "document"
}

// Model is the identity of a loaded model.
type Model struct {
	// Name is the provider and the model: "builtin/static-v1", "ollama/nomic-embed-text".
	Name string
	// Dim is the width of its vectors.
	Dim int
	// ContextTokens is how many tokens of a text the model reads; 0 is no limit.
	ContextTokens int
	// Fingerprint is a hash of the vectors of Probes, see Fingerprint.
	Fingerprint string
	// Probes are the vectors of Probes, in their order; they must not be written to.
	Probes [][]float32
}

// Space names the vectors of the model: name, width and fingerprint. Two models
// with the same space may share vectors; others may only if SameModel says so.
func (m Model) Space() string { return fmt.Sprintf("%s@%d-%s", m.Name, m.Dim, m.Fingerprint) }

// Reason says in a few words, for people and agents, why a model does not take
// part. What the errors of this package do not cover is said as it is.
func Reason(err error) string {
	for _, known := range []struct {
		err    error
		reason string
	}{
		{ErrUnavailable, "unavailable"},
		{ErrModelNotFound, "model not found"},
		{ErrNotEmbedding, "not an embedding model"},
	} {
		if errors.Is(err, known.err) {
			return known.reason
		}
	}
	return "unavailable: " + err.Error()
}

// Embedder turns texts into unit vectors. Implementations are safe for
// concurrent use.
type Embedder interface {
	// Model returns the identity of the model. Remote implementations ask the
	// server the first time; they return ErrUnavailable, ErrModelNotFound or
	// ErrNotEmbedding when it cannot be told.
	Model(ctx context.Context) (Model, error)
	// Embed returns one vector per text, in order. A text may be of any
	// length: what a model cannot read at once is split and its parts' mean is
	// taken, never silently cut. An empty or blank text fails on its own. When
	// only some texts fail the others' vectors are returned together with a
	// *PartialError, the failed places being nil. Errors of the whole call are
	// those of Model and ctx's.
	Embed(ctx context.Context, purpose Purpose, texts []string) ([][]float32, error)
}

// Weigher is an Embedder that can be told how much each word of a question counts
// where the question is asked. Words that all documents have tell none of them from
// the others, whatever they are worth elsewhere: in the memory of a talk the names of
// those who talk, in a repository its own name.
type Weigher interface {
	Embedder
	// EmbedWeighted returns the vector of a question. weight is called with each
	// word, lower case, and says what it counts besides what the model gives it, 0
	// to 1; the bytes are valid only during the call. A blank text fails. Errors are
	// those of Model and ctx's.
	EmbedWeighted(ctx context.Context, text string, weight func(word []byte) float64) ([]float32, error)
}

// PartialError is returned when some texts of a batch could not be embedded.
// The others' vectors are valid.
type PartialError struct {
	// Failed maps the place of a text in the batch to what was wrong with it.
	Failed map[int]error
}

func (e *PartialError) Error() string {
	for i, err := range e.Failed {
		return fmt.Sprintf("embedder: %d texts failed, among them text %d: %v", len(e.Failed), i, err)
	}
	return "embedder: no text failed"
}

// Unwrap gives the errors of all failed texts.
func (e *PartialError) Unwrap() []error {
	errs := make([]error, 0, len(e.Failed))
	for _, err := range e.Failed {
		errs = append(errs, err)
	}
	return errs
}
