// Package memorytest holds a memory.Service for tests of transports.
package memorytest

import (
	"context"
	"sync"

	"github.com/recalld/recalld/internal/memory"
)

// Call is one call that a Service received.
type Call struct {
	Method string
	// Request is the argument: a request, an id or a name; nil without one.
	Request any
}

// Service answers every call with what Answers holds for its method and keeps
// what it was asked. It is safe for concurrent use once it is filled.
type Service struct {
	// Answers are keyed by method: "Recall" → *memory.RecallResponse, "Repos" →
	// []memory.SandboxState and so on. A method without one answers with its
	// zero value.
	Answers map[string]any
	// Err, if set, is returned by every method in the place of an answer.
	Err error
	// Progress is what PullModel reports before it ends.
	Progress []memory.PullProgress
	// Adapting is what AdaptModel reports before it ends.
	Adapting []memory.AdaptProgress
	// Replayed is what Replay reports before it ends.
	Replayed []memory.ReplayProgress
	// Before, if set, runs first in every call, with its method.
	Before func(ctx context.Context, method string)

	mu    sync.Mutex
	calls []Call // guarded by mu
}

var _ memory.Service = (*Service)(nil)

// Calls returns the calls received so far.
func (s *Service) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// answer records a call and returns what it is to be answered with.
func answer[T any](ctx context.Context, s *Service, method string, request any) (T, error) {
	s.mu.Lock()
	s.calls = append(s.calls, Call{Method: method, Request: request})
	s.mu.Unlock()
	if s.Before != nil {
		s.Before(ctx, method)
	}
	var zero T
	if s.Err != nil {
		return zero, s.Err
	}
	if a, ok := s.Answers[method]; ok {
		return a.(T), nil
	}
	return zero, nil
}

// Recall implements memory.Recaller.
func (s *Service) Recall(ctx context.Context, req memory.RecallRequest) (*memory.RecallResponse, error) {
	return answer[*memory.RecallResponse](ctx, s, "Recall", req)
}

// Receipt implements memory.Recaller.
func (s *Service) Receipt(ctx context.Context, id string) (*memory.Receipt, error) {
	return answer[*memory.Receipt](ctx, s, "Receipt", id)
}

// Remember implements memory.Rememberer.
func (s *Service) Remember(ctx context.Context, req memory.RememberRequest) (*memory.Remembered, error) {
	return answer[*memory.Remembered](ctx, s, "Remember", req)
}

// Forget implements memory.Rememberer.
func (s *Service) Forget(ctx context.Context, req memory.ForgetRequest) (*memory.Forgotten, error) {
	return answer[*memory.Forgotten](ctx, s, "Forget", req)
}

// StartSession implements memory.Journal.
func (s *Service) StartSession(ctx context.Context, req memory.StartSessionRequest) (*memory.SessionState, error) {
	return answer[*memory.SessionState](ctx, s, "StartSession", req)
}

// RecordStep implements memory.Journal.
func (s *Service) RecordStep(ctx context.Context, req memory.RecordStepRequest) (*memory.StepRecorded, error) {
	return answer[*memory.StepRecorded](ctx, s, "RecordStep", req)
}

// EndSession implements memory.Journal.
func (s *Service) EndSession(ctx context.Context, req memory.EndSessionRequest) (*memory.SessionState, error) {
	return answer[*memory.SessionState](ctx, s, "EndSession", req)
}

// SearchSteps implements memory.History.
func (s *Service) SearchSteps(ctx context.Context, req memory.HistoryRequest) (*memory.StepMatches, error) {
	return answer[*memory.StepMatches](ctx, s, "SearchSteps", req)
}

// LastSteps implements memory.History.
func (s *Service) LastSteps(ctx context.Context, req memory.HistoryRequest) (*memory.StepList, error) {
	return answer[*memory.StepList](ctx, s, "LastSteps", req)
}

// SummarizeSession implements memory.History.
func (s *Service) SummarizeSession(ctx context.Context, req memory.HistoryRequest) (*memory.Summary, error) {
	return answer[*memory.Summary](ctx, s, "SummarizeSession", req)
}

