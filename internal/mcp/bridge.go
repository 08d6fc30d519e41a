package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Limits of the bridge.
const (
	// maxLine is how much of one line is read to learn its id, so that a
	// message over MaxMessage can be answered; a longer line is skipped.
	maxLine = 64 << 20
	// maxInFlight bounds the requests waiting for an answer.
	maxInFlight = 1024
	// maxBatch bounds the messages of one batch.
	maxBatch = 256
	// maxAttempts is how often one message is sent before it is given up.
	maxAttempts = 4
	// retryDelay grows with each attempt.
	retryDelay = 50 * time.Millisecond
	// restAfter is how long after the client's last message the bridge gives its memory back.
	restAfter = time.Second
	// farewell is how long ending a session may take.
	farewell = time.Second
)

// BridgeOptions configure a bridge.
type BridgeOptions struct {
	// In carries the client's messages, one a line; Out the answers.
	In  io.Reader
	Out io.Writer
	// Connect makes sure that a daemon runs, starting one if need be, and
	// returns a way to send it HTTP requests. It is called again after the
	// connection was lost, never twice at once; nothing new is sent by what it
	// returned before then.
	Connect func(ctx context.Context) (*http.Client, error)
	// Dir is the working folder, by which the daemon knows the project.
	Dir string
	// Window is the client's window, as memory.Caller has it; empty if it is unknown.
	Window string
	// Toolsets are what the client is shown from the start, as Options.Toolsets, in
	// the place of the daemon's setting; none leaves it to that.
	Toolsets []string
	// ReadOnly refuses what changes something; see HeaderReadOnly.
	ReadOnly bool
	// Client names the entry of the list of clients whose policy holds; see access.Header.
	// Empty: none does.
	Client string
	// Logger must not write to Out; default: discarded.
	Logger *slog.Logger
}

func (o *BridgeOptions) validate() error {
	if o.In == nil || o.Out == nil || o.Connect == nil {
		return errors.New("bridge options: In, Out and Connect are required")
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	for _, name := range o.Toolsets { // whether there is one of this name the daemon knows
		if name == "" || strings.ContainsFunc(name, notInName) {
			return fmt.Errorf("bridge options: %q cannot be the name of a toolset or tool", name)
		}
	}
	return nil
}

// RunBridge forwards messages between a client on stdio and the daemon until
// In ends and what was in flight is answered, Out fails, or ctx ends. A read of
// In cannot be interrupted: after ctx has ended its goroutine lives until In
// gives way, for stdin until the process ends.
func RunBridge(ctx context.Context, opts BridgeOptions) error {
	if err := opts.validate(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	b := &bridge{log: opts.Logger, fail: cancel, slots: make(slots, maxInFlight), out: opts.Out}
	b.link = newLink(opts, b.send)

	lines := make(chan line)
	go readLines(ctx, opts.In, lines)
	err := b.run(ctx, lines)
	b.cancels.endStreams()
	b.inFlight.Wait()
	b.link.close(ctx)
	if cause := context.Cause(ctx); err == nil && cause != nil {
		err = cause
	}
	return err
}

// bridge takes lines apart and sees to it that every request is answered.
type bridge struct {
	log  *slog.Logger
	link *link
	fail context.CancelCauseFunc // ends the bridge

	inFlight sync.WaitGroup // messages on their way
	slots    slots
	cancels  cancels

	mu  sync.Mutex // guards out: one message a line, whole
	out io.Writer
}

func (b *bridge) run(ctx context.Context, lines <-chan line) error {
	rest := time.NewTimer(restAfter)
	defer rest.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rest.C:
			giveMemoryBack()
		case l, ok := <-lines:
			rest.Reset(restAfter)
			switch {
			case !ok:
				return nil
			case l.err != nil:
				return fmt.Errorf("read input: %w", l.err)
			case l.tooLong:
				b.send(tooLong(nil))
			default:
				b.take(ctx, l.text)
			}
		}
	}
}

// send writes one message to the client. When that fails the client has
// gone, and the bridge ends.
func (b *bridge) send(message []byte) {
	if message = oneLine(message); len(message) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := b.out.Write(append(message, '\n')); err != nil {
		b.fail(fmt.Errorf("write output: %w", err))
	}
}

// take handles one line: a message or a batch of them.
func (b *bridge) take(ctx context.Context, text []byte) {
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return
	}
	if text[0] == '[' {
		b.takeBatch(ctx, text)
		return
	}
	env, wrong := parseEnvelope(text)
	if wrong != nil {
		b.send(wrong.answer(env.ID))
		return
	}
	switch {
	case env.Method == "initialize" || env.Method == "notifications/initialized":
		// Everything else waits for these, so the reader does too.
		b.takeMessage(ctx, env, text, b.send)
	case b.cancels.cancel(env):
	case env.kind() != kindRequest:
		// Never refused: requests may wait for this very response.
		b.inFlight.Go(func() { b.takeMessage(ctx, env, text, b.send) })
	case !b.slots.take():
		b.send(busy(env.ID))
	default:
		ctx, done := b.cancels.begin(ctx, env)
		b.inFlight.Go(func() {
			defer b.slots.release()
			defer done()
			b.takeMessage(ctx, env, text, b.send)
		})
	}
}

