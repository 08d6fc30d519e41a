package models

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/ollama"
)

// A server error that people read names the cause once, without its chain.
func TestServerTrouble(t *testing.T) {
	const url = "http://127.0.0.1:11434"
	wrapped := func(err error) error { return fmt.Errorf("%w: list models: %w", embedder.ErrUnavailable, err) }
	for want, err := range map[string]error{
		"no Ollama server answers at " + url:                       wrapped(syscall.ECONNREFUSED),
		"the Ollama server at " + url + " does not answer in time": wrapped(context.DeadlineExceeded),
		"the Ollama server does not have the model":                embedder.ErrModelNotFound,
		"the Ollama server " + url + " is not on this machine":     wrapped(ollama.ErrRemote),
		"not reached yet":                  embedder.ErrUnavailable,
		"list models: the disk is on fire": fmt.Errorf("%w: %w", embedder.ErrUnavailable, wrapped(errors.New("the disk is on fire"))),
	} {
		if got := serverTrouble(err, url); got != want {
			t.Errorf("%v is said as %q, want %q", err, got, want)
		}
	}
}
