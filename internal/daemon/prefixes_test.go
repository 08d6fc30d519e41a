package daemon

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/embedder/ollama"
	"github.com/recalld/recalld/internal/config"
)

// TestPrefixesAreThoseOfTheLibrary: the settings spell out for people what the
// library does by itself, and must not drift from it.
func TestPrefixesAreThoseOfTheLibrary(t *testing.T) {
	settings := ollamaOptions(config.Default().Embedding.Ollama).Prefixes
	if diff := cmp.Diff(ollama.DefaultPrefixes(), settings); diff != "" {
		t.Errorf("prefixes (-library +settings):\n%s", diff)
	}
}
