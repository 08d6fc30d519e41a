package ollama_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/embeddertest"
	"github.com/recalld/recalld/embedder/ollama"
	"github.com/recalld/recalld/embedder/ollama/ollamatest"
)

// The cases are run against the fake in a bubble of synctest, where pauses take
// no time and their length can be told. table_test.go holds the fake against
// the real server.

// inBubble runs a test with a fake and an embedder that has met its model.
func inBubble(t *testing.T, o ollama.Options, test func(t *testing.T, f *ollamatest.Fake, e *ollama.Embedder)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := ollamatest.NewFake()
		o.Transport = f
		e := open(t, o)
		if _, err := e.Model(t.Context()); err != nil {
			t.Fatalf("model: %v", err)
		}
		test(t, f, e)
		e.Close()
	})
}

func embed(t *testing.T, e embedder.Embedder, texts ...string) ([][]float32, error) {
	t.Helper()
	return e.Embed(t.Context(), embedder.Document, texts)
}

// wantOnly checks that exactly the places in bad failed, with an error that
// says the words.
func wantOnly(t *testing.T, vs [][]float32, err error, n int, words string, bad ...int) {
	t.Helper()
	var failed map[int]error
	if partial, ok := errors.AsType[*embedder.PartialError](err); ok {
		failed = partial.Failed
	} else if err != nil {
		t.Fatalf("the whole call failed: %v", err)
	}
	if len(failed) != len(bad) || len(vs) != n {
		t.Fatalf("%d vectors and failures %v, want %d and failures of %v", len(vs), failed, n, bad)
	}
	for i, v := range vs {
		if slices.Contains(bad, i) {
			if v != nil || failed[i] == nil || !strings.Contains(failed[i].Error(), words) {
				t.Errorf("text %d: error %v, want one that says %q", i, failed[i], words)
			}
		} else if err := embeddertest.CheckUnit(v, ollamatest.Dim); err != nil {
			t.Errorf("text %d: %v", i, err)
		}
	}
}

func inputsOf(req api.EmbedRequest) []string {
	var in []string
	for _, x := range req.Input.([]any) {
		in = append(in, x.(string))
	}
	return in
}

// onText makes every request that holds a text meet the fault.
func onText(word string, fault ollamatest.Fault) []ollamatest.Fault {
	return slices.Repeat([]ollamatest.Fault{func(w http.ResponseWriter, r *http.Request, req api.EmbedRequest) bool {
		return strings.Contains(strings.Join(inputsOf(req), "\n"), word) && fault(w, r, req)
	}}, 1000)
}

func always(fault ollamatest.Fault) []ollamatest.Fault {
	return slices.Repeat([]ollamatest.Fault{fault}, 1000)
}

func TestUnknownModel(t *testing.T) {
	e := open(t, ollama.Options{Model: "nope", ServerOptions: ollama.ServerOptions{Transport: ollamatest.NewFake()}})
	if _, err := e.Model(t.Context()); !errors.Is(err, embedder.ErrModelNotFound) {
		t.Errorf("model: %v, want %v", err, embedder.ErrModelNotFound)
	}
	if _, err := embed(t, e, "a"); !errors.Is(err, embedder.ErrModelNotFound) {
		t.Errorf("embed: %v, want %v", err, embedder.ErrModelNotFound)
	}
}

func TestModelRemovedAndPulledAgain(t *testing.T) {
	inBubble(t, ollama.Options{}, func(t *testing.T, f *ollamatest.Fake, e *ollama.Embedder) {
		f.RemoveModel(ollamatest.Model)
		for range 10 { // it is no outage: the breaker stays closed
			if _, err := embed(t, e, "a"); !errors.Is(err, embedder.ErrModelNotFound) {
				t.Fatalf("embed: %v, want %v", err, embedder.ErrModelNotFound)
			}
		}
		f.SetModel(ollamatest.Model, ollamatest.FakeModel{Arch: "bert", Dim: ollamatest.Dim, Context: ollamatest.Context})
		vs, err := embed(t, e, "a")
		wantOnly(t, vs, err, 1, "")
	})
}

