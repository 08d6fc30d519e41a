package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// completeInput is what complete_task takes.
type completeInput struct {
	TaskID           string          `json:"task_id"`
	ValidationReport json.RawMessage `json:"validation_report"`
	CompletedAt      time.Time       `json:"completed_at"`
	TaskType         string          `json:"task_type"`
	RequiresContext  *bool           `json:"requires_context"`
	Intent           string          `json:"intent"`
	Summary          string          `json:"summary"`
	Project          string          `json:"project"`
}

func (s *Server) completeTask(ctx context.Context, c call, in completeInput) (string, any, error) {
	kept, err := service.CompleteTask.Do(ctx, s.svc, memory.CompleteTaskRequest{
		RequestID: c.requestID, TaskID: in.TaskID, CompletedAt: in.CompletedAt, TaskType: in.TaskType,
		RequiresContext: in.RequiresContext, Intent: in.Intent, Summary: in.Summary,
		ValidationReport: unlessNull(in.ValidationReport), Project: c.agent.project(in.Project), Caller: c.caller,
	})
	return taskAnswer("Kept", kept, err)
}

// blockInput is what block_task takes.
type blockInput struct {
	TaskID    string    `json:"task_id"`
	Reason    string    `json:"reason"`
	BlockedAt time.Time `json:"blocked_at"`
	Project   string    `json:"project"`
}

func (s *Server) blockTask(ctx context.Context, c call, in blockInput) (string, any, error) {
	kept, err := service.BlockTask.Do(ctx, s.svc, memory.BlockTaskRequest{
		RequestID: c.requestID, TaskID: in.TaskID, Reason: in.Reason, BlockedAt: in.BlockedAt,
		Project: c.agent.project(in.Project), Caller: c.caller,
	})
	return taskAnswer("Blocked", kept, err)
}

// unblockInput is what unblock_task takes.
type unblockInput struct {
	TaskID     string `json:"task_id"`
	Resolution string `json:"resolution"`
	Project    string `json:"project"`
}

func (s *Server) unblockTask(ctx context.Context, c call, in unblockInput) (string, any, error) {
	kept, err := service.UnblockTask.Do(ctx, s.svc, memory.UnblockTaskRequest{
		RequestID: c.requestID, TaskID: in.TaskID, Resolution: in.Resolution,
		Project: c.agent.project(in.Project), Caller: c.caller,
	})
	return taskAnswer("Unblocked", kept, err)
}

// taskAnswer says what became of a task, and what is held now.
func taskAnswer(verb string, kept *memory.TaskSaved, err error) (string, any, error) {
	if err != nil {
		return "", nil, err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s task %s in project %s: %s, %s held.", verb, kept.TaskID, memory.ProjectLabel(kept.ProjectName, kept.Project),
		memory.Count(kept.Completed, "completed task"), memory.Count(kept.Blocked, "active blocker"))
	if kept.Dropped > 0 {
		fmt.Fprintf(&text, " %s gave way to the bounds; task_history still has it all.", memory.Count(kept.Dropped, "older task"))
	}
	if len(kept.NotKept) > 0 {
		fmt.Fprintf(&text, " Not kept: %s, because requires_context is false; report the task again with requires_context true to keep it.", strings.Join(kept.NotKept, " and "))
	}
	writeNotes(&text, kept.Redacted, kept.Warning)
	return text.String(), kept, nil
}

// windowInput is what task_window takes.
type windowInput struct {
	TaskType string `json:"task_type"`
	Limit    int    `json:"limit,omitempty" limit:"1-100"`
	Project  string `json:"project"`
}

func (s *Server) taskWindow(ctx context.Context, c call, in windowInput) (string, any, error) {
	window, err := service.TaskWindow.Do(ctx, s.svc, memory.TaskWindowRequest{
		TaskType: in.TaskType, Limit: in.Limit, Project: c.agent.project(in.Project), Caller: c.caller,
	})
	if err != nil {
		return "", nil, err
	}
	answer := wholeWindow(window)
	text := fence(window.Text)
	if text == "" {
		text = "No completed tasks and no blockers."
	}
	return text, answer, nil
}

// wholeWindow makes the lists of a window lists.
func wholeWindow(window *memory.TaskWindow) *memory.TaskWindow {
	whole := *window
	whole.Tasks, whole.Blockers = orEmpty(window.Tasks), orEmpty(window.Blockers)
	return &whole
}

// historyInput is what task_history takes.
type historyInput struct {
	TaskID  string `json:"task_id"`
	Limit   int    `json:"limit,omitempty" limit:"1-200"`
	Before  uint64 `json:"before"`
	Project string `json:"project"`
}

func (s *Server) taskHistory(ctx context.Context, c call, in historyInput) (string, any, error) {
	found, err := service.TaskHistory.Do(ctx, s.svc, memory.TaskHistoryRequest{
		TaskID: in.TaskID, Limit: in.Limit, Before: in.Before, Project: c.agent.project(in.Project), Caller: c.caller,
	})
	if err != nil {
		return "", nil, err
	}
	whole := *found
	whole.Events = orEmpty(found.Events)
	text := fence(found.Text)
	if text == "" {
		text = "No event of a task."
	}
	if found.More {
		text = strings.TrimRight(text, "\n") + fmt.Sprintf("\nThere may be older ones: before %d.", found.Before)
	}
	return text, &whole, nil
}

// loadInput is what load_tasks takes.
type loadInput struct {
	State   json.RawMessage `json:"state"`
	Project string          `json:"project"`
}

func (s *Server) loadTasks(ctx context.Context, c call, in loadInput) (string, any, error) {
	loaded, err := service.LoadTasks.Do(ctx, s.svc, memory.LoadTasksRequest{
		RequestID: c.requestID, State: unlessNull(in.State), Project: c.agent.project(in.Project), Caller: c.caller,
	})
	if err != nil {
		return "", nil, err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "Took over %s and %s in project %s; %d known.", memory.Count(loaded.Tasks, "task"), memory.Count(loaded.Blockers, "blocker"),
		memory.ProjectLabel(loaded.ProjectName, loaded.Project), loaded.Known)
	if loaded.Dropped > 0 {
		fmt.Fprintf(&text, " %s gave way to the bounds; task_history still has it all.", memory.Count(loaded.Dropped, "task"))
	}
	if loaded.Settled > 0 {
		fmt.Fprintf(&text, " %d were forgotten or resolved before, and stay so.", loaded.Settled)
	}
	writeNotes(&text, loaded.Redacted, loaded.Warning)
	return text.String(), loaded, nil
}
