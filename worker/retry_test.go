package worker_test

import (
	"errors"
	"testing"
	"time"

	"github.com/recalld/recalld/worker"
)

func TestBackoffPause(t *testing.T) {
	b := worker.Backoff{Min: time.Second, Max: time.Minute}
	for _, test := range []struct {
		attempt int
		random  float64
		want    time.Duration
	}{
		{1, 0, time.Second},
		{1, 0.5, 1500 * time.Millisecond},
		{2, 0.5, 2500 * time.Millisecond},
		{3, 0, time.Second},
		{5, 0.5, 16500 * time.Millisecond},
		{6, 0.5, 30500 * time.Millisecond}, // 64 s is over the most
		{1 << 40, 0.5, 30500 * time.Millisecond},
	} {
		if got := b.Pause(test.attempt, test.random); got != test.want {
			t.Errorf("Pause(%d, %v) = %v, want %v", test.attempt, test.random, got, test.want)
		}
	}
	if got := b.Pause(9, 0.999999); got > b.Max {
		t.Errorf("Pause = %v, want at most %v", got, b.Max)
	}
}

func TestPermanent(t *testing.T) {
	if worker.Permanent(nil) != nil {
		t.Error("a nil error was marked")
	}
	err := errors.New("no luck")
	if marked := worker.Permanent(err); !errors.Is(marked, err) || marked.Error() != err.Error() {
		t.Errorf("the marked error %v does not stand for %v", marked, err)
	}
}
