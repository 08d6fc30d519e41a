package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
)

// errCancelled ends a request that its client gave up; it gets no answer.
var errCancelled = errors.New("cancelled by the client")

// cancels are the requests under way of protocol versions without sessions. Over stdio
// such a request is cancelled by a notification, over HTTP by closing its answer.
type cancels struct {
	mu      sync.Mutex // guards running
	running map[string]*running
}

type running struct {
	cancel context.CancelCauseFunc
	stream bool // it is answered only when it ends
}

// begin notes a request until done is called. Others are cancelled by the daemon.
func (c *cancels) begin(ctx context.Context, env envelope) (_ context.Context, done func()) {
	if !env.modern() {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	id := string(env.ID)
	r := &running{cancel, env.Method == string(mcpgo.MethodSubscriptionsListen)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil {
		c.running = map[string]*running{}
	}
	c.running[id] = r
	return ctx, func() {
		cancel(nil)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.running[id] == r { // a client may use an id twice
			delete(c.running, id)
		}
	}
}

// cancel ends the request that a notification names; it returns false for any other
// message, and where no such request is under way.
func (c *cancels) cancel(env envelope) bool {
	var params struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if env.Method != string(mcpgo.MethodNotificationCancelled) || json.Unmarshal(env.Params, &params) != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r, known := c.running[string(params.RequestID)]
	if known {
		r.cancel(errCancelled)
	}
	return known
}

// endStreams ends what would go on although no more is read.
func (c *cancels) endStreams() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.running {
		if r.stream {
			r.cancel(errCancelled)
		}
	}
}
