package worker

import (
	"fmt"
	"iter"
	"runtime/debug"
	"sync"
)

// Ahead yields what seq yields, in its order, and lets seq go on in a goroutine meanwhile:
// reading is often half of the work. Values are passed on in batches of a size, since waking
// a goroutine for each value costs more than it gains. At most `waiting` batches are ready,
// beside the one that is made and the one in use.
//
// The goroutine ends before the loop over Ahead does. If seq panics, so does the loop, whose
// caller may recover; what seq yielded for an unfinished batch is lost then.
func Ahead[T any](seq iter.Seq2[T, error], size, waiting int) iter.Seq2[T, error] {
	type result struct {
		value T
		err   error
	}
	return func(yield func(T, error) bool) {
		batches, stop := make(chan []result, waiting), make(chan struct{})
		var failure error // of a panic; it is set before batches is closed
		var reader sync.WaitGroup
		defer reader.Wait()
		defer close(stop)
		reader.Go(func() {
			defer close(batches)
			defer func() {
				if p := recover(); p != nil {
					failure = fmt.Errorf("%v\n%s", p, debug.Stack())
				}
			}()
			var batch []result
			send := func() bool {
				select {
				case batches <- batch:
					batch = make([]result, 0, size)
					return true
				case <-stop:
					return false
				}
			}
			for value, err := range seq {
				if batch = append(batch, result{value, err}); len(batch) == size && !send() {
					return
				}
			}
			send()
		})
		for batch := range batches {
			for _, r := range batch {
				if !yield(r.value, r.err) {
					return
				}
			}
		}
		if failure != nil {
			panic(failure)
		}
	}
}
