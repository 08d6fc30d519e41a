package ollamatest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"
)

// ChatFault replaces the answer to one request to /api/chat. It returns false to let the
// request pass.
type ChatFault func(w http.ResponseWriter, r *http.Request, req api.ChatRequest) bool

// SetChat sets how the fake's models answer a chat; by default they repeat the last
// message.
func (f *Fake) SetChat(answer func(api.ChatRequest) string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = answer
}

// FailChat applies the faults to the next requests to /api/chat, one each, in order.
func (f *Fake) FailChat(faults ...ChatFault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.chatFaults = append(f.chatFaults, faults...)
}

// Chats returns the requests to /api/chat so far.
func (f *Fake) Chats() []api.ChatRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.chats)
}

// BrokenOff is the fault of a connection that ends in the middle of an answer.
func BrokenOff() ChatFault {
	return func(w http.ResponseWriter, _ *http.Request, req api.ChatRequest) bool {
		reply(w, api.ChatResponse{Model: req.Model, Message: api.Message{Role: "assistant", Content: "It was"}})
		return true
	}
}

// chat answers as the server does: a line for every word, and a last one that says why
// it ends.
func (f *Fake) chat(w http.ResponseWriter, r *http.Request) {
	var req api.ChatRequest
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	f.mu.Lock()
	f.chats = append(f.chats, req)
	var fault ChatFault
	if len(f.chatFaults) > 0 {
		fault, f.chatFaults = f.chatFaults[0], f.chatFaults[1:]
	}
	answer := f.answer
	f.mu.Unlock()
	if fault != nil && fault(w, r, req) {
		return
	}

	m, ok := f.model(req.Model)
	switch {
	case !ok:
		fail(w, http.StatusNotFound, fmt.Sprintf("model %q not found", req.Model))
		return
	case !slices.Contains(m.Capabilities, model.CapabilityCompletion):
		fail(w, http.StatusBadRequest, fmt.Sprintf("%q does not support chat", req.Model))
		return
	}
	size := number(req.Options["num_ctx"], m.Context)
	read := 0
	for _, message := range req.Messages {
		tokens, _ := FakeModel{Context: 1 << 30}.tokens(message.Content, false)
		read += len(tokens)
	}
	if read >= size && req.Truncate != nil && !*req.Truncate {
		fail(w, http.StatusBadRequest, "the input length exceeds the context length")
		return
	}
	text := ""
	if n := len(req.Messages); n > 0 {
		text = req.Messages[n-1].Content
	}
	if answer != nil {
		text = answer(req)
	}
	reason := "stop"
	for n, word := range strings.SplitAfter(text, " ") {
		if n >= number(req.Options["num_predict"], size) || read+n >= size {
			reason = "length"
			break
		}
		reply(w, api.ChatResponse{Model: req.Model, Message: api.Message{Role: "assistant", Content: word}})
	}
	reply(w, api.ChatResponse{Model: req.Model, Message: api.Message{Role: "assistant"}, Done: true, DoneReason: reason})
}

// number returns a numeric option, or without if it is not set.
func number(option any, without int) int {
	if n, ok := option.(float64); ok {
		return int(n)
	}
	return without
}
