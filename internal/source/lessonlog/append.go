package lessonlog

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/recalld/recalld/internal/fsx"
	"github.com/recalld/recalld/internal/memory"
)

// encoded checks and encodes a line of a repository's log.
func encoded(repo string, line memory.LogLine) ([]byte, error) {
	if err := memory.Text("repo", repo, 1, memory.MaxNameText); err != nil {
		return nil, err
	}
	line, err := checked(line)
	if err != nil {
		return nil, err
	}
	text := Encode(line)
	if len(text) > MaxLine {
		return nil, tooLong(len(text))
	}
	return text, nil
}

// appendAll appends lines to a log under its lock, each by one write, and returns how
// many are in the log.
func appendAll(ctx context.Context, root, dir, repo string, lines [][]byte) (path string, written int, err error) {
	logs, at, err := fsx.OpenFolder(root, dir, true)
	if err != nil {
		return "", 0, fmt.Errorf("open logs: %w", err)
	}
	defer logs.Close() // only its handle
	name := FileName(repo)
	release, err := takeLock(ctx, logs, name)
	if err != nil {
		return "", 0, fmt.Errorf("lock log: %w", err)
	}
	for _, text := range lines {
		if err = fsx.Append(logs, name, text); err != nil {
			break
		}
		written++
	}
	if err := errors.Join(err, release()); err != nil {
		return "", written, fmt.Errorf("append to log: %w", err)
	}
	return filepath.Join(at, name), written, nil
}
