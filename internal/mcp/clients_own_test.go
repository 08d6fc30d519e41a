package mcp

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/service/servicetest"
)

// TestLateAnswerIsNoError: a client that answers what nobody waits for any more, as one does that
// is slow to say its roots, is told so; the user is not shown an error of recalld.
func TestLateAnswerIsNoError(t *testing.T) {
	var log bytes.Buffer
	s, err := NewServer(new(servicetest.Service), Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.WithoutCancel(t.Context())) })
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost"+Path, strings.NewReader(`{"jsonrpc":"2.0","id":7,"result":{"roots":[{"uri":"file:///a"}]}}`))
	request.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	s.ServeHTTP(answer, request)
	if text := log.String(); answer.Code < 400 || !strings.Contains(text, `level=DEBUG msg="`+unasked) || strings.Contains(text, "ERROR") {
		t.Errorf("it is answered with %d, and the log is\n%s", answer.Code, text)
	}
}
