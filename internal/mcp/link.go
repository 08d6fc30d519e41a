package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"github.com/recalld/recalld/internal/access"
	"github.com/recalld/recalld/internal/service"
)

var (
	// errLost is returned when the daemon or the session with it is gone; the
	// message may be sent again.
	errLost = errors.New("the connection to the daemon was lost")
	// errNotInitialized is returned for a message that needs a session before
	// the client asked for one.
	errNotInitialized = errors.New("the client has not sent initialize")
)

// endpoint is the daemon's URL; the host is a name only, the client knows
// where the socket is.
const endpoint = "http://recalld" + Path

// outgoing is one message on its way to the daemon.
type outgoing struct {
	env       envelope
	text      []byte
	requestID string
	agent     string       // HeaderAgent, of a replayed initialize
	found     string       // HeaderFound, likewise
	reply     func([]byte) // takes the answer
}

// link is the bridge's side of one session at a time with a daemon. When the
// session is lost it makes another: it connects again, replays initialize and
// opens the stream of what the server sends by itself.
type link struct {
	opts    BridgeOptions
	push    func([]byte) // takes what the server sends by itself
	streams sync.WaitGroup
	// agent is the HeaderAgent of the last answer to a call that opens or ends a
	// session, to be handed back when the session with the daemon is lost. Answers
	// to other calls may come late and tell of what was before.
	agent atomic.Pointer[string]
	// turn is a lock that a context can give up waiting for. It guards the
	// fields below, and is held while a session is made: everybody else waits
	// for that one.
	turn    chan struct{}
	current *connection
	// initialize is the client's own message, kept to be replayed; server is
	// what the first daemon said it is.
	initialize []byte
	server     json.RawMessage
	// found is what the client has found since it sent initialize, to be handed back
	// as agent is.
	found *latestFound
}

// connection is one session with one daemon.
type connection struct {
	http    *http.Client
	id      string
	version string          // of the protocol
	found   *latestFound    // of the client's initialize, shared by those that replay it
	ctx     context.Context // ends with the session, and its stream with it
	end     context.CancelFunc

	listening atomic.Bool
}

func newConnection(ctx context.Context, client *http.Client, found *latestFound) *connection {
	s := &connection{http: client, found: found}
	s.ctx, s.end = context.WithCancel(ctx)
	return s
}

func newLink(opts BridgeOptions, push func([]byte)) *link {
	return &link{opts: opts, push: push, turn: make(chan struct{}, 1), found: new(latestFound)}
}

// deliver sends a message and gives its answer to out.reply.
func (l *link) deliver(ctx context.Context, out outgoing) error {
	if out.env.Method == "initialize" {
		return l.open(ctx, out)
	}
	s, err := l.session(ctx)
	if err != nil {
		return err
	}
	response, err := l.post(ctx, s, out)
	if errors.Is(err, errLost) {
		l.lose(s)
	}
	if err != nil { // a message that was given up loses no session
		return err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNotFound && s.id == "" && !out.env.modern() {
		return errNotInitialized
	}
	reply := out.reply
	out.reply = func(answer []byte) {
		// First of all: the client's next message may already need another daemon.
		if response.StatusCode == http.StatusOK && changesAgent(out.env) {
			l.agent.Store(new(response.Header.Get(HeaderAgent)))
		}
		s.found.keep(response.Header.Get(HeaderFound))
		reply(answer)
	}
	err = l.read(response, out)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, errLost) {
		l.lose(s)
		return err
	}
	l.listen(s)
	return err
}

// changesAgent says whether a message is a call of a tool that opens or ends an
// agent's session.
func changesAgent(env envelope) bool {
	var params struct {
		Name      string `json:"name"`
		Arguments struct {
			Name string `json:"name"`
		} `json:"arguments"`
	}
	if env.Method != string(mcpgo.MethodToolsCall) || json.Unmarshal(env.Params, &params) != nil {
		return false
	}
	name := ownName(params.Name)
	if name == CallTool {
		name = ownName(params.Arguments.Name)
	}
	return name == service.StartSession.Name || name == service.EndSession.Name
}

// open makes the session that the client asked for.
func (l *link) open(ctx context.Context, out outgoing) error {
	if err := l.lock(ctx); err != nil {
		return err
	}
	defer l.unlock()
	l.leave(ctx)
	l.agent.Store(nil) // the client begins anew
	l.found = new(latestFound)
	s, answer, err := l.handshake(ctx, out)
	if err != nil {
		return err
	}
	if s.id == "" { // the daemon refused, and its answer says why
		s.end()
	} else {
		l.initialize, l.server = out.text, serverInfo(answer)
		l.current = s
		l.listen(s)
	}
	out.reply(answer)
	return nil
}

