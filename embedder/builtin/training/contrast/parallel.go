package contrast

import (
	"runtime"
	"sync"
)

// inParallel calls do for ranges that make up 0…n, side by side on as many
// goroutines as GOMAXPROCS allows, and returns when all are done. What do writes
// must not depend on where the ranges are cut.
func inParallel(n int, do func(first, end int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { do(n*w/workers, n*(w+1)/workers) })
	}
	wg.Wait()
}
