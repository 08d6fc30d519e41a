package metrics

import (
	"slices"
	"strconv"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// bounds are the upper ends of the buckets of run durations, in seconds: from a
// saved file up to the longest run that the settings allow by default, so that a
// quantile is known to a factor of 2.5 or so.
var bounds = [...]float64{.025, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 150, 300, 600}

// Runs is a histogram of how long runs of the index took, since the daemon
// started. The zero value is ready; it is safe for concurrent use.
//
// Its buckets are those of Prometheus. The library's own histogram has buckets
// that only VictoriaMetrics can read.
type Runs struct {
	buckets [len(bounds) + 1]metrics.Counter // the last is for what is longer
	seconds metrics.FloatCounter
}

// Observe counts a run that has ended, however it ended.
func (r *Runs) Observe(took time.Duration) {
	seconds := max(took, 0).Seconds()
	at, _ := slices.BinarySearch(bounds[:], seconds) // a bound is in its bucket
	r.buckets[at].Inc()
	r.seconds.Add(seconds)
}

// write adds the histogram to a page. The sum is read first: a run that ends
// meanwhile is in the count alone, never in the sum alone.
func (r *Runs) write(p *page) {
	p.histogram("recalld_index_run_duration_seconds", "How long runs of the index took.")
	sum := r.seconds.Get()
	var count uint64
	for i, bound := range bounds {
		count += r.buckets[i].Get()
		p.value(float64(count), "_bucket", labelText([]label{{"le", strconv.FormatFloat(bound, 'g', -1, 64)}}))
	}
	count += r.buckets[len(bounds)].Get()
	p.value(float64(count), "_bucket", `{le="+Inf"}`)
	p.value(sum, "_sum", "")
	p.value(float64(count), "_count", "")
}
