package ollamatest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/embeddertest"
)

type FakeModel struct {
	// Arch is the architecture in /api/show.
	Arch string
	// Dim is the width of the model's vectors.
	Dim int
	// ClaimedDim is the width in /api/show; 0 is Dim.
	ClaimedDim int
	// Context is the number of tokens that the model reads: words and two marks.
	Context int
	// ClaimedContext is the context in /api/show; 0 is Context. A server that was started
	// with a smaller context reports too much.
	ClaimedContext int
	// NumCtx is a num_ctx parameter of the Modelfile; 0 is none.
	NumCtx int
	// Capabilities as /api/show has them; nil is {"embedding"}.
	Capabilities []model.Capability
	// RemoteHost is set for a model that runs elsewhere.
	RemoteHost string
	// Salt changes all vectors, like another version of the model.
	Salt string
}

// Fault replaces the answer to one request to /api/embed. It returns false to let the
// request pass.
type Fault func(w http.ResponseWriter, r *http.Request, req api.EmbedRequest) bool

// Fake implements Ollama's API as of version 0.17.4. It is an http.Handler, and an
// http.RoundTripper that answers without a network, for tests in a synctest bubble.
type Fake struct {
	mu     sync.Mutex // guards all below
	models map[string]FakeModel
	faults []Fault
	down   bool
	embeds []api.EmbedRequest
	pull   []string // raw lines that /api/pull answers with
	// State of /api/chat, see chat.go.
	answer     func(api.ChatRequest) string
	chats      []api.ChatRequest
	chatFaults []ChatFault
}

var (
	_ http.Handler      = (*Fake)(nil)
	_ http.RoundTripper = (*Fake)(nil)
)

// NewFake returns a fake with Model, which has the width and context of the real one.
func NewFake() *Fake {
	f := &Fake{models: map[string]FakeModel{}}
	f.SetModel(Model, FakeModel{Arch: "bert", Dim: Dim, Context: Context})
	return f
}

// SetModel adds or replaces a model.
func (f *Fake) SetModel(name string, m FakeModel) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.models[withTag(name)] = m
}

// RemoveModel removes a model.
func (f *Fake) RemoveModel(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.models, withTag(name))
}

// SetDown makes the fake refuse connections, or accept them again. It affects RoundTrip
// only; behind a listener, close the listener.
func (f *Fake) SetDown(down bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = down
}

// SetPull sets the lines that /api/pull answers with.
func (f *Fake) SetPull(lines ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pull = lines
}

// Fail applies the faults to the next requests to /api/embed, one each, in order.
func (f *Fake) Fail(faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, faults...)
}

// Embeds returns the requests to /api/embed so far.
func (f *Fake) Embeds() []api.EmbedRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.embeds)
}

// Status is the fault of an answer with a status and a message.
func Status(code int, message string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ api.EmbedRequest) bool {
		fail(w, code, message)
		return true
	}
}

// RunnerKilled is the server's answer when its runner dies in a batch.
func RunnerKilled() Fault {
	return Status(http.StatusBadRequest, `do embedding request: Post "http://127.0.0.1:36121/embedding": EOF`)
}

// Busy is the server's answer when its queue is full.
func Busy() Fault {
	return Status(http.StatusServiceUnavailable, "server busy, please try again.  maximum pending requests exceeded")
}

// Dropped ends the connection without an answer, like a server that is stopped during a
// request.
func Dropped() Fault {
	return func(http.ResponseWriter, *http.Request, api.EmbedRequest) bool { panic(http.ErrAbortHandler) }
}

// Hang does not answer until the caller has gone.
func Hang() Fault {
	return func(_ http.ResponseWriter, r *http.Request, _ api.EmbedRequest) bool {
		<-r.Context().Done()
		return true
	}
}

// ServeHTTP implements http.Handler.
func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method + " " + r.URL.Path {
	case "HEAD /", "GET /":
		fmt.Fprint(w, "Ollama is running")
	case "GET /api/version":
		reply(w, map[string]string{"version": "0.17.4"})
	case "GET /api/tags":
		f.tags(w)
	case "POST /api/show":
		f.show(w, r)
	case "POST /api/embed":
		f.embed(w, r)
	case "POST /api/chat":
		f.chat(w, r)
	case "POST /api/pull":
		f.mu.Lock()
		lines := f.pull
		f.mu.Unlock()
		for _, line := range lines {
			fmt.Fprintln(w, line)
		}
	default:
		http.NotFound(w, r)
	}
}

func (f *Fake) tags(w http.ResponseWriter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := api.ListResponse{Models: []api.ListModelResponse{}}
	for _, name := range slices.Sorted(maps.Keys(f.models)) {
		m := f.models[name]
		list.Models = append(list.Models, api.ListModelResponse{
			Name: name, Model: name, Size: 1000, Digest: "d" + m.Salt, RemoteHost: m.RemoteHost,
			Details: api.ModelDetails{Family: m.Arch, ParameterSize: "2.53M", QuantizationLevel: "F32"},
		})
	}
	reply(w, list)
}

