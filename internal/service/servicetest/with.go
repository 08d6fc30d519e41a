package servicetest

import (
	"context"

	"github.com/recalld/recalld/internal/service"
)

// With returns a service that answers some operations by handlers, and the others by
// base.
func With(base service.Service, bound ...service.Binding) service.Service {
	own := service.Handlers{}
	for _, b := range bound {
		own[b.Operation()] = b
	}
	return overridden{base, own}
}

type overridden struct {
	base service.Service
	own  service.Handlers
}

func (o overridden) Call(ctx context.Context, op *service.Spec, request any, progress func(any)) (any, error) {
	if _, ok := o.own[op]; ok {
		return o.own.Call(ctx, op, request, progress)
	}
	return o.base.Call(ctx, op, request, progress)
}
