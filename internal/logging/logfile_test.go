package logging

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

func TestLogLevelsAndFormats(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log", "recalld.log")
	var terminal bytes.Buffer
	log, closer, err := Open(Options{Path: path, MaxSize: 1e6, Level: "warn", Format: "json", Also: &terminal})
	if err != nil {
		t.Fatal(err)
	}
	log.Info("quiet")
	log.Warn("loud", "n", 3)
	for range 2 {
		if err := closer.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var line struct {
		Msg string
		N   int
	}
	if err := json.Unmarshal(text, &line); err != nil || line.Msg != "loud" || line.N != 3 {
		t.Errorf("log %q, want the one line of the warning as JSON (%v)", text, err)
	}
	if terminal.String() != string(text) {
		t.Errorf("the terminal has %q, the file %q", terminal.String(), text)
	}
	if _, _, err := Open(Options{Path: path, Level: "loud"}); memory.CodeOf(err) != memory.CodeInvalidInput {
		t.Errorf("unknown level: %v, want invalid input", err)
	}
}

// However many write, no line is torn or lost at the turn, and both files keep
// to the bound. What another descriptor appends, a crash's trace, ends up behind
// what was written before it.
func TestLogRotation(t *testing.T) {
	const max, writers, lines = 2000, 4, 10
	path := filepath.Join(t.TempDir(), "recalld.log")
	l, err := openLogFile(path, max)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	stderr, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range lines {
				if _, err := fmt.Fprintf(l, "writer %d line %03d %s\n", w, i, strings.Repeat("x", 40)); err != nil {
					t.Errorf("write: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if _, err := stderr.WriteString("panic: at the end\n"); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range []string{path + ".1", path} {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > max+100 || len(text) == 0 {
			t.Errorf("%s has %d bytes, want 1–%d", p, len(text), max)
		}
		if bytes.IndexByte(text, 0) >= 0 {
			t.Errorf("%s has a hole", p)
		}
		all = append(all, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")...)
	}
	if all[len(all)-1] != "panic: at the end" {
		t.Errorf("the last line is %q", all[len(all)-1])
	}
	if want := writers*lines + 1; len(all) != want {
		t.Errorf("%d lines, want %d", len(all), want)
	}
	for _, line := range all[:len(all)-1] {
		if !strings.HasPrefix(line, "writer ") || !strings.HasSuffix(line, strings.Repeat("x", 40)) {
			t.Errorf("torn line %q", line)
		}
	}
}

// TestLogOfRefusedLines: once the disk takes lines again, one says how many are missing, in
// the form of the others.
func TestLogOfRefusedLines(t *testing.T) {
	for format, want := range map[string]string{
		"text": `level=WARN msg="the disk refused lines of this log" part=log lines=2`,
		"json": `"level":"WARN","msg":"the disk refused lines of this log","part":"log","lines":2}`,
	} {
		path := filepath.Join(t.TempDir(), "recalld.log")
		log, closer, err := Open(Options{Path: path, MaxSize: 1e6, Level: "info", Format: format})
		if err != nil {
			t.Fatal(err)
		}
		closer.(*logFile).missed = 2
		log.Info("again")
		if err := closer.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if first, rest, _ := strings.Cut(string(text), "\n"); err != nil || !strings.HasSuffix(first, want) || strings.Count(rest, "again") != 1 {
			t.Errorf("%s: %q, %v; want first %q", format, text, err, want)
		}
	}
}

// A log whose file or folder was removed or moved away goes on where it belongs. Where the
// folder around it is gone, a drive is away, nothing is made in its place.
func TestLogIsMadeAgain(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed there")
	}
	data := t.TempDir()
	folder := filepath.Join(data, "log")
	path := filepath.Join(folder, "recalld.log")
	l, err := openLogFile(path, 1e6)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	write := func(line string) {
		t.Helper()
		if _, err := l.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	for _, away := range []func() error{
		func() error { return os.Remove(path) },
		func() error { return os.Rename(path, path+".moved") },
		func() error { return os.RemoveAll(folder) },
	} {
		if err := away(); err != nil {
			t.Fatal(err)
		}
		write("next")
		if text, err := os.ReadFile(path); err != nil || string(text) != "next\n" {
			t.Errorf("the log has %q (%v), want the line written since its file was gone", text, err)
		}
	}
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	write("away")
	if _, err := os.Stat(data); err == nil {
		t.Errorf("the log made the folder %s around its own", data)
	}
}
