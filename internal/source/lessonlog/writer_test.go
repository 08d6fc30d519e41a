package lessonlog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// Lines of many callers of one Writer are all written, though another program has
// the log's lock for longer than any caller waits.
func TestWriterQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := t.TempDir()
		w := NewWriter()
		mustWrite(t, filepath.Join(root, "logs", "r.jsonl"), "")
		lock := filepath.Join(root, "logs", "r.jsonl"+lockSuffix)
		must(t, os.Mkdir(lock, 0o777))
		const writers = 200
		var all sync.WaitGroup
		for i := range writers {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				_, err := w.Append(ctx, root, "logs", "r", lesson(fmt.Sprint("lesson ", i)))
				if memory.CodeOf(err) != memory.CodeUnavailable || !strings.Contains(err.Error(), "is written once it is free") {
					t.Errorf("a line that waits is answered with %v", err)
				}
			})
		}
		all.Wait()
		must(t, os.Remove(lock))
		if err := w.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
		text := mustRead(t, filepath.Join(root, "logs", "r.jsonl"))
		for i := range writers {
			if n := strings.Count(text, fmt.Sprintf(`"lesson %d"`, i)); n != 1 {
				t.Errorf("lesson %d is in the log %d times, want once", i, n)
			}
		}
		if _, err := w.Append(t.Context(), root, "logs", "r", lesson("late")); memory.CodeOf(err) != memory.CodeUnavailable {
			t.Errorf("Append after Close: %v, want %s", err, memory.CodeUnavailable)
		}
	})
}

// A log that cannot be written fails for every caller; another log is not held up.
func TestWriterTellsOfFailures(t *testing.T) {
	root := t.TempDir()
	w := NewWriter()
	must(t, os.MkdirAll(filepath.Join(root, "logs", "r.jsonl"), 0o777))
	if _, err := w.Append(t.Context(), root, "logs", "r", lesson("x")); memory.CodeOf(err) != memory.CodeForbidden {
		t.Errorf("a log that is a folder: %v, want %s", err, memory.CodeForbidden)
	}
	if path, err := w.Append(t.Context(), root, "logs", "other", lesson("x")); err != nil || path != filepath.Join(root, "logs", "other.jsonl") {
		t.Errorf("another log: %s, %v", path, err)
	}
	if err := w.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// Close gives up what waits for a lock that is never freed.
func TestWriterCloseGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := t.TempDir()
		w := NewWriter()
		lock := filepath.Join(root, "logs", "r.jsonl"+lockSuffix)
		must(t, os.MkdirAll(lock, 0o777))
		answer := make(chan error, 1)
		go func() {
			_, err := w.Append(t.Context(), root, "logs", "r", lesson("x"))
			answer <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := w.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close = %v, want the deadline", err)
		}
		if err := <-answer; memory.CodeOf(err) != memory.CodeUnavailable {
			t.Errorf("the caller got %v, want %s", err, memory.CodeUnavailable)
		}
	})
}
