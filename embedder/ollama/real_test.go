package ollama_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/embeddertest"
	"github.com/recalld/recalld/embedder/ollama"
	"github.com/recalld/recalld/embedder/ollama/ollamatest"
)

func TestConformanceReal(t *testing.T) {
	server := ollamatest.Start(t)
	embeddertest.Run(t, func(t *testing.T) embedder.Embedder {
		return open(t, ollama.Options{ServerOptions: ollama.ServerOptions{BaseURL: server.URL}})
	})
}

func TestConformanceFake(t *testing.T) {
	embeddertest.Run(t, func(t *testing.T) embedder.Embedder {
		return open(t, ollama.Options{ServerOptions: ollama.ServerOptions{Transport: ollamatest.NewFake()}})
	})
}

// TestReal holds the embedder's behaviour with the server itself.
func TestReal(t *testing.T) {
	server := ollamatest.Start(t)
	at := ollama.ServerOptions{BaseURL: server.URL}
	e := open(t, ollama.Options{ServerOptions: at, Cooldown: time.Millisecond})

	t.Run("identity", func(t *testing.T) {
		m, err := e.Model(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if m.Name != "ollama/tiny" || m.Dim != ollamatest.Dim || m.ContextTokens != ollamatest.Context {
			t.Errorf("the model is %+v, want ollama/tiny of width %d and context %d", m, ollamatest.Dim, ollamatest.Context)
		}
		tagged, err := open(t, ollama.Options{ServerOptions: at, Model: "tiny:latest"}).Model(t.Context())
		if err != nil || tagged.Collection() != m.Collection() {
			t.Errorf("with its tag it is %+v, %v, want %+v", tagged, err, m)
		}
	})

	t.Run("synonyms are near", func(t *testing.T) {
		for _, c := range []struct{ text, near, far string }{
			{"car", "automobile", "database"},
			{"fast recall", "quick memory", "slow bread"},
			{"remove the db", "delete the database", "paint the wall"},
		} {
			vs, err := embed(t, e, c.text, c.near, c.far)
			if err != nil {
				t.Fatal(err)
			}
			if near, far := embeddertest.Cosine(vs[0], vs[1]), embeddertest.Cosine(vs[0], vs[2]); near <= far+0.1 {
				t.Errorf("%q has cosine %.3f with %q and %.3f with %q", c.text, near, c.near, far, c.far)
			}
		}
	})

	t.Run("too long", func(t *testing.T) {
		vs, err := embed(t, e, "car", strings.Repeat("automobile ", 2000), strings.Repeat("x1y2z3", 400), "database")
		wantOnly(t, vs, err, 4, "")
		if near, far := embeddertest.Cosine(vs[1], vs[0]), embeddertest.Cosine(vs[1], vs[3]); near <= far+0.1 {
			t.Errorf("a synonym two thousand times over has cosine %.3f with the word and %.3f with another", near, far)
		}
	})

	t.Run("unknown model", func(t *testing.T) {
		_, err := open(t, ollama.Options{ServerOptions: at, Model: "nope"}).Model(t.Context())
		if !errors.Is(err, embedder.ErrModelNotFound) {
			t.Errorf("error %v, want %v", err, embedder.ErrModelNotFound)
		}
	})

	t.Run("list", func(t *testing.T) {
		list, err := e.List(t.Context())
		if err != nil || len(list) != 1 || list[0].Name != "tiny" || list[0].Dim != ollamatest.Dim {
			t.Errorf("models %+v, %v, want tiny of width %d", list, err, ollamatest.Dim)
		}
	})

	t.Run("stopped and restarted", func(t *testing.T) {
		before, err := embed(t, e, "a text")
		if err != nil {
			t.Fatal(err)
		}
		server.Stop()
		for range 5 {
			if _, err := embed(t, e, "a text"); !errors.Is(err, embedder.ErrUnavailable) {
				t.Errorf("stopped: %v, want %v", err, embedder.ErrUnavailable)
			}
		}
		server.Restart()
		var after [][]float32
		for after == nil { // until the breaker has cooled down, a millisecond
			after, err = embed(t, e, "a text")
			if err != nil && !errors.Is(err, embedder.ErrUnavailable) {
				t.Fatalf("restarted: %v", err)
			}
		}
		if c := embeddertest.Cosine(before[0], after[0]); c < 0.9999 {
			t.Errorf("after a restart a text has cosine %.4f with its former vector", c)
		}
	})

	t.Run("stopped in a call", func(t *testing.T) {
		texts := strings.Fields(strings.Repeat(strings.Repeat("abc", 20)+" ", 3000))
		result := make(chan error, 1)
		go func() {
			_, err := e.Embed(t.Context(), embedder.Document, texts)
			result <- err
		}()
		server.Stop()
		if err := <-result; !errors.Is(err, embedder.ErrUnavailable) {
			t.Errorf("error %v, want %v", err, embedder.ErrUnavailable)
		}
		server.Restart()
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
