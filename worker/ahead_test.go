package worker_test

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/recalld/recalld/worker"
)

func TestAhead(t *testing.T) {
	broken := errors.New("broken")
	for _, size := range []int{1, 3, 100} {
		numbers := func(yield func(int, error) bool) {
			for i := range 10 {
				var err error
				if i == 7 {
					err = broken
				}
				if !yield(i, err) {
					return
				}
			}
		}
		var got []int
		for i, err := range worker.Ahead(numbers, size, 2) {
			if (err != nil) != (i == 7) {
				t.Errorf("%d in batches of %d came with the error %v", i, size, err)
			}
			got = append(got, i)
		}
		if !slices.Equal(got, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
			t.Errorf("in batches of %d: %v", size, got)
		}
	}
}

// TestAheadGoesOn holds that the sequence goes on while its values are used, but not without
// bounds, and that it has ended when the loop has.
func TestAheadGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made, ended := 0, false
		var endless iter.Seq2[int, error] = func(yield func(int, error) bool) {
			defer func() { ended = true }()
			for yield(made, nil) {
				made++
			}
		}
		for i := range worker.Ahead(endless, 1, 2) {
			synctest.Wait()
			if i == 0 && made != 3 { // one is in use, two are ready; a fourth is held until there is room
				t.Errorf("%d values are passed on when the first is used", made)
			}
			if i == 20 {
				break
			}
		}
		if !ended {
			t.Error("the sequence goes on after its loop")
		}
	})
}

func TestAheadPanics(t *testing.T) {
	broken := func(yield func(int, error) bool) {
		yield(1, nil)
		panic("a broken sequence")
	}
	defer func() {
		p, _ := recover().(error)
		if p == nil || !strings.Contains(p.Error(), "a broken sequence") || !strings.Contains(p.Error(), "ahead_test.go") {
			t.Errorf("the loop ends with %v", p)
		}
	}()
	for range worker.Ahead(broken, 1, 2) {
	}
	t.Error("the loop ends as if all were well")
}
