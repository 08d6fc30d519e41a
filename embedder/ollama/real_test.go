package ollama_test

import (
	"testing"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/embeddertest"
	"github.com/recalld/recalld/embedder/ollama"
	"github.com/recalld/recalld/embedder/ollama/ollamatest"
)

func TestConformanceReal(t *testing.T) {
	server := ollamatest.Start(t)
	embeddertest.Run(t, func(t *testing.T) embedder.Embedder { return open(t, ollama.Options{ServerOptions: ollama.ServerOptions{BaseURL: server.URL}}) })
}

func TestConformanceFake(t *testing.T) {
	embeddertest.Run(t, func(t *testing.T) embedder.Embedder {
		return open(t, ollama.Options{ServerOptions: ollama.ServerOptions{Transport: ollamatest.NewFake()}})
	})
}

// open returns an embedder of the test model that is closed with the test.
func open(t *testing.T, o ollama.Options) *ollama.Embedder {
	t.Helper()
	if o.Model == "" {
		o.Model = ollamatest.Model
	}
	e, err := ollama.New(o)
	if err != nil {
		t.Fatalf("open embedder: %v", err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}
