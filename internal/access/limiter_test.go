package access

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// TestRate: a burst passes, what follows is slowed down, and what would wait for longer than
// two seconds is refused with the time to wait. Another client is not concerned.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(Limits{Rate: 10})
		start := time.Now()
		one, other := &Client{Key: "process 1"}, &Client{Key: "process 2"}
		for range 40 { // 20 at once, then 10 a second
			release, err := l.take(t.Context(), one)
			if err != nil {
				t.Fatal(err)
			}
			release()
		}
		if took := time.Since(start); took < 1900*time.Millisecond || took > 2*time.Second {
			t.Errorf("40 calls take %v, want 2s", took)
		}
		refused := make(chan error, 100)
		for range 100 {
			go func() {
				release, err := l.take(t.Context(), one)
				if err == nil {
					release()
				}
				refused <- err
			}()
		}
		no := 0
		for range 100 {
			if err := <-refused; err != nil {
				e := memory.AsError(err)
				if no++; e.Code != memory.CodeLimited || e.Field != "rate" || e.Limit != "10 calls a second" || e.RetryAfter < 2 || e.RetryAfter > 3 {
					t.Errorf("it is refused with %+v", e)
				}
			}
		}
		if no < 75 || no > 85 { // 20 wait for at most two seconds
			t.Errorf("%d of 100 calls are refused, want 80", no)
		}
		if _, err := l.take(t.Context(), other); err != nil {
			t.Errorf("another client is refused: %v", err)
		}
	})
}

// TestConcurrent: calls over the limit wait for one that ends, and are refused if none does.
func TestConcurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(Limits{Concurrent: 1})
		c := &Client{Key: "process 1"}
		release, err := l.take(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, release)
		start := time.Now()
		second, err := l.take(t.Context(), c)
		if err != nil || time.Since(start) != time.Second {
			t.Errorf("the second call came after %v: %v", time.Since(start), err)
		}
		_, err = l.take(t.Context(), c)
		if e := memory.AsError(err); e.Code != memory.CodeLimited || e.Field != "concurrent" || e.Limit != "1 calls at a time" || e.RetryAfter != 1 {
			t.Errorf("the third is answered with %+v", e)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err = l.take(gone, c); !errors.Is(err, context.Canceled) {
			t.Errorf("a client that has gone is answered with %v", err)
		}
		second()
		if last, err := l.take(t.Context(), c); err != nil {
			t.Errorf("with room again: %v", err)
		} else {
			last()
		}
	})
}

// TestPolicyLimits: a policy's own limits take the place of the settings', also when they
// change.
func TestPolicyLimits(t *testing.T) {
	l := newLimiter(Limits{Rate: 1000, Concurrent: 10})
	b := l.bucket(&Client{Key: "client a", Policy: &Policy{Name: "a", Rate: 3}})
	if b.limits != (Limits{3, 10}) || cap(b.slots) != 10 {
		t.Errorf("the limits are %+v", b.limits)
	}
	if b = l.bucket(&Client{Key: "client a", Policy: &Policy{Name: "a", Concurrent: 2}}); b.limits != (Limits{1000, 2}) {
		t.Errorf("after a change they are %+v", b.limits)
	}
	if l.bucket(&Client{Key: "client a", Policy: &Policy{Name: "a", Concurrent: 2}}) != b {
		t.Error("a second call under the same policy has another bucket")
	}
	// One process can call itself by several clients' names.
	l.bucket(&Client{Key: "client a"})
	if l.bucket(&Client{Key: "client a", Policy: &Policy{Name: "a", Concurrent: 2}}) != b {
		t.Error("a call under another policy has emptied the bucket")
	}
}

// TestManyClients: clients that rest are forgotten, those in a call are not.
func TestManyClients(t *testing.T) {
	l := newLimiter(Limits{Rate: 1, Concurrent: 1})
	busy := l.bucket(&Client{Key: "busy"})
	for i := range 3 * maxBuckets {
		l.bucket(&Client{Key: fmt.Sprint(i)}).holders--
	}
	if n := len(l.buckets); n > maxBuckets+1 {
		t.Errorf("%d clients are kept", n)
	}
	if l.bucket(&Client{Key: "busy"}) != busy {
		t.Error("a client in a call was forgotten")
	}
}
