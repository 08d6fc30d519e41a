package daemon

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// connections bounds the connections of a Server. Over the limit it closes the
// one that has waited longest for its client: an idle connection, a half sent
// header, a half sent body. A connection whose request is being answered is never
// closed, so clients that hold connections open cannot keep others out.
type connections struct {
	max         int
	bodyTimeout time.Duration

	mu   sync.Mutex
	open map[net.Conn]*connection // guarded by mu
}

// connection is one open connection. Its fields are guarded by connections.mu.
type connection struct {
	// answering says that a whole request has arrived and is being answered.
	answering bool
	// since is when answering last changed.
	since time.Time
}

func newConnections(max int, bodyTimeout time.Duration) *connections {
	return &connections{max: max, bodyTimeout: bodyTimeout, open: map[net.Conn]*connection{}}
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
	added := &connection{since: time.Now()}
	c.open[conn] = added
	return context.WithValue(ctx, connectionKey{}, added)
}

// evict closes the connection that has waited longest for its client, for holders of mu.
func (c *connections) evict() {
	var oldest net.Conn
	for conn, is := range c.open {
		if !is.answering && (oldest == nil || is.since.Before(c.open[oldest].since)) {
			oldest = conn
		}
	}
	if oldest != nil {
		_ = oldest.Close() // its state becomes closed as its reader notices
		delete(c.open, oldest)
	}
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
}

// handler bounds the time that a request's body may take to arrive, and notes
// when it has.
func (c *connections) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		is, _ := r.Context().Value(connectionKey{}).(*connection)
		defer c.answering(is, false)
		if r.Body == nil || r.Body == http.NoBody {
			c.answering(is, true)
		} else {
			control := http.NewResponseController(w)
			// Where there is no deadline to set, as in tests without a connection,
			// the body is there already.
			_ = control.SetReadDeadline(time.Now().Add(c.bodyTimeout))
			r.Body = &arrivingBody{ReadCloser: r.Body, whole: func() {
				_ = control.SetReadDeadline(time.Time{}) // the answer may take longer
				c.answering(is, true)
			}}
		}
		next.ServeHTTP(w, r)
	})
}

// arrivingBody calls whole once, when the body has been read to its end.
type arrivingBody struct {
	io.ReadCloser
	whole func()
}

func (b *arrivingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF && b.whole != nil {
		b.whole()
		b.whole = nil
	}
	return n, err
}
