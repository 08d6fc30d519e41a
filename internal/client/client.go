// Package client is memory.Service over the daemon's socket: what the command
// line and the MCP bridge talk to. Connect finds the daemon, starting it where
// none answers.
//
// Vocabulary. A call is safe to repeat when doing it twice does nothing more
// than doing it once: every question, and a write that carries a request id.
// A call that is, and whose connection broke, is repeated once after a
// reconnect, so that a daemon's restart is not seen.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/wire"
)

// maxAnswer bounds an answer, in bytes: a daemon gone wrong must not fill the
// memory of every client.
const maxAnswer = 64 << 20

// Client speaks to one daemon. It is safe for concurrent use.
type Client struct {
	opts Options
	http *http.Client
}

var _ memory.Service = (*Client)(nil)

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
// for what is not a method of memory.Service: the MCP endpoint.
func (c *Client) HTTP() *http.Client { return c.http }

// Close closes idle connections. Calls after it open new ones.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Hello asks who answers on the socket.
func (c *Client) Hello(ctx context.Context) (wire.Greeting, error) {
	var g wire.Greeting
	err := c.try(ctx, http.MethodGet, wire.Hello, nil, &g)
	return g, err
}

// Recall implements memory.Recaller.
func (c *Client) Recall(ctx context.Context, req memory.RecallRequest) (*memory.RecallResponse, error) {
	return post[memory.RecallResponse](ctx, c, wire.Recall, req, repeatable)
}

// Receipt implements memory.Recaller.
func (c *Client) Receipt(ctx context.Context, id string) (*memory.Receipt, error) {
	return get[memory.Receipt](ctx, c, wire.Receipts+url.PathEscape(id))
}

// Remember implements memory.Rememberer. A request without an id is given one,
// by which the daemon knows a repetition.
func (c *Client) Remember(ctx context.Context, req memory.RememberRequest) (*memory.Remembered, error) {
	named(&req.RequestID)
	return post[memory.Remembered](ctx, c, wire.Remember, req, repeatable)
}

// Forget implements memory.Rememberer. It is not repeated: the second time,
// what the first has removed would not be found.
func (c *Client) Forget(ctx context.Context, req memory.ForgetRequest) (*memory.Forgotten, error) {
	return post[memory.Forgotten](ctx, c, wire.Forget, req, once)
}

// StartSession implements memory.Journal. A request without an id is given one.
func (c *Client) StartSession(ctx context.Context, req memory.StartSessionRequest) (*memory.SessionState, error) {
	named(&req.RequestID)
	return post[memory.SessionState](ctx, c, wire.Start, req, repeatable)
}

// RecordStep implements memory.Journal. A request without an id is given one.
func (c *Client) RecordStep(ctx context.Context, req memory.RecordStepRequest) (*memory.StepRecorded, error) {
	named(&req.RequestID)
	return post[memory.StepRecorded](ctx, c, wire.Step, req, repeatable)
}

// EndSession implements memory.Journal. A request without an id is given one:
// when it names no session, the second time would mean another.
func (c *Client) EndSession(ctx context.Context, req memory.EndSessionRequest) (*memory.SessionState, error) {
	named(&req.RequestID)
	return post[memory.SessionState](ctx, c, wire.End, req, repeatable)
}

// SearchSteps implements memory.History.
func (c *Client) SearchSteps(ctx context.Context, req memory.HistoryRequest) (*memory.StepMatches, error) {
	return post[memory.StepMatches](ctx, c, wire.Search, wire.SearchRequest{
		Query: req.Query, Scope: req.Scope, Filters: req.Filters, Limit: req.Limit, Project: req.Project, Caller: req.Caller,
	}, repeatable)
}

// LastSteps implements memory.History.
func (c *Client) LastSteps(ctx context.Context, req memory.HistoryRequest) (*memory.StepList, error) {
	return post[memory.StepList](ctx, c, wire.Last, wire.LastRequest{
		N: req.Limit, Scope: req.Scope, Filters: req.Filters, Project: req.Project, Caller: req.Caller,
	}, repeatable)
}

// SummarizeSession implements memory.History.
func (c *Client) SummarizeSession(ctx context.Context, req memory.HistoryRequest) (*memory.Summary, error) {
	return post[memory.Summary](ctx, c, wire.Summary, wire.SummaryRequest{Scope: req.Scope, Project: req.Project, Caller: req.Caller}, repeatable)
}

// Sessions implements memory.History.
func (c *Client) Sessions(ctx context.Context, req memory.HistoryRequest) (*memory.SessionList, error) {
	return post[memory.SessionList](ctx, c, wire.Sessions, wire.SessionsRequest{
		Filters: req.Filters, Limit: req.Limit, Project: req.Project, Caller: req.Caller,
	}, repeatable)
}

// Import implements memory.Archive.
func (c *Client) Import(ctx context.Context, req memory.ImportRequest) (*memory.Imported, error) {
	return post[memory.Imported](ctx, c, wire.Import, req, repeatable)
}

// Export implements memory.Archive. It is not repeated: the folder is no
// longer empty the second time.
func (c *Client) Export(ctx context.Context, req memory.ExportRequest) (*memory.Exported, error) {
	return post[memory.Exported](ctx, c, wire.Export, req, once)
}

// IndexRepo implements memory.Repositories. Repetitions coalesce in the queue.
func (c *Client) IndexRepo(ctx context.Context, req memory.IndexRequest) (*memory.IndexQueued, error) {
	return post[memory.IndexQueued](ctx, c, wire.Index, req, repeatable)
}