func TestNotAnEmbeddingModel(t *testing.T) {
	f := ollamatest.NewFake()
	f.SetModel("chat", ollamatest.FakeModel{Arch: "llama", Dim: 8, Context: 100, Capabilities: []model.Capability{model.CapabilityCompletion}})
	e := open(t, ollama.Options{Model: "chat", ServerOptions: ollama.ServerOptions{Transport: f}})
	if _, err := e.Model(t.Context()); !errors.Is(err, embedder.ErrNotEmbedding) {
		t.Errorf("model: %v, want %v", err, embedder.ErrNotEmbedding)
	}
}

func TestIdentity(t *testing.T) {
	f := ollamatest.NewFake()
	f.SetModel("ns/other:v2", ollamatest.FakeModel{Arch: "gemma3", Dim: 32, ClaimedDim: 768, Context: 2048, NumCtx: 512})
	for _, c := range []struct {
		name string
		want embedder.Model
	}{
		{"tiny", embedder.Model{Name: "ollama/tiny", Dim: 64, ContextTokens: 128}},
		{"tiny:latest", embedder.Model{Name: "ollama/tiny", Dim: 64, ContextTokens: 128}},
		{"ns/other:v2", embedder.Model{Name: "ollama/ns/other:v2", Dim: 32, ContextTokens: 512}},
	} {
		e := open(t, ollama.Options{Model: c.name, ServerOptions: ollama.ServerOptions{Transport: f}})
		got, err := e.Model(t.Context())
		got.Fingerprint, got.Probes = "", nil
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
}

func TestNeverAsksToTruncate(t *testing.T) {
	inBubble(t, ollama.Options{KeepAlive: -1}, func(t *testing.T, f *ollamatest.Fake, e *ollama.Embedder) {
		vs, err := embed(t, e, "", "a", strings.Repeat("long ", 500), " \t")
		wantOnly(t, vs, err, 4, "blank", 0, 3)
		for i, req := range f.Embeds() {
			if req.Truncate == nil || *req.Truncate {
				t.Errorf("request %d lets the server truncate", i)
			}
			if req.KeepAlive == nil || req.KeepAlive.Duration <= 0 {
				t.Errorf("request %d has keep-alive %v, want for ever", i, req.KeepAlive)
			}
			for _, in := range inputsOf(req) {
				if strings.TrimSpace(in) == "" {
					t.Errorf("request %d has a blank input", i)
				}
			}
		}
	})
}

func TestTooLong(t *testing.T) {
	inBubble(t, ollama.Options{}, func(t *testing.T, f *ollamatest.Fake, e *ollama.Embedder) {
		// Punctuation that is guessed as few tokens and is many, and the reverse.
		dense := strings.Repeat("a b c d ", 300)
		vs, err := embed(t, e, "short", dense, strings.Repeat("word", 800), "end")
		wantOnly(t, vs, err, 4, "")
		if c := embeddertest.Cosine(vs[0], vs[3]); c > 0.99 {
			t.Error("the short texts beside the long ones have one vector")
		}
	})
}

// TestContextSmallerThanTold has the server refuse what should have fitted, so
// that texts are halved until they do. Each part must count.
func TestContextSmallerThanTold(t *testing.T) {
	f := ollamatest.NewFake()
	f.SetModel("small", ollamatest.FakeModel{Arch: "bert", Dim: ollamatest.Dim, Context: 32, ClaimedContext: 8192})
	e := open(t, ollama.Options{Model: "small", ServerOptions: ollama.ServerOptions{Transport: f}})
	text := strings.Repeat("head ", 100) + strings.Repeat("tail ", 100)
	vs, err := embed(t, e, text, "head", "tail", "other")
	wantOnly(t, vs, err, 4, "")
	head, tail, other := embeddertest.Cosine(vs[0], vs[1]), embeddertest.Cosine(vs[0], vs[2]), embeddertest.Cosine(vs[0], vs[3])
	if head < other+0.3 || tail < other+0.3 {
		t.Errorf("the text has cosine %.3f with its head, %.3f with its tail and %.3f with another word", head, tail, other)
	}
}

// TestNothingFits has a prefix that fills the context by itself.
func TestNothingFits(t *testing.T) {
	prefixes := ollama.Prefixes{ollamatest.Model: {Query: strings.Repeat("prefix ", 200)}}
	inBubble(t, ollama.Options{Prefixes: prefixes}, func(t *testing.T, f *ollamatest.Fake, e *ollama.Embedder) {
		vs, err := e.Embed(t.Context(), embedder.Query, []string{"a text that could be split", "another"})
		wantOnly(t, vs, err, 2, "longer than the model's context", 0, 1)
	})
}

func TestRunnerKilled(t *testing.T) {
	inBubble(t, ollama.Options{}, func(t *testing.T, f *ollamatest.Fake, e *ollama.Embedder) {
		f.Fail(ollamatest.RunnerKilled(), ollamatest.RunnerKilled())
		vs, err := embed(t, e, "a", "b")
		wantOnly(t, vs, err, 2, "")
	})
	inBubble(t, ollama.Options{}, func(t *testing.T, f *ollamatest.Fake, e *ollama.Embedder) {
		f.Fail(onText("poison", ollamatest.RunnerKilled())...)
		texts := make([]string, 20)
		for i := range texts {
			texts[i] = fmt.Sprint("text ", i)
		}
		texts[13] = "poison"
		vs, err := embed(t, e, texts...)
		wantOnly(t, vs, err, 20, "runner", 13)
	})
	inBubble(t, ollama.Options{}, func(t *testing.T, f *ollamatest.Fake, e *ollama.Embedder) {
		f.Fail(always(ollamatest.RunnerKilled())...)
		if _, err := embed(t, e, "a", "b"); !errors.Is(err, embedder.ErrUnavailable) {
			t.Errorf("a runner that always dies: %v, want %v", err, embedder.ErrUnavailable)
		}
	})
}

// TestBadTextsAreNoOutage has three texts kill the runner at one time, before
// any control text could show that the server is well.
func TestBadTextsAreNoOutage(t *testing.T) {
	inBubble(t, ollama.Options{}, func(t *testing.T, f *ollamatest.Fake, e *ollama.Embedder) {
		killed := ollamatest.RunnerKilled()
		f.Fail(always(func(w http.ResponseWriter, r *http.Request, req api.EmbedRequest) bool {
			switch inputsOf(req)[0] {
			case "poison":
				return killed(w, r, req)
			case "control":
				time.Sleep(10 * time.Second) // on the bubble's clock
			}
			return false
		})...)
		var callers sync.WaitGroup
		for range 3 {
			callers.Go(func() {
				_, err := e.Embed(t.Context(), embedder.Query, []string{"poison"})
				if _, ok := errors.AsType[*embedder.PartialError](err); !ok {
					t.Errorf("error %v, want a *PartialError", err)
				}
			})
		}
		time.Sleep(5 * time.Second) // all three have failed, no control has come back
		vs, err := e.Embed(t.Context(), embedder.Query, []string{"good"})
		wantOnly(t, vs, err, 1, "")
		callers.Wait()
	})
}

func TestBadTextFailsAlone(t *testing.T) {
	for _, c := range []struct {
		name, words string
		fault       ollamatest.Fault
	}{
		{"NaN", "NaN", ollamatest.Status(http.StatusBadRequest, "embedding contains NaN or Inf values")},
		{"fewer vectors", "0 vectors for 1", answer(`{"embeddings":[]}`)},
		{"null", "0 vectors for 1", answer(`{"embeddings":null}`)},
		{"empty vector", "squared length", answer(`{"embeddings":[[]]}`)},
		{"zero vector", "squared length is 0", answer(`{"embeddings":[[0,0,0,0]]}`)},
		{"server error", "runner", ollamatest.Status(http.StatusInternalServerError, "unexpected")},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, ollama.Options{}, func(t *testing.T, f *ollamatest.Fake, e *ollama.Embedder) {
				f.Fail(onText("bad", c.fault)...)
				vs, err := embed(t, e, "one", "two", "bad", "three", "four")
				wantOnly(t, vs, err, 5, c.words, 2)
			})
		})
	}
}