// session returns the present session. After a loss it makes a new one on
// behalf of the client, who need not know.
func (l *link) session(ctx context.Context) (*connection, error) {
	if err := l.lock(ctx); err != nil {
		return nil, err
	}
	defer l.unlock()
	if l.current != nil {
		return l.current, nil
	}
	if l.initialize == nil {
		client, err := l.opts.Connect(ctx)
		if err != nil {
			return nil, fmt.Errorf("connect to daemon: %w", err)
		}
		l.current = newConnection(ctx, client, l.found)
		return l.current, nil
	}
	replay := outgoing{env: envelope{ID: json.RawMessage("0"), Method: "initialize"}, text: l.initialize}
	if agent := l.agent.Load(); agent != nil {
		replay.agent = *agent
	}
	replay.found = l.found.header()
	s, answer, err := l.handshake(ctx, replay)
	if err != nil {
		return nil, err
	}
	if s.id == "" {
		s.end()
		return nil, fmt.Errorf("%w: the daemon did not take the session up again: %.200s", errLost, answer)
	}
	initialized := outgoing{
		env:  envelope{Method: "notifications/initialized"},
		text: []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`),
	}
	response, err := l.post(ctx, s, initialized)
	if err != nil {
		s.end()
		return nil, err
	}
	response.Body.Close()
	l.opts.Logger.Info("session replayed", slog.String("session", s.id))
	l.current = s
	l.listen(s)
	if !bytes.Equal(l.server, serverInfo(answer)) {
		// Another version of the daemon may have other tools.
		l.push([]byte(listChanged))
	}
	return s, nil
}

// handshake connects and initializes; it returns the daemon's answer. The
// session has no id when the daemon refused it.
func (l *link) handshake(ctx context.Context, out outgoing) (_ *connection, answer []byte, err error) {
	client, err := l.opts.Connect(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("connect to daemon: %w", err)
	}
	s := newConnection(ctx, client, l.found)
	defer func() {
		if err != nil {
			s.end()
		}
	}()
	response, err := l.post(ctx, s, out)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	out.reply = func(message []byte) { answer = message }
	if err := l.read(response, out); err != nil {
		return nil, nil, err
	}
	s.id = response.Header.Get(mcpgo.HeaderSessionID)
	var result struct {
		Result struct {
			ProtocolVersion string `json:"protocolVersion"`
		} `json:"result"`
	}
	if err := json.Unmarshal(answer, &result); err != nil {
		return nil, nil, fmt.Errorf("read initialize: %w", err)
	}
	s.version = result.Result.ProtocolVersion
	return s, answer, nil
}

// post sends a message. An error is errLost unless ctx ended.
func (l *link) post(ctx context.Context, s *connection, out outgoing) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, bytes.NewReader(out.text))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if agent := l.agent.Load(); out.agent == "" && agent != nil && out.env.modern() {
		out.agent = *agent
	}
	for name, value := range map[string]string{
		HeaderDir: url.PathEscape(l.opts.Dir), HeaderWindow: l.opts.Window, HeaderRequestID: out.requestID,
		HeaderAgent: out.agent, HeaderFound: out.found, HeaderToolsets: strings.Join(l.opts.Toolsets, ","),
	} {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	if l.opts.ReadOnly {
		request.Header.Set(HeaderReadOnly, "true")
	}
	l.identify(request, s, out.env)
	return s.do(ctx, request)
}

// identify sets the headers that say whose policy holds, and those that streamable HTTP
// wants. A message that names its own protocol version, as in the stateless revision of MCP,
// is sent under that one.
func (l *link) identify(request *http.Request, s *connection, env envelope) {
	if l.opts.Client != "" {
		request.Header.Set(access.Header, l.opts.Client)
	}
	if version := env.version(); mcpgo.IsModernProtocol(version) {
		request.Header.Set(mcpgo.HeaderProtocolVersion, version)
		for name, value := range mcpgo.StandardHeaders(version, mcpgo.MCPMethod(env.Method), env.Params) {
			request.Header.Set(name, value)
		}
		return
	}
	if s.id != "" {
		request.Header.Set(mcpgo.HeaderSessionID, s.id)
	}
	if s.version != "" {
		request.Header.Set(mcpgo.HeaderProtocolVersion, s.version)
	}
}

// do sends a request. An error is errLost unless ctx ended.
func (s *connection) do(ctx context.Context, request *http.Request) (*http.Response, error) {
	response, err := s.http.Do(request)
	if ctx.Err() != nil {
		if err == nil {
			response.Body.Close()
		}
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errLost, err)
	}
	return response, nil
}

// read passes on what the daemon answered. It returns errLost when the session
// is unknown, the daemon is draining, or the answer broke off.
func (l *link) read(response *http.Response, out outgoing) error {
	switch response.StatusCode {
	case http.StatusAccepted:
		return nil
	case http.StatusNotFound:
		if out.env.modern() { // an unknown method
			break
		}
		fallthrough
	case http.StatusServiceUnavailable:
		return fmt.Errorf("%w: HTTP %d", errLost, response.StatusCode)
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if kind == "text/event-stream" {
		return l.readStream(response.Body, out)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxLine))
	if err != nil {
		return fmt.Errorf("%w: %w", errLost, err)
	}
	if env, wrong := parseEnvelope(body); wrong != nil || env.kind() != kindResponse {
		if out.env.kind() != kindRequest {
			return nil
		}
		var refused service.ErrorBody // of what stands before MCP
		if json.Unmarshal(body, &refused) == nil && refused.Error != nil {
			return refused.Error
		}
		var unread struct { // of a message whose id the daemon did not read
			Error *fault `json:"error"`
		}
		if json.Unmarshal(body, &unread) == nil && unread.Error != nil {
			out.reply(unread.Error.answer(out.env.ID))
			return nil
		}
		return fmt.Errorf("the daemon answered HTTP %d: %.200s", response.StatusCode, strings.TrimSpace(string(body)))
	}
	out.reply(body)
	return nil
}

// readStream passes on the events of an answer: the answer itself, and before
// it what the server wants to say or know meanwhile.
func (l *link) readStream(body io.Reader, out outgoing) error {
	answered := false
	err := readEvents(body, maxLine, func(data []byte) {
		if env, wrong := parseEnvelope(data); wrong == nil && env.kind() == kindResponse {
			answered = true
			out.reply(data)
			return
		}
		l.push(data)
	})
	if !answered && out.env.kind() == kindRequest {
		return fmt.Errorf("%w: the answer broke off (%v)", errLost, err)
	}
	return nil
}

// listen opens the stream of what the server sends by itself, unless it is
// open. It ends with the session; a stream that broke is opened again after the
// next answer, so that an idle bridge never starts a daemon that was stopped.
func (l *link) listen(s *connection) {
	if s.id == "" || s.ctx.Err() != nil || !s.listening.CompareAndSwap(false, true) {
		return
	}
	l.streams.Go(func() {
		if again := l.stream(s); again {
			s.listening.Store(false)
		}
	})
}

// stream reads the stream until it ends; it returns false when the server has
// none to offer.
func (l *link) stream(s *connection) (again bool) {
	request, err := http.NewRequestWithContext(s.ctx, http.MethodGet, endpoint, nil)
	if err != nil {
		return false
	}
	request.Header.Set("Accept", "text/event-stream")
	l.identify(request, s, envelope{})
	response, err := s.do(s.ctx, request)
	if err != nil {
		return true
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return response.StatusCode != http.StatusMethodNotAllowed
	}
	if err := readEvents(response.Body, maxLine, l.push); err != nil && s.ctx.Err() == nil {
		l.opts.Logger.Debug("stream ended", slog.Any("err", err))
	}
	return true
}

// lose forgets a session, unless another one was already made.
func (l *link) lose(s *connection) {
	l.turn <- struct{}{}
	defer l.unlock()
	if l.current == s {
		l.drop()
	}
}

// drop forgets the session; the caller holds turn.
func (l *link) drop() {
	if l.current != nil {
		l.current.end()
		l.current = nil
	}
}

// leave ends the session with the daemon, if one is there to hear it; the caller holds turn.
func (l *link) leave(ctx context.Context) {
	if s := l.current; s != nil && s.id != "" {
		// ctx may have ended, which is no reason not to say goodbye.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
		defer cancel()
		if request, err := http.NewRequestWithContext(ctx, http.MethodDelete, endpoint, nil); err == nil {
			l.identify(request, s, envelope{})
			if response, err := s.http.Do(request); err == nil {
				response.Body.Close()
			}
		}
	}
	l.drop()
}

// close ends the session, and waits for the streams.
func (l *link) close(ctx context.Context) {
	l.turn <- struct{}{}
	defer l.unlock()
	l.leave(ctx)
	l.streams.Wait()
}

func (l *link) lock(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *link) unlock() { <-l.turn }

// serverInfo returns what a server said it is in its answer to initialize.
func serverInfo(answer []byte) json.RawMessage {
	var message struct {
		Result struct {
			ServerInfo json.RawMessage `json:"serverInfo"`
		} `json:"result"`
	}
	if json.Unmarshal(answer, &message) != nil {
		return nil
	}
	return message.Result.ServerInfo
}
