package ollama_test

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ollama/ollama/api"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/ollama"
	"github.com/recalld/recalld/embedder/ollama/ollamatest"
)

func TestBusy(t *testing.T) {
	inBubble(t, ollama.Options{}, func(t *testing.T, f *ollamatest.Fake, e *ollama.Embedder) {
		f.Fail(ollamatest.Busy(), ollamatest.Busy(), ollamatest.Busy())
		began := time.Now()
		vs, err := embed(t, e, "a")
		wantOnly(t, vs, err, 1, "")
		// 250 ms + 500 ms + 1 s, each shortened by up to half.
		if took := time.Since(began); took < 875*time.Millisecond || took > 1750*time.Millisecond {
			t.Errorf("three pauses took %v, want 875 ms to 1.75 s", took)
		}
		f.Fail(always(ollamatest.Busy())...)
		if _, err := embed(t, e, "a"); !errors.Is(err, embedder.ErrUnavailable) {
			t.Errorf("always busy: %v, want %v", err, embedder.ErrUnavailable)
		}
	})
}

func TestDroppedConnection(t *testing.T) {
	inBubble(t, ollama.Options{}, func(t *testing.T, f *ollamatest.Fake, e *ollama.Embedder) {
		f.Fail(ollamatest.Dropped())
		vs, err := embed(t, e, "a", "b")
		wantOnly(t, vs, err, 2, "")
		f.Fail(always(ollamatest.Dropped())...)
		if _, err := embed(t, e, "a", "b"); !errors.Is(err, embedder.ErrUnavailable) {
			t.Errorf("always dropped: %v, want %v", err, embedder.ErrUnavailable)
		}
	})
}

// TestOutage follows the circuit breaker through an outage.
func TestOutage(t *testing.T) {
	inBubble(t, ollama.Options{Cooldown: 10 * time.Second}, func(t *testing.T, f *ollamatest.Fake, e *ollama.Embedder) {
		f.SetDown(true)
		for range 3 {
			_, err := embed(t, e, "a")
			if !errors.Is(err, embedder.ErrUnavailable) || !errors.Is(err, syscall.ECONNREFUSED) {
				t.Fatalf("down: %v, want %v for %v", err, embedder.ErrUnavailable, syscall.ECONNREFUSED)
			}
		}
		f.SetDown(false)
		before := len(f.Embeds())
		began := time.Now()
		if _, err := embed(t, e, "a"); !errors.Is(err, embedder.ErrUnavailable) {
			t.Errorf("while the breaker is open: %v, want %v", err, embedder.ErrUnavailable)
		}
		if n := len(f.Embeds()) - before; n != 0 || time.Since(began) != 0 {
			t.Errorf("while the breaker is open, %d requests were made in %v", n, time.Since(began))
		}
		time.Sleep(10*time.Second + time.Millisecond) // on the bubble's clock
		vs, err := embed(t, e, "a")
		wantOnly(t, vs, err, 1, "")
	})
}

func TestModelChangedInOutage(t *testing.T) {
	for _, c := range []struct {
		name string
		next ollamatest.FakeModel
	}{
		{"other weights", ollamatest.FakeModel{Arch: "bert", Dim: ollamatest.Dim, Context: ollamatest.Context, Salt: "v2"}},
		{"other width", ollamatest.FakeModel{Arch: "bert", Dim: 32, Context: ollamatest.Context}},
	} {
		inBubble(t, ollama.Options{}, func(t *testing.T, f *ollamatest.Fake, e *ollama.Embedder) {
			before, _ := e.Model(t.Context())
			f.SetDown(true)
			for range 3 {
				embed(t, e, "a")
			}
			f.SetModel(ollamatest.Model, c.next)
			f.SetDown(false)
			time.Sleep(6 * time.Second) // on the bubble's clock
			for range 2 {
				if _, err := embed(t, e, "a"); !errors.Is(err, ollama.ErrModelChanged) {
					t.Errorf("%s: %v, want %v", c.name, err, ollama.ErrModelChanged)
				}
			}
			f.SetModel(ollamatest.Model, ollamatest.FakeModel{Arch: "bert", Dim: ollamatest.Dim, Context: ollamatest.Context})
			if now, err := e.Model(t.Context()); err != nil || !reflect.DeepEqual(now, before) {
				t.Errorf("%s: with the first model back: %+v, %v, want %+v", c.name, now, err, before)
			}
		})
	}
}

