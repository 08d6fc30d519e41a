package logging

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
)

// TestErrorsAreKept: the latest errors are kept, the newest first, in bounds.
func TestErrorsAreKept(t *testing.T) {
	var log bytes.Buffer
	handler, kept := KeepErrors(slog.NewTextHandler(&log, nil))
	logger := slog.New(handler).With(PartKey, "x")
	logger.Info("not an error")
	logger.Error("first", ErrorKey, errors.New("cause"))
	logger.WithGroup("g").Error("second", PartKey, "y")
	logger.Error(strings.Repeat("é", maxErrorText))
	got := kept.Latest()
	if len(got) != 3 || got[2].Message != "first: cause" || got[2].Part != "x" || got[1].Part != "y" || got[2].At.IsZero() {
		t.Errorf("kept %+v", got)
	}
	if long := got[0].Message; len(long) > maxErrorText+len("…") || !strings.HasPrefix(long, "éé") || strings.ContainsRune(long, '\uFFFD') {
		t.Errorf("a long one is kept as %d bytes %q", len(long), long)
	}
	for i := range maxErrors {
		logger.Error(fmt.Sprint(i))
	}
	got = kept.Latest()
	if len(got) != maxErrors || got[0].Message != fmt.Sprint(maxErrors-1) {
		t.Errorf("kept %d, the newest %q", len(got), got[0].Message)
	}
	if !strings.Contains(log.String(), "not an error") {
		t.Error("what is kept is not passed on")
	}
}

// TestMendedErrorsAreNotKept: an error leaves the list when its part logs that it has ended.
func TestMendedErrorsAreNotKept(t *testing.T) {
	handler, kept := KeepErrors(slog.NewTextHandler(io.Discard, nil))
	follow, files := slog.New(handler).With(PartKey, "follow"), slog.New(handler).With(PartKey, "files")
	for _, logger := range []*slog.Logger{follow, files} {
		logger.Error("/a is not read", ErrorKey, errors.New("permission denied"))
	}
	follow.Error("/a/b is not read", ErrorKey, errors.New("permission denied"))
	follow.Info("read again", MendedKey, "/a is not read")
	got := kept.Latest()
	if len(got) != 2 || got[0].Message != "/a/b is not read: permission denied" || got[1].Part != "files" {
		t.Errorf("kept %+v, want the error of the other folder and that of the other part", got)
	}
}
