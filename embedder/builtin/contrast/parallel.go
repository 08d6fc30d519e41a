package contrast

import (
	"runtime"
	"sync"
)

// inParallel calls do for consecutive ranges that make up 0…n, in parallel on at most
// workers goroutines (0 is GOMAXPROCS), and returns when all are done. The result of do
// must not depend on where the ranges are split.
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
