package client

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/memory/session"
	"github.com/recalld/recalld/internal/memory/wire"
)

// CompleteTask implements session.WorkingMemory. A request without an id is given one.
func (c *Client) CompleteTask(ctx context.Context, req session.CompleteTaskRequest) (*session.TaskSaved, error) {
	named(&req.RequestID)
	return post[session.TaskSaved](ctx, c, wire.Complete, req, repeatable)
}

// BlockTask implements session.WorkingMemory. A request without an id is given one.
func (c *Client) BlockTask(ctx context.Context, req session.BlockTaskRequest) (*session.TaskSaved, error) {
	named(&req.RequestID)
	return post[session.TaskSaved](ctx, c, wire.Block, req, repeatable)
}

// UnblockTask implements session.WorkingMemory. A request without an id is given one.
func (c *Client) UnblockTask(ctx context.Context, req session.UnblockTaskRequest) (*session.TaskSaved, error) {
	named(&req.RequestID)
	return post[session.TaskSaved](ctx, c, wire.Unblock, req, repeatable)
}

// TaskWindow implements session.WorkingMemory.
func (c *Client) TaskWindow(ctx context.Context, req session.TaskWindowRequest) (*session.TaskWindow, error) {
	return post[session.TaskWindow](ctx, c, wire.Tasks, req, repeatable)
}

// LoadTasks implements session.WorkingMemory. A request without an id is given one.
func (c *Client) LoadTasks(ctx context.Context, req session.LoadTasksRequest) (*session.TasksLoaded, error) {
	named(&req.RequestID)
	return post[session.TasksLoaded](ctx, c, wire.Load, req, repeatable)
}

// TaskHistory implements session.WorkingMemory.
func (c *Client) TaskHistory(ctx context.Context, req session.TaskHistoryRequest) (*session.TaskHistory, error) {
	return post[session.TaskHistory](ctx, c, wire.Past, req, repeatable)
}

// Register implements session.Catalogue. A request without an id is given one.
func (c *Client) Register(ctx context.Context, req session.RegisterRequest) (*session.Registered, error) {
	named(&req.RequestID)
	return post[session.Registered](ctx, c, wire.Register, req, repeatable)
}

// Unregister implements session.Catalogue. A request without an id is given one.
func (c *Client) Unregister(ctx context.Context, req session.UnregisterRequest) (*session.Registered, error) {
	named(&req.RequestID)
	return post[session.Registered](ctx, c, wire.Remove, req, repeatable)
}

// Entries implements session.Catalogue.
func (c *Client) Entries(ctx context.Context, req session.EntriesRequest) (*session.EntryList, error) {
	return post[session.EntryList](ctx, c, wire.Entries, req, repeatable)
}

// SearchTools implements session.Catalogue. A request without an id is given one.
func (c *Client) SearchTools(ctx context.Context, req session.SearchToolsRequest) (*session.ToolMatches, error) {
	named(&req.RequestID)
	return post[session.ToolMatches](ctx, c, wire.Tools, req, repeatable)
}

// SessionContext implements session.Contexts.
func (c *Client) SessionContext(ctx context.Context, req session.ContextRequest) (*session.Context, error) {
	return post[session.Context](ctx, c, wire.Context, req, repeatable)
}

// ChangeContext implements session.Contexts. A request without an id is given one.
func (c *Client) ChangeContext(ctx context.Context, req session.ChangeContextRequest) (*session.Context, error) {
	named(&req.RequestID)
	return post[session.Context](ctx, c, wire.Change, req, repeatable)
}

// Assemble implements session.Contexts. A request without an id is given one.
func (c *Client) Assemble(ctx context.Context, req session.AssembleRequest) (*session.Assembled, error) {
	named(&req.RequestID)
	return post[session.Assembled](ctx, c, wire.Assemble, req, repeatable)
}

// WorkingContext implements session.WorkingContexts.
func (c *Client) WorkingContext(ctx context.Context, req session.WorkingContextRequest) (*session.WorkingContext, error) {
	return post[session.WorkingContext](ctx, c, wire.Working, req, repeatable)
}

// Report implements session.WorkingContexts. A request without an id is given one.
func (c *Client) Report(ctx context.Context, req session.ReportRequest) (*session.WorkingContext, error) {
	named(&req.RequestID)
	return post[session.WorkingContext](ctx, c, wire.Report, req, repeatable)
}

// Compact implements session.WorkingContexts. A request without an id is given one.
func (c *Client) Compact(ctx context.Context, req session.CompactRequest) (*session.Compacted, error) {
	named(&req.RequestID)
	return post[session.Compacted](ctx, c, wire.Compact, req, repeatable)
}

// Receipts implements session.Ledger.
func (c *Client) Receipts(ctx context.Context, req session.ReceiptsRequest) (*session.ReceiptList, error) {
	return post[session.ReceiptList](ctx, c, wire.Ledger, req, repeatable)
}

// ContextOf implements session.Ledger.
func (c *Client) ContextOf(ctx context.Context, req session.ContextOfRequest) (*session.TurnContext, error) {
	return post[session.TurnContext](ctx, c, wire.Turn, req, repeatable)
}

// Feedback implements session.Ledger. A request without an id is given one.
func (c *Client) Feedback(ctx context.Context, req session.FeedbackRequest) (*session.FeedbackResult, error) {
	named(&req.RequestID)
	return post[session.FeedbackResult](ctx, c, wire.Feedback, req, repeatable)
}

// Replay implements session.Ledger.
func (c *Client) Replay(ctx context.Context, req session.ReplayRequest, progress func(session.ReplayProgress)) (*session.Replayed, error) {
	var done *session.Replayed
	err := lines(ctx, c, wire.Replay, req, func(ev wire.ReplayEvent) (bool, error) {
		if ev.Progress != nil && progress != nil {
			progress(*ev.Progress)
		}
		done = ev.Done
		if ev.Error != nil {
			return true, ev.Error
		}
		return ev.Done != nil, nil
	})
	return done, err
}

// named gives a write without an id one, by which the daemon knows a repetition.
func named(id *string) {
	if *id == "" {
		*id = rand.Text()
	}
}

// lines makes a call that is answered with an event per line, until the last one.
func lines[Event any](ctx context.Context, c *Client, path string, req any, event func(Event) (last bool, err error)) error {
	resp, err := c.send(ctx, http.MethodPost, path, req)
	if isRefused(err) {
		if err = c.Ensure(ctx); err == nil {
			resp, err = c.send(ctx, http.MethodPost, path, req)
		}
	}
	if err != nil {
		return outward(ctx, err)
	}
	defer resp.Body.Close()
	events := bufio.NewScanner(resp.Body)
	events.Buffer(nil, maxAnswer)
	for events.Scan() {
		var ev Event
		if err := json.Unmarshal(events.Bytes(), &ev); err != nil {
			if broken := events.Err(); broken != nil { // in the middle of a line
				return outward(ctx, fmt.Errorf("read progress: %w", broken))
			}
			return memory.Errorf(memory.CodeIncompatible, "the daemon's answer is not understood: %w", err)
		}
		if last, err := event(ev); last || err != nil {
			return err
		}
	}
	err = events.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		return memory.Errorf(memory.CodeInternal, "the daemon's answer is over %d bytes", maxAnswer)
	}
	return outward(ctx, fmt.Errorf("read progress: %w", cmp.Or(err, io.ErrUnexpectedEOF)))
}