// answer is the fault of a 200 with a body.
func answer(body string) ollamatest.Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ api.EmbedRequest) bool {
		fmt.Fprint(w, body)
		return true
	}
}

func TestServerThatRefusesEverythingIsUnavailable(t *testing.T) {
	inBubble(t, ollama.Options{}, func(t *testing.T, f *ollamatest.Fake, e *ollama.Embedder) {
		f.Fail(always(ollamatest.Status(http.StatusBadRequest, "invalid option"))...)
		if _, err := embed(t, e, "a", "b"); !errors.Is(err, embedder.ErrUnavailable) {
			t.Errorf("error %v, want %v: no text is to blame", err, embedder.ErrUnavailable)
		}
	})
}

func TestClose(t *testing.T) {
	inBubble(t, ollama.Options{}, func(t *testing.T, f *ollamatest.Fake, e *ollama.Embedder) {
		f.Fail(always(ollamatest.Hang())...)
		result := make(chan error, 1)
		go func() {
			_, err := e.Embed(t.Context(), embedder.Document, []string{"a"})
			result <- err
		}()
		synctest.Wait()
		for range 2 {
			if err := e.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}
		if err := <-result; !errors.Is(err, ollama.ErrClosed) {
			t.Errorf("the call in flight: %v, want %v", err, ollama.ErrClosed)
		}
		if _, err := embed(t, e, "a"); !errors.Is(err, ollama.ErrClosed) {
			t.Errorf("embed after close: %v, want %v", err, ollama.ErrClosed)
		}
		if _, err := e.Model(t.Context()); !errors.Is(err, ollama.ErrClosed) {
			t.Errorf("model after close: %v, want %v", err, ollama.ErrClosed)
		}
	})
}

