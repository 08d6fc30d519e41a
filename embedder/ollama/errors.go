package ollama

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"

	"github.com/ollama/ollama/api"

	"github.com/recalld/recalld/embedder"
)

var (
	// ErrRemote is returned when texts would leave this machine and
	// ServerOptions.AllowRemote is not set.
	ErrRemote = errors.New("ollama: not on this machine (allow remote servers to use it)")
	// ErrModelChanged is returned when the server has another model under the same name, so
	// that new vectors cannot be compared with old ones. A new Embedder takes the new
	// model's identity.
	ErrModelChanged = errors.New("ollama: the model behind the name has changed")
	// ErrClosed is returned by calls after Close, and by calls that Close cancelled.
	ErrClosed = errors.New("ollama: closed")
)

// Kinds of failure that the package distinguishes.
var (
	errTooLong = errors.New("the text is longer than the model's context")
	errRefused = errors.New("the server refuses the text")
	errRunner  = errors.New("the model's runner failed")
	errBusy    = errors.New("the server is busy")
	errDropped = errors.New("the connection was dropped")
	errVector  = errors.New("the server's vector is unusable")
	errTimeout = errors.New("the server does not answer in time")
	errBlank   = errors.New("the text is blank")
)

// classify maps an error of the client library to ctx's error, an error of package
// embedder, or an error of this package.
func classify(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil {
		return cause
	}
	unavailable := func(kind error) error {
		return fmt.Errorf("%w: %w: %w", embedder.ErrUnavailable, kind, err)
	}
	if status, ok := errors.AsType[api.StatusError](err); ok {
		switch code, words := status.StatusCode, status.ErrorMessage; {
		case code == http.StatusNotFound:
			return fmt.Errorf("%w: %w", embedder.ErrModelNotFound, err)
		case code == http.StatusServiceUnavailable, code == http.StatusTooManyRequests:
			return unavailable(errBusy)
		case code == http.StatusBadRequest && strings.Contains(words, "EOF"), code >= 500:
			return unavailable(errRunner)
		case code == http.StatusBadRequest && strings.Contains(words, "does not support embed"):
			return fmt.Errorf("%w: %w", embedder.ErrNotEmbedding, err)
		case code == http.StatusBadRequest && strings.Contains(words, "context length"):
			return fmt.Errorf("%w: %w", errTooLong, err)
		case code == http.StatusBadRequest:
			return fmt.Errorf("%w: %w", errRefused, err)
		}
		return fmt.Errorf("%w: %w", embedder.ErrUnavailable, err)
	}
	switch {
	case errors.Is(err, ErrRemote), errors.Is(err, errVector):
		return err
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w: the server is not running: %w", embedder.ErrUnavailable, err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, errDropped):
		return unavailable(errDropped)
	}
	if t, ok := errors.AsType[net.Error](err); ok && t.Timeout() {
		return fmt.Errorf("%w: the server does not answer in time: %w", embedder.ErrUnavailable, err)
	}
	return fmt.Errorf("%w: %w", embedder.ErrUnavailable, err)
}

// aboutText reports whether one text of a batch may have caused an error.
func aboutText(err error) bool {
	return errors.Is(err, errTooLong) || errors.Is(err, errRefused) || errors.Is(err, errRunner) || errors.Is(err, errVector)
}
