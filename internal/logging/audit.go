package logging

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// auditSize bounds the log of changes, in bytes; as much again is kept of the time before.
const auditSize = 10 << 20

// maxAuditIDs is how many ids a line names.
const maxAuditIDs = 20

// AuditPath is the log of changes beside the daemon's log: a line of JSON for each call that
// changes something.
func AuditPath(log string) string {
	return filepath.Join(filepath.Dir(log), "audit.jsonl")
}

// OpenAudit opens it.
func OpenAudit(log string) (*slog.Logger, io.Closer, error) {
	return Open(Options{Path: AuditPath(log), MaxSize: auditSize, Level: "info", Format: "json"})
}

// What commands change without a daemon, or past it.
const (
	ChangeRepair      = "repair"
	ChangeRestore     = "restore"
	ChangeToken       = "token"
	ChangeTokenAdd    = "token add"
	ChangeTokenRemove = "token remove"
)

// Changes lists them.
var Changes = []string{ChangeRepair, ChangeRestore, ChangeToken, ChangeTokenAdd, ChangeTokenRemove}

// NoteCommand notes what a command has changed without the daemon, or has failed to, beside
// the daemon's log at path. It only adds: a daemon that runs bounds the log.
func NoteCommand(path, change string, by memory.Caller, ids []string, failed error) error {
	path = AuditPath(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	line := slog.NewRecord(time.Now(), slog.LevelInfo, change, 0)
	line.Add(append(Caller(by), slog.Bool("no_daemon", true))...)
	line.Add(Outcome(ids, failed)...)
	// The handler itself, because a logger keeps its error from the caller.
	return errors.Join(slog.NewJSONHandler(f, nil).Handle(context.Background(), line), f.Close())
}

// Caller returns the attributes of who asks.
func Caller(by memory.Caller) (attrs []any) {
	for _, a := range [][2]string{{"client", by.Client}, {"session", by.Session}, {"window", by.Window}, {"dir", by.Dir}} {
		if a[1] != "" {
			attrs = append(attrs, slog.String(a[0], a[1]))
		}
	}
	if by.Hook {
		attrs = append(attrs, slog.Bool("hook", true))
	}
	return attrs
}

// Outcome returns the attributes of what was changed, or why it was not.
func Outcome(ids []string, err error) (attrs []any) {
	if len(ids) > 0 {
		attrs = append(attrs, slog.Any("ids", ids[:min(len(ids), maxAuditIDs)]))
	}
	if err != nil {
		e := memory.AsError(err)
		why := string(e.Code)
		if e.Field != "" {
			why += ": " + e.Field
		}
		attrs = append(attrs, slog.String("error", why))
	}
	return attrs
}
