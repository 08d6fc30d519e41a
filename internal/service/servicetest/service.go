// Package servicetest holds a service.Service for tests of what calls one.
package servicetest

import (
	"context"
	"reflect"
	"slices"
	"sync"

	"github.com/recalld/recalld/internal/service"
)

// Call is one call that a Service received.
type Call struct {
	// Operation is the operation's name.
	Operation string
	Request   any
}

// Service records what it is asked and answers with what Answers holds. It is safe for
// concurrent use once it is filled.
type Service struct {
	// Answers are keyed by the operation's name; each is a pointer to a response. An
	// operation without one answers with its zero value.
	Answers map[string]any
	// Err, if set, is returned by every operation instead of an answer.
	Err error
	// Progress is what a stream reports before it ends, by the operation's name.
	Progress map[string][]any
	// Before, if set, runs first in every call, with the operation's name.
	Before func(ctx context.Context, operation string)

	mu    sync.Mutex
	calls []Call // guarded by mu
}

var _ service.Service = (*Service)(nil)

// Calls returns the calls received so far.
func (s *Service) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Reports makes progress for Service.Progress.
func Reports[Progress any](reports ...Progress) []any {
	all := make([]any, len(reports))
	for i, p := range reports {
		all[i] = p
	}
	return all
}

// Call implements service.Service. Hello is always answered and not recorded: clients
// say it by themselves.
func (s *Service) Call(ctx context.Context, op *service.Spec, request any, progress func(any)) (any, error) {
	if op == service.Hello.Spec {
		if answer, ok := s.Answers[op.Name]; ok {
			return answer, nil
		}
		return &service.Greeting{Protocol: service.Protocol}, nil
	}
	s.mu.Lock()
	s.calls = append(s.calls, Call{Operation: op.Name, Request: request})
	s.mu.Unlock()
	for _, p := range s.Progress[op.Name] {
		progress(p)
	}
	if s.Before != nil {
		s.Before(ctx, op.Name)
	}
	if s.Err != nil {
		return nil, s.Err
	}
	if answer, ok := s.Answers[op.Name]; ok {
		return answer, nil
	}
	return reflect.New(op.Response()).Interface(), nil
}
