package mcp

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/service/servicetest"
)

// fakeService is a service that validates as the contract says, keeps lessons in memory
// and remembers who asked.
type fakeService struct {
	// hold, if set, is called inside Recall, so that a test can keep calls in
	// flight.
	hold func(ctx context.Context, query string) error

	mu      sync.Mutex // guards everything below
	asked   []memory.RecallRequest
	indexed []memory.IndexRequest
	lessons []memory.RememberRequest
	done    map[string]*memory.Remembered // by request id
}

// Call implements service.Service.
func (f *fakeService) Call(ctx context.Context, op *service.Spec, request any, progress func(any)) (any, error) {
	return servicetest.With(service.Handlers{}, service.Bind(service.Recall, f.Recall), service.Bind(service.Remember, f.Remember),
		service.Bind(service.IndexRepo, f.IndexRepo), service.Bind(service.Status, f.Status)).Call(ctx, op, request, progress)
}

func (f *fakeService) Recall(ctx context.Context, req memory.RecallRequest) (*memory.RecallResponse, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	if f.hold != nil {
		if err := f.hold(ctx, req.Query); err != nil {
			return nil, err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, req)
	if req.Project == "unknown" {
		return nil, &memory.Error{Code: memory.CodeNotFound, Field: "project", Message: "no project unknown", Hint: "recalld repos lists them"}
	}
	if req.Query == "boom" {
		panic("boom")
	}
	a := &memory.RecallResponse{Project: "p1", ProjectName: "demo", Receipt: "r-1", Text: "nothing relevant in demo", NothingRelevant: true}
	if len(f.lessons) > 0 {
		a.NothingRelevant, a.Text = false, f.lessons[0].Lesson
		a.Items = []memory.Item{fullItem(f.lessons[0].Lesson)}
		a.Withheld = []memory.Withheld{{ID: "c-2", Kind: memory.Chunk, Reason: memory.Gone, NearestScore: .8, Path: "a.go"}}
		a.Degraded = []memory.Degraded{{Part: "vector", Reason: "loading"}}
	}
	return a, nil
}

// fullItem has every field set, so that the output schema is held against all.
func fullItem(lesson string) memory.Item {
	return memory.Item{
		ID: "l-1", Kind: memory.Lesson, Text: lesson, Project: "p1", Relevance: .9,
		Source:      memory.Source{Path: "a.go", Lines: &[2]int{1, 9}, Session: "s1", Repo: "demo", Sandbox: "/w", Symbol: "F"},
		RankFactors: &memory.RankFactors{Score: .9, Recency: 1, Success: 1, Project: 1, Session: 1, Error: true, Retrievers: map[string]memory.RetrieverScore{"lexical": {Score: 3, Relevance: .9}}},
		CreatedAt:   time.Unix(1_700_000_000, 0).UTC(), Timestamp: time.Unix(1_700_000_000, 0).UTC(), Lesson: lesson, Context: "c", Command: "go test", SuccessRate: "1/2",
		State: "moved", Foreign: true, Similar: 2, Tokens: 7,
		StepEnd: &memory.StepEnd{Target: "#send", Error: &memory.StepError{Code: "E1", Message: "m"}},
	}
}

func (f *fakeService) Remember(_ context.Context, req memory.RememberRequest) (*memory.Remembered, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if before, ok := f.done[req.RequestID]; ok && req.RequestID != "" {
		return before, nil
	}
	f.lessons = append(f.lessons, req)
	kept := &memory.Remembered{ID: fmt.Sprintf("l-%d", len(f.lessons)), Project: "p1", ProjectName: "demo", Repo: "demo", Merged: true, Redacted: true,
		Log: "/w/demo.jsonl", Warning: "the log is on a full disk", Seq: uint64(len(f.lessons))}
	if f.done == nil {
		f.done = map[string]*memory.Remembered{}
	}
	f.done[req.RequestID] = kept
	return kept, nil
}

func (f *fakeService) IndexRepo(_ context.Context, req memory.IndexRequest) (*memory.IndexQueued, error) {
	if err := memory.Check(&req); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.indexed = append(f.indexed, req)
	return &memory.IndexQueued{Job: "j1", Position: 1, Coalesced: true, Project: "p1", ProjectName: "demo", Sandbox: "s1", Root: req.Path}, nil
}

func (f *fakeService) Status(context.Context, service.None) (*memory.Status, error) {
	at := time.Unix(1_700_000_000, 0).UTC()
	s := &memory.Status{
		Version: "1.2.3", Protocol: 1, PID: 7, Data: "/d", Socket: "/d/s", TCP: "127.0.0.1:1", State: "ready", StartedAt: at,
		Records: map[memory.Kind]int{memory.Lesson: 3}, Documents: 4, Seq: 5, RSSBytes: 6, DiskBytes: 7,
		Collections: []memory.CollectionState{{Name: "builtin", Model: "builtin", State: "ready", Documents: 4, Embedded: 4}},
		Queue:       memory.QueueState{ByKind: map[string]int{"index": 1}},
		Code: memory.CodeState{Paused: true, Sandboxes: 60, Stale: 2, Waiting: 1, Runs: 9, Failed: 3, MeanRun: memory.Millis(1500 * time.Millisecond),
			IndexBytes: 8, MaxBytes: 9, Pruned: 1, Asked: 8, Hits: 6, Fallbacks: 1},
	}
	for i := range 60 {
		s.Projects = append(s.Projects, memory.SandboxState{ProjectName: fmt.Sprintf("p%d", i), Sandbox: memory.Sandbox{Root: "/w", IndexedAt: at}})
	}
	for range 20 {
		s.Errors = append(s.Errors, memory.LoggedError{At: at, Part: "embed", Message: "late"})
	}
	return s, nil
}

func (f *fakeService) callers() []memory.Caller {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []memory.Caller
	for _, r := range f.asked {
		all = append(all, r.Caller)
	}
	return all
}

func (f *fakeService) kept() []memory.RememberRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.lessons)
}
