//go:build unix

// Package badfile holds the files that a program must not trust to be what it expects: what
// never ends, never answers, is of another kind or size, or holds another text.
package badfile

import (
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Hole is a large file of zeros. A reader whose own limit is larger than it needs a larger one.
const Hole = "320 MB"

// All put something at a path that is not what a program expects there; whole is what it
// expects.
var All = map[string]func(path, whole string) error{
	"a folder":          func(path, _ string) error { return os.MkdirAll(path, 0o700) },
	"a pipe":            func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
	"an endless device": func(path, _ string) error { return os.Symlink("/dev/zero", path) },
	"a silent terminal": func(path, _ string) error { return os.Symlink("/dev/ptmx", path) },
	"a loop of links":   func(path, _ string) error { return os.Symlink(path, path) },
	Hole: func(path, _ string) error {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return err
		}
		return os.Truncate(path, 320<<20) // it takes no room, and is more than any test lets be allocated
	},
	"cut off":         text(func(whole string) string { return whole[:len(whole)*2/3] }),
	"another type":    text(func(string) string { return "[1, 2]\n" }),
	"a number":        text(func(string) string { return "17\n" }),
	"NUL":             text(func(whole string) string { return whole + "\x00" }),
	"no UTF-8":        text(func(whole string) string { return whole + "\xff\xfe" }),
	"UTF-16":          text(func(whole string) string { return "\xff\xfe" + strings.Join(strings.Split(whole, ""), "\x00") }),
	"deep lists":      text(func(string) string { return strings.Repeat("[", 200_000) }),
	"deep objects":    text(func(string) string { return strings.Repeat(`{"a":`, 100_000) }),
	"an endless line": text(func(string) string { return strings.Repeat("x", 3<<20) }),
	"a program":       text(func(string) string { return "\x7fELF\x02\x01\x01" + strings.Repeat("\x00\x90", 500) }),
}

func text(of func(whole string) string) func(path, whole string) error {
	return func(path, whole string) error { return os.WriteFile(path, []byte(of(whole)), 0o600) }
}

// Bounded runs something that must end within 20 seconds and returns how many bytes it
// allocated.
func Bounded(t *testing.T, what string, run func()) (allocated uint64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	done := make(chan struct{})
	go func() { defer close(done); run() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s does not end", what)
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
