package daemon

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/embedder/ollama"
	"github.com/recalld/recalld/internal/config"
)

// TestPrefixes: the settings add families to the known ones, or replace them.
func TestPrefixes(t *testing.T) {
	settings := config.Default().Embedding.Ollama
	if diff := cmp.Diff(ollama.DefaultPrefixes(), ollamaOptions(settings).Prefixes); diff != "" {
		t.Errorf("without a setting (-want +got):\n%s", diff)
	}
	settings.Prefixes = map[string]config.Prefix{"house": {Query: "q: ", Document: "d: "}, "bge-m3": {Query: "x"}}
	want := ollama.DefaultPrefixes()
	want["house"], want["bge-m3"] = ollama.Prefix{Query: "q: ", Document: "d: "}, ollama.Prefix{Query: "x"}
	if diff := cmp.Diff(want, ollamaOptions(settings).Prefixes); diff != "" {
		t.Errorf("prefixes (-want +got):\n%s", diff)
	}
}
