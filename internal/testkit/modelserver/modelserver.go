// Package modelserver plays the endpoint of a language model on loopback, from a
// script, in the four dialects that coding agents speak: Anthropic's messages, OpenAI's
// responses and chat completions, and Gemini's generateContent. With it a real agent
// program goes through whole turns without an account.
//
// It knows as much of each dialect as the agents read: text and calls of tools, as one
// answer or as server-sent events. Its formats are those of the public API references
// (docs.anthropic.com, platform.openai.com, ai.google.dev).
package modelserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Tool is a tool that the client offers to its model.
type Tool struct {
	Name string
	// Namespace groups tools in OpenAI's responses; a call repeats it.
	Namespace   string
	Description string
	Schema      json.RawMessage
}

// Result is what the client answered to a call of a tool.
type Result struct {
	Tool string
	Text string
}

// Request is what a client asked its model, in the same form for every dialect.
type Request struct {
	Dialect string
	// Instructions is the system prompt.
	Instructions string
	// Texts are what the user's side said, in order, beside results. Clients add
	// reminders and surroundings to it.
	Texts   []string
	Tools   []Tool
	Results []Result
	Body    json.RawMessage
}

// Call is a call of a tool that the model makes.
type Call struct {
	Tool      Tool
	Arguments any
}

// Reply is what the model says, and the tools that it calls.
type Reply struct {
	Text  string
	Calls []Call
}

// Model answers the requests of clients. It is called from several goroutines.
type Model func(Request) Reply

// Server is a running endpoint.
type Server struct {
	*httptest.Server
	model Model

	mu       sync.Mutex
	requests []Request
	calls    int
}

// dialect reads and writes the bodies of one API.
type dialect struct {
	read  func(body []byte) (Request, error)
	whole func(reply message) any
	// events writes the reply as server-sent events.
	events func(reply message, send func(event string, data any))
}

// message is a reply with an id of its own for each call.
type message struct {
	id    string
	text  string
	calls []identified
}

type identified struct {
	id string
	Call
}

func (c identified) json() string {
	text, err := json.Marshal(c.Arguments)
	if err != nil || c.Arguments == nil {
		return "{}"
	}
	return string(text)
}

// New starts an endpoint on loopback that answers with the model.
func New(model Model) *Server {
	s := &Server{model: model}
	s.Server = httptest.NewServer(s)
	return s
}

// Requests returns what was asked so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// ServeHTTP finds the dialect by the path, which may have any prefix.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	path := r.URL.Path
	switch {
	case strings.HasSuffix(path, "/count_tokens"):
		write(w, map[string]any{"input_tokens": len(body) / 4})
	case strings.HasSuffix(path, ":countTokens"):
		write(w, map[string]any{"totalTokens": len(body) / 4})
	case strings.HasSuffix(path, "/messages"):
		s.answer(w, anthropic, body, streams(body))
	case strings.HasSuffix(path, "/responses"):
		s.answer(w, responses, body, streams(body))
	case strings.HasSuffix(path, "/chat/completions"):
		s.answer(w, chat, body, streams(body))
	case strings.HasSuffix(path, ":generateContent"):
		s.answer(w, gemini, body, false)
	case strings.HasSuffix(path, ":streamGenerateContent"):
		s.answer(w, gemini, body, true)
	case strings.HasSuffix(path, "/models"):
		write(w, map[string]any{"object": "list", "data": []any{}})
	default:
		http.Error(w, `{"error":{"message":"this endpoint does not exist"}}`, http.StatusNotFound)
	}
}

func (s *Server) answer(w http.ResponseWriter, d dialect, body []byte, stream bool) {
	request, err := d.read(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	request.Body = body
	reply := s.model(request)

	s.mu.Lock()
	s.requests = append(s.requests, request)
	m := message{id: fmt.Sprintf("msg_%06d", len(s.requests)), text: reply.Text}
	for _, call := range reply.Calls {
		s.calls++
		m.calls = append(m.calls, identified{fmt.Sprintf("call_%06d", s.calls), call})
	}
	s.mu.Unlock()

	if !stream {
		write(w, d.whole(m))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	d.events(m, func(event string, data any) {
		if event != "" {
			fmt.Fprintf(w, "event: %s\n", event)
		}
		if text, ok := data.(string); ok {
			fmt.Fprintf(w, "data: %s\n\n", text)
			return
		}
		text, _ := json.Marshal(data)
		fmt.Fprintf(w, "data: %s\n\n", text)
	})
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func streams(body []byte) bool {
	var request struct {
		Stream bool `json:"stream"`
	}
	_ = json.Unmarshal(body, &request)
	return request.Stream
}

// text is a content that is a string, or a list of blocks with texts.
type text string

func (t *text) UnmarshalJSON(data []byte) error {
	var plain string
	if json.Unmarshal(data, &plain) == nil {
		*t = text(plain)
		return nil
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &blocks); err != nil {
		return nil // null, or a form without text
	}
	var texts []string
	for _, b := range blocks {
		if b.Text != "" {
			texts = append(texts, b.Text)
		}
	}
	*t = text(strings.Join(texts, "\n"))
	return nil
}
