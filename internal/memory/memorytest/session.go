package memorytest

import (
	"context"

	"github.com/recalld/recalld/internal/memory"
)

// CompleteTask implements memory.WorkingMemory.
func (s *Service) CompleteTask(ctx context.Context, req memory.CompleteTaskRequest) (*memory.TaskSaved, error) {
	return answer[*memory.TaskSaved](ctx, s, "CompleteTask", req)
}

// BlockTask implements memory.WorkingMemory.
func (s *Service) BlockTask(ctx context.Context, req memory.BlockTaskRequest) (*memory.TaskSaved, error) {
	return answer[*memory.TaskSaved](ctx, s, "BlockTask", req)
}

// UnblockTask implements memory.WorkingMemory.
func (s *Service) UnblockTask(ctx context.Context, req memory.UnblockTaskRequest) (*memory.TaskSaved, error) {
	return answer[*memory.TaskSaved](ctx, s, "UnblockTask", req)
}

// TaskWindow implements memory.WorkingMemory.
func (s *Service) TaskWindow(ctx context.Context, req memory.TaskWindowRequest) (*memory.TaskWindow, error) {
	return answer[*memory.TaskWindow](ctx, s, "TaskWindow", req)
}

// LoadTasks implements memory.WorkingMemory.
func (s *Service) LoadTasks(ctx context.Context, req memory.LoadTasksRequest) (*memory.TasksLoaded, error) {
	return answer[*memory.TasksLoaded](ctx, s, "LoadTasks", req)
}

// TaskHistory implements memory.WorkingMemory.
func (s *Service) TaskHistory(ctx context.Context, req memory.TaskHistoryRequest) (*memory.TaskHistory, error) {
	return answer[*memory.TaskHistory](ctx, s, "TaskHistory", req)
}

// Register implements memory.Catalogue.
func (s *Service) Register(ctx context.Context, req memory.RegisterRequest) (*memory.Registered, error) {
	return answer[*memory.Registered](ctx, s, "Register", req)
}

// Unregister implements memory.Catalogue.
func (s *Service) Unregister(ctx context.Context, req memory.UnregisterRequest) (*memory.Registered, error) {
	return answer[*memory.Registered](ctx, s, "Unregister", req)
}

// Entries implements memory.Catalogue.
func (s *Service) Entries(ctx context.Context, req memory.EntriesRequest) (*memory.EntryList, error) {
	return answer[*memory.EntryList](ctx, s, "Entries", req)
}

// SearchTools implements memory.Catalogue.
func (s *Service) SearchTools(ctx context.Context, req memory.SearchToolsRequest) (*memory.ToolMatches, error) {
	return answer[*memory.ToolMatches](ctx, s, "SearchTools", req)
}

// SessionContext implements memory.Contexts.
func (s *Service) SessionContext(ctx context.Context, req memory.ContextRequest) (*memory.Context, error) {
	return answer[*memory.Context](ctx, s, "SessionContext", req)
}

// ChangeContext implements memory.Contexts.
func (s *Service) ChangeContext(ctx context.Context, req memory.ChangeContextRequest) (*memory.Context, error) {
	return answer[*memory.Context](ctx, s, "ChangeContext", req)
}

// Assemble implements memory.Contexts.
func (s *Service) Assemble(ctx context.Context, req memory.AssembleRequest) (*memory.Assembled, error) {
	return answer[*memory.Assembled](ctx, s, "Assemble", req)
}

// WorkingContext implements memory.WorkingContexts.
func (s *Service) WorkingContext(ctx context.Context, req memory.WorkingContextRequest) (*memory.WorkingContext, error) {
	return answer[*memory.WorkingContext](ctx, s, "WorkingContext", req)
}

// Report implements memory.WorkingContexts.
func (s *Service) Report(ctx context.Context, req memory.ReportRequest) (*memory.WorkingContext, error) {
	return answer[*memory.WorkingContext](ctx, s, "Report", req)
}

// Compact implements memory.WorkingContexts.
func (s *Service) Compact(ctx context.Context, req memory.CompactRequest) (*memory.Compacted, error) {
	return answer[*memory.Compacted](ctx, s, "Compact", req)
}

// Receipts implements memory.Ledger.
func (s *Service) Receipts(ctx context.Context, req memory.ReceiptsRequest) (*memory.ReceiptList, error) {
	return answer[*memory.ReceiptList](ctx, s, "Receipts", req)
}

// ContextOf implements memory.Ledger.
func (s *Service) ContextOf(ctx context.Context, req memory.ContextOfRequest) (*memory.TurnContext, error) {
	return answer[*memory.TurnContext](ctx, s, "ContextOf", req)
}

// Feedback implements memory.Ledger.
func (s *Service) Feedback(ctx context.Context, req memory.FeedbackRequest) (*memory.FeedbackResult, error) {
	return answer[*memory.FeedbackResult](ctx, s, "Feedback", req)
}

// Replay implements memory.Ledger.
func (s *Service) Replay(ctx context.Context, req memory.ReplayRequest, progress func(memory.ReplayProgress)) (*memory.Replayed, error) {
	for _, p := range s.Replayed {
		progress(p)
	}
	return answer[*memory.Replayed](ctx, s, "Replay", req)
}
