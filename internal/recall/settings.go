package recall

import (
	"time"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

// Settings are what a user may choose about answers. A request that names a limit, a
// budget or a threshold overrides them.
type Settings struct {
	// Full says whether code is searched by its chunks. Without it, only the file-name
	// index finds code, if there is one.
	Full bool
	// Limit is the number of items, MaxTokens the budget of an answer.
	Limit, MaxTokens int
	// Chunks and ChunkBytes bound the code in an answer: number of chunks, and bytes of
	// their text together.
	Chunks, ChunkBytes int
	// MinRelevance is the threshold by kind, on the calibrated scale of 0 to 1.
	MinRelevance map[memory.Kind]float64
	// HalfLife is the age at which a record of a kind has lost half of the recency
	// factor; zero means no decay.
	HalfLife map[memory.Kind]time.Duration
	// VectorWeight is the weight of a vector retriever's z-score in the fusion; words have
	// weight 1 (see index.Lexical). With 0, vectors do not affect the order.
	VectorWeight float64
	// Embedder limits the vector retrievers, see memory.AnswerSettings.
	Embedder string
	// Deadline is how long a vector retriever may take; the lexical one has no deadline.
	// CodeDeadline is how long reading and verifying code may take, at most
	// MaxCodeDeadline.
	Deadline, CodeDeadline time.Duration
	// Depth is how many hits each retriever is asked for.
	Depth int
}

// MaxCodeDeadline is the longest that an answer waits for code (contract 4).
const MaxCodeDeadline = 500 * time.Millisecond

// DefaultSettings are the limits of contracts 0 and 4.
func DefaultSettings() Settings {
	s := Settings{
		Full:  true,
		Limit: memory.DefaultLimit, MaxTokens: memory.DefaultTokens, Chunks: 3, ChunkBytes: 2048,
		MinRelevance: map[memory.Kind]float64{}, HalfLife: DefaultHalfLife(), VectorWeight: index.ZScoreWeight,
		Deadline: 250 * time.Millisecond, CodeDeadline: 200 * time.Millisecond, Depth: 200,
	}
	for _, k := range memory.Kinds {
		s.MinRelevance[k] = memory.DefaultMinRelevance(k)
	}
	return s
}

func (s *Settings) validate() error {
	for _, count := range []struct {
		field string
		n     int
	}{{"limit", s.Limit}, {"max_tokens", s.MaxTokens}, {"chunks", s.Chunks}, {"chunk_bytes", s.ChunkBytes}, {"depth", s.Depth}} {
		if count.n < 1 {
			return memory.Invalid(count.field, "at least 1", "%d is too few", count.n)
		}
	}
	if s.Deadline <= 0 || s.CodeDeadline <= 0 {
		return memory.Invalid("deadline", "more than 0", "recall needs time")
	}
	if s.CodeDeadline > MaxCodeDeadline {
		return memory.Invalid("code_deadline", "at most "+MaxCodeDeadline.String(), "%s is too long", s.CodeDeadline)
	}
	return nil
}
