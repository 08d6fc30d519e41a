package ollama_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ollama/ollama/types/model"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/ollama"
	"github.com/recalld/recalld/embedder/ollama/ollamatest"
)

func TestOnlyThisMachine(t *testing.T) {
	for _, c := range []struct {
		url    string
		remote bool
	}{
		{"", false},
		{"http://127.0.0.1:11434", false},
		{"http://[::1]:1234", false},
		{"localhost", false},
		{"127.0.0.5:8080", false},
		{"0.0.0.0:11434", false},
		{":11434", false},
		{"http://192.168.1.7:11434", true},
		{"ollama.example.com", true},
		{"https://ollama.com", true},
		{"http://localhost.example.com", true},
		{"http://[2001:db8::1]:11434", true},
	} {
		_, err := ollama.NewServer(ollama.ServerOptions{BaseURL: c.url})
		if got := errors.Is(err, ollama.ErrRemote); got != c.remote || err != nil && !got {
			t.Errorf("%q: error %v, want ErrRemote: %t", c.url, err, c.remote)
		}
		if _, err := ollama.NewServer(ollama.ServerOptions{BaseURL: c.url, AllowRemote: true}); err != nil {
			t.Errorf("%q with remote servers allowed: %v", c.url, err)
		}
	}
	for _, bad := range []string{"ftp://localhost", "http://", "http://u:p@localhost", "http://localhost?x=1", "http://local host"} {
		if _, err := ollama.NewServer(ollama.ServerOptions{BaseURL: bad, AllowRemote: true}); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for name, o := range map[string]ollama.Options{
		"no model":        {},
		"blank model":     {Model: " "},
		"batch size":      {Model: "m", BatchSize: 1000},
		"concurrency":     {Model: "m", MaxConcurrency: -1},
		"time-out":        {Model: "m", Timeout: -1},
		"cooldown":        {Model: "m", Cooldown: -1},
		"a remote server": {Model: "m", ServerOptions: ollama.ServerOptions{BaseURL: "example.com"}},
	} {
		if _, err := ollama.New(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestRedirect has a local server send its caller elsewhere.
func TestRedirect(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a redirect was followed")
	}))
	defer elsewhere.Close()
	s := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer s.Close()
	e := open(t, ollama.Options{ServerOptions: ollama.ServerOptions{BaseURL: s.URL}})
	if _, err := e.Model(t.Context()); !errors.Is(err, ollama.ErrRemote) {
		t.Errorf("error %v, want %v", err, ollama.ErrRemote)
	}
}

// TestRemoteModel has a local server offer a model that runs elsewhere.
func TestRemoteModel(t *testing.T) {
	f := ollamatest.NewFake()
	f.SetModel("cloud", ollamatest.FakeModel{Arch: "bert", Dim: 8, Context: 100, RemoteHost: "https://ollama.com"})
	e := open(t, ollama.Options{Model: "cloud", ServerOptions: ollama.ServerOptions{Transport: f}})
	if _, err := e.Embed(t.Context(), embedder.Document, []string{"secret"}); !errors.Is(err, ollama.ErrRemote) {
		t.Errorf("error %v, want %v", err, ollama.ErrRemote)
	}
	if n := len(f.Embeds()); n != 0 {
		t.Errorf("%d requests with texts were made", n)
	}
	e = open(t, ollama.Options{Model: "cloud", ServerOptions: ollama.ServerOptions{Transport: f, AllowRemote: true}})
	if _, err := e.Embed(t.Context(), embedder.Document, []string{"text"}); err != nil {
		t.Errorf("with remote servers allowed: %v", err)
	}
}

func TestList(t *testing.T) {
	f := ollamatest.NewFake()
	f.SetModel("b:v2", ollamatest.FakeModel{Arch: "gemma3", Dim: 16, Context: 50})
	f.SetModel("chat", ollamatest.FakeModel{Arch: "llama", Dim: 8, Capabilities: []model.Capability{model.CapabilityCompletion}})
	f.SetModel("cloud", ollamatest.FakeModel{Arch: "bert", Dim: 8, RemoteHost: "https://ollama.com"})
	s := newServer(t, f)
	got, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []ollama.ModelInfo{
		{Name: "b:v2", Digest: "d", Dim: 16},
		{Name: "tiny", Digest: "d", Dim: 64},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the list differs (-want +got):\n%s", diff)
	}
	f.SetDown(true)
	if _, err := s.List(t.Context()); !errors.Is(err, embedder.ErrUnavailable) {
		t.Errorf("down: %v, want %v", err, embedder.ErrUnavailable)
	}
}

// TestListBesideBadModel: a model that the server itself cannot read hides no other.
func TestListBesideBadModel(t *testing.T) {
	f := ollamatest.NewFake()
	f.SetModel("bad", ollamatest.FakeModel{Arch: "bert", Dim: 8})
	for status, body := range map[int]string{http.StatusInternalServerError: `{"error":"invalid magic"}`, http.StatusBadRequest: `{"error":"invalid model name"}`} {
		s, err := ollama.NewServer(ollama.ServerOptions{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/api/show" {
				text, err := io.ReadAll(r.Body)
				if err != nil {
					return nil, err
				}
				if strings.Contains(string(text), `"bad`) {
					return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
				}
				r.Body = io.NopCloser(bytes.NewReader(text))
			}
			return f.RoundTrip(r)
		})})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.List(t.Context())
		if want := []ollama.ModelInfo{{Name: "tiny", Digest: "d", Dim: 64}}; err != nil || !slices.Equal(got, want) {
			t.Errorf("with a model that is answered with %d: %v, %v; want %v", status, got, err, want)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestPull(t *testing.T) {
	type step struct {
		Status           string
		Completed, Total int64
	}
	for _, c := range []struct {
		name  string
		lines []string
		steps []step
		want  error
	}{
		{
			"success",
			[]string{`{"status":"pulling manifest"}`, `{"status":"pulling ab","digest":"ab","total":10,"completed":4}`, `{"status":"success"}`},
			[]step{{"pulling manifest", 0, 0}, {"pulling ab", 4, 10}, {"success", 0, 0}}, nil,
		},
		{"cut", []string{`{"status":"pulling manifest"}`}, []step{{"pulling manifest", 0, 0}}, embedder.ErrUnavailable},
		{"nothing", nil, nil, embedder.ErrUnavailable},
		{"unknown", []string{`{"status":"pulling manifest"}`, `{"error":"pull model manifest: file does not exist"}`}, []step{{"pulling manifest", 0, 0}}, embedder.ErrModelNotFound},
		{"no network", []string{`{"error":"pull model manifest: dial tcp: no such host"}`}, nil, embedder.ErrUnavailable},
	} {
		f := ollamatest.NewFake()
		f.SetPull(c.lines...)
		var steps []step
		err := newServer(t, f).Pull(t.Context(), "tiny", func(status string, completed, total int64) {
			steps = append(steps, step{status, completed, total})
		})
		if !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
		if diff := cmp.Diff(c.steps, steps); diff != "" {
			t.Errorf("%s: the progress differs (-want +got):\n%s", c.name, diff)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := newServer(t, ollamatest.NewFake())
	if err := s.Pull(ctx, "tiny", nil); !errors.Is(err, context.Canceled) || errors.Is(err, embedder.ErrUnavailable) {
		t.Errorf("pull cancelled: %v, want %v alone", err, context.Canceled)
	}
	if _, err := s.List(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, embedder.ErrUnavailable) {
		t.Errorf("list cancelled: %v, want %v alone", err, context.Canceled)
	}
}

func newServer(t *testing.T, f *ollamatest.Fake) *ollama.Server {
	t.Helper()
	s, err := ollama.NewServer(ollama.ServerOptions{Transport: f})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPrefixesInAnotherCase: an entry that differs from a default in case replaces it.
func TestPrefixesInAnotherCase(t *testing.T) {
	table := ollama.DefaultPrefixes()
	want := ollama.Prefix{Query: "mine: "}
	table["Nomic-embed-text"] = want
	for range 50 {
		if got := table.For("nomic-embed-text:v1.5"); got != want {
			t.Fatalf("the prefixes are %+v, want %+v", got, want)
		}
	}
}

func TestPrefixesFor(t *testing.T) {
	table := ollama.DefaultPrefixes()
	for _, c := range []struct{ model, query, document string }{
		{"nomic-embed-text", "search_query: ", "search_document: "},
		{"nomic-embed-text:v1.5", "search_query: ", "search_document: "},
		{"hf.co/nomic-ai/nomic-embed-text-v1.5-GGUF:Q4_K_M", "search_query: ", "search_document: "},
		{"mxbai-embed-large:335m", "Represent this sentence for searching relevant passages: ", ""},
		{"snowflake-arctic-embed:22m", "Represent this sentence for searching relevant passages: ", ""},
		{"snowflake-arctic-embed2", "query: ", ""},
		{"embeddinggemma:300m", "task: search result | query: ", "title: none | text: "},
		{"bge-m3", "", ""},
		{"bge-large:335m", "Represent this sentence for searching relevant passages: ", ""},
		{"all-minilm", "", ""},
		{"something-else", "", ""},
	} {
		if got, want := table.For(c.model), (ollama.Prefix{Query: c.query, Document: c.document}); got != want {
			t.Errorf("%s: %+v, want %+v", c.model, got, want)
		}
	}
	if q := table.For("qwen3-embedding:0.6b").Query; q == "" || q[:10] != "Instruct: " {
		t.Errorf("qwen3-embedding: query prefix %q, want instructions", q)
	}
}
