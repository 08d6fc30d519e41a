package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/recalld/recalld/worker"
	"github.com/recalld/recalld/worker/workertest"
)

// A pool runs the jobs of a queue. Two jobs of one kind and key coalesce while
// they wait; Merge joins their payloads.
func ExamplePool() {
	queue := workertest.NewQueue(time.Now, worker.ScheduleOptions{
		Merge: func(_ string, older, newer json.RawMessage) json.RawMessage {
			var all, more []string
			if json.Unmarshal(older, &all) != nil || json.Unmarshal(newer, &more) != nil {
				return newer
			}
			joined, _ := json.Marshal(append(all, more...))
			return joined
		},
	})
	ctx := context.Background()
	for _, file := range []string{`["main.go"]`, `["go.mod"]`} {
		at, err := queue.Enqueue(ctx, worker.Job{Kind: "index", Key: "/src/app", Payload: json.RawMessage(file)})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("coalesced:", at.Coalesced, "position:", at.Position)
	}

	done := make(chan struct{})
	pool, err := worker.NewPool(worker.Options{
		Queue: queue,
		Handlers: map[string]worker.Handler{"index": func(_ context.Context, job worker.Job) error {
			fmt.Printf("%s %s: %s\n", job.Kind, job.Key, job.Payload)
			close(done)
			return nil
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	pool.Start()
	<-done
	fmt.Println(pool.Stop(ctx))
	// Output:
	// coalesced: false position: 0
	// coalesced: true position: 0
	// index /src/app: ["main.go","go.mod"]
	// <nil>
}

// A job that fails is tried again after a pause. After its last attempt it is a
// dead letter, which can be requeued.
func ExampleSchedule() {
	s, err := worker.NewSchedule(worker.ScheduleOptions{MaxAttempts: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	if _, err := s.Enqueue(now, worker.Job{Kind: "embed", Key: "model"}); err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		job, err := s.Lease(now, []string{"embed"})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("attempt", job.Attempt)
		if err := s.Settle(now, job.ID, worker.Settlement{Outcome: worker.Retry, Pause: time.Second, Error: "connection refused"}); err != nil {
			fmt.Println(err)
			return
		}
		now = now.Add(time.Second)
	}
	letter := s.Dead()[0]
	fmt.Println("dead:", letter.LastError)
	fmt.Println(s.Requeue(letter.ID), s.Stats().Waiting)
	// Output:
	// attempt 1
	// attempt 2
	// dead: connection refused
	// <nil> 1
}
