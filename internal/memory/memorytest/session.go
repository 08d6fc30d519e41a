package memorytest

import (
	"context"

	"github.com/recalld/recalld/internal/memory/session"
)

// CompleteTask implements session.WorkingMemory.
func (s *Service) CompleteTask(ctx context.Context, req session.CompleteTaskRequest) (*session.TaskSaved, error) {
	return answer[*session.TaskSaved](ctx, s, "CompleteTask", req)
}

// BlockTask implements session.WorkingMemory.
func (s *Service) BlockTask(ctx context.Context, req session.BlockTaskRequest) (*session.TaskSaved, error) {
	return answer[*session.TaskSaved](ctx, s, "BlockTask", req)
}

// UnblockTask implements session.WorkingMemory.
func (s *Service) UnblockTask(ctx context.Context, req session.UnblockTaskRequest) (*session.TaskSaved, error) {
	return answer[*session.TaskSaved](ctx, s, "UnblockTask", req)
}

// TaskWindow implements session.WorkingMemory.
func (s *Service) TaskWindow(ctx context.Context, req session.TaskWindowRequest) (*session.TaskWindow, error) {
	return answer[*session.TaskWindow](ctx, s, "TaskWindow", req)
}

// LoadTasks implements session.WorkingMemory.
func (s *Service) LoadTasks(ctx context.Context, req session.LoadTasksRequest) (*session.TasksLoaded, error) {
	return answer[*session.TasksLoaded](ctx, s, "LoadTasks", req)
}

// TaskHistory implements session.WorkingMemory.
func (s *Service) TaskHistory(ctx context.Context, req session.TaskHistoryRequest) (*session.TaskHistory, error) {
	return answer[*session.TaskHistory](ctx, s, "TaskHistory", req)
}

// Register implements session.Catalogue.
func (s *Service) Register(ctx context.Context, req session.RegisterRequest) (*session.Registered, error) {
	return answer[*session.Registered](ctx, s, "Register", req)
}

// Unregister implements session.Catalogue.
func (s *Service) Unregister(ctx context.Context, req session.UnregisterRequest) (*session.Registered, error) {
	return answer[*session.Registered](ctx, s, "Unregister", req)
}

// Entries implements session.Catalogue.
func (s *Service) Entries(ctx context.Context, req session.EntriesRequest) (*session.EntryList, error) {
	return answer[*session.EntryList](ctx, s, "Entries", req)
}

// SearchTools implements session.Catalogue.
func (s *Service) SearchTools(ctx context.Context, req session.SearchToolsRequest) (*session.ToolMatches, error) {
	return answer[*session.ToolMatches](ctx, s, "SearchTools", req)
}

// SessionContext implements session.Contexts.
func (s *Service) SessionContext(ctx context.Context, req session.ContextRequest) (*session.Context, error) {
	return answer[*session.Context](ctx, s, "SessionContext", req)
}

// ChangeContext implements session.Contexts.
func (s *Service) ChangeContext(ctx context.Context, req session.ChangeContextRequest) (*session.Context, error) {
	return answer[*session.Context](ctx, s, "ChangeContext", req)
}

// Assemble implements session.Contexts.
func (s *Service) Assemble(ctx context.Context, req session.AssembleRequest) (*session.Assembled, error) {
	return answer[*session.Assembled](ctx, s, "Assemble", req)
}

// WorkingContext implements session.WorkingContexts.
func (s *Service) WorkingContext(ctx context.Context, req session.WorkingContextRequest) (*session.WorkingContext, error) {
	return answer[*session.WorkingContext](ctx, s, "WorkingContext", req)
}

// Report implements session.WorkingContexts.
func (s *Service) Report(ctx context.Context, req session.ReportRequest) (*session.WorkingContext, error) {
	return answer[*session.WorkingContext](ctx, s, "Report", req)
}

// Compact implements session.WorkingContexts.
func (s *Service) Compact(ctx context.Context, req session.CompactRequest) (*session.Compacted, error) {
	return answer[*session.Compacted](ctx, s, "Compact", req)
}

// Receipts implements session.Ledger.
func (s *Service) Receipts(ctx context.Context, req session.ReceiptsRequest) (*session.ReceiptList, error) {
	return answer[*session.ReceiptList](ctx, s, "Receipts", req)
}

// ContextOf implements session.Ledger.
func (s *Service) ContextOf(ctx context.Context, req session.ContextOfRequest) (*session.TurnContext, error) {
	return answer[*session.TurnContext](ctx, s, "ContextOf", req)
}

// Feedback implements session.Ledger.
func (s *Service) Feedback(ctx context.Context, req session.FeedbackRequest) (*session.FeedbackResult, error) {
	return answer[*session.FeedbackResult](ctx, s, "Feedback", req)
}

// Replay implements session.Ledger.
func (s *Service) Replay(ctx context.Context, req session.ReplayRequest, progress func(session.ReplayProgress)) (*session.Replayed, error) {
	for _, p := range s.Replayed {
		progress(p)
	}
	return answer[*session.Replayed](ctx, s, "Replay", req)
}
