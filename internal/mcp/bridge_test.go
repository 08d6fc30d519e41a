package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// daemon is a real MCP server on a real unix socket that can be stopped and
// started again, as a daemon is.
type daemon struct {
	t      *testing.T
	svc    service.Service
	socket string
	// wrap, if set, stands between socket and server.
	wrap func(http.Handler) http.Handler

	mu      sync.Mutex // guards what follows
	version int
	server  *Server
	web     *http.Server
	starts  int
}

func newDaemon(t *testing.T, svc service.Service) *daemon {
	t.Helper()
	dir, err := os.MkdirTemp("", "mcp") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{t: t, svc: svc, socket: filepath.Join(dir, "s")}
	t.Cleanup(func() {
		d.stop()
		os.RemoveAll(dir)
	})
	return d
}

// connect starts the daemon if it does not run, as client.Connect does.
func (d *daemon) connect(context.Context) (*http.Client, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.web == nil {
		if err := d.start(); err != nil {
			return nil, err
		}
	}
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", d.socket)
		},
	}}, nil
}

func (d *daemon) start() error {
	listener, err := net.Listen("unix", d.socket)
	if err != nil {
		return err
	}
	d.starts++
	if d.server, err = NewServer(d.svc, Options{Version: fmt.Sprint("v", d.version), RootsTimeout: 20 * time.Second}); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle(Path, d.server)
	d.web = &http.Server{Handler: mux}
	if d.wrap != nil {
		d.web.Handler = d.wrap(mux)
	}
	go d.web.Serve(listener) // ends with Close
	return nil
}

// stop ends the daemon at once: connections break, sessions are gone.
func (d *daemon) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.web == nil {
		return
	}
	d.web.Close()
	if err := d.server.Close(context.Background()); err != nil {
		d.t.Errorf("close server: %v", err)
	}
	d.web, d.version = nil, d.version+1
}

func (d *daemon) startCount() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.starts
}

// pipe is a running bridge with its two ends.
type pipe struct {
	t      *testing.T
	in     *io.PipeWriter
	out    *bufio.Reader
	outEnd *io.PipeReader
	ended  chan error
	cancel context.CancelFunc
}

func startBridge(t *testing.T, connect func(context.Context) (*http.Client, error), dir string) *pipe {
	t.Helper()
	return startBridgeWith(t, BridgeOptions{Connect: connect, Dir: dir})
}

// startBridgeWith starts a bridge between pipes.
func startBridgeWith(t *testing.T, opts BridgeOptions) *pipe {
	t.Helper()
	inEnd, in := io.Pipe()
	out, outEnd := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	p := &pipe{t: t, in: in, out: bufio.NewReaderSize(out, 1<<20), outEnd: out, ended: make(chan error, 1), cancel: cancel}
	opts.In, opts.Out = inEnd, outEnd
	go func() {
		err := RunBridge(ctx, opts)
		outEnd.Close()
		p.ended <- err
	}()
	t.Cleanup(func() { in.Close(); cancel(); out.Close() })
	return p
}

// transport lets a real client speak through the pipes.
func (p *pipe) transport() transport.Interface {
	return transport.NewIO(p.outEnd, p.in, io.NopCloser(strings.NewReader("")))
}

func (p *pipe) write(lines ...string) {
	p.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(p.in, l+"\n"); err != nil {
			p.t.Fatalf("write to bridge: %v", err)
		}
	}
}

// read returns the next line from the bridge.
func (p *pipe) read() string {
	p.t.Helper()
	l, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("read from bridge: %v", err)
	}
	return strings.TrimSuffix(l, "\n")
}

func (p *pipe) expect(parts ...string) string {
	p.t.Helper()
	l := p.read()
	for _, part := range parts {
		if !strings.Contains(l, part) {
			p.t.Fatalf("bridge wrote %.400s, want it to contain %q", l, part)
		}
	}
	return l
}

