package daemon

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/wire"
)

// The guard, over a real loopback listener.
func TestGuard(t *testing.T) {
	const token = "a-token-of-some-length"
	served := 0
	guarded := Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ }),
		GuardOptions{Token: token, AllowedOrigins: []string{"http://localhost:5173"}})
	l, err := ListenTCP("127.0.0.1:0")
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
			var body wire.ErrorBody
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
	l, err := ListenTCP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := NewServer(ServerOptions{})
	if err := srv.Start(Endpoint{Listener: l, Handler: Guard(http.NotFoundHandler(), GuardOptions{})}); err != nil {
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