// Sessions implements memory.History.
func (s *Service) Sessions(ctx context.Context, req memory.HistoryRequest) (*memory.SessionList, error) {
	return answer[*memory.SessionList](ctx, s, "Sessions", req)
}

// Import implements memory.Archive.
func (s *Service) Import(ctx context.Context, req memory.ImportRequest) (*memory.Imported, error) {
	return answer[*memory.Imported](ctx, s, "Import", req)
}

// Export implements memory.Archive.
func (s *Service) Export(ctx context.Context, req memory.ExportRequest) (*memory.Exported, error) {
	return answer[*memory.Exported](ctx, s, "Export", req)
}

// IndexRepo implements memory.Repositories.
func (s *Service) IndexRepo(ctx context.Context, req memory.IndexRequest) (*memory.IndexQueued, error) {
	return answer[*memory.IndexQueued](ctx, s, "IndexRepo", req)
}

// Repos implements memory.Repositories.
func (s *Service) Repos(ctx context.Context) ([]memory.SandboxState, error) {
	return answer[[]memory.SandboxState](ctx, s, "Repos", nil)
}

// Skipped implements memory.Repositories.
func (s *Service) Skipped(ctx context.Context, req memory.SkippedRequest) (*memory.SkippedList, error) {
	return answer[*memory.SkippedList](ctx, s, "Skipped", req)
}

// Pause implements memory.Repositories.
func (s *Service) Pause(ctx context.Context, req memory.PauseRequest) (*memory.Paused, error) {
	return answer[*memory.Paused](ctx, s, "Pause", req)
}

// Files implements memory.Repositories.
func (s *Service) Files(ctx context.Context, req memory.FilesRequest) (*memory.FileList, error) {
	return answer[*memory.FileList](ctx, s, "Files", req)
}

// Trust implements memory.Sources.
func (s *Service) Trust(ctx context.Context, req memory.TrustRequest) (*memory.TrustState, error) {
	return answer[*memory.TrustState](ctx, s, "Trust", req)
}

// Check implements memory.Doctor.
func (s *Service) Check(ctx context.Context) (*memory.CheckReport, error) {
	return answer[*memory.CheckReport](ctx, s, "Check", nil)
}

// Status implements memory.Operator.
func (s *Service) Status(ctx context.Context) (*memory.Status, error) {
	return answer[*memory.Status](ctx, s, "Status", nil)
}

// DeadJobs implements memory.Operator.
func (s *Service) DeadJobs(ctx context.Context) ([]memory.DeadJob, error) {
	return answer[[]memory.DeadJob](ctx, s, "DeadJobs", nil)
}

// RequeueJob implements memory.Operator.
func (s *Service) RequeueJob(ctx context.Context, id string) error {
	_, err := answer[any](ctx, s, "RequeueJob", id)
	return err
}

// Stop implements memory.Operator.
func (s *Service) Stop(ctx context.Context) error {
	_, err := answer[any](ctx, s, "Stop", nil)
	return err
}

// Models implements memory.Models.
func (s *Service) Models(ctx context.Context) ([]memory.ModelState, error) {
	return answer[[]memory.ModelState](ctx, s, "Models", nil)
}

// PullModel implements memory.Models.
func (s *Service) PullModel(ctx context.Context, name string, progress func(memory.PullProgress)) error {
	for _, p := range s.Progress {
		progress(p)
	}
	_, err := answer[any](ctx, s, "PullModel", name)
	return err
}

// AdaptModel implements memory.Models.
func (s *Service) AdaptModel(ctx context.Context, req memory.AdaptRequest, progress func(memory.AdaptProgress)) (*memory.Adaptation, error) {
	for _, p := range s.Adapting {
		progress(p)
	}
	return answer[*memory.Adaptation](ctx, s, "AdaptModel", req)
}

// ResetModel implements memory.Models.
func (s *Service) ResetModel(ctx context.Context) (*memory.BuiltinModel, error) {
	return answer[*memory.BuiltinModel](ctx, s, "ResetModel", nil)
}

// BuiltinModel implements memory.Models.
func (s *Service) BuiltinModel(ctx context.Context) (*memory.BuiltinModel, error) {
	return answer[*memory.BuiltinModel](ctx, s, "BuiltinModel", nil)
}
