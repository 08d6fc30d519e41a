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

// What a person needs for a key, and to decide what to do next or to read what appeared:
// the averages of Card, Moran and Newell, "The Keystroke-Level Model" (1980).
const (
	keyTime   = 280 * time.Millisecond
	thinkTime = 1350 * time.Millisecond
)

// TestE2ETenTasks does ten tasks in the interactive search, each from the shell's prompt to
// the answer, and adds to the time of the machine what a person needs for the keys.
func TestE2ETenTasks(t *testing.T) {
	m, dir := newMachine(t), shop(t)
	other := filepath.Join(t.TempDir(), "till")
	write(t, filepath.Join(other, "till.go"), "package till\n\n// Count counts the coins of the till.\nfunc Count() {}\n")
	m.run(dir, "index", dir, "--wait")
	m.run(other, "index", other, "--wait")
	for _, lesson := range [][]string{
		{"Rotate the signing key with care", "--context", "a release"},
		{"Clean the coffee machine on Fridays", "--context", "the kitchen"},
		{"Run sudo chown -R $USER on the folder first", "--type", "error", "--context", "npm install fails with EACCES: permission denied, mkdir '/usr/lib/node_modules/x'"},
	} {
		m.run(dir, append([]string{"remember"}, lesson...)...)
	}
	m.run(other, "remember", "Count the coins twice", "--context", "closing time")
	runHook(t, m.command(dir, "hook", "claude-code", "PostToolUse"), hookPayload("0f3a2c1e-1111-2222-3333-444455556666", dir, hookedTool))
	opened := filepath.Join(t.TempDir(), "opened")
	editor := filepath.Join(t.TempDir(), "nano")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\necho \"$*\" >"+opened+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	m.env = append(m.env, "TERM=xterm-256color", "EDITOR="+editor)

	const down, paste, pasted = "\x1b[B", "\x1b[200~", "\x1b[201~"
	type step struct {
		keys  string
		shows []string // nil: the editor is opened
	}
	for _, task := range []struct {
		name  string
		steps []step
	}{
		{"read a lesson in full", []step{{"signing", []string{"› signing", " result", "release: Rotate the"}}, {"\r", []string{"Esc back", "a release"}}}},
		{"open code in the editor", []step{{"cart total", []string{"2 results,", "func Total("}}, {"\r", nil}}},
		{"read the lesson before the newest", []step{{down, []string{"lesson"}}, {"\x0f", []string{"Esc back", "the kitchen"}}}},
		{"find code alone", []step{{"\t\t", []string{"code · this folder"}}, {"order mail", []string{"mail/mail.go:", "func Confirm("}}}},
		{"look at the last steps", []step{{"\t\t\t", []string{"steps · this folder", "go test ./..."}}}},
		{"find in another project", []step{{"\x14\x14", []string{"all · till"}}, {"coins", []string{"Count the coins twice"}}}},
		{"copy an id", []step{{"signing", []string{"› signing", " result", "release: Rotate the"}}, {"\x19", []string{"Copied l-"}}}},
		{"forget a lesson", []step{{"coffee", []string{"› coffee", " 1 result,", "kitchen: Clean"}}, {"\x18", []string{"for good?"}}, {"y", []string{"Forgotten: l-"}}}},
		{"mend a typing error", []step{{"sin", []string{"› sin"}}, {"\x17", []string{"type to search"}}, {"signing", []string{"› signing", " result", "release: Rotate the"}}}},
		{"find the lesson about a pasted error", []step{{paste + "npm ERR! code EACCES\nnpm ERR! permission denied" + pasted, []string{"› npm ERR! code EACCES npm ERR! permission denied", "Run sudo chown"}}}},
	} {
		for _, size := range []pty.Winsize{{Rows: 24, Cols: 80}, {Rows: 40, Cols: 200}} {
			cmd := m.command(dir)
			began := time.Now()
			tty, err := pty.StartWithSize(cmd, &size)
			if err != nil {
				t.Skipf("not run: no terminal can be had: %v", err)
			}
			s := newTerminal(int(size.Cols), int(size.Rows))
			go s.read(tty)
			s.until(t, " newest ")
			person := time.Duration(len("recalld\r")) * keyTime
			for _, step := range task.steps {
				io.WriteString(tty, step.keys)
				s.until(t, step.shows...)
				for step.shows == nil {
					if text, _ := os.ReadFile(opened); strings.Contains(string(text), "cart.go") {
						break
					}
					s.wait(t)
				}
				keys := utf8.RuneCountInString(step.keys)
				if strings.HasPrefix(step.keys, "\x1b") { // one key, or Ctrl-Shift-V
					keys = 1
				}
				person += time.Duration(keys)*keyTime + thinkTime
			}
			took := time.Since(began)
			t.Logf("%s, %d columns: %.1f s of a person and %v of the program", task.name, size.Cols, person.Seconds(), took.Round(time.Millisecond))
			if person+took > 10*time.Second {
				t.Errorf("%s takes %v in %d columns, want 10 s at most", task.name, person+took, size.Cols)
			}
			io.WriteString(tty, "\x03")
			if err := cmd.Wait(); err != nil {
				t.Errorf("%s: the search ends with %v", task.name, err)
			}
			tty.Close()
			os.Remove(opened)
			if task.name == "forget a lesson" { // it is there again for the other size
				m.run(dir, "remember", "Clean the coffee machine on "+map[uint16]string{80: "Mondays", 200: "Sundays"}[size.Cols], "--context", "the kitchen")
			}
		}
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
func (s *terminal) wait(t testing.TB) {
	t.Helper()
	select {
	case <-s.changed:
	case <-time.After(time.Minute):
		t.Fatalf("the terminal does not change any more:\n%s", s)
	}
}

// until waits for some texts to be shown at once.
func (s *terminal) until(t testing.TB, texts ...string) {
	t.Helper()
	for {
		screen := s.String()
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(screen, text) }) {
			return
		}
		s.wait(t)
	}
}
