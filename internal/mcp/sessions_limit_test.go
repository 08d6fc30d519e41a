package mcp

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestSessionLimit: over the limit the session that was idle longest ends.
func TestSessionLimit(t *testing.T) {
	url := serve(t, fullContexts(), Options{MaxSessions: 2})
	post := func(method, session, body string) (int, http.Header, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			request.Header.Set("Mcp-Session-Id", session)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, answer.Header, string(text)
	}
	const initialize = `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	open := func() string {
		t.Helper()
		status, header, text := post(http.MethodPost, "", initialize)
		if status != http.StatusOK {
			t.Fatalf("initialize is answered with %d: %s", status, text)
		}
		return header.Get("Mcp-Session-Id")
	}
	ping := func(session string) int {
		status, _, _ := post(http.MethodPost, session, `{"jsonrpc":"2.0","id":8,"method":"ping"}`)
		return status
	}
	first, second := open(), open()
	if status := ping(first); status != http.StatusOK {
		t.Fatalf("the first session is answered with %d", status)
	}
	third := open()
	for session, want := range map[string]int{first: http.StatusOK, second: http.StatusNotFound, third: http.StatusOK} {
		if status := ping(session); status != want {
			t.Errorf("a session is answered with %d, want %d", status, want)
		}
	}
}
