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
	"github.com/recalld/recalld/internal/memory/wire"
)

// CompleteTask implements memory.WorkingMemory. A request without an id is given one.
func (c *Client) CompleteTask(ctx context.Context, req memory.CompleteTaskRequest) (*memory.TaskSaved, error) {
	named(&req.RequestID)
	return post[memory.TaskSaved](ctx, c, wire.Complete, req, repeatable)
}

// BlockTask implements memory.WorkingMemory. A request without an id is given one.
func (c *Client) BlockTask(ctx context.Context, req memory.BlockTaskRequest) (*memory.TaskSaved, error) {
	named(&req.RequestID)
	return post[memory.TaskSaved](ctx, c, wire.Block, req, repeatable)
}

// UnblockTask implements memory.WorkingMemory. A request without an id is given one.
func (c *Client) UnblockTask(ctx context.Context, req memory.UnblockTaskRequest) (*memory.TaskSaved, error) {
	named(&req.RequestID)
	return post[memory.TaskSaved](ctx, c, wire.Unblock, req, repeatable)
}

// TaskWindow implements memory.WorkingMemory.
func (c *Client) TaskWindow(ctx context.Context, req memory.TaskWindowRequest) (*memory.TaskWindow, error) {
	return post[memory.TaskWindow](ctx, c, wire.Tasks, req, repeatable)
}

// LoadTasks implements memory.WorkingMemory. A request without an id is given one.
func (c *Client) LoadTasks(ctx context.Context, req memory.LoadTasksRequest) (*memory.TasksLoaded, error) {
	named(&req.RequestID)
	return post[memory.TasksLoaded](ctx, c, wire.Load, req, repeatable)
}

// TaskHistory implements memory.WorkingMemory.
func (c *Client) TaskHistory(ctx context.Context, req memory.TaskHistoryRequest) (*memory.TaskHistory, error) {
	return post[memory.TaskHistory](ctx, c, wire.Past, req, repeatable)
}

// Register implements memory.Catalogue. A request without an id is given one.
func (c *Client) Register(ctx context.Context, req memory.RegisterRequest) (*memory.Registered, error) {
	named(&req.RequestID)
	return post[memory.Registered](ctx, c, wire.Register, req, repeatable)
}

// Unregister implements memory.Catalogue. A request without an id is given one.
func (c *Client) Unregister(ctx context.Context, req memory.UnregisterRequest) (*memory.Registered, error) {
	named(&req.RequestID)
	return post[memory.Registered](ctx, c, wire.Remove, req, repeatable)
}

// Entries implements memory.Catalogue.
func (c *Client) Entries(ctx context.Context, req memory.EntriesRequest) (*memory.EntryList, error) {
	return post[memory.EntryList](ctx, c, wire.Entries, req, repeatable)
}

// SearchTools implements memory.Catalogue. A request without an id is given one.
func (c *Client) SearchTools(ctx context.Context, req memory.SearchToolsRequest) (*memory.ToolMatches, error) {
	named(&req.RequestID)
	return post[memory.ToolMatches](ctx, c, wire.Tools, req, repeatable)
}

// SessionContext implements memory.Contexts.
func (c *Client) SessionContext(ctx context.Context, req memory.ContextRequest) (*memory.Context, error) {
	return post[memory.Context](ctx, c, wire.Context, req, repeatable)
}

// ChangeContext implements memory.Contexts. A request without an id is given one.
func (c *Client) ChangeContext(ctx context.Context, req memory.ChangeContextRequest) (*memory.Context, error) {
	named(&req.RequestID)
	return post[memory.Context](ctx, c, wire.Change, req, repeatable)
}

// Assemble implements memory.Contexts. A request without an id is given one.
func (c *Client) Assemble(ctx context.Context, req memory.AssembleRequest) (*memory.Assembled, error) {
	named(&req.RequestID)
	return post[memory.Assembled](ctx, c, wire.Assemble, req, repeatable)
}

// WorkingContext implements memory.WorkingContexts.
func (c *Client) WorkingContext(ctx context.Context, req memory.WorkingContextRequest) (*memory.WorkingContext, error) {
	return post[memory.WorkingContext](ctx, c, wire.Working, req, repeatable)
}

// Report implements memory.WorkingContexts. A request without an id is given one.
func (c *Client) Report(ctx context.Context, req memory.ReportRequest) (*memory.WorkingContext, error) {
	named(&req.RequestID)
	return post[memory.WorkingContext](ctx, c, wire.Report, req, repeatable)
}

// Compact implements memory.WorkingContexts. A request without an id is given one.
func (c *Client) Compact(ctx context.Context, req memory.CompactRequest) (*memory.Compacted, error) {
	named(&req.RequestID)
	return post[memory.Compacted](ctx, c, wire.Compact, req, repeatable)
}

// Receipts implements memory.Ledger.
func (c *Client) Receipts(ctx context.Context, req memory.ReceiptsRequest) (*memory.ReceiptList, error) {
	return post[memory.ReceiptList](ctx, c, wire.Ledger, req, repeatable)
}

// ContextOf implements memory.Ledger.
func (c *Client) ContextOf(ctx context.Context, req memory.ContextOfRequest) (*memory.TurnContext, error) {
	return post[memory.TurnContext](ctx, c, wire.Turn, req, repeatable)
}

// Feedback implements memory.Ledger. A request without an id is given one.
func (c *Client) Feedback(ctx context.Context, req memory.FeedbackRequest) (*memory.FeedbackResult, error) {
	named(&req.RequestID)
	return post[memory.FeedbackResult](ctx, c, wire.Feedback, req, repeatable)
}

// Replay implements memory.Ledger.
func (c *Client) Replay(ctx context.Context, req memory.ReplayRequest, progress func(memory.ReplayProgress)) (*memory.Replayed, error) {
	var done *memory.Replayed
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
