package recall

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

// NoEmbedder leaves every vector retriever out, see memory.AnswerSettings.
const NoEmbedder = "none"

// with returns the service under other settings, itself for none.
func (s *Service) with(a *memory.AnswerSettings) (*Service, error) {
	if a == nil {
		return s, nil
	}
	for _, kind := range slices.Sorted(maps.Keys(a.MinRelevance)) {
		if f := a.MinRelevance[kind]; !(f >= 0 && f <= 1) {
			return nil, memory.Invalid("min_relevance."+string(kind), "0–1", "%v is out of range", f)
		}
	}
	if w := a.VectorWeight; !(w >= 0 && w <= memory.MaxVectorWeight) || math.IsNaN(w) {
		return nil, memory.Invalid("vector_weight", fmt.Sprintf("0–%d", memory.MaxVectorWeight), "%v is out of range", w)
	}
	if a.Code < 0 || a.CodeBytes < 0 {
		return nil, memory.Invalid("code", "at least 0", "%d pieces of %d bytes", a.Code, a.CodeBytes)
	}
	other := *s
	other.settings.VectorWeight, other.settings.Embedder = a.VectorWeight, a.Embedder
	other.settings.MinRelevance = maps.Clone(s.settings.MinRelevance)
	maps.Copy(other.settings.MinRelevance, a.MinRelevance)
	return &other, other.checkEmbedder()
}

// checkEmbedder returns CodeNotFound when no vector retriever is of the embedder that
// the settings name.
func (s *Service) checkEmbedder() error {
	want := s.settings.Embedder
	if want == "" || want == NoEmbedder {
		return nil
	}
	var there []string
	for _, src := range s.opts.Corpus.Sources() {
		if model, vector := strings.CutPrefix(src.Name, vectorPrefix); vector {
			if isModel(model, want) {
				return nil
			}
			there = append(there, model)
		}
	}
	return &memory.Error{
		Code: memory.CodeNotFound, Field: "embedder", Message: "no documents are embedded by " + memory.Quote(want),
		Hint: "there is " + strings.Join(append(there, NoEmbedder), ", "),
	}
}

// isModel says that a model is the one that is wanted, which may be named without its
// version: "builtin" is "builtin/static-v1", "ollama/m" is "ollama/m:latest".
func isModel(model, want string) bool {
	rest, ok := strings.CutPrefix(model, want)
	return ok && (rest == "" || rest[0] == '/' || rest[0] == ':')
}

// sources are the retrievers that the settings let take part.
func (s *Service) sources() []index.Source {
	all := s.opts.Corpus.Sources()
	want := s.settings.Embedder
	if want == "" {
		return all
	}
	return slices.DeleteFunc(all, func(src index.Source) bool {
		model, vector := strings.CutPrefix(src.Name, vectorPrefix)
		return vector && !isModel(model, want)
	})
}

// caps bound an answer, before the settings are filled into its question.
func (s *Service) caps(req memory.RecallRequest, other *memory.AnswerSettings) caps {
	c := s.settings.caps(req)
	if other != nil {
		c.chunks, c.bytes = cmp.Or(other.Code, c.chunks), cmp.Or(other.CodeBytes, c.bytes)
	}
	return c
}

// thresholds are those of the kinds that a question asks for: the one that it names takes
// the place of the service's, and those of other settings that of both.
func (s *Service) thresholds(req memory.RecallRequest, other *memory.AnswerSettings) map[memory.Kind]float64 {
	floors := make(map[memory.Kind]float64, len(req.Kinds))
	for _, kind := range withBlockers(req.Kinds) {
		floors[kind] = s.settings.MinRelevance[kind]
		if req.MinRelevance != nil {
			floors[kind] = *req.MinRelevance
		}
		if other != nil {
			if f, named := other.MinRelevance[kind]; named {
				floors[kind] = f
			}
		}
	}
	return floors
}

// Settings are what answers are made with where nothing else is asked for.
func (s *Service) Settings() memory.AnswerSettings {
	return *s.inForce(maps.Clone(s.settings.MinRelevance), caps{})
}

// inForce are the settings that an answer is made with.
func (s *Service) inForce(floors map[memory.Kind]float64, c caps) *memory.AnswerSettings {
	return &memory.AnswerSettings{
		MinRelevance: floors, VectorWeight: s.settings.VectorWeight, Embedder: s.settings.Embedder,
		Code: c.chunks, CodeBytes: c.bytes,
	}
}
