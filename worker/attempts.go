package worker

// LastAttempt says that the job has had all its attempts: if the present one
// fails, the job becomes a dead letter.
func (j Job) LastAttempt() bool { return j.MaxAttempts > 0 && j.Attempt >= j.MaxAttempts }