const (
	initializeLine  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`
	initializedLine = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

func (p *pipe) initialize() {
	p.t.Helper()
	p.write(initializeLine)
	p.expect(`"id":0`, `"serverInfo"`)
	p.write(initializedLine)
}

func toolCall(id int, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

// stdioClient is a real MCP client that speaks to a bridge through pipes.
func stdioClient(t *testing.T, d *daemon, dir string, opts ...mcpclient.ClientOption) *mcpclient.Client {
	t.Helper()
	return connect(t, startBridge(t, d.connect, dir).transport(), opts...)
}

func TestBridgeRealClient(t *testing.T) {
	svc := &fakeService{}
	c := stdioClient(t, newDaemon(t, svc), "/src/über")
	if r := callTool(t, c, "remember", `{"lesson":"use the pipe"}`); r.IsError {
		t.Fatal(textOf(r))
	}
	if r := callTool(t, c, "recall", `{"query":"pipe"}`); textOf(r) != "use the pipe" {
		t.Errorf("recall answered %q", textOf(r))
	}
	got := svc.callers()[0]
	if got.Dir != "/src/über" || got.Client != "test-agent" {
		t.Errorf("caller = %+v, want the bridge's folder and the client's name", got)
	}
	if id := svc.kept()[0].RequestID; len(id) != 36 {
		t.Errorf("request id of a write = %q, want one made by the bridge", id)
	}
}

// TestBridgeRoots: the server's own request travels to the client and back.
func TestBridgeRoots(t *testing.T) {
	svc := &fakeService{}
	c := stdioClient(t, newDaemon(t, svc), "/src", mcpclient.WithRootsHandler(newRoots("file:///client/root")))
	callTool(t, c, "recall", `{"query":"q"}`)
	if dir := svc.callers()[0].Dir; dir != "/client/root" {
		t.Errorf("folder of the caller = %q, want the client's root", dir)
	}
}

// TestBridgeLargeIDs: an answer has the id of its request, digit by digit.
func TestBridgeLargeIDs(t *testing.T) {
	p := startBridge(t, newDaemon(t, &fakeService{}).connect, "/src")
	p.initialize()
	for _, id := range []string{"9007199254740993", "-9223372036854775807", "12345678901234567890123", `"9007199254740993"`, "999999999999999"} {
		p.write(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"recall","arguments":{"query":"q"}}}`)
		p.expect(`"id":`+id+`,`, `"result":{`)
		p.write(`[{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}]`)
		p.expect(`"id":`+id+`,`, `"result":{}`)
	}
}

// TestBridgeRestart: the daemon goes away between two calls; the client never
// learns of it but that the tools may have changed.
func TestBridgeRestart(t *testing.T) {
	svc := &fakeService{}
	d := newDaemon(t, svc)
	p := startBridge(t, d.connect, "/src")
	p.initialize()
	p.write(toolCall(1, "remember", `{"lesson":"one"}`))
	p.expect(`"id":1`, "l-1")
	d.stop()
	p.write(toolCall(2, "recall", `{"query":"q"}`))
	p.expect("notifications/tools/list_changed")
	p.expect(`"id":2`, `"text":"one"`)
	if n := d.startCount(); n != 2 {
		t.Errorf("the daemon was started %d times, want 2", n)
	}
	if caller := svc.callers()[0]; caller.Client != "raw" {
		t.Errorf("after the replay the client's name is %q", caller.Client)
	}
}

// TestBridgeSessionLost: the daemon lives but has forgotten the session.
func TestBridgeSessionLost(t *testing.T) {
	d := newDaemon(t, &fakeService{})
	p := startBridge(t, d.connect, "")
	p.initialize()
	d.mu.Lock()
	d.server.http.CloseSessions(t.Context())
	d.mu.Unlock()
	p.write(toolCall(1, "status", `{}`))
	p.expect(`"id":1`, "recalld 1.2.3 is ready")
}

// TestBridgeWriteOnce: the daemon keeps a lesson and dies before it answers.
// The bridge asks again; the lesson is kept once.
func TestBridgeWriteOnce(t *testing.T) {
	svc := &fakeService{}
	d := newDaemon(t, svc)
	var broken sync.Once
	d.wrap = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			cut := false
			if strings.Contains(string(body), `"remember"`) {
				broken.Do(func() { cut = true })
			}
			if !cut {
				next.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(discard{}, r)
			connection, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			connection.Close()
		})
	}
	p := startBridge(t, d.connect, "")
	p.initialize()
	p.write(toolCall(1, "remember", `{"lesson":"once"}`))
	p.expect(`"id":1`, "l-1 in project demo")
	if kept := svc.kept(); len(kept) != 1 {
		t.Errorf("the lesson was kept %d times: %+v", len(kept), kept)
	}
}

// discard is a response writer that leads nowhere.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}
func (discard) Flush()                      {}

