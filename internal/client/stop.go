package client

import (
	"context"

	"github.com/recalld/recalld/internal/service"
)

// Stop ends the daemon of a socket and returns who it was once it is gone. Its
// protocol may be any: hello and stop are what all of them understand, so that a
// daemon can be stopped with which nothing else is possible. Without one the
// error is CodeUnavailable; it is that too when ctx ends before the daemon.
func Stop(ctx context.Context, opts Options) (service.Greeting, error) {
	if err := opts.validate(); err != nil {
		return service.Greeting{}, err
	}
	c := newClient(opts)
	defer c.Close()
	who, err := c.Hello(ctx)
	if err != nil {
		return who, err
	}
	// A connection that broke is a daemon that ends already.
	if _, err := service.Stop.Do(ctx, c, service.None{}); err != nil && !isRefused(err) && !isBroken(err) {
		return who, err
	}
	return who, c.WaitGone(ctx)
}