func TestWidthChangesWithoutOutage(t *testing.T) {
	inBubble(t, ollama.Options{}, func(t *testing.T, f *ollamatest.Fake, e *ollama.Embedder) {
		f.SetModel(ollamatest.Model, ollamatest.FakeModel{Arch: "bert", Dim: 32, Context: ollamatest.Context})
		if _, err := embed(t, e, "a"); !errors.Is(err, ollama.ErrModelChanged) {
			t.Errorf("error %v, want %v", err, ollama.ErrModelChanged)
		}
	})
}

// TestWidthChangesWithinText: the windows of one text come from several requests.
func TestWidthChangesWithinText(t *testing.T) {
	for _, width := range []int{2 * ollamatest.Dim, 32} {
		inBubble(t, ollama.Options{BatchSize: 1, MaxConcurrency: 1}, func(t *testing.T, f *ollamatest.Fake, e *ollama.Embedder) {
			replace := func(http.ResponseWriter, *http.Request, api.EmbedRequest) bool {
				f.SetModel(ollamatest.Model, ollamatest.FakeModel{Arch: "bert", Dim: width, Context: ollamatest.Context})
				return false
			}
			keep := func(http.ResponseWriter, *http.Request, api.EmbedRequest) bool { return false }
			f.Fail(keep, replace)
			if _, err := embed(t, e, strings.Repeat("word ", 300)); !errors.Is(err, ollama.ErrModelChanged) {
				t.Errorf("width %d: %v, want %v", width, err, ollama.ErrModelChanged)
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	inBubble(t, ollama.Options{Timeout: time.Minute, BatchSize: 16}, func(t *testing.T, f *ollamatest.Fake, e *ollama.Embedder) {
		f.Fail(ollamatest.Hang())
		began := time.Now()
		texts := strings.Fields(strings.Repeat("word ", 16))
		_, err := embed(t, e, texts...)
		if !errors.Is(err, embedder.ErrUnavailable) || time.Since(began) != time.Minute {
			t.Errorf("after %v: %v, want %v after 1m", time.Since(began), err, embedder.ErrUnavailable)
		}
		before := len(f.Embeds())
		vs, err := embed(t, e, texts...)
		wantOnly(t, vs, err, 16, "")
		if n := len(inputsOf(f.Embeds()[before])); n != 8 {
			t.Errorf("after a time-out the next request has %d inputs, want 8, half as many", n)
		}
	})
}

func TestCallersDeadline(t *testing.T) {
	inBubble(t, ollama.Options{}, func(t *testing.T, f *ollamatest.Fake, e *ollama.Embedder) {
		for range 10 { // impatience is no outage
			f.Fail(ollamatest.Hang())
			ctx, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
			began := time.Now()
			_, err := e.Embed(ctx, embedder.Query, []string{"a"})
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, embedder.ErrUnavailable) || time.Since(began) != 250*time.Millisecond {
				t.Fatalf("after %v: %v, want %v after 250ms", time.Since(began), err, context.DeadlineExceeded)
			}
		}
		vs, err := embed(t, e, "a")
		wantOnly(t, vs, err, 1, "")
	})
}

func TestCancelledInFlight(t *testing.T) {
	inBubble(t, ollama.Options{}, func(t *testing.T, f *ollamatest.Fake, e *ollama.Embedder) {
		f.Fail(always(ollamatest.Hang())...)
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() {
			_, err := e.Embed(ctx, embedder.Document, slices.Repeat([]string{"text"}, 200))
			result <- err
		}()
		synctest.Wait() // until the request hangs
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
	})
}
