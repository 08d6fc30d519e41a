package worker

import (
	"fmt"
	"testing"
	"time"
)

// full returns a schedule in which jobs wait, of 50 groups and 3 priorities.
func full(b *testing.B, jobs int) (*Schedule, time.Time) {
	b.Helper()
	s, err := NewSchedule(ScheduleOptions{Depth: jobs + 1})
	if err != nil {
		b.Fatal(err)
	}
	now := time.Unix(1_700_000_000, 0)
	for i := range jobs {
		if _, err := s.Enqueue(now, benchJob(i)); err != nil {
			b.Fatal(err)
		}
		s.Pending()
		s.Accept()
	}
	return s, now
}

func benchJob(i int) Job {
	return Job{Kind: "work", Key: fmt.Sprint(i), Group: fmt.Sprint(i % 50), Priority: i % 3, Payload: []byte(`{"n":1}`)}
}

// BenchmarkScheduleCycle enqueues, leases and settles one job while many wait.
func BenchmarkScheduleCycle(b *testing.B) {
	for _, waiting := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			s, now := full(b, waiting)
			kinds, i := []string{"work"}, waiting
			for b.Loop() {
				i++
				now = now.Add(time.Millisecond)
				if _, err := s.Enqueue(now, benchJob(i)); err != nil {
					b.Fatal(err)
				}
				s.Pending()
				s.Accept()
				lease, err := s.Lease(now, kinds)
				if err != nil {
					b.Fatal(err)
				}
				s.Pending()
				s.Accept()
				if err := s.Settle(now, lease.ID, Settlement{}); err != nil {
					b.Fatal(err)
				}
				s.Pending()
				s.Accept()
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
		})
	}
}

// BenchmarkScheduleCoalesce enqueues onto a job in the middle of the queue.
func BenchmarkScheduleCoalesce(b *testing.B) {
	s, now := full(b, 1_000)
	job := benchJob(500)
	for b.Loop() {
		if got, err := s.Enqueue(now, job); err != nil || !got.Coalesced {
			b.Fatal(got, err)
		}
		s.Pending()
		s.Accept()
	}
}
