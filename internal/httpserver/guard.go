package httpserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/access"
	"github.com/recalld/recalld/internal/api"
	"github.com/recalld/recalld/internal/mcp"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// GuardOptions say who may call over TCP.
type GuardOptions struct {
	// Tokens returns those of which every request must bear one.
	Tokens func() []string
	// Clients are those with tokens of their own; nil: none.
	Clients *access.List
	// AllowedOrigins are the web pages that may call, as scheme://host[:port].
	AllowedOrigins []string
	// Certificate is that of the listener; nil if it does not speak TLS.
	Certificate *tls.Certificate
}

// Guard wraps what is served over TCP, where, other than on the socket, any
// program of this machine and any page in its browser can call:
//
//   - Host must be a loopback name or one of the certificate's. A page whose own name was
//     made to resolve to 127.0.0.1 (DNS rebinding) sends its name.
//   - Origin, which browsers set and pages cannot, must be absent, allowed, or the one
//     of this server itself, which clients inside a browser's engine send. To
//     an allowed page its browser hands the answers (CORS), and may ask first
//     whether it may send what it is about to (a preflight, without token).
//   - The token keeps out other users of this machine, and of the network.
//
// Host and Origin come first: a page must not learn whether it guessed a token.
// Refusals are CodeForbidden.
func Guard(next http.Handler, opts GuardOptions) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The answer depends on the origin: caches must know.
		w.Header().Add("Vary", "Origin")
		if err := opts.check(r); err != nil {
			api.WriteError(w, err)
			return
		}
		if origins, page := r.Header["Origin"]; page {
			w.Header().Set("Access-Control-Allow-Origin", origins[0])
			w.Header().Set("Access-Control-Expose-Headers", exposedHeaders)
			if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
				preflight(w, r)
				return
			}
		}
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		token = strings.TrimSpace(token)
		var policy *access.Policy
		if opts.Clients != nil {
			policy = opts.Clients.Bearer(token)
		}
		if !strings.EqualFold(scheme, "Bearer") || policy == nil && !isOneOf(opts.Tokens(), token) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="recalld"`)
			api.WriteError(w, &memory.Error{Code: memory.CodeForbidden, Field: "Authorization", Limit: "Bearer TOKEN",
				Message: "the token is missing or wrong", Hint: "the token is in the file token of the data folder; one in a file that others can read is not accepted: chmod 600 it", Cause: api.ErrUnauthenticated})
			return
		}
		client := &access.Client{Key: "the token"}
		if policy != nil {
			client = &access.Client{Key: "client " + policy.Name, Policy: policy}
		}
		identified(w, r, next, client, opts.Clients)
	})
}

// GuardPage wraps the daemon's own web page: Host and Origin are as Guard has them, with no
// origin but its own. It asks for no token; who may see the page is its own business.
func GuardPage(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := (&GuardOptions{}).check(r); err != nil {
			api.WriteError(w, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// check refuses requests for other hosts and from other web pages.
func (o *GuardOptions) check(r *http.Request) error {
	if !isLoopbackHost(r.Host) && !o.certified(r.Host) {
		return &memory.Error{Code: memory.CodeForbidden, Field: "Host", Limit: "127.0.0.1, [::1], localhost or a name of the certificate in tcp.certificate",
			Message: "the request is for another host"}
	}
	own := "http://" + r.Host
	if o.Certificate != nil {
		own = "https://" + r.Host
	}
	// Browsers send one origin; several, an empty one or "null" are refused.
	if origins, page := r.Header["Origin"]; page && (len(origins) != 1 || origins[0] != own && !slices.Contains(o.AllowedOrigins, origins[0])) {
		return &memory.Error{Code: memory.CodeForbidden, Field: "Origin", Limit: "the setting tcp.allowed_origins", Message: "this web page may not call"}
	}
	return nil
}

// certified reports whether the certificate is for a Host header, with or without a port.
func (o *GuardOptions) certified(hostport string) bool {
	return o.Certificate != nil && o.Certificate.Leaf.VerifyHostname(hostOf(hostport)) == nil
}

// isOneOf compares hashes, which are of one length, with all tokens, so that the time says
// nothing about them. An empty one of ours lets nobody in.
func isOneOf(tokens []string, token string) bool {
	got, found := sha256.Sum256([]byte(token)), 0
	for _, t := range tokens {
		want := sha256.Sum256([]byte(t))
		if t != "" {
			found |= subtle.ConstantTimeCompare(got[:], want[:])
		}
	}
	return found == 1
}

// What web pages may send and see: all that the API and MCP take and answer.
var (
	allowedMethods = strings.Join([]string{http.MethodGet, http.MethodPost, http.MethodDelete}, ", ")
	allowedHeaders = strings.Join(append([]string{"Authorization", "Content-Type", "Accept", service.ProtocolHeader}, mcp.RequestHeaders...), ", ")
	exposedHeaders = strings.Join(append([]string{"WWW-Authenticate", service.ProtocolHeader}, mcp.AnswerHeaders...), ", ")
)

// preflightAge is how long a browser may keep the answer of a preflight, in
// seconds.
const preflightAge = "600"

// preflight answers a browser that asks what an allowed page may send. What it
// sends then needs the token as ever.
func preflight(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", allowedMethods)
	h.Set("Access-Control-Allow-Headers", allowedHeaders)
	h.Set("Access-Control-Max-Age", preflightAge)
	// Chromium asks this of pages of the open net that call a loopback address.
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
	w.WriteHeader(http.StatusNoContent)
}

// isLoopbackHost reports whether a Host header names this machine's loopback, with or
// without a port.
func isLoopbackHost(hostport string) bool {
	host := hostOf(hostport)
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

// hostOf returns the host of a Host header, without port and brackets.
func hostOf(hostport string) string {
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		return h
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
}
