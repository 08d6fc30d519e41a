package workertest_test

import (
	"testing"

	"github.com/recalld/recalld/worker"
	"github.com/recalld/recalld/worker/workertest"
)

func TestQueue(t *testing.T) {
	workertest.Run(t, func(t *testing.T, setup workertest.Setup) workertest.Opened {
		q := workertest.NewQueue(setup.Clock.Now, setup.ScheduleOptions)
		return workertest.Opened{Queue: q, Reopen: func(*testing.T) worker.Queue {
			q = q.Reopen()
			return q
		}}
	})
}
