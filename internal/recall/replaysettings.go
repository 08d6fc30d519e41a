package recall

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

// noEmbedder leaves out every vector retriever, see memory.AnswerSettings.
const noEmbedder = "none"

// settingsWith returns the service's settings, overridden by a question's; nil overrides
// nothing.
func (s *Service) settingsWith(a *memory.AnswerSettings) (Settings, error) {
	settings := s.settings
	if a == nil {
		return settings, nil
	}
	for _, kind := range slices.Sorted(maps.Keys(a.MinRelevance)) {
		if min := a.MinRelevance[kind]; !(min >= 0 && min <= 1) {
			return settings, memory.Invalid("min_relevance."+string(kind), "0–1", "%v is out of range", min)
		}
	}
	if w := a.VectorWeight; !(w >= 0 && w <= memory.MaxVectorWeight) {
		return settings, memory.Invalid("vector_weight", fmt.Sprintf("0–%d", memory.MaxVectorWeight), "%v is out of range", w)
	}
	if a.Code < 0 || a.CodeBytes < 0 {
		return settings, memory.Invalid("code", "at least 0", "%d chunks of %d bytes", a.Code, a.CodeBytes)
	}
	settings.VectorWeight, settings.Embedder = a.VectorWeight, a.Embedder
	settings.MinRelevance = maps.Clone(settings.MinRelevance)
	maps.Copy(settings.MinRelevance, a.MinRelevance)
	return settings, s.checkEmbedder(settings.Embedder)
}

// checkEmbedder returns CodeNotFound if no vector retriever uses the embedder.
func (s *Service) checkEmbedder(want string) error {
	if want == "" || want == noEmbedder {
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
		Hint: "there is " + strings.Join(append(there, noEmbedder), ", "),
	}
}

// isModel says whether a model has the wanted name, which may lack the version:
// "builtin" means "builtin/static-v1", "ollama/m" means "ollama/m:latest".
func isModel(model, want string) bool {
	rest, ok := strings.CutPrefix(model, want)
	return ok && (rest == "" || rest[0] == '/' || rest[0] == ':')
}

// sources returns the retrievers that the settings allow.
func (r *run) sources() []index.Source {
	all := r.s.opts.Corpus.Sources()
	want := r.settings.Embedder
	if want == "" {
		return all
	}
	return slices.DeleteFunc(all, func(src index.Source) bool {
		model, vector := strings.CutPrefix(src.Name, vectorPrefix)
		return vector && !isModel(model, want)
	})
}

// Settings returns the default settings of answers.
func (s *Service) Settings() memory.AnswerSettings {
	of := s.settings.levels(memory.RecallRequest{Kinds: memory.Kinds}, AskOptions{})
	return *s.settings.inForce(of, caps{})
}

// inForce returns the settings that an answer is made with.
func (s *Settings) inForce(of map[memory.Kind]levels, c caps) *memory.AnswerSettings {
	a := &memory.AnswerSettings{
		MinRelevance: map[memory.Kind]float64{}, Sure: map[memory.Kind]float64{},
		VectorWeight: s.VectorWeight, Embedder: s.Embedder, Code: c.chunks, CodeBytes: c.bytes,
	}
	for kind, l := range of {
		a.MinRelevance[kind], a.Sure[kind] = l.likely, l.sure
		if l.maybe < l.likely {
			if a.Maybe == nil {
				a.Maybe = map[memory.Kind]float64{}
			}
			a.Maybe[kind] = l.maybe
		}
	}
	return a
}
