package httpserver

import (
	"fmt"
	"net"
	"net/http"

	"github.com/recalld/recalld/internal/access"
	"github.com/recalld/recalld/internal/api"
	"github.com/recalld/recalld/internal/memory"
)

// Identify wraps what is served on the socket: it says which process calls, and under which
// policy, if the request names one by access.Header. Whoever reaches the socket may do
// everything, so the header is taken from anyone.
func Identify(next http.Handler, clients *access.List) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client := &access.Client{Key: "the socket"}
		if is, ok := r.Context().Value(connectionKey{}).(*connection); ok && is.process > 0 {
			client.Key = fmt.Sprintf("process %d", is.process)
		}
		identified(w, r, next, client, clients)
	})
}

// identified serves a request of a client, under the policy that access.Header names. A
// client that has a policy cannot take another.
func identified(w http.ResponseWriter, r *http.Request, next http.Handler, client *access.Client, clients *access.List) {
	if named, given := r.Header[access.Header]; given && clients != nil {
		policy, err := oneNamed(clients, named)
		if err == nil && client.Policy != nil && client.Policy.Name != policy.Name {
			err = &memory.Error{Code: memory.CodeForbidden, Field: access.Header, Limit: "the client of the token", Message: "the token is of another client"}
		}
		if err != nil {
			api.WriteError(w, err)
			return
		}
		client = &access.Client{Key: client.Key, Policy: policy}
	}
	next.ServeHTTP(w, r.WithContext(access.Named(access.With(r.Context(), client), r.UserAgent())))
}

func oneNamed(clients *access.List, names []string) (*access.Policy, error) {
	if len(names) != 1 {
		return nil, memory.Invalid(access.Header, "one name", "is given %d times", len(names))
	}
	return clients.Named(names[0])
}

// processOf is the process at the other end of a connection over the socket; 0 where it is
// unknown.
func processOf(conn net.Conn) int {
	if patient, ok := conn.(*impatientConn); ok {
		conn = patient.Conn
	}
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return 0
	}
	id, err := peerProcess(socket)
	if err != nil {
		return 0
	}
	return id
}
