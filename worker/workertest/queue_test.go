package workertest_test

import (
	"testing"

	"github.com/recalld/recalld/worker/workertest"
)

func TestQueue(t *testing.T) {
	workertest.Run(t, func(t *testing.T, setup workertest.Setup) workertest.Opened {
		q := workertest.NewQueue(setup.Clock, setup.ScheduleOptions)
		return workertest.Opened{Queue: q, Reopen: func(*testing.T) workertest.Inspected {
			q = q.Reopen()
			return q
		}}
	})
}
