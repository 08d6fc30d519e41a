package daemon

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

// Bounds of what status shows of errors.
const (
	maxFaults    = 20
	maxFaultText = 500 // bytes
)

// attrPart and attrError are the attributes that a logged fault is told by: the
// part of the daemon that speaks, and what went wrong.
const (
	attrPart  = "part"
	attrError = "error"
)

// faults is a slog.Handler that passes everything on and keeps the latest
// errors for status.
type faults struct {
	slog.Handler
	part string // of the attributes given so far
	kept *faultList
}

type faultList struct {
	mu   sync.Mutex // guards list
	list []memory.LoggedError
}

func keepFaults(next slog.Handler) *faults { return &faults{Handler: next, kept: &faultList{}} }

// Handle keeps errors and passes the record on.
func (f *faults) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError {
		e := memory.LoggedError{At: r.Time.UTC(), Part: f.part, Message: r.Message}
		r.Attrs(func(a slog.Attr) bool {
			switch a.Key {
			case attrPart:
				e.Part = a.Value.String()
			case attrError:
				e.Message += ": " + a.Value.String()
			}
			return true
		})
		f.kept.add(e)
	}
	return f.Handler.Handle(ctx, r)
}

// WithAttrs keeps the part that a logger speaks for.
func (f *faults) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := &faults{Handler: f.Handler.WithAttrs(attrs), part: f.part, kept: f.kept}
	for _, a := range attrs {
		if a.Key == attrPart {
			next.part = a.Value.String()
		}
	}
	return next
}

// WithGroup returns a handler that keeps errors as well.
func (f *faults) WithGroup(name string) slog.Handler {
	return &faults{Handler: f.Handler.WithGroup(name), part: f.part, kept: f.kept}
}

func (l *faultList) add(e memory.LoggedError) {
	if len(e.Message) > maxFaultText {
		cut := maxFaultText
		for !utf8.RuneStart(e.Message[cut]) {
			cut--
		}
		e.Message = e.Message[:cut] + "…"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) == maxFaults {
		l.list = slices.Delete(l.list, 0, 1)
	}
	l.list = append(l.list, e)
}

// latest returns the errors kept, the newest first.
func (l *faultList) latest() []memory.LoggedError {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := slices.Clone(l.list)
	slices.Reverse(out)
	return out
}
