package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/strict"
)

// decode reads a request's body, one JSON object of known fields, into v. Every
// error is a *memory.Error that names the field, or "body".
func decode(w http.ResponseWriter, r *http.Request, max int64, v any) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, max))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			e := memory.Invalid("body", fmt.Sprintf("at most %d bytes", max), "is too long")
			e.Cause = errTooLong
			return e
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return &memory.Error{Code: memory.CodeUnavailable, Field: "body", Message: "did not arrive in time", Hint: "send it again, without a pause", Cause: err}
		}
		return memory.Invalid("body", "", "could not be read: %v", err)
	}
	return strict.Decode(body, v, "body")
}
