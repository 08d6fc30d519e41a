package httpserver

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// The guard, over a real loopback listener.
func TestGuard(t *testing.T) {
	const token = "a-token-of-some-length"
	served := 0
	guarded := Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ }),
		GuardOptions{Tokens: only(token), AllowedOrigins: []string{"http://localhost:5173"}})
	l, err := ListenTCP("127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	srv := NewServer(ServerOptions{})
	if err := srv.Start(Endpoint{Listener: l, Handler: guarded}); err != nil {
		t.Fatal(err)
	}
	defer srv.Stop(t.Context())

	bearer := []string{"Bearer " + token}
	for name, tc := range map[string]struct {
		host   string
		header http.Header
		status int
		field  string
	}{
		"a program":               {header: http.Header{"Authorization": bearer}, status: 200},
		"by name":                 {host: "localhost:9", header: http.Header{"Authorization": bearer}, status: 200},
		"by IPv6":                 {host: "[::1]:9", header: http.Header{"Authorization": bearer}, status: 200},
		"by IPv6 without port":    {host: "[::1]", header: http.Header{"Authorization": bearer}, status: 200},
		"scheme in other letters": {header: http.Header{"Authorization": {"bearer " + token}}, status: 200},
		"an allowed page":         {header: http.Header{"Authorization": bearer, "Origin": {"http://localhost:5173"}}, status: 200},

		"DNS rebinding":                {host: "evil.example:7420", header: http.Header{"Authorization": bearer}, status: 403, field: "Host"},
		"a name that begins alike":     {host: "localhost.evil.example", header: http.Header{"Authorization": bearer}, status: 403, field: "Host"},
		"an address that begins alike": {host: "127.0.0.1.evil.example", header: http.Header{"Authorization": bearer}, status: 403, field: "Host"},
		"another address":              {host: "192.168.0.1", header: http.Header{"Authorization": bearer}, status: 403, field: "Host"},
		"a foreign page":               {header: http.Header{"Authorization": bearer, "Origin": {"https://evil.example"}}, status: 403, field: "Origin"},
		"the page of this server":      {header: http.Header{"Authorization": bearer, "Origin": {"http://127.0.0.1:7077"}}, host: "127.0.0.1:7077", status: 200},
		"a page of another port":       {header: http.Header{"Authorization": bearer, "Origin": {"http://localhost:5174"}}, status: 403, field: "Origin"},
		"an opaque page":               {header: http.Header{"Authorization": bearer, "Origin": {"null"}}, status: 403, field: "Origin"},
		"an empty origin":              {header: http.Header{"Authorization": bearer, "Origin": {""}}, status: 403, field: "Origin"},
		"two origins":                  {header: http.Header{"Authorization": bearer, "Origin": {"http://localhost:5173", "https://evil.example"}}, status: 403, field: "Origin"},
		"no token":                     {status: 401, field: "Authorization"},
		"a wrong token":                {header: http.Header{"Authorization": {"Bearer wrong"}}, status: 401, field: "Authorization"},
		"a token's beginning":          {header: http.Header{"Authorization": {"Bearer " + token[:5]}}, status: 401, field: "Authorization"},
		"another scheme":               {header: http.Header{"Authorization": {"Basic " + token}}, status: 401, field: "Authorization"},
		"the token alone":              {header: http.Header{"Authorization": {token}}, status: 401, field: "Authorization"},
	} {
		t.Run(name, func(t *testing.T) {
			served = 0
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+l.Addr().String()+"/", nil)
			if err != nil {
				t.Fatal(err)
			}
			if tc.header != nil {
				r.Header = tc.header
			}
			r.Host = tc.host
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != tc.status || (served == 1) != (tc.status == 200) {
				t.Errorf("status %d, served %d times, want status %d: %s", resp.StatusCode, served, tc.status, text)
			}
			if tc.field == "" {
				return
			}
			var body service.ErrorBody
			if err := json.Unmarshal(text, &body); err != nil || body.Error == nil || body.Error.Code != memory.CodeForbidden || body.Error.Field != tc.field {
				t.Errorf("body %s, want forbidden for %s", text, tc.field)
			}
			if (resp.Header.Get("WWW-Authenticate") != "") != (tc.status == 401) {
				t.Errorf("WWW-Authenticate is %q with status %d", resp.Header.Get("WWW-Authenticate"), resp.StatusCode)
			}
		})
	}
}

