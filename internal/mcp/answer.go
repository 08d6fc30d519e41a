package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/recalld/recalld/internal/render"
)

// answerWriter stands between mcp-go and the client. With the head of an answer it
// tells what the session has by then, for the bridge to hand back; and it puts
// notifications that a call brings about before the call's answer, in the same
// stream. mcp-go has a channel for these, but what its forwarder has taken out of
// it when the call returns is dropped.
type answerWriter struct {
	http.ResponseWriter
	server  *Server
	request *http.Request
	// resource and wrong are what reading one came to; see onRead. They and fault are set by
	// hooks, before anything of the answer is written.
	resource []mcpgo.ResourceContents
	wrong    error
	fault    string // what the error of the answer says in place of mcp-go's text

	mu     sync.Mutex // guards what follows, and keeps events whole
	begun  bool
	sent   bool // with the first notification
	stream bool // the answer was turned into a stream of events
	events []string
	agent  string // the HeaderAgent of a client without sessions
	ended  bool   // says that the one which the request names has ended
}

var _ http.Flusher = (*answerWriter)(nil)

type answerWriterKey struct{}

// writerOf is the writer of the answer to a call; nil if it did not come over HTTP.
func writerOf(ctx context.Context) *answerWriter {
	w, _ := ctx.Value(answerWriterKey{}).(*answerWriter)
	return w
}

// tell sends a notification to the client of the calling session, ahead of the
// answer to the call.
func tell(ctx context.Context, notification string) {
	if w := writerOf(ctx); w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.events = append(w.events, notification)
	}
}

// send sends a notification to the client of a call at once. A client that takes no stream
// of events does not get it.
func send(ctx context.Context, method string, params any) {
	w := writerOf(ctx)
	if w == nil || !strings.Contains(w.request.Header.Get("Accept"), eventStream) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, render.Compact(map[string]any{"jsonrpc": mcpgo.JSONRPC_VERSION, "method": method, "params": params}))
	if !w.begun {
		w.Header().Set("Content-Type", "application/json") // of which head makes a stream
		w.head()
		w.ResponseWriter.WriteHeader(http.StatusOK)
		w.sent = true
	}
	if w.stream || w.answers(eventStream) {
		_ = w.sendEvents() // the client has gone: the call ends with its context
		_ = http.NewResponseController(w.ResponseWriter).Flush()
	}
}

// sendEvents writes the notifications that wait. Callers hold w.mu.
func (w *answerWriter) sendEvents() error {
	for _, event := range w.events {
		if _, err := w.ResponseWriter.Write(eventOf([]byte(event))); err != nil {
			return err
		}
	}
	w.events = nil
	return nil
}

// head sets the headers of an answer, and its type where events go with it. In an
// answer to initialize, the first that knows the new session's id, it first takes
// over what the bridge hands back.
func (w *answerWriter) head() {
	if w.begun {
		return
	}
	w.begun = true
	session := w.request.Header.Get(mcpgo.HeaderSessionID)
	s := w.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if session == "" {
		session = w.Header().Get(mcpgo.HeaderSessionID)
		if agent, ok := parseAgent(w.request.Header.Get(HeaderAgent)); ok && session != "" {
			s.agents[session] = agent
		}
		if found, ok := parseFound(w.request.Header.Get(HeaderFound)); ok && session != "" {
			s.found[session] = found
		}
	}
	if w.agent != "" {
		w.Header().Set(HeaderAgent, w.agent)
	} else if agent, ok := s.agents[session]; ok {
		w.Header().Set(HeaderAgent, formatAgent(agent))
	} else if named := w.request.Header.Get(HeaderAgent); session == "" && named != "" && !w.ended {
		w.Header().Set(HeaderAgent, named) // its bridge keeps it
	}
	if found, ok := s.found[session]; ok {
		w.Header().Set(HeaderFound, formatFound(found))
	}
	if len(w.events) > 0 && w.answers("application/json") && strings.Contains(w.request.Header.Get("Accept"), eventStream) {
		w.stream = true
		w.Header().Set("Content-Type", eventStream)
		w.Header().Set("Cache-Control", "no-cache")
	}
}

const eventStream = "text/event-stream"

// answers says whether the answer is of a media type.
func (w *answerWriter) answers(kind string) bool {
	return strings.HasPrefix(w.Header().Get("Content-Type"), kind)
}

func (w *answerWriter) WriteHeader(status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.head()
	if !w.sent {
		w.ResponseWriter.WriteHeader(status)
	}
}

// Write sends a part of the answer: mcp-go writes a whole message, or a whole event
// of a stream, at once.
func (w *answerWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.head()
	n := len(b)
	if w.fault != "" {
		b = w.reworded(b)
	}
	if w.stream || w.answers(eventStream) { // other answers cannot carry events
		if err := w.sendEvents(); err != nil {
			return 0, err
		}
	}
	if w.stream {
		b = eventOf(b)
	}
	if _, err := w.ResponseWriter.Write(b); err != nil {
		return 0, err
	}
	return n, nil
}

// reworded gives an error message, or the event of one, the text of the fault. Its id and code
// stay.
func (w *answerWriter) reworded(b []byte) []byte {
	from, to := bytes.IndexByte(b, '{'), bytes.LastIndexByte(b, '}')+1
	var refused struct {
		ID    json.RawMessage `json:"id"`
		Error *fault          `json:"error"`
	}
	if from < 0 || from >= to || json.Unmarshal(b[from:to], &refused) != nil || refused.Error == nil {
		return b
	}
	refused.Error.Text = w.fault
	return slices.Concat(b[:from], refused.Error.answer(refused.ID), b[to:])
}

// eventOf writes a message of one line as a server-sent event.
func eventOf(message []byte) []byte {
	var event bytes.Buffer
	event.WriteString("event: message\ndata: ")
	event.Write(bytes.TrimSpace(message))
	event.WriteString("\n\n")
	return event.Bytes()
}

// Flush sends what is written, as streams of events must.
func (w *answerWriter) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.head()
	// A writer that cannot flush sends everything at the end.
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController set deadlines.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
