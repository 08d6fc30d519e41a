package memory

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrDocMissing is returned by a commit that names a document which is neither
// in the batch nor stored. The writer left it out because it was stored a
// moment ago: the same batch with its documents will do.
var ErrDocMissing = errors.New("the document is not stored")

// Code classifies an error for machines. Transports map codes, never texts.
type Code string

// The codes.
const (
	// CodeInvalidInput: a field is missing, malformed or over its limit.
	CodeInvalidInput Code = "invalid_input"
	// CodeNotFound: what was named does not exist.
	CodeNotFound Code = "not_found"
	// CodeConflict: the state does not allow it, a folder above several
	// repositories for instance, or a data folder owned by another process.
	CodeConflict Code = "conflict"
	// CodeUnavailable: the daemon, or a part it needs, cannot answer for now.
	CodeUnavailable Code = "unavailable"
	// CodeForbidden: the caller may not, or the path lies outside a sandbox.
	CodeForbidden Code = "forbidden"
	// CodeCorrupt: stored data failed its checksum.
	CodeCorrupt Code = "corrupt"
	// CodeIncompatible: another protocol or a newer store.
	CodeIncompatible Code = "incompatible"
	// CodeReadOnly: nothing can be stored for now, since the disk is full or cannot be
	// written, or the store's folder is gone. Questions are answered.
	CodeReadOnly Code = "read_only"
	// CodeLimited: the client asks too often, or too much at a time.
	CodeLimited Code = "limited"
	// CodeInternal: a fault of ours.
	CodeInternal Code = "internal"
)

// Error is what the outside sees of a failure.
type Error struct {
	Code Code `json:"code"`
	// Field is the field at fault, if one is.
	Field string `json:"field,omitempty"`
	// Limit is what the field must keep to, in words: "1–8000 characters".
	Limit   string `json:"limit,omitempty"`
	Message string `json:"message"`
	// Hint is the next step.
	Hint string `json:"hint,omitempty"`
	// RetryAfter is in how many seconds the call may be made again, of CodeLimited.
	RetryAfter int `json:"retry_after,omitempty"`
	// Cause is kept for logs and errors.Is, never sent.
	Cause error `json:"-"`
}

func (e *Error) Error() string {
	s := e.Message
	if e.Field != "" {
		s = e.Field + ": " + s
	}
	if e.Limit != "" {
		s += " (limit: " + e.Limit + ")"
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// maxQuote is how much of a foreign text a message shows, in characters: enough to
// find it by.
const maxQuote = 40

// Quote is a foreign text as messages show it: in quotes, on one line, and cut to
// 40 characters, for messages are logged and listed.
func Quote(text string) string {
	end := 0
	for i := range text {
		if end++; end > maxQuote {
			return strconv.Quote(text[:i] + "…")
		}
	}
	return strconv.Quote(text)
}

// ErrSeveralSessions is the cause of the refusal when a caller's current session
// could be one of several.
var ErrSeveralSessions = errors.New("several sessions are open")

// Invalid is an error about one field of the input. Foreign text goes into its
// message through Quote.
func Invalid(field, limit, format string, args ...any) *Error {
	return &Error{Code: CodeInvalidInput, Field: field, Limit: limit, Message: fmt.Sprintf(format, args...)}
}

// OtherRequest is the error for a request id that was used for another request.
func OtherRequest() *Error {
	return &Error{Code: CodeConflict, Field: "request_id", Message: "another request used this id", Hint: "give every request an id of its own"}
}

// Errorf makes an error of a code. A %w among the verbs becomes its cause.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Cause: errors.Unwrap(err)}
}

// CodeOf returns the code of err: the code of the *Error in its chain, or
// CodeInternal.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// AsError returns err as an *Error, wrapping what is not one as internal.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Code: CodeInternal, Message: err.Error(), Cause: err}
}
