package httpserver

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// startRaw serves a handler on loopback TCP and returns its address.
func startRaw(t *testing.T, opts ServerOptions, h http.HandlerFunc) (*Server, string) {
	t.Helper()
	srv := NewServer(opts)
	l, err := ListenTCP("127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Start(Endpoint{Listener: l, Handler: h}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Stop(t.Context()) })
	return srv, l.Addr().String()
}

func dialRaw(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

const halfBody = "POST / HTTP/1.1\r\nHost: d\r\nContent-Length: 100\r\n\r\nhalf"

// readsAll answers with the length of the body.
func readsAll(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestTimeout)
		return
	}
	fmt.Fprint(w, len(body))
}

// post sends a whole request over a connection of its own.
func post(t *testing.T, address string) string {
	t.Helper()
	conn := dialRaw(t, address)
	fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: d\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("a whole request was not answered: %v", err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return string(text)
}

// A body that does not arrive ends with the deadline, and with it the connection.
func TestHalfBodyEnds(t *testing.T) {
	_, address := startRaw(t, ServerOptions{BodyTimeout: 20 * time.Millisecond}, readsAll)
	conn := dialRaw(t, address)
	fmt.Fprint(conn, halfBody)
	answer, err := io.ReadAll(conn) // returns only when the server closes the connection
	if err != nil || !strings.Contains(string(answer), "408") {
		t.Errorf("half a body is answered with %q, %v; want status 408 and the end of the connection", answer, err)
	}
}

// The deadline is of the body alone: an answer may take longer.
func TestBodyDeadlineEndsWithTheBody(t *testing.T) {
	const deadline = 20 * time.Millisecond
	_, address := startRaw(t, ServerOptions{BodyTimeout: deadline}, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-r.Context().Done():
			http.Error(w, "cancelled", http.StatusServiceUnavailable)
		case <-time.After(5 * deadline):
			fmt.Fprint(w, "answered")
		}
	})
	if got := post(t, address); got != "answered" {
		t.Errorf("a request that is answered after the body's deadline got %q", got)
	}
}

// Connections that wait for their clients make room for others, whatever they
// have sent; those being answered stay.
func TestConnectionLimit(t *testing.T) {
	const limit, flood = 4, 50
	entered, release := make(chan struct{}), make(chan struct{})
	srv, address := startRaw(t, ServerOptions{MaxConnections: limit}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" {
			close(entered)
			<-release
		}
		readsAll(w, r)
	})
	long := dialRaw(t, address)
	fmt.Fprint(long, "GET /long HTTP/1.1\r\nHost: d\r\nConnection: close\r\n\r\n")
	<-entered
	for _, sent := range []string{"", "GET / HT", halfBody} {
		var flooding []net.Conn
		for range flood {
			conn := dialRaw(t, address)
			fmt.Fprint(conn, sent)
			flooding = append(flooding, conn)
		}
		for n := range 10 {
			if got := post(t, address); got != "4" {
				t.Fatalf("%d connections that sent %.10q are open: request %d got %q", flood, sent, n, got)
			}
		}
		// All but the last few were closed, oldest first.
		if _, err := flooding[0].Read(make([]byte, 1)); err == nil {
			t.Errorf("the oldest of %d connections that sent %.10q is open over the limit of %d", flood, sent, limit)
		}
		srv.conns.mu.Lock()
		open := len(srv.conns.open)
		srv.conns.mu.Unlock()
		if open > limit {
			t.Errorf("%d connections are kept, over the limit of %d", open, limit)
		}
		for _, conn := range flooding {
			_ = conn.Close()
		}
	}
	close(release)
	resp, err := http.ReadResponse(bufio.NewReader(long), nil)
	if err != nil {
		t.Fatalf("the request that was being answered was cut off: %v", err)
	}
	_ = resp.Body.Close()
}

