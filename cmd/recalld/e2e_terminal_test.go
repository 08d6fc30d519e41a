//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
)

// TestE2EOnATerminal runs the interactive search on a real terminal, as a person does:
// type, open what was found in the editor, leave. The terminal is given back, and the
// shell's own screen with it.
func TestE2EOnATerminal(t *testing.T) {
	m, dir := newMachine(t), shop(t)
	m.run(dir, "remember", "Rotate the signing key with care", "--context", "a release")
	m.run(dir, "index", dir, "--wait")
	opened := filepath.Join(t.TempDir(), "opened")
	editor := filepath.Join(t.TempDir(), "nano") // which takes a line
	if err := os.WriteFile(editor, []byte("#!/bin/sh\necho \"$*\" >"+opened+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	m.env = append(m.env, "TERM=xterm-256color", "EDITOR="+editor)
	for _, size := range []pty.Winsize{{Rows: 24, Cols: 80}, {Rows: 40, Cols: 200}} {
		cmd := m.command(dir)
		tty, err := pty.StartWithSize(cmd, &size)
		if err != nil {
			t.Skipf("not run: no terminal can be had: %v", err)
		}
		s := newTerminal(int(size.Cols), int(size.Rows))
		go s.read(tty)
		s.until(t, "1 newest")
		io.WriteString(tty, "signing key")
		s.until(t, "› signing key", "1.00 lesson", "Rotate the signing key")
		io.WriteString(tty, "\t\t")
		s.until(t, "code · this folder")
		io.WriteString(tty, "\x15shopping cart total")
		s.until(t, "› shopping cart total", "cart/cart.go:", "func Total(")
		io.WriteString(tty, "\r")
		for text := ""; text == ""; { // until the editor has been there
			s.wait(t)
			read, _ := os.ReadFile(opened)
			text = string(read)
		}
		io.WriteString(tty, "\x03")
		if err := cmd.Wait(); err != nil {
			t.Errorf("%d columns: the search ends with %v", size.Cols, err)
		}
		if text, _ := os.ReadFile(opened); !strings.HasPrefix(string(text), "+") || !strings.Contains(string(text), ".go") {
			t.Errorf("%d columns: the editor was given %q, want a line and a file", size.Cols, text)
		}
		tty.Close()
	}
}

// terminal is what a terminal shows of what a program writes: it knows the sequences that
// place the cursor and clear the screen, and skips the others.
type terminal struct {
	width, height int

	mu      sync.Mutex // guards what follows
	cells   [][]rune
	x, y    int
	pending string // the beginning of a sequence, or of a character
	changed chan struct{}
}

func newTerminal(width, height int) *terminal {
	s := &terminal{width: width, height: height, changed: make(chan struct{}, 1)}
	s.clear()
	return s
}

func (s *terminal) clear() {
	s.cells = nil
	for range s.height {
		s.cells = append(s.cells, []rune(strings.Repeat(" ", s.width)))
	}
}

// sequence is a control sequence, whole or begun.
var sequence = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^\x1b(?:\\[([0-9;?<>=]*)[ -/]*([@-~])|\\][^\a\x1b]*(?:\a|\x1b\\\\)|[()][A-Z0-9]|[=>78c])")
})

func (s *terminal) write(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text = s.pending + text
	for text != "" {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && !utf8.FullRuneInString(text):
			s.pending = text
			return
		case r == '\x1b':
			match := sequence().FindStringSubmatch(text)
			if match == nil {
				s.pending = text
				return
			}
			n = len(match[0])
			switch match[2] {
			case "H":
				s.x, s.y = 0, 0
				fmt.Sscanf(match[1], "%d;%d", &s.y, &s.x)
				s.x, s.y = max(s.x-1, 0), max(s.y-1, 0)
			case "J":
				s.clear()
			}
		case r == '\r':
			s.x = 0
		case r == '\n':
			s.y++
		case r >= ' ' && s.x < s.width && s.y < s.height:
			s.cells[s.y][s.x] = r
			s.x++
		}
		text = text[n:]
	}
	s.pending = ""
}

func (s *terminal) read(from io.Reader) {
	buffer := make([]byte, 4096)
	for {
		n, err := from.Read(buffer)
		s.write(string(buffer[:n]))
		select {
		case s.changed <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (s *terminal) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, line := range s.cells {
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return b.String()
}

// wait waits for something to be written.
func (s *terminal) wait(t *testing.T) {
	t.Helper()
	select {
	case <-s.changed:
	case <-time.After(time.Minute):
		t.Fatalf("the terminal does not change any more:\n%s", s)
	}
}

// until waits for some texts to be shown at once.
func (s *terminal) until(t *testing.T, texts ...string) {
	t.Helper()
	for {
		screen := s.String()
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(screen, text) }) {
			return
		}
		s.wait(t)
	}
}
