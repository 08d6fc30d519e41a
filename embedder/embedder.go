// Package embedder defines the interface of embedders, which turn texts into vectors. The
// folders below have implementations, one technology each. All of them pass the suite in
// embeddertest.
//
// Vocabulary. A model is identified by its name, its width and its vectors of three probe
// texts. Together they name its vector space; vectors of different spaces are never
// compared. Vectors have length 1 (L2) and float32 components.
package embedder

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

var (
	// ErrUnavailable is returned when the model cannot be reached: the server is down,
	// busy or too slow, or the circuit breaker is open. The same call may succeed later.
	ErrUnavailable = errors.New("embedder: unavailable")
	// ErrModelNotFound is returned when the server does not have the model.
	// Retrying does not help; pulling the model does.
	ErrModelNotFound = errors.New("embedder: model not found")
	// ErrNotEmbedding is returned when the model exists but cannot embed.
	ErrNotEmbedding = errors.New("embedder: not an embedding model")
)

// Purpose says which side of a search a text is on. Asymmetric models need another
// prefix for each side.
type Purpose int

const (
	// Document is a text that searches find.
	Document Purpose = iota
	// Query is a text that searches.
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

// Collection names the model's vector collection by name, width and fingerprint. Models
// with the same collection can share vectors; other models only if SameModel says so.
func (m Model) Collection() string { return fmt.Sprintf("%s@%d-%s", m.Name, m.Dim, m.Fingerprint) }

// Reason says in a few words, for people and agents, why a model is not used. Errors that
// are not of this package are quoted.
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
	// Model returns the identity of the model. Remote implementations ask the server
	// the first time, and return ErrUnavailable, ErrModelNotFound or ErrNotEmbedding.
	Model(ctx context.Context) (Model, error)
	// Embed returns one vector per text, in order. A text may have any length: a text
	// beyond the model's context is split, and its vector is the mean of its parts. It
	// is never silently cut. An empty or blank text fails by itself. If only some texts
	// fail, Embed returns the vectors of the others, nil for those that failed, and a
	// *PartialError. Errors of the whole call are the errors of Model and of ctx.
	Embed(ctx context.Context, purpose Purpose, texts []string) ([][]float32, error)
}

// Weigher is an Embedder that takes a weight for each word of a query. Words that all
// documents contain do not distinguish any of them, such as the names of the speakers in
// a conversation, or the name of a repository in itself.
type Weigher interface {
	Embedder
	// EmbedWeighted returns the vector of a query. weight is called with each word in
	// lower case and returns a factor, 0 to 1, for the model's own weight of the word;
	// the bytes are valid only during the call. A blank text fails. Other errors are
	// the errors of Model and of ctx.
	EmbedWeighted(ctx context.Context, text string, weight func(word []byte) float64) ([]float32, error)
}

// PartialError is returned when some texts of a batch could not be embedded. The vectors
// of the other texts are valid.
type PartialError struct {
	// Failed maps the index of a text in the batch to its error.
	Failed map[int]error
}

func (e *PartialError) Error() string {
	if len(e.Failed) == 0 {
		return "embedder: no text failed"
	}
	first := slices.Min(slices.Collect(maps.Keys(e.Failed)))
	return fmt.Sprintf("embedder: %d texts failed, among them text %d: %v", len(e.Failed), first, e.Failed[first])
}

// Unwrap returns the errors of all failed texts, in order.
func (e *PartialError) Unwrap() []error {
	var errs []error
	for _, i := range slices.Sorted(maps.Keys(e.Failed)) {
		errs = append(errs, e.Failed[i])
	}
	return errs
}