// An answer that its client does not read is given up.
func TestUnreadAnswerEnds(t *testing.T) {
	ended := make(chan error, 1)
	_, address := startRaw(t, ServerOptions{UnreadTimeout: 20 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		part := make([]byte, 1<<20)
		var err error
		for err == nil { // more than any buffer between them holds
			_, err = w.Write(part)
		}
		ended <- err
	})
	fmt.Fprint(dialRaw(t, address), "GET / HTTP/1.1\r\nHost: d\r\n\r\n")
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("an answer that nobody reads is still being written, want its end after 20 ms")
	}
}

// Streams of events make room for others when nothing else can: they have no end.
func TestStreamsKeepNobodyOut(t *testing.T) {
	const limit = 4
	streaming := make(chan struct{}, 100)
	srv, address := startRaw(t, ServerOptions{MaxConnections: limit}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/events" {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			streaming <- struct{}{}
			<-r.Context().Done()
			return
		}
		readsAll(w, r)
	})
	var streams []net.Conn
	for range 3 * limit {
		conn := dialRaw(t, address)
		fmt.Fprint(conn, "GET /events HTTP/1.1\r\nHost: d\r\nAccept: text/event-stream\r\n\r\n")
		select {
		case <-streaming:
		case <-time.After(20 * time.Second):
			t.Fatalf("stream %d of a server with %d connections does not begin", len(streams)+1, limit)
		}
		streams = append(streams, conn)
	}
	for n := range 10 {
		if got := post(t, address); got != "4" {
			t.Fatalf("%d streams are open: request %d got %q", len(streams), n, got)
		}
	}
	srv.conns.mu.Lock()
	defer srv.conns.mu.Unlock()
	kept := 0
	for _, is := range srv.conns.open {
		if is.stream {
			kept++
		}
	}
	if kept != limit-1 {
		t.Errorf("%d streams are kept, want %d: one request at a time needs one place", kept, limit-1)
	}
}

// TestBodiesInFlight: bodies that are too much together are refused, and there is room again
// when they have been answered.
func TestBodiesInFlight(t *testing.T) {
	srv, address := startRaw(t, ServerOptions{MaxBodies: 500 << 10}, func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusTooManyRequests)
		} else {
			fmt.Fprint(w, len(body))
		}
	})
	answers := func(kib int) (int, string) {
		t.Helper()
		answer, err := http.Post("http://"+address, "text/plain", strings.NewReader(strings.Repeat("x", kib<<10)))
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		return answer.StatusCode, string(text)
	}
	for range 3 {
		if status, text := answers(501); status != http.StatusTooManyRequests || !strings.Contains(text, "512000 bytes of all requests") {
			t.Errorf("501 KiB are answered with %d: %s", status, text)
		}
		if status, text := answers(500); status != http.StatusOK || text != "512000" {
			t.Errorf("500 KiB are answered with %d: %s", status, text)
		}
	}
	held := func(enough func(int64) bool) {
		for !enough(srv.conns.bodies.Load()) {
			time.Sleep(time.Millisecond)
		}
	}
	nothing := func(bytes int64) bool { return bytes == 0 }
	held(nothing) // the requests before end after their answers
	half := dialRaw(t, address)
	fmt.Fprint(half, "POST / HTTP/1.1\r\nHost: d\r\nContent-Length: 1000000\r\n\r\n"+strings.Repeat("x", 300<<10))
	half300 := func(bytes int64) bool { return bytes == 300<<10 }
	held(half300)
	if status, text := answers(300); status != http.StatusTooManyRequests {
		t.Errorf("300 KiB beside 300 are answered with %d: %s", status, text)
	}
	held(half300)
	if status, text := answers(200); status != http.StatusOK {
		t.Errorf("200 KiB beside 300 are answered with %d: %s", status, text)
	}
	fmt.Fprint(half, strings.Repeat("x", 200<<10))
	for range 20 {
		if status, text := answers(60); status != http.StatusOK {
			t.Errorf("a small body beside all that there is room for is answered with %d: %s", status, text)
		}
	}
	_ = half.Close()
	held(nothing)
	if status, text := answers(300); status != http.StatusOK {
		t.Errorf("300 KiB alone are answered with %d: %s", status, text)
	}
}
