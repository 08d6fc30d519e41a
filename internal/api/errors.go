package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// statuses maps every code to its HTTP status. Clients go by the code in the
// body; the status is for people and for tools that know HTTP only.
var statuses = map[memory.Code]int{
	memory.CodeInvalidInput: http.StatusBadRequest,
	memory.CodeNotFound:     http.StatusNotFound,
	memory.CodeConflict:     http.StatusConflict,
	memory.CodeUnavailable:  http.StatusServiceUnavailable,
	memory.CodeForbidden:    http.StatusForbidden,
	memory.CodeCorrupt:      http.StatusInternalServerError,
	memory.CodeIncompatible: http.StatusUpgradeRequired,
	memory.CodeReadOnly:     http.StatusInsufficientStorage,
	memory.CodeLimited:      http.StatusTooManyRequests,
	memory.CodeInternal:     http.StatusInternalServerError,
}

// Causes of invalid input for which HTTP has statuses of its own.
var (
	errTooLong = errors.New("api: body too long")
	errMethod  = errors.New("api: wrong method")
)

// ErrUnauthenticated is the cause of a refusal for want of a token.
var ErrUnauthenticated = errors.New("api: not authenticated")

// statusOf returns the HTTP status of an error.
func statusOf(e *memory.Error) int {
	switch {
	case errors.Is(e, ErrUnauthenticated):
		return http.StatusUnauthorized
	case errors.Is(e, errTooLong):
		return http.StatusRequestEntityTooLarge
	case errors.Is(e, errMethod):
		return http.StatusMethodNotAllowed
	}
	return cmp.Or(statuses[e.Code], http.StatusInternalServerError)
}

// WriteError answers with err as a service.ErrorBody, with the status of its code.
func WriteError(w http.ResponseWriter, err error) {
	e := outward(err)
	body, encErr := json.Marshal(service.ErrorBody{Error: e})
	if encErr != nil { // strings only: cannot happen
		body = []byte(`{"error":{"code":"internal","message":"the error could not be written"}}`)
	}
	status := statusOf(e)
	if status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", e.Limit)
	}
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	w.Header().Set("Content-Type", service.MIMEJSON)
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the client is gone
}
