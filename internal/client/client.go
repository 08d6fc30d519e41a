// Package client carries out operations over the daemon's socket. The command line and
// the MCP bridge use it. Connect finds the daemon, and starts one if none answers.
//
// A call that never reached a daemon is made again. A call whose connection broke is
// made again, once, if the operation is repeatable, so that a daemon's restart is not
// seen.
package client

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"syscall"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// Name is what the command line calls itself; the audit log has it.
const Name = "cli"

// maxAnswer bounds an answer, in bytes: a daemon gone wrong must not fill the
// memory of every client.
const maxAnswer = 64 << 20

// Client speaks to one daemon. It is safe for concurrent use.
type Client struct {
	opts Options
	http *http.Client
}

var _ service.Service = (*Client)(nil)

// newClient returns a client of the socket; nothing is dialled.
func newClient(opts Options) *Client {
	dialer := &net.Dialer{}
	return &Client{opts: opts, http: &http.Client{
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return dialer.DialContext(ctx, "unix", opts.Socket)
			},
			// Bodies are small and local: compressing costs more than it saves.
			DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// HTTP returns an HTTP client that reaches the daemon whatever host a URL names,
// for what is no operation: the MCP endpoint.
func (c *Client) HTTP() *http.Client { return c.http }

// Close closes idle connections. Calls after it open new ones.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Hello asks who answers on the socket.
func (c *Client) Hello(ctx context.Context) (service.Greeting, error) {
	g, err := service.Hello.Do(ctx, c, service.None{})
	if err != nil {
		return service.Greeting{}, err
	}
	return *g, nil
}

// Call implements service.Service. A write without a request id is given one, by which
// the daemon recognises a repetition.
func (c *Client) Call(ctx context.Context, op *service.Spec, request any, progress func(any)) (any, error) {
	if op.AnyProtocol { // no daemon is started to be greeted or stopped
		return c.try(ctx, op, request)
	}
	request = op.Identified(request, rand.Text)
	if op.Progress() != nil {
		return c.stream(ctx, op, request, progress)
	}
	response, err := c.try(ctx, op, request)
	if isRefused(err) || op.Repeatable() && isBroken(err) && ctx.Err() == nil {
		if err := c.Ensure(ctx); err != nil {
			return nil, err
		}
		response, err = c.try(ctx, op, request)
	}
	return response, err
}

// try makes a call once. The error is a *memory.Error: the daemon's, or one of
// CodeUnavailable when none answered.
func (c *Client) try(ctx context.Context, op *service.Spec, request any) (any, error) {
	resp, err := c.send(ctx, op, request)
	if err != nil {
		return nil, outward(ctx, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, outward(ctx, fmt.Errorf("read answer: %w", err))
	case len(body) > maxAnswer:
		return nil, memory.Errorf(memory.CodeInternal, "the daemon's answer is over %d bytes", maxAnswer)
	}
	return decode(op.Response(), body)
}

// stream makes a call that is answered with an event per line, until the last one.
func (c *Client) stream(ctx context.Context, op *service.Spec, request any, progress func(any)) (any, error) {
	resp, err := c.send(ctx, op, request)
	if isRefused(err) {
		if err = c.Ensure(ctx); err == nil {
			resp, err = c.send(ctx, op, request)
		}
	}
	if err != nil {
		return nil, outward(ctx, err)
	}
	defer resp.Body.Close()
	events := bufio.NewScanner(resp.Body)
	events.Buffer(nil, maxAnswer)
	for events.Scan() {
		var event service.Event
		if err := json.Unmarshal(events.Bytes(), &event); err != nil {
			if broken := events.Err(); broken != nil { // in the middle of a line
				return nil, outward(ctx, fmt.Errorf("read progress: %w", broken))
			}
			return nil, notUnderstood(err)
		}
		if event.Progress != nil && progress != nil {
			p, err := decode(op.Progress(), event.Progress)
			if err != nil {
				return nil, err
			}
			progress(reflect.ValueOf(p).Elem().Interface())
		}
		switch {
		case event.Error != nil:
			return nil, event.Error
		case event.Done != nil:
			return decode(op.Response(), event.Done)
		}
	}
	err = events.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		return nil, memory.Errorf(memory.CodeInternal, "the daemon's answer is over %d bytes", maxAnswer)
	}
	return nil, outward(ctx, fmt.Errorf("read progress: %w", cmp.Or(err, io.ErrUnexpectedEOF)))
}

// decode returns a pointer to a value of a type.
func decode(typ reflect.Type, text []byte) (any, error) {
	value := reflect.New(typ).Interface()
	if err := json.Unmarshal(text, value); err != nil {
		return nil, notUnderstood(err)
	}
	return value, nil
}

func notUnderstood(err error) error {
	return memory.Errorf(memory.CodeIncompatible, "the daemon's answer is not understood: %w", err)
}

// send makes a request and returns its answer if its status is 200, and the
// error in its body otherwise.
func (c *Client) send(ctx context.Context, op *service.Spec, request any) (*http.Response, error) {
	path, err := op.URLPath(request, url.PathEscape)
	if err != nil {
		return nil, err
	}
	var body io.Reader
	if op.Method == http.MethodPost {
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false) // raw JSON inside arrives as it came
		if err := encoder.Encode(request); err != nil {
			return nil, memory.Errorf(memory.CodeInvalidInput, "encode request: %w", err)
		}
		body = &text
	}
	r, err := http.NewRequestWithContext(ctx, op.Method, "http://recalld"+path, body)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	r.Header.Set(service.ProtocolHeader, strconv.Itoa(service.Protocol))
	r.Header.Set("User-Agent", Name)
	if body != nil {
		r.Header.Set("Content-Type", service.MIMEJSON)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	if notice := resp.Header.Get(service.NoticeHeader); notice != "" && c.opts.Notice != nil {
		c.opts.Notice(notice)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("read error: %w", err)
	}
	var failed service.ErrorBody
	if json.Unmarshal(text, &failed) != nil || failed.Error == nil || failed.Error.Code == "" {
		return nil, memory.Errorf(memory.CodeIncompatible, "what answers on %s is not recalld: %s", c.opts.Socket, resp.Status)
	}
	return nil, failed.Error
}

// outward puts an error of the transport into words. What the caller's own
// context ended stays recognisable as that.
func outward(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*memory.Error](err); ok {
		return err
	}
	if ctx.Err() != nil {
		return &memory.Error{Code: memory.CodeUnavailable, Message: "the call was given up: " + context.Cause(ctx).Error(), Cause: ctx.Err()}
	}
	if isRefused(err) {
		return &memory.Error{Code: memory.CodeUnavailable, Message: "no daemon is running",
			Hint: "start it with: recalld up", Cause: err}
	}
	if e, ok := errors.AsType[*url.Error](err); ok { // its URL is made up
		err = e.Err
	}
	if errors.Is(err, fs.ErrPermission) { // a daemon may run; see MayNotOpen
		return &memory.Error{Code: memory.CodeUnavailable, Message: fmt.Sprintf("the daemon's socket cannot be opened: %v", err),
			Hint: "where that is not meant, make its folder yours, with chmod 700; else run as the user whose daemon it is, and outside of the sandbox", Cause: err}
	}
	return &memory.Error{Code: memory.CodeUnavailable, Message: fmt.Sprintf("the connection to the daemon broke: %v", err),
		Hint: "see the daemon's log", Cause: err}
}

// MayNotOpen reports whether an error says that the socket may not be opened, so that it is not
// known whether a daemon runs.
func MayNotOpen(err error) bool {
	return memory.CodeOf(err) == memory.CodeUnavailable && errors.Is(err, fs.ErrPermission)
}

// isRefused reports whether nothing listens: the call never reached a daemon. A socket
// whose daemon died refuses; one that was removed does not exist.
func isRefused(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial" &&
		(errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist) || isRefusedBySystem(err))
}

// isBroken reports whether the connection ended before the answer did: the daemon may
// or may not have done what it was asked.
func isBroken(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed)
}
