package httpserver

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// connections bounds the connections of a Server. Over the limit it closes the
// one that has waited longest for its client: an idle connection, a half sent
// header, a half sent body; if there is none, the oldest stream of events, which
// has no end of its own. A connection whose request is being answered is never
// closed, so clients that hold connections open cannot keep others out.
type connections struct {
	max         int
	bodyTimeout time.Duration
	maxBodies   int64
	bodies      atomic.Int64 // bytes of the bodies of requests in progress

	mu   sync.Mutex
	open map[net.Conn]*connection // guarded by mu
}

// connection is one open connection. Its fields are guarded by connections.mu.
type connection struct {
	// answering says that a whole request has arrived and is being answered.
	answering bool
	// stream says that the answer is a stream of events.
	stream bool
	// process is that of the client, if it is known. It never changes.
	process int
	// since is when answering last changed.
	since time.Time
}

func newConnections(max int, bodyTimeout time.Duration, maxBodies int64) *connections {
	return &connections{max: max, bodyTimeout: bodyTimeout, maxBodies: maxBodies, open: map[net.Conn]*connection{}}
}

// connectionKey is the context key of a request's connection.
type connectionKey struct{}

// attach is an http.Server's ConnContext. It is called before the connection's
// first state.
func (c *connections) attach(ctx context.Context, conn net.Conn) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) >= c.max {
		c.evict()
	}
	if len(c.open) >= c.max { // all are being answered
		_ = conn.Close() // its client sees a connection that ended and tries again
		return ctx
	}
	added := &connection{process: processOf(conn), since: time.Now()}
	c.open[conn] = added
	return context.WithValue(ctx, connectionKey{}, added)
}

// evict closes the connection that has waited longest for its client, or the oldest
// stream, for holders of mu.
func (c *connections) evict() {
	var oldest net.Conn
	for conn, is := range c.open {
		if (!is.answering || is.stream) && (oldest == nil || is.goesBefore(c.open[oldest])) {
			oldest = conn
		}
	}
	if oldest != nil {
		_ = oldest.Close() // its state becomes closed as its reader notices
		delete(c.open, oldest)
	}
}

// goesBefore says that of two connections that may be closed this one is closed first.
func (is *connection) goesBefore(other *connection) bool {
	if is.stream != other.stream {
		return other.stream
	}
	return is.since.Before(other.since)
}

// state is an http.Server's ConnState.
func (c *connections) state(conn net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, conn)
}

// answering notes whether a connection's request has arrived whole and is being
// answered.
func (c *connections) answering(is *connection, yes bool) {
	if is == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	is.answering, is.since = yes, time.Now()
	is.stream = is.stream && yes
}

// streams notes that a connection's answer is a stream of events.
func (c *connections) streams(is *connection) {
	if is == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	is.stream = true
}

// handler bounds the time that a request's body may take to arrive, and notes
// when it has.
func (c *connections) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		is, _ := r.Context().Value(connectionKey{}).(*connection)
		defer c.answering(is, false)
		if r.Body == nil || r.Body == http.NoBody {
			c.answering(is, true)
			if r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
				c.streams(is)
			}
		} else {
			control := http.NewResponseController(w)
			// Where there is no deadline to set, as in tests without a connection,
			// the body is there already.
			_ = control.SetReadDeadline(time.Now().Add(c.bodyTimeout))
			body := &arrivingBody{ReadCloser: r.Body, all: c, whole: func() {
				_ = control.SetReadDeadline(time.Time{}) // the answer may take longer
				c.answering(is, true)
			}}
			defer func() { c.bodies.Add(-body.size) }()
			r.Body = body
		}
		next.ServeHTTP(w, r)
	})
}

// arrivingBody calls whole once, when the body has been read to its end. One over smallBody
// fails with CodeLimited when the bodies of all requests in progress are too much together:
// they are kept in memory until they are answered.
type arrivingBody struct {
	io.ReadCloser
	all   *connections
	size  int64 // read so far
	whole func()
}

func (b *arrivingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.size += int64(n)
	if b.all.bodies.Add(int64(n)) > b.all.maxBodies && b.size > smallBody {
		return 0, &memory.Error{Code: memory.CodeLimited, Field: "body", Limit: fmt.Sprintf("%d bytes of all requests in progress", b.all.maxBodies),
			Message: "too much is being sent at once", Hint: "try again in 1 second", RetryAfter: 1}
	}
	if err == io.EOF && b.whole != nil {
		b.whole()
		b.whole = nil
	}
	return n, err
}

// impatientListener accepts connections whose writes end, with an error, when their
// client has taken nothing for a while: an answer that nobody reads would be kept, with
// its connection, for ever.
type impatientListener struct {
	net.Listener
	timeout time.Duration
}

func (l impatientListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &impatientConn{conn, l.timeout}, nil
}

type impatientConn struct {
	net.Conn
	timeout time.Duration
}

// unreadPart is how much a client has to take within the timeout, in bytes.
const unreadPart = 64 << 10

// Write implements net.Conn.
func (c *impatientConn) Write(p []byte) (n int, err error) {
	for {
		part := p[n:min(len(p), n+unreadPart)]
		if err := c.SetWriteDeadline(time.Now().Add(c.timeout)); err != nil {
			return n, err
		}
		wrote, err := c.Conn.Write(part)
		if n += wrote; err != nil || n == len(p) {
			return n, err
		}
	}
}