// TestBridgePipelining: many calls in flight at once, answered as they end.
func TestBridgePipelining(t *testing.T) {
	const calls = 32
	var arrived sync.WaitGroup
	arrived.Add(calls)
	svc := &fakeService{hold: func(ctx context.Context, _ string) error {
		arrived.Done()
		arrived.Wait() // ends only if all are in flight together
		return ctx.Err()
	}}
	p := startBridge(t, newDaemon(t, svc).connect, "")
	p.initialize()
	for i := range calls {
		p.write(toolCall(i+1, "recall", `{"query":"q"}`))
	}
	var ids []int
	for range calls {
		var answer struct {
			ID     int
			Result *struct{ IsError bool }
		}
		if err := json.Unmarshal([]byte(p.read()), &answer); err != nil {
			t.Fatal(err)
		}
		if answer.Result == nil || answer.Result.IsError {
			t.Errorf("call %d failed", answer.ID)
		}
		ids = append(ids, answer.ID)
	}
	slices.Sort(ids)
	for i, id := range ids {
		if id != i+1 {
			t.Fatalf("answered ids = %v", ids)
		}
	}
}

// TestBridgeBadInput: after every bad line the error is answered and the next
// call works.
func TestBridgeBadInput(t *testing.T) {
	p := startBridge(t, newDaemon(t, &fakeService{}).connect, "")
	p.initialize()
	for _, tt := range []struct{ name, line, id, want string }{
		{"garbage", "this is not json{{{", "null", "-32700"},
		{"half a message", `{"jsonrpc":"2.0","id":`, "null", "-32700"},
		{"a string", `"hello"`, "null", "-32600"},
		{"an id that is an object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", "-32600"},
		{"nothing in it", `{"jsonrpc":"2.0"}`, "null", "-32600"},
		{"not UTF-8", toolCall(5, "remember", "{\"lesson\":\"\xff\"}"), "5", "-32700"},
		{"16 MB", toolCall(6, "remember", `{"lesson":"`+strings.Repeat("0123456789abcdef", 1<<20)+`"}`), "6", "longer than 8388608 bytes"},
		{"1 MB", toolCall(7, "remember", `{"lesson":"`+strings.Repeat("0123456789abcdef", 1<<16)+`"}`), "7", "1–4000 characters"},
		{"70 MB", `{"jsonrpc":"2.0","id":8,"method":"` + strings.Repeat("0123456789abcdef", 70<<16) + `"}`, "null", "longer than 8388608 bytes"},
		{"an unknown method", `{"jsonrpc":"2.0","id":9,"method":"no/such"}`, "9", "-32601"},
		{"an unknown tool", toolCall(10, "no_such_tool", `{}`), "10", "no_such_tool"},
		{"arguments of a wrong type", toolCall(11, "recall", `"text"`), "11", "must be an object"},
		{"another version of JSON-RPC", `{"jsonrpc":"1.0","id":12,"method":"ping"}`, "12", "-32600"},
		{"an empty batch", `[]`, "null", "a batch holds 1–256 messages"},
		{"a second initialize in a batch", `[` + initializeLine + `]`, "0", "must not be part of a batch"},
	} {
		p.write(tt.line)
		if l := p.read(); !strings.Contains(l, `"id":`+tt.id) || !strings.Contains(l, tt.want) {
			t.Errorf("%s: answered %.300s, want id %s and %q", tt.name, l, tt.id, tt.want)
		}
		p.write(`{"jsonrpc":"2.0","id":99,"method":"ping"}`)
		p.expect(`"id":99`, `"result":{}`)
	}
	p.write("", "  ") // empty lines say nothing
	p.write(`{"jsonrpc":"2.0","id":"text id","method":"ping"}`)
	p.expect(`"id":"text id"`)
}