// Repos implements memory.Repositories.
func (c *Client) Repos(ctx context.Context) ([]memory.SandboxState, error) {
	list, err := get[wire.RepoList](ctx, c, wire.Repos)
	if err != nil {
		return nil, err
	}
	return list.Repos, nil
}

// Status implements memory.Operator.
func (c *Client) Status(ctx context.Context) (*memory.Status, error) {
	return get[memory.Status](ctx, c, wire.Status)
}

// DeadJobs implements memory.Operator.
func (c *Client) DeadJobs(ctx context.Context) ([]memory.DeadJob, error) {
	list, err := get[wire.DeadJobList](ctx, c, wire.DeadJobs)
	if err != nil {
		return nil, err
	}
	return list.Jobs, nil
}

// RequeueJob implements memory.Operator.
func (c *Client) RequeueJob(ctx context.Context, id string) error {
	_, err := post[struct{}](ctx, c, wire.Requeue+url.PathEscape(id), struct{}{}, once)
	return err
}

// Stop implements memory.Operator. No daemon is started to be stopped.
func (c *Client) Stop(ctx context.Context) error {
	return c.try(ctx, http.MethodPost, wire.Stop, struct{}{}, &struct{}{})
}

// Models implements memory.Models.
func (c *Client) Models(ctx context.Context) ([]memory.ModelState, error) {
	list, err := get[wire.ModelList](ctx, c, wire.Models)
	if err != nil {
		return nil, err
	}
	return list.Models, nil
}

// PullModel implements memory.Models.
func (c *Client) PullModel(ctx context.Context, name string, progress func(memory.PullProgress)) error {
	return lines(ctx, c, wire.Pull, wire.PullRequest{Name: name}, func(ev wire.PullEvent) (bool, error) {
		if ev.Progress != nil && progress != nil {
			progress(*ev.Progress)
		}
		if ev.Error != nil {
			return true, ev.Error
		}
		return ev.Done, nil
	})
}

// AdaptModel implements memory.Models. An adaptation ends with its request.
func (c *Client) AdaptModel(ctx context.Context, req memory.AdaptRequest, progress func(memory.AdaptProgress)) (*memory.Adaptation, error) {
	var done *memory.Adaptation
	err := lines(ctx, c, wire.Adapt, req, func(ev wire.AdaptEvent) (bool, error) {
		if ev.Progress != nil && progress != nil {
			progress(*ev.Progress)
		}
		if ev.Error != nil {
			return true, ev.Error
		}
		done = ev.Done
		return done != nil, nil
	})
	return done, err
}

// ResetModel implements memory.Models.
func (c *Client) ResetModel(ctx context.Context) (*memory.BuiltinModel, error) {
	return post[memory.BuiltinModel](ctx, c, wire.Reset, struct{}{}, once)
}

// BuiltinModel implements memory.Models.
func (c *Client) BuiltinModel(ctx context.Context) (*memory.BuiltinModel, error) {
	return get[memory.BuiltinModel](ctx, c, wire.Builtin)
}

// repetition says whether a call may be made again after its connection broke,
// when it is not known whether the daemon has done it. A call that never
// reached a daemon is always made again.
type repetition bool

const (
	once       repetition = false
	repeatable repetition = true
)

func get[Answer any](ctx context.Context, c *Client, path string) (*Answer, error) {
	return call[Answer](ctx, c, http.MethodGet, path, nil, repeatable)
}

func post[Answer any](ctx context.Context, c *Client, path string, req any, again repetition) (*Answer, error) {
	return call[Answer](ctx, c, http.MethodPost, path, req, again)
}

func call[Answer any](ctx context.Context, c *Client, method, path string, req any, again repetition) (*Answer, error) {
	answer := new(Answer)
	err := c.try(ctx, method, path, req, answer)
	if isRefused(err) || bool(again) && isBroken(err) && ctx.Err() == nil {
		if err := c.Ensure(ctx); err != nil {
			return nil, err
		}
		*answer = *new(Answer)
		err = c.try(ctx, method, path, req, answer)
	}
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// try makes a call once. The error is a *memory.Error: the daemon's, or one of
// CodeUnavailable when none answered.
func (c *Client) try(ctx context.Context, method, path string, req, answer any) error {
	resp, err := c.send(ctx, method, path, req)
	if err != nil {
		return outward(ctx, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return outward(ctx, fmt.Errorf("read answer: %w", err))
	case len(body) > maxAnswer:
		return memory.Errorf(memory.CodeInternal, "the daemon's answer is over %d bytes", maxAnswer)
	}
	if err := json.Unmarshal(body, answer); err != nil {
		return memory.Errorf(memory.CodeIncompatible, "the daemon's answer is not understood: %w", err)
	}
	return nil
}

// send makes a request and returns its answer if its status is 200, and the
// error in its body otherwise.
func (c *Client) send(ctx context.Context, method, path string, req any) (*http.Response, error) {
	var body io.Reader
	if req != nil {
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false) // raw JSON inside arrives as it came
		if err := encoder.Encode(req); err != nil {
			return nil, memory.Errorf(memory.CodeInvalidInput, "encode request: %w", err)
		}
		body = &text
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://recalld"+path, body)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	r.Header.Set(wire.ProtocolHeader, strconv.Itoa(wire.Protocol))
	if req != nil {
		r.Header.Set("Content-Type", wire.MIMEJSON)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	if notice := resp.Header.Get(wire.NoticeHeader); notice != "" && c.opts.Notice != nil {
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
	var failed wire.ErrorBody
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
	return &memory.Error{Code: memory.CodeUnavailable, Message: fmt.Sprintf("the connection to the daemon broke: %v", err),
		Hint: "see the daemon's log", Cause: err}
}
