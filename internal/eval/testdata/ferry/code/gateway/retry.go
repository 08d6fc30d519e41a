// Package gateway speaks to the payment provider.
package gateway

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// delay doubles with each attempt, up to half a minute, and is spread at random so that
// clients do not come back together.
func delay(attempt int) time.Duration {
	top := min(time.Second<<attempt, 30*time.Second)
	return top/2 + rand.N(top/2)
}

// transient says whether trying again can help.
func transient(status int, err error) bool {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return true
	}
	return status == http.StatusTooManyRequests || status >= 500 && status != http.StatusNotImplemented
}

// Do sends a request until it is answered or the context ends. The body must be rewindable.
func Do(ctx context.Context, c *http.Client, make func() (*http.Request, error)) (*http.Response, error) {
	for attempt := 0; ; attempt++ {
		req, err := make()
		if err != nil {
			return nil, err
		}
		resp, err := c.Do(req.WithContext(ctx))
		status := 0
		if resp != nil {
			status = resp.StatusCode
		}
		if attempt == 5 || !transient(status, err) {
			return resp, err
		}
		if resp != nil {
			resp.Body.Close()
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(delay(attempt)):
		}
	}
}