// A guard that was given no token lets nobody in.
func TestGuardWithoutToken(t *testing.T) {
	l, err := ListenTCP("127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	srv := NewServer(ServerOptions{})
	if err := srv.Start(Endpoint{Listener: l, Handler: Guard(http.NotFoundHandler(), GuardOptions{Tokens: only("")})}); err != nil {
		t.Fatal(err)
	}
	defer srv.Stop(t.Context())
	for _, auth := range []string{"", "Bearer ", "Bearer x"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String(), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", auth)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("Authorization %q: status %d, want 401", auth, resp.StatusCode)
		}
	}
}

// A page of an allowed origin gets through with what its browser asks for it; a
// page of another one learns nothing.
func TestGuardAnswersBrowsers(t *testing.T) {
	const token, page = "a-token-of-some-length", "http://localhost:5173"
	served := 0
	guarded := Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ }),
		GuardOptions{Tokens: only(token), AllowedOrigins: []string{page}})
	for _, tc := range []struct {
		name, method string
		header       map[string]string
		status       int
		allowed      bool // by Access-Control-Allow-Origin
		served       int
	}{
		{"preflight", "OPTIONS", map[string]string{"Origin": page, "Access-Control-Request-Method": "POST",
			"Access-Control-Request-Headers": "authorization,content-type,mcp-session-id", "Access-Control-Request-Private-Network": "true"}, 204, true, 0},
		{"preflight of another page", "OPTIONS", map[string]string{"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}, 403, false, 0},
		{"OPTIONS that is no preflight", "OPTIONS", map[string]string{"Origin": page}, 401, true, 0},
		{"preflight without a page", "OPTIONS", map[string]string{"Access-Control-Request-Method": "POST"}, 401, false, 0},
		{"the request itself", "POST", map[string]string{"Origin": page, "Authorization": "Bearer " + token}, 200, true, 1},
		{"the request without token", "POST", map[string]string{"Origin": page}, 401, true, 0},
		{"a request of no page", "POST", map[string]string{"Authorization": "Bearer " + token}, 200, false, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			served = 0
			r := httptest.NewRequest(tc.method, "http://127.0.0.1:7420/mcp", nil)
			for name, value := range tc.header {
				r.Header.Set(name, value)
			}
			w := httptest.NewRecorder()
			guarded.ServeHTTP(w, r)
			got, want := w.Header().Get("Access-Control-Allow-Origin"), ""
			if tc.allowed {
				want = page
			}
			if w.Code != tc.status || got != want || served != tc.served {
				t.Errorf("status %d, allowed origin %q, served %d; want %d, %q, %d", w.Code, got, served, tc.status, want, tc.served)
			}
			if w.Header().Get("Vary") != "Origin" {
				t.Errorf("Vary is %q: a kept answer would be handed to another page", w.Header().Get("Vary"))
			}
			if tc.status != 204 {
				return
			}
			headers := strings.ToLower(w.Header().Get("Access-Control-Allow-Headers"))
			for _, header := range []string{"authorization", "content-type", "mcp-session-id", "mcp-protocol-version"} {
				if !strings.Contains(headers, header) {
					t.Errorf("the page may not send %s, only %s", header, headers)
				}
			}
			if methods := w.Header().Get("Access-Control-Allow-Methods"); methods != "GET, POST, DELETE" || w.Header().Get("Access-Control-Allow-Private-Network") != "true" {
				t.Errorf("methods %q, private network %q", methods, w.Header().Get("Access-Control-Allow-Private-Network"))
			}
		})
	}
}

func only(token string) func() []string { return func() []string { return []string{token} } }
