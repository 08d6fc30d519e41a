package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/recalld/recalld/internal/memory"
)

// body reads the body of a request. Every error is a *memory.Error that names "body".
func body(w http.ResponseWriter, r *http.Request, max int64) ([]byte, error) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, max))
	switch {
	case err == nil:
		return text, nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &memory.Error{Code: memory.CodeUnavailable, Field: "body", Message: "did not arrive in time", Hint: "send it again, without a pause", Cause: err}
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		e := memory.Invalid("body", fmt.Sprintf("at most %d bytes", max), "is too long")
		e.Cause = errTooLong
		return nil, e
	}
	return nil, memory.Invalid("body", "", "could not be read: %v", err)
}