func (f *Fake) show(w http.ResponseWriter, r *http.Request) {
	var req api.ShowRequest
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	m, ok := f.model(req.Model)
	if !ok {
		fail(w, http.StatusNotFound, fmt.Sprintf("model '%s' not found", req.Model))
		return
	}
	resp := api.ShowResponse{
		ModelInfo: map[string]any{
			"general.architecture":        m.Arch,
			m.Arch + ".embedding_length":  m.Dim,
			m.Arch + ".context_length":    m.Context,
			m.Arch + ".attention.causal":  false,
			"tokenizer.ggml.bos_token_id": 2,
		},
		Capabilities: m.Capabilities, RemoteHost: m.RemoteHost,
		Parameters: "num_thread                     1",
	}
	if m.ClaimedContext > 0 {
		resp.ModelInfo[m.Arch+".context_length"] = m.ClaimedContext
	}
	if m.ClaimedDim > 0 {
		resp.ModelInfo[m.Arch+".embedding_length"] = m.ClaimedDim
	}
	if resp.Capabilities == nil {
		resp.Capabilities = []model.Capability{model.CapabilityEmbedding}
	}
	if m.NumCtx > 0 {
		resp.Parameters += fmt.Sprintf("\nnum_ctx                        %d", m.NumCtx)
	}
	reply(w, resp)
}

func (f *Fake) embed(w http.ResponseWriter, r *http.Request) {
	var req api.EmbedRequest
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	f.mu.Lock()
	f.embeds = append(f.embeds, req)
	var fault Fault
	if len(f.faults) > 0 {
		fault, f.faults = f.faults[0], f.faults[1:]
	}
	f.mu.Unlock()
	if fault != nil && fault(w, r, req) {
		return
	}

	m, ok := f.model(req.Model)
	if !ok {
		fail(w, http.StatusNotFound, fmt.Sprintf("model %q not found, try pulling it first", req.Model))
		return
	}
	var inputs []string
	switch in := req.Input.(type) {
	case nil:
	case string:
		if in != "" {
			inputs = []string{in}
		}
	case []any:
		for _, x := range in {
			s, ok := x.(string)
			if !ok {
				fail(w, http.StatusBadRequest, "invalid input type")
				return
			}
			inputs = append(inputs, s)
		}
	default:
		fail(w, http.StatusBadRequest, "invalid input type")
		return
	}
	resp := api.EmbedResponse{Model: req.Model, Embeddings: [][]float32{}}
	for _, in := range inputs {
		tokens, ok := m.tokens(in, req.Truncate == nil || *req.Truncate)
		if !ok {
			fail(w, http.StatusBadRequest, "the input length exceeds the context length")
			return
		}
		resp.PromptEvalCount += len(tokens)
		resp.Embeddings = append(resp.Embeddings, m.vector(r.Context(), tokens, req.Dimensions))
	}
	reply(w, resp)
}

// tokens returns the marks and one token for each four bytes of a word, cut to the context
// if truncate is set.
func (m FakeModel) tokens(text string, truncate bool) ([]string, bool) {
	tokens := []string{"[CLS]"}
	for word := range strings.FieldsSeq(text) {
		for ; len(word) > 4; word = word[4:] {
			tokens = append(tokens, word[:4])
		}
		tokens = append(tokens, word)
	}
	limit := m.Context - 1
	if m.NumCtx > 0 {
		limit = min(limit, m.NumCtx-1)
	}
	if len(tokens) > limit {
		if !truncate {
			return nil, false
		}
		tokens = tokens[:limit]
	}
	return append(tokens, "[SEP]"), true
}

func (m FakeModel) vector(ctx context.Context, tokens []string, dim int) []float32 {
	words := embeddertest.Fake{Dim: m.Dim}
	vs, err := words.Embed(ctx, embedder.Document, []string{m.Salt + strings.Join(tokens, " "+m.Salt)})
	if err != nil {
		return make([]float32, m.Dim) // the caller is gone
	}
	v := vs[0]
	if dim <= 0 || dim >= len(v) {
		return v
	}
	v = v[:dim]
	var squares float64
	for _, x := range v {
		squares += float64(x) * float64(x)
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(squares))
	}
	return v
}

func (f *Fake) model(name string) (FakeModel, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m, ok := f.models[withTag(name)]
	return m, ok
}

func withTag(name string) string {
	if strings.Contains(name, ":") {
		return name
	}
	return name + ":latest"
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	json.NewEncoder(w).Encode(v)
}

func fail(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(map[string]string{"error": message})
}

// RoundTrip implements http.RoundTripper. ServeHTTP makes the answer, which is dropped when
// the request's context ends.
func (f *Fake) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	down := f.down
	f.mu.Unlock()
	if down {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
	}
	inner := r.Clone(r.Context())
	inner.Body = io.NopCloser(bytes.NewReader(body))
	done := make(chan *http.Response, 1)
	go func() {
		defer func() {
			switch p := recover(); p {
			case nil:
			case http.ErrAbortHandler:
				done <- nil
			default:
				panic(p)
			}
		}()
		w := httptest.NewRecorder()
		f.ServeHTTP(w, inner)
		done <- w.Result()
	}()
	select {
	case resp := <-done:
		if resp == nil {
			return nil, io.EOF
		}
		return resp, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}
