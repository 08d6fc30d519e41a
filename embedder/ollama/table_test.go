package ollama_test

import (
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"

	"github.com/recalld/recalld/embedder/ollama/ollamatest"
)

// TestServer holds what this package relies on against the server itself, and
// the fake against the same.
func TestServer(t *testing.T) {
	t.Run("fake", func(t *testing.T) {
		s := httptest.NewServer(ollamatest.NewFake())
		defer s.Close()
		testServer(t, s.URL)
	})
	t.Run("real", func(t *testing.T) { testServer(t, ollamatest.Start(t).URL) })
}

func testServer(t *testing.T, address string) {
	base, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	client := api.NewClient(base, http.DefaultClient)
	yes, no := true, false
	long := strings.Repeat("word ", 500)
	for _, c := range []struct {
		name    string
		req     api.EmbedRequest
		status  int    // 0 is success
		message string // part of it
		vectors int
		width   int
	}{
		{"unknown model", api.EmbedRequest{Model: "nope", Input: []string{"a"}}, 404, "not found, try pulling it first", 0, 0},
		{"tag", api.EmbedRequest{Model: "tiny:latest", Input: []string{"a"}}, 0, "", 1, 64},
		{"one text", api.EmbedRequest{Model: "tiny", Input: "a"}, 0, "", 1, 64},
		{"empty text", api.EmbedRequest{Model: "tiny", Input: ""}, 0, "", 0, 0},
		{"no texts", api.EmbedRequest{Model: "tiny", Input: []string{}}, 0, "", 0, 0},
		{"null", api.EmbedRequest{Model: "tiny"}, 0, "", 0, 0},
		{"blanks", api.EmbedRequest{Model: "tiny", Input: []string{"a", "", " "}}, 0, "", 3, 64},
		{"a number", api.EmbedRequest{Model: "tiny", Input: []int{1}}, 400, "invalid input type", 0, 0},
		{"too long, cut silently", api.EmbedRequest{Model: "tiny", Input: []string{"a", long}}, 0, "", 2, 64},
		{"too long, cut when asked", api.EmbedRequest{Model: "tiny", Input: []string{long}, Truncate: &yes}, 0, "", 1, 64},
		{"too long, whole batch fails", api.EmbedRequest{Model: "tiny", Input: []string{"a", long}, Truncate: &no}, 400, "context length", 0, 0},
		{"fewer dimensions", api.EmbedRequest{Model: "tiny", Input: []string{"a"}, Dimensions: 16}, 0, "", 1, 16},
		{"more dimensions", api.EmbedRequest{Model: "tiny", Input: []string{"a"}, Dimensions: 1000}, 0, "", 1, 64},
		{"negative dimensions", api.EmbedRequest{Model: "tiny", Input: []string{"a"}, Dimensions: -1}, 0, "", 1, 64},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, err := client.Embed(t.Context(), &c.req)
			if c.status != 0 {
				status, ok := errors.AsType[api.StatusError](err)
				if !ok || status.StatusCode != c.status || !strings.Contains(status.ErrorMessage, c.message) {
					t.Fatalf("error %#v, want status %d that says %q", err, c.status, c.message)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(resp.Embeddings) != c.vectors {
				t.Fatalf("%d vectors, want %d", len(resp.Embeddings), c.vectors)
			}
			for _, v := range resp.Embeddings {
				var squares float64
				for _, x := range v {
					squares += float64(x) * float64(x)
				}
				if len(v) != c.width || math.Abs(squares-1) > 1e-3 {
					t.Errorf("width %d and squared length %v, want %d and 1", len(v), squares, c.width)
				}
			}
			if c.vectors > 0 && resp.PromptEvalCount < 2*c.vectors {
				t.Errorf("%d tokens were counted in %d texts, want two marks each at least", resp.PromptEvalCount, c.vectors)
			}
		})
	}

	t.Run("show", func(t *testing.T) {
		show, err := client.Show(t.Context(), &api.ShowRequest{Model: "tiny"})
		if err != nil {
			t.Fatal(err)
		}
		if d, c := show.ModelInfo["bert.embedding_length"], show.ModelInfo["bert.context_length"]; d != 64.0 || c != 128.0 {
			t.Errorf("width %v and context %v, want 64 and 128", d, c)
		}
		if len(show.Capabilities) != 1 || show.Capabilities[0] != "embedding" {
			t.Errorf("capabilities %v, want embedding", show.Capabilities)
		}
		_, err = client.Show(t.Context(), &api.ShowRequest{Model: "nope"})
		if status, ok := errors.AsType[api.StatusError](err); !ok || status.StatusCode != 404 {
			t.Errorf("an unknown model: %v, want status 404", err)
		}
	})

	t.Run("keep-alive", func(t *testing.T) {
		body := `{"model":"tiny","input":"a","keep_alive":"soon"}`
		resp, err := http.Post(address+"/api/embed", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 400 {
			t.Errorf("a bad keep_alive: status %d, want 400", resp.StatusCode)
		}
	})

	t.Run("tags", func(t *testing.T) {
		list, err := client.List(t.Context())
		if err != nil || len(list.Models) != 1 || list.Models[0].Name != "tiny:latest" {
			t.Errorf("models %+v, %v, want tiny:latest", list, err)
		}
	})
}
