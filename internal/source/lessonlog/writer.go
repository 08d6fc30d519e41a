package lessonlog

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/recalld/recalld/internal/memory"
)

// maxWaiting bounds the lines that wait for one log.
const maxWaiting = 10_000

// A Writer appends lines to logs for many callers of one process. The lines of one log
// wait in a queue, and one goroutine takes the log's lock and writes all of them, so that
// the process does not compete with itself for a lock. It is safe for concurrent use.
type Writer struct {
	ctx    context.Context // ends the writing in the background
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex // guards what follows
	closed bool
	// logs are the waiting lines by folder and repository. A log is in it, perhaps without
	// any, while a goroutine writes its lines.
	logs map[string][]*waitingLine
}

// waitingLine is a line in a queue. path and err are set before done is closed.
type waitingLine struct {
	text []byte
	done chan struct{}
	path string
	err  error
}

// NewWriter returns a Writer. Close ends it.
func NewWriter() *Writer {
	w := &Writer{logs: map[string][]*waitingLine{}}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

// Append appends a line to the log of a repository in the folder dir below root, creates
// both if they are missing, and returns the log's path. Without an error the whole line
// is in the log. It is not synced to disk, because the store has synced the record. If
// ctx ends first, the line stays in the queue and the error, CodeUnavailable, says so. It
// also returns CodeUnavailable if 10,000 lines are waiting, or after Close;
// CodeInvalidInput for a field over its limit, or a line longer than MaxLine;
// CodeForbidden if the log is not a regular file.
func (w *Writer) Append(ctx context.Context, root, dir, repo string, line memory.LogLine) (path string, err error) {
	text, err := encoded(repo, line)
	if err != nil {
		return "", err
	}
	entry := &waitingLine{text: text, done: make(chan struct{})}
	if err := w.enqueue(root, dir, repo, entry); err != nil {
		return "", err
	}
	select {
	case <-entry.done:
		return entry.path, entry.err
	case <-ctx.Done():
		return "", &memory.Error{Code: memory.CodeUnavailable, Cause: ctx.Err(),
			Message: "the log " + FileName(repo) + " is locked by another writer; the line is written once it is free"}
	}
}

func (w *Writer) enqueue(root, dir, repo string, entry *waitingLine) error {
	key := filepath.Join(root, dir, FileName(repo))
	if filepath.IsAbs(dir) {
		key = filepath.Join(dir, FileName(repo))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return memory.Errorf(memory.CodeUnavailable, "the daemon is stopping")
	}
	waiting, written := w.logs[key]
	if len(waiting) >= maxWaiting {
		return memory.Errorf(memory.CodeUnavailable, "%d lines wait for the log %s already", maxWaiting, FileName(repo))
	}
	w.logs[key] = append(waiting, entry)
	if !written {
		w.work.Go(func() { w.drain(key, root, dir, repo) })
	}
	return nil
}

// drain writes the waiting lines of one log until there are none.
func (w *Writer) drain(key, root, dir, repo string) {
	for {
		w.mu.Lock()
		batch := w.logs[key]
		w.logs[key] = nil
		if len(batch) == 0 {
			delete(w.logs, key)
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
		texts := make([][]byte, len(batch))
		for i, entry := range batch {
			texts[i] = entry.text
		}
		path, written, err := appendAll(w.ctx, root, dir, repo, texts)
		for i, entry := range batch {
			if entry.path = path; i >= written {
				entry.err = err
			}
			close(entry.done)
		}
	}
}

// Close refuses new lines and waits until the waiting ones are written. If ctx ends
// first, it gives them up and returns its error.
func (w *Writer) Close(ctx context.Context) error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	defer w.cancel()
	ended := make(chan struct{})
	go func() { w.work.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		w.cancel()
		<-ended
		return ctx.Err()
	}
}
