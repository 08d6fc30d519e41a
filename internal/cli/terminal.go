package cli

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// The values of --color.
const (
	colourAuto   = "auto"
	colourAlways = "always"
	colourNever  = "never"
)

// checkColour refuses an unknown --color.
func (a *App) checkColour() error {
	switch a.colour {
	case colourAuto, colourAlways, colourNever:
		return nil
	}
	given := a.colour
	a.colour = colourNever
	return memory.Invalid("--color", "auto, always or never", "%q is none of them", given)
}

// colours says whether answers are painted.
func (a *App) colours() bool { return a.paints(a.opts.OutTerminal) }

// paints says whether what goes to a terminal, or elsewhere, is painted: the flag decides,
// then NO_COLOR, then CLICOLOR_FORCE, then whether it is a terminal that can.
func (a *App) paints(terminal bool) bool {
	switch {
	case a.json || a.piped || a.colour == colourNever:
		return false
	case a.colour == colourAlways:
		return true
	case a.opts.Getenv("NO_COLOR") != "":
		return false
	case a.opts.Getenv("CLICOLOR_FORCE") != "" && a.opts.Getenv("CLICOLOR_FORCE") != "0":
		return true
	}
	return terminal && a.capable()
}

// capable says whether the terminal is one that paints and places its cursor.
func (a *App) capable() bool {
	name := a.opts.Getenv("TERM")
	return name != "dumb" && (name != "" || runtime.GOOS == "windows")
}

// size is the width and height of the terminal in characters; 0 where there is none.
func (a *App) size() (width, height int) {
	if !a.opts.OutTerminal {
		return 0, 0
	}
	if a.opts.Size != nil {
		return a.opts.Size()
	}
	width, height, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil || width <= 0 {
		width, _ = strconv.Atoi(a.opts.Getenv("COLUMNS"))
	}
	if width <= 0 {
		width = render.TerminalWidth
	}
	return width, height
}

// page collects what a command writes for people. Tables fit themselves into its width.
type page struct {
	bytes.Buffer
	width int
}

// Columns is how wide a table may be; 0 is no bound.
func (p *page) Columns() int { return p.width }

// cells is how many characters a cell may take on a terminal, or usually, in a pipe.
func cells(w io.Writer, usual int) int {
	if p, ok := w.(*page); ok && p.width > 0 {
		return p.width
	}
	return usual
}

// people shows what a command writes for people: painted, and in the pager if it is longer
// than the terminal is high.
func (a *App) people(write func(w io.Writer)) error {
	width, height := a.size()
	p := &page{width: width}
	write(p)
	written := render.Visible
	if a.colours() {
		written = render.Paint
	}
	text := written(p.String())
	if height > 0 && strings.Count(text, "\n") >= height && a.page(text) {
		return nil
	}
	a.flush() // what was written before stands before
	_, err := io.WriteString(a.out, text)
	return wrapWrite(err)
}
