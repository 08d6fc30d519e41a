package render

import (
	"io"
	"sync"
	"unicode/utf8"
)

// Writer hands on what is written to it as Visible or JSON gives it. A character
// that is cut by the end of a Write is kept for the next one; Flush hands on what
// is left. It is safe for concurrent use.
type Writer struct {
	out  io.Writer
	json func() bool

	mu   sync.Mutex // guards tail, and keeps what is written in order
	tail []byte     // the beginning of a character, or a carriage return
}

// NewWriter returns a writer to out. It writes escapes of JSON while json says so.
func NewWriter(out io.Writer, json func() bool) *Writer { return &Writer{out: out, json: json} }

var _ io.Writer = (*Writer)(nil)

// Write implements io.Writer. What it returns counts bytes of p.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := append(w.tail, p...)
	whole := len(text) - incomplete(text)
	w.tail = append([]byte(nil), text[whole:]...)
	if err := w.write(text[:whole]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what was kept of the last Write.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	tail := w.tail
	w.tail = nil
	return w.write(tail)
}

func (w *Writer) write(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	show := Visible
	if w.json() {
		show = JSON
	}
	_, err := io.WriteString(w.out, show(string(text)))
	return err
}

// incomplete returns how many bytes at the end of a text may mean something else
// with the next ones: a character that is not whole, a carriage return.
func incomplete(text []byte) int {
	if n := len(text); n > 0 && text[n-1] == '\r' {
		return 1
	}
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return n
			}
			break
		}
	}
	return 0
}
