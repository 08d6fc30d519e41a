package mcp

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

// admit reads the body of a request and puts it back. A body that must not
// reach the protocol is answered here, with the id of its message where that
// can be read, and admit returns false.
func admit(w http.ResponseWriter, r *http.Request) bool {
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxMessage+1))
	if err != nil {
		http.Error(w, "the request was cut short", http.StatusBadRequest)
		return false
	}
	if len(body) > MaxMessage {
		refuse(w, http.StatusRequestEntityTooLarge, rpcError(nil, codeInvalidRequest,
			fmt.Sprintf("the message is longer than %d bytes", MaxMessage)))
		return false
	}
	if env, wrong := parseEnvelope(body); wrong != nil {
		refuse(w, http.StatusBadRequest, rpcError(env.ID, wrong.code, wrong.text))
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return true
}

func refuse(w http.ResponseWriter, status int, message []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The client may have gone; then there is nobody to tell.
	_, _ = w.Write(message)
}
