package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/recalld/recalld/internal/memory"
)

// Binding is a handler bound to an operation.
type Binding struct {
	op     *Spec
	handle func(ctx context.Context, request any, progress func(any)) (any, error)
}

// Operation returns the operation that is bound.
func (b Binding) Operation() *Spec { return b.op }

// Bind binds a handler to an operation. The handler gets no request that memory.Check refuses.
func Bind[Request, Response any](op Operation[Request, Response], handle func(context.Context, Request) (*Response, error)) Binding {
	return bind(op.Spec, func(ctx context.Context, request Request, _ func(any)) (*Response, error) {
		return handle(ctx, request)
	})
}

// BindStream binds a handler to an operation that reports progress, as Bind does.
func BindStream[Request, Progress, Response any](
	op Stream[Request, Progress, Response], handle func(context.Context, Request, func(Progress)) (*Response, error),
) Binding {
	return bind(op.Spec, func(ctx context.Context, request Request, progress func(any)) (*Response, error) {
		return handle(ctx, request, func(p Progress) {
			if progress != nil {
				progress(p)
			}
		})
	})
}

func bind[Request, Response any](op *Spec, handle func(context.Context, Request, func(any)) (*Response, error)) Binding {
	return Binding{op, func(ctx context.Context, request any, progress func(any)) (any, error) {
		given := request.(Request)
		if sum := op.sum(given); sum != nil {
			ctx = memory.WithRequestSum(ctx, sum)
		}
		if err := memory.Check(&given); err != nil {
			return nil, err
		}
		response, err := handle(ctx, given, progress)
		if err != nil {
			return nil, err
		}
		return response, nil
	}}
}

// BindReporting binds a handler that reports progress to an operation that is no stream:
// callers in this process see the progress, over HTTP there is one answer.
func BindReporting[Request, Progress, Response any](
	op Operation[Request, Response], handle func(context.Context, Request, func(Progress)) (*Response, error),
) Binding {
	return BindStream(Stream[Request, Progress, Response](op), handle)
}

// Handlers carries out operations by the handlers that are bound to them.
type Handlers map[*Spec]Binding

var _ Service = Handlers(nil)

// NewHandlers returns the handlers of a whole service. It fails when an operation of
// the table has no handler, or two.
func NewHandlers(bound ...Binding) (Handlers, error) {
	handlers, errs := Handlers{}, []error(nil)
	for _, b := range bound {
		if _, twice := handlers[b.op]; twice {
			errs = append(errs, fmt.Errorf("operation %s has two handlers", b.op.Name))
		}
		handlers[b.op] = b
	}
	for _, op := range operations {
		if _, ok := handlers[op]; !ok {
			errs = append(errs, fmt.Errorf("operation %s has no handler", op.Name))
		}
	}
	return handlers, errors.Join(errs...)
}

// Call implements Service.
func (h Handlers) Call(ctx context.Context, op *Spec, request any, progress func(any)) (any, error) {
	b, ok := h[op]
	if !ok {
		return nil, memory.Errorf(memory.CodeInternal, "operation %s has no handler", op.Name)
	}
	return b.handle(ctx, request, progress)
}
