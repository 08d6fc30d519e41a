package lessonlog

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/recalld/recalld/internal/memory"
)

// maxWaiting bounds the lines that wait for one log.
const maxWaiting = 10_000

// A Writer appends lines to logs for many callers of one process. The lines of one
// log wait in a queue, and whoever has the log's lock writes all that wait: the
// process never competes with itself for a lock.
// It is safe for concurrent use.
type Writer struct {
	ctx    context.Context // ends the writing in the background
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex
	closed bool              // guarded by mu
	logs   map[string]*queue // by folder and repository; guarded by mu
}

// queue holds the lines that wait for one log. It is in Writer.logs while a
// goroutine writes them. Its fields are guarded by Writer.mu.
type queue struct {
	waiting []*waitingLine
}

// waitingLine is a line in a queue. Path and err are written before done is closed.
type waitingLine struct {
	text []byte
	done chan struct{}
	path string
	err  error
}

// NewWriter returns a Writer. Close ends it.
func NewWriter() *Writer {
	w := &Writer{logs: map[string]*queue{}}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

// Append writes a line to the log of a repository in the folder dir of root, both
// made if they are missing, and returns the log's path. The line is whole in the log,
// or the error says that it is not; it is not synced to disk, for the record behind it
// is. When ctx ends first the line stays in the queue: the error is CodeUnavailable and
// says so. CodeUnavailable too when 10,000 lines wait already, or after Close.
// CodeInvalidInput names a field over its limit, or the line when it is longer than
// MaxLine; CodeForbidden when the log is not a plain file.
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
	q := w.logs[key]
	if q == nil {
		q = &queue{}
		w.logs[key] = q
		w.work.Go(func() { w.drain(key, q, root, dir, repo) })
	}
	if len(q.waiting) >= maxWaiting {
		return memory.Errorf(memory.CodeUnavailable, "%d lines wait for the log %s already", maxWaiting, FileName(repo))
	}
	q.waiting = append(q.waiting, entry)
	return nil
}

// drain writes what waits for one log until nothing does.
func (w *Writer) drain(key string, q *queue, root, dir, repo string) {
	for {
		w.mu.Lock()
		batch := q.waiting
		q.waiting = nil
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

// Close takes no more lines and waits until those that wait are written, or ctx
// ends: they are given up then, and the error is that of ctx.
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