// TestQueriesDoNotWaitForDocuments has documents take every place there is.
func TestQueriesDoNotWaitForDocuments(t *testing.T) {
	inBubble(t, ollama.Options{MaxConcurrency: 1}, func(t *testing.T, f *ollamatest.Fake, e *ollama.Embedder) {
		f.Fail(ollamatest.Hang())
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			e.Embed(ctx, embedder.Document, []string{"a"})
		}()
		synctest.Wait()
		began := time.Now()
		vs, err := e.Embed(t.Context(), embedder.Query, []string{"b"})
		wantOnly(t, vs, err, 1, "")
		if took := time.Since(began); took != 0 {
			t.Errorf("a query waited %v for documents", took)
		}
		cancel()
		<-done
	})
}

func TestConcurrencyIsBounded(t *testing.T) {
	inBubble(t, ollama.Options{MaxConcurrency: 3, BatchSize: 1}, func(t *testing.T, f *ollamatest.Fake, e *ollama.Embedder) {
		inFlight := make(chan struct{}, 100)
		var most atomic.Int64
		f.Fail(slices.Repeat([]ollamatest.Fault{func(http.ResponseWriter, *http.Request, api.EmbedRequest) bool {
			inFlight <- struct{}{}
			most.Store(max(most.Load(), int64(len(inFlight))))
			time.Sleep(time.Second) // on the bubble's clock: all that can be are in flight
			<-inFlight
			return false
		}}, 40)...)
		began := time.Now()
		vs, err := embed(t, e, strings.Fields(strings.Repeat("word ", 40))...)
		wantOnly(t, vs, err, 40, "")
		if most := most.Load(); most != 3 {
			t.Errorf("up to %d requests were in flight, want 3", most)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("40 requests of a second took %v: they were not made side by side", took)
		}
	})
}

func TestPrefixesAreSent(t *testing.T) {
	f := ollamatest.NewFake()
	f.SetModel("nomic-embed-text:v1.5", ollamatest.FakeModel{Arch: "nomic-bert", Dim: 8, Context: 100})
	e := open(t, ollama.Options{Model: "nomic-embed-text:v1.5", ServerOptions: ollama.ServerOptions{Transport: f}})
	for _, c := range []struct {
		purpose embedder.Purpose
		prefix  string
	}{{embedder.Document, "search_document: "}, {embedder.Query, "search_query: "}} {
		if _, err := e.Embed(t.Context(), c.purpose, []string{"one", strings.Repeat("two ", 300)}); err != nil {
			t.Fatalf("embed: %v", err)
		}
		requests := f.Embeds()
		for _, in := range inputsOf(requests[len(requests)-1]) {
			if !strings.HasPrefix(in, c.prefix) {
				t.Errorf("%s: the input %.30q lacks the prefix %q", c.purpose, in, c.prefix)
			}
		}
	}
}
