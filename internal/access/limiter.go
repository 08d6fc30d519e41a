package access

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/recalld/recalld/internal/memory"
)

// Limits are how much a client may ask at a time.
type Limits struct {
	// Rate is how many calls a second one client may make; twice as many at once after a
	// pause. 0: no limit.
	Rate int
	// Concurrent is how many calls of one client are carried out at the same time. 0: no
	// limit.
	Concurrent int
}

const (
	// maxWait is how long a call waits for its turn before it is refused: a short burst is
	// slowed down, not refused.
	maxWait = 2 * time.Second
	// maxBuckets bounds the clients that are told apart. Over it, those that rest are
	// forgotten.
	maxBuckets = 4096
)

// limiter holds the limits of all clients.
type limiter struct {
	limits Limits

	mu      sync.Mutex // guards what follows
	buckets map[bucketKey]*bucket
}

// bucketKey tells buckets apart. It has the limits: a changed policy counts at once, and a process
// that changes its client's name between calls does not empty a bucket.
type bucketKey struct {
	client string // Client.Key
	Limits
}

// bucket is what one client has used.
type bucket struct {
	rate  *rate.Limiter
	slots chan struct{}
	// holders are the calls that wait or are carried out; guarded by limiter.mu.
	holders int
	limits  Limits
}

func newLimiter(limits Limits) *limiter {
	return &limiter{limits: limits, buckets: map[bucketKey]*bucket{}}
}

// take waits for a client's turn. The call ends with release. It returns CodeLimited if the
// turn does not come soon.
func (l *limiter) take(ctx context.Context, c *Client) (release func(), err error) {
	b := l.bucket(c)
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		b.holders--
	}
	if err := b.turn(ctx); err != nil {
		leave()
		return nil, err
	}
	if b.slots == nil {
		return leave, nil
	}
	wait := time.NewTimer(maxWait)
	defer wait.Stop()
	select {
	case b.slots <- struct{}{}:
		return func() { <-b.slots; leave() }, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-wait.C:
		err = limited("concurrent", fmt.Sprintf("%d calls at a time", b.limits.Concurrent), "the client has too many calls in progress", time.Second)
	}
	leave()
	return nil, err
}

// bucket returns a client's bucket, with one more holder.
func (l *limiter) bucket(c *Client) *bucket {
	limits := l.limits
	if p := c.Policy; p != nil {
		limits.Rate, limits.Concurrent = cmp.Or(p.Rate, limits.Rate), cmp.Or(p.Concurrent, limits.Concurrent)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	key := bucketKey{c.Key, limits}
	b := l.buckets[key]
	if b == nil {
		if len(l.buckets) >= maxBuckets {
			l.forgetResting()
		}
		b = &bucket{limits: limits, rate: rate.NewLimiter(rate.Limit(limits.Rate), 2*limits.Rate)}
		if limits.Rate == 0 {
			b.rate = rate.NewLimiter(rate.Inf, 0)
		}
		if limits.Concurrent > 0 {
			b.slots = make(chan struct{}, limits.Concurrent)
		}
		l.buckets[key] = b
	}
	b.holders++
	return b
}

// forgetResting forgets clients that have no call and owe no pause. Callers hold mu.
func (l *limiter) forgetResting() {
	for key, b := range l.buckets {
		if b.holders == 0 && b.rate.Tokens() >= float64(b.rate.Burst()) {
			delete(l.buckets, key)
		}
	}
}

// turn waits until the rate allows a call.
func (b *bucket) turn(ctx context.Context) error {
	r := b.rate.Reserve()
	pause := r.Delay()
	if pause == 0 {
		return nil
	}
	if pause > maxWait {
		r.Cancel()
		return limited("rate", fmt.Sprintf("%d calls a second", b.limits.Rate), "the client asks too often", pause)
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		r.Cancel()
		return ctx.Err()
	}
}

func limited(field, limit, message string, after time.Duration) error {
	seconds := max(1, int(math.Ceil(after.Seconds())))
	return &memory.Error{Code: memory.CodeLimited, Field: field, Limit: limit, Message: message, RetryAfter: seconds,
		Hint: fmt.Sprintf("try again in %s", memory.Count(seconds, "second"))}
}