// takeBatch forwards the messages of a batch one by one, as the daemon takes
// them, and answers with one array (JSON-RPC 2.0, section 6).
func (b *bridge) takeBatch(ctx context.Context, text []byte) {
	var messages []json.RawMessage
	switch err := json.Unmarshal(text, &messages); {
	case err != nil:
		b.send(rpcError(nil, codeParse, "the batch is not valid JSON"))
		return
	case len(messages) == 0 || len(messages) > maxBatch:
		b.send(rpcError(nil, codeInvalidRequest, fmt.Sprintf("a batch holds 1–%d messages, not %d", maxBatch, len(messages))))
		return
	case !b.slots.take():
		b.send(busy(nil))
		return
	}
	var answers batch
	var parts []func()
	for _, message := range messages {
		env, wrong := parseEnvelope(message)
		switch {
		case wrong != nil:
			answers.add(wrong.answer(env.ID))
		case env.Method == "initialize":
			answers.add(rpcError(env.ID, codeInvalidRequest, "initialize must not be part of a batch"))
		case b.cancels.cancel(env):
		case env.kind() != kindRequest:
			parts = append(parts, func() { b.takeMessage(ctx, env, message, answers.add) })
		default:
			ctx, done := b.cancels.begin(ctx, env) // before the next line is read, which may cancel it
			parts = append(parts, func() {
				defer done()
				b.takeMessage(ctx, env, message, answers.add)
			})
		}
	}
	b.inFlight.Go(func() {
		defer b.slots.release()
		var running sync.WaitGroup
		for _, part := range parts {
			running.Go(part)
		}
		running.Wait()
		b.send(answers.join())
	})
}

// takeMessage forwards one message and gives its answer, or the error that
// stands for it, to reply.
func (b *bridge) takeMessage(ctx context.Context, env envelope, text []byte, reply func([]byte)) {
	switch {
	case env.kind() == kindInvalid:
		reply(rpcError(nil, codeInvalidRequest, "neither a request, nor a notification, nor a response"))
		return
	case len(text) > MaxMessage:
		reply(tooLong(env.ID))
		return
	}
	if env.kind() == kindRequest {
		reply = underID(env.ID, reply)
	}
	err := b.forward(ctx, env, text, reply)
	if err == nil {
		return
	}
	b.log.Warn("message not forwarded", slog.String("method", env.Method), slog.Any("err", err))
	if env.kind() != kindRequest || ctx.Err() != nil {
		return
	}
	code := codeUnavailable
	if errors.Is(err, errNotInitialized) {
		code = codeInvalidRequest
	}
	reply(rpcRefusal(env.ID, code, err))
}

// exactDigits is how many digits every number has that the daemon can repeat exactly: it reads an
// id as a floating-point number.
const exactDigits = 15

// underID gives an answer the id that its request has. A client would wait for ever for the answer
// to a larger number than the daemon can repeat.
func underID(id json.RawMessage, reply func([]byte)) func([]byte) {
	if id[0] == '"' || len(id) <= exactDigits {
		return reply
	}
	return func(answer []byte) {
		var message map[string]json.RawMessage
		if json.Unmarshal(answer, &message) == nil && !bytes.Equal(message["id"], id) {
			message["id"] = id
			if own, err := json.Marshal(message); err == nil {
				answer = own
			}
		}
		reply(answer)
	}
}

// forward sends a message until the daemon has taken it. The request's id is
// made once, so that a write whose answer was lost is not made again.
func (b *bridge) forward(ctx context.Context, env envelope, text []byte, reply func([]byte)) error {
	out := outgoing{env: env, text: text, requestID: uuid.NewString(), reply: reply}
	var err error
	for attempt := range maxAttempts {
		if attempt > 0 {
			select {
			case <-time.After(time.Duration(attempt) * retryDelay):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			b.log.Info("sending again", slog.String("method", env.Method), slog.Any("after", err))
		}
		if err = b.link.deliver(ctx, out); !errors.Is(err, errLost) {
			return err
		}
	}
	return err
}

func tooLong(id json.RawMessage) []byte {
	return rpcError(id, codeInvalidRequest, fmt.Sprintf("the message is longer than %d bytes", MaxMessage))
}

func busy(id json.RawMessage) []byte {
	return rpcError(id, codeUnavailable, fmt.Sprintf("more than %d requests are waiting", maxInFlight))
}

// slots count what is in flight, up to their capacity.
type slots chan struct{}

func (s slots) take() bool {
	select {
	case s <- struct{}{}:
		return true
	default:
		return false
	}
}

func (s slots) release() { <-s }

// batch gathers the answers to a batch.
type batch struct {
	mu      sync.Mutex // guards answers
	answers [][]byte
}

func (b *batch) add(answer []byte) {
	if answer = oneLine(answer); len(answer) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answers = append(b.answers, answer)
}

// join returns the answers as one array, or nothing when there are none.
func (b *batch) join() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.answers) == 0 {
		return nil
	}
	return slices.Concat([]byte("["), bytes.Join(b.answers, []byte(",")), []byte("]"))
}