func TestBridgeBatch(t *testing.T) {
	p := startBridge(t, newDaemon(t, &fakeService{}).connect, "")
	p.initialize()
	p.write(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},` + toolCall(2, "status", `{}`) + `,7]`)
	var answers []struct{ ID *int }
	if err := json.Unmarshal([]byte(p.read()), &answers); err != nil {
		t.Fatalf("the answer to a batch is no array: %v", err)
	}
	if len(answers) != 3 {
		t.Errorf("%d answers to 2 requests and a number, want 3", len(answers))
	}
	p.write(`[{"jsonrpc":"2.0","method":"notifications/x"}]`) // no answer at all
	p.write(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	p.expect(`"id":3`)
}

func TestBridgeBeforeInitialize(t *testing.T) {
	p := startBridge(t, newDaemon(t, &fakeService{}).connect, "")
	p.write(toolCall(1, "status", `{}`))
	p.expect(`"id":1`, "has not sent initialize")
	p.initialize()
	p.write(toolCall(2, "status", `{}`))
	p.expect(`"id":2`, "is ready")
}

func TestBridgeNoDaemon(t *testing.T) {
	p := startBridge(t, func(context.Context) (*http.Client, error) {
		return nil, &memory.Error{Code: memory.CodeUnavailable, Message: "no daemon is running", Hint: "recalld up"}
	}, "")
	p.write(initializeLine)
	p.expect(`"id":0`, "-32001", "no daemon is running")
	p.in.Close()
	if err := <-p.ended; err != nil {
		t.Errorf("the bridge ended with %v", err)
	}
}

// TestBridgeEndOfInput: what is in flight is answered before the bridge ends,
// the last line needs no line break, and the session is closed.
func TestBridgeEndOfInput(t *testing.T) {
	held, release := make(chan struct{}), make(chan struct{})
	svc := &fakeService{hold: func(context.Context, string) error {
		close(held)
		<-release
		return nil
	}}
	d := newDaemon(t, svc)
	deleted := d.notesDelete()
	p := startBridge(t, d.connect, "")
	p.initialize()
	if _, err := io.WriteString(p.in, toolCall(1, "recall", `{"query":"q"}`)); err != nil {
		t.Fatal(err)
	}
	p.in.Close()
	<-held
	close(release)
	p.expect(`"id":1`)
	if _, err := p.out.ReadByte(); err != io.EOF {
		t.Errorf("after the last answer: %v, want the end", err)
	}
	if err := <-p.ended; err != nil {
		t.Errorf("the bridge ended with %v", err)
	}
	if !deleted.Load() {
		t.Error("the session was not ended with DELETE")
	}
}

func TestBridgeOutputGone(t *testing.T) {
	p := startBridge(t, newDaemon(t, &fakeService{}).connect, "")
	p.initialize()
	p.outEnd.Close()
	p.write(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if err := <-p.ended; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the bridge ended with %v, want the error of its output", err)
	}
}

// TestBridgeCancelled: a bridge that is ended while a call is under way ends its session with
// the daemon, too.
func TestBridgeCancelled(t *testing.T) {
	svc := &fakeService{}
	held := make(chan struct{})
	svc.hold = func(ctx context.Context, _ string) error { close(held); <-ctx.Done(); return ctx.Err() }
	d := newDaemon(t, svc)
	deleted := d.notesDelete()
	p := startBridge(t, d.connect, "")
	p.initialize()
	p.write(toolCall(1, "recall", `{"query":"q"}`))
	<-held
	p.cancel()
	if err := <-p.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the bridge ended with %v, want context.Canceled", err)
	}
	if !deleted.Load() {
		t.Error("the session was not ended with DELETE")
	}
}

func TestReadEvents(t *testing.T) {
	for _, tt := range []struct {
		stream string
		want   []string
	}{
		{"event: message\ndata: {}\n\n", []string{"{}"}},
		{"data:a\r\n\r\ndata: b\ndata: c\n\n", []string{"a", "b\nc"}},
		{": comment\nid: 1\n\ndata: x", nil}, // an event without its end does not count
		{"", nil},
	} {
		var got []string
		if err := readEvents(strings.NewReader(tt.stream), 100, func(data []byte) { got = append(got, string(data)) }); err != nil {
			t.Errorf("%q: %v", tt.stream, err)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q: events %q, want %q", tt.stream, got, tt.want)
		}
	}
	if err := readEvents(strings.NewReader("data: "+strings.Repeat("x", 100)+"\n\n"), 50, func([]byte) {}); err == nil {
		t.Error("an event over the limit is no error")
	}
}

// notesDelete reports whether a client has ended a session. It is called before the daemon has
// clients.
func (d *daemon) notesDelete() *atomic.Bool {
	deleted := new(atomic.Bool)
	d.wrap = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodDelete {
				deleted.Store(true)
			}
			next.ServeHTTP(w, r)
		})
	}
	return deleted
}
