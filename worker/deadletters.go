package worker

import "context"

// DeadLetters is what a queue shows of the jobs that were given up, and of its
// state. Every Queue that passes workertest has it.
type DeadLetters interface {
	// Dead returns the dead letters, oldest first.
	Dead(ctx context.Context) ([]Job, error)
	// Requeue lets a dead letter wait again with all its attempts. A job of its
	// kind and key that waits or runs, being newer, stands for both.
	// ErrUnknownJob.
	Requeue(ctx context.Context, id string) error
	// Stats counts the jobs.
	Stats() Stats
}
