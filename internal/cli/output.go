package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/mattn/go-isatty"

	"github.com/recalld/recalld/internal/render"
)

// answer writes a command's result: value as JSON with --json, else what people
// writes.
func (a *App) answer(value any, people func(w io.Writer)) error {
	return a.recorded(value, false, people)
}

// recorded is answer for a result that may hold stored text; stored says whether it
// does. Unless a person reads it at a terminal, it then says that it is data: agents
// run these commands in a shell.
func (a *App) recorded(value any, stored bool, people func(w io.Writer)) error {
	return a.recordedAbove(value, stored, "", people)
}

// recordedAbove is recorded, with what recalld says below the stored text, outside of its frame.
func (a *App) recordedAbove(value any, stored bool, below string, people func(w io.Writer)) error {
	if !a.json && !stored {
		return a.people(people)
	}
	if !a.json {
		return a.people(func(w io.Writer) {
			p := &page{width: w.(*page).width}
			people(p)
			io.WriteString(w, a.fenced(p.String())+below)
		})
	}
	text, err := encode(value)
	if err != nil {
		return err
	}
	if stored {
		text = render.WithNotice(text)
	}
	_, err = a.opts.Out.Write(text)
	return wrapWrite(err)
}

// fenced is stored text as it is for who reads Out: a person knows what recalld is.
func (a *App) fenced(text string) string {
	if a.opts.OutTerminal {
		return text
	}
	return render.Fence(text)
}

func wrapWrite(err error) error {
	if err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}

func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false) // it is read in a terminal, and code is full of < and &
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return text.Bytes(), nil
}

// absolute resolves a path against the working folder.
func (a *App) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(a.opts.Dir, path)
}

// orEmpty makes an absent list an empty one, because JSON has null and [].
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// isTerminal says whether a file is a terminal, Cygwin's included.
func isTerminal(f *os.File) bool {
	return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd())
}
