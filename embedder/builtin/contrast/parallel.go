package contrast

import (
	"runtime"
	"sync"
)

// inParallel calls do for ranges that make up 0…n, side by side on at most so
// many goroutines, 0 being as many as GOMAXPROCS allows, and returns when all are
// done. What do writes must not depend on where the ranges are cut.
func inParallel(workers, n int, do func(first, end int)) {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = min(workers, n)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { do(n*w/workers, n*(w+1)/workers) })
	}
	wg.Wait()
}
