package logging

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

// Bounds of what status shows of errors.
const (
	maxErrors    = 20
	maxErrorText = 500 // bytes
)

// PartKey and ErrorKey are the attributes of a logged error: the part of the daemon that
// logs it, and what went wrong. MendedKey names, in a later record of the part, the message
// of an error that has ended: it is not kept any longer.
const (
	PartKey   = "part"
	ErrorKey  = "error"
	MendedKey = "mended"
)

// errorKeeper is a slog.Handler that passes everything on and keeps the latest errors.
type errorKeeper struct {
	slog.Handler
	part string // of the attributes given so far
	kept *ErrorList
}

// ErrorList holds the latest errors that were logged. It is safe for concurrent use.
type ErrorList struct {
	mu   sync.Mutex // guards list
	list []memory.LoggedError
}

// KeepErrors returns a handler that passes everything on to next, and the list of the
// latest errors.
func KeepErrors(next slog.Handler) (slog.Handler, *ErrorList) {
	kept := &ErrorList{}
	return &errorKeeper{Handler: next, kept: kept}, kept
}

// Handle keeps errors and passes the record on.
func (k *errorKeeper) Handle(ctx context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == MendedKey {
			k.kept.mended(k.part, a.Value.String())
		}
		return true
	})
	if r.Level >= slog.LevelError {
		e := memory.LoggedError{At: r.Time.UTC(), Part: k.part, Message: r.Message}
		r.Attrs(func(a slog.Attr) bool {
			switch a.Key {
			case PartKey:
				e.Part = a.Value.String()
			case ErrorKey:
				e.Message += ": " + a.Value.String()
			}
			return true
		})
		k.kept.add(e)
	}
	return k.Handler.Handle(ctx, r)
}

// WithAttrs keeps the part that a logger speaks for.
func (k *errorKeeper) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := &errorKeeper{Handler: k.Handler.WithAttrs(attrs), part: k.part, kept: k.kept}
	for _, a := range attrs {
		if a.Key == PartKey {
			next.part = a.Value.String()
		}
	}
	return next
}

// WithGroup returns a handler that keeps errors as well.
func (k *errorKeeper) WithGroup(name string) slog.Handler {
	return &errorKeeper{Handler: k.Handler.WithGroup(name), part: k.part, kept: k.kept}
}

func (l *ErrorList) add(e memory.LoggedError) {
	e.Message = short(e.Message)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) == maxErrors {
		l.list = slices.Delete(l.list, 0, 1)
	}
	l.list = append(l.list, e)
}

// short cuts a text to what is kept of a message.
func short(text string) string {
	if len(text) <= maxErrorText {
		return text
	}
	cut := maxErrorText
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// mended removes the errors of a part with a message.
func (l *ErrorList) mended(part, message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(e memory.LoggedError) bool {
		return e.Part == part && strings.HasPrefix(e.Message, strings.TrimSuffix(short(message+": "), "…"))
	})
}

// Latest returns the errors kept, the newest first.
func (l *ErrorList) Latest() []memory.LoggedError {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := slices.Clone(l.list)
	slices.Reverse(out)
	return out
}
