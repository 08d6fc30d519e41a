package mcp

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/recalld/recalld/internal/memory"
)

// admit reads the body of a request and puts it back. A body that must not
// reach the protocol is answered here, with the id of its message where that
// can be read, and admit returns false.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) bool {
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxMessage+1))
	if e, ok := errors.AsType[*memory.Error](err); ok { // no room for it now
		w.Header().Set("Retry-After", strconv.Itoa(e.RetryAfter))
		refuse(w, http.StatusTooManyRequests, rpcRefusal(nil, codeUnavailable, e))
		return false
	}
	if err != nil {
		http.Error(w, "the request was cut short", http.StatusBadRequest)
		return false
	}
	if len(body) > MaxMessage {
		refuse(w, http.StatusRequestEntityTooLarge, tooLong(nil))
		return false
	}
	env, wrong := parseEnvelope(body)
	if wrong != nil {
		refuse(w, http.StatusBadRequest, wrong.answer(env.ID))
		return false
	}
	if env.Method == string(mcpgo.MethodInitialize) {
		if len(env.ID) == 0 {
			refuse(w, http.StatusBadRequest, rpcError(nil, codeInvalidRequest, "initialize needs an id"))
			return false
		}
		s.makeRoom(r.Context())
	}
	if chosen := splitToolsets(r.Header.Get(HeaderToolsets)); len(chosen) > 0 {
		if _, err := chooseTools(s.tools, chosen); err != nil {
			refuse(w, http.StatusBadRequest, rpcError(env.ID, codeInvalidRequest, err.Error()))
			return false
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return true
}

func refuse(w http.ResponseWriter, status int, message []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The client may have gone; then the write fails, and nothing can be done.
	_, _ = w.Write(message)
}
