package mcp

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestSessionLimit: over the limit a session ends of the client that has most, and of those
// the one that was idle longest.
func TestSessionLimit(t *testing.T) {
	for name, tt := range map[string]struct {
		clients string // that open a session each; the first is used again before the last is opened
		want    string // the clients whose sessions are left, one for each session
	}{
		"one client":                       {"aaa", "a.a"},
		"each has one":                     {"abc", "a.c"},
		"one client opens many":            {"abbbb", "a...b"},
		"the client that has few opens it": {"bba", "b.a"},
	} {
		t.Run(name, func(t *testing.T) { testSessionLimit(t, tt.clients, tt.want) })
	}
}

func testSessionLimit(t *testing.T, clients, want string) {
	url := serve(t, fullContexts(), Options{MaxSessions: 2})
	post := func(client, session, body string) (int, http.Header, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		request.Header.Set("Test-Client", client)
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
	ping := func(session string) int {
		status, _, _ := post("", session, `{"jsonrpc":"2.0","id":8,"method":"ping"}`)
		return status
	}
	var sessions []string
	for i, client := range clients {
		if i == len(clients)-1 {
			if status := ping(sessions[0]); status != http.StatusOK {
				t.Fatalf("the first session is answered with %d", status)
			}
		}
		status, header, text := post(string(client), "", initialize)
		if status != http.StatusOK {
			t.Fatalf("initialize is answered with %d: %s", status, text)
		}
		sessions = append(sessions, header.Get("Mcp-Session-Id"))
	}
	got := []byte(clients)
	for i, session := range sessions {
		if ping(session) != http.StatusOK {
			got[i] = '.'
		}
	}
	if string(got) != want {
		t.Errorf("the sessions of %s: %s are left, want %s", clients, got, want)
	}
}
