package lessonlog

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/source/folder"
)

// Append writes a line to the log of a repository in the folder dir of root,
// both made if they are missing, and returns the log's path. The line is whole
// in the log, or the error says that it is not; it is not synced to disk, for
// the record behind it is. It waits for other writers until ctx ends, then the
// error is CodeUnavailable. CodeInvalidInput names a field over its limit, or
// the line when it is longer than MaxLine; CodeForbidden when the log is not a
// plain file.
func Append(ctx context.Context, root, dir, repo string, line memory.LogLine) (path string, err error) {
	if err := memory.Text("repo", repo, 1, memory.MaxNameText); err != nil {
		return "", err
	}
	if line, err = checked(line); err != nil {
		return "", err
	}
	text := Encode(line)
	if len(text) > MaxLine {
		return "", tooLong(len(text))
	}
	logs, at, err := folder.Open(root, dir, true)
	if err != nil {
		return "", fmt.Errorf("open logs: %w", err)
	}
	defer logs.Close() // only its handle
	name := FileName(repo)
	release, err := takeLock(ctx, logs, name)
	if err != nil {
		return "", fmt.Errorf("lock log: %w", err)
	}
	err = folder.Append(logs, name, text)
	if err := errors.Join(err, release()); err != nil {
		return "", fmt.Errorf("append to log: %w", err)
	}
	return filepath.Join(at, name), nil
}
