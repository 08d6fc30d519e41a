package mcp

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestSessionLimit: a client that opens too many sessions is told how many it may have and what
// to do, and has room again when one has ended.
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
	first := open()
	second := open()
	status, header, text := post(http.MethodPost, "", initialize)
	if status != http.StatusTooManyRequests || header.Get("Retry-After") == "" || !strings.Contains(text, `"id":7`) || !strings.Contains(text, "2 sessions of one client") || !strings.Contains(text, "DELETE") {
		t.Errorf("the third is answered with %d: %s", status, text)
	}
	if status, _, text := post(http.MethodPost, second, `{"jsonrpc":"2.0","id":8,"method":"ping"}`); status != http.StatusOK {
		t.Errorf("a session that is open is answered with %d: %s", status, text)
	}
	if status, _, text := post(http.MethodDelete, first, ""); status != http.StatusOK {
		t.Fatalf("DELETE is answered with %d: %s", status, text)
	}
	deadline := time.After(10 * time.Second)
	for {
		if status, _, _ := post(http.MethodPost, "", initialize); status == http.StatusOK {
			return
		}
		select {
		case <-deadline:
			t.Fatal("there is no room when a session has ended")
		default:
		}
	}
}
