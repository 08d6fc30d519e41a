package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/recalld/recalld/internal/render"
)

// The pauses between two lines of progress: with --json, and in a pipe, where what takes
// less long says nothing.
const (
	quietInterval = 5 * time.Second
	pipeInterval  = 30 * time.Second
)

// progress shows how far a task is: a bar on a terminal, else a line now and then, with
// --json a progressLine. All of it goes to standard error.
type progress struct {
	out      io.Writer
	terminal bool
	json     bool
	unit     string // such as "files"; empty means bytes
	now      func() time.Time

	bar   *progressbar.ProgressBar
	phase string
	last  time.Time
}

func (a *App) newProgress(unit string) *progress {
	p := &progress{out: a.opts.Err, terminal: a.opts.Terminal && !a.json, json: a.json, unit: unit, now: a.opts.Now}
	if !a.json {
		p.last = p.now()
	}
	if p.terminal { // a bar is made of control sequences
		p.out = a.screen
	}
	return p
}

// progressLine is a line of progress with --json.
type progressLine struct {
	Progress struct {
		Phase string `json:"phase"`
		Done  int64  `json:"done"`
		Total int64  `json:"total"` // 0 while it is not known
		Unit  string `json:"unit"`  // such as "files"; "bytes" for data
	} `json:"progress"`
}

// show says that done of total is reached in a phase; a total of 0 is not known
// yet.
func (p *progress) show(phase string, done, total int64) {
	if p.terminal {
		p.draw(render.ForeignLine(phase, maxPhase), done, total)
		return
	}
	since := p.now().Sub(p.last)
	due := since >= pipeInterval
	if p.json {
		due = phase != p.phase || since >= quietInterval
	}
	if !due {
		return
	}
	p.phase, p.last = phase, p.now()
	if !p.json {
		reached := render.Bytes(done)
		if p.unit != "" {
			reached = fmt.Sprint(done, " ", p.unit)
		}
		if total > 0 {
			reached += fmt.Sprintf(", %d %%", 100*done/total)
		}
		fmt.Fprintf(p.out, "%s: %s\n", render.ForeignLine(phase, maxPhase), reached)
		return
	}
	var line progressLine
	line.Progress.Phase, line.Progress.Done, line.Progress.Total = phase, done, max(total, 0)
	line.Progress.Unit = cmp.Or(p.unit, "bytes")
	// An error while showing progress must not stop the work.
	_ = json.NewEncoder(p.out).Encode(line)
}

// maxPhase bounds the words before a bar, in characters: a bar that takes two lines could
// not be cleared.
const maxPhase = 20

func (p *progress) draw(phase string, done, total int64) {
	if total <= 0 {
		total = -1 // a spinner
	}
	if p.bar == nil || (p.bar.GetMax64() < 0) != (total < 0) {
		p.done()
		options := []progressbar.Option{
			progressbar.OptionSetWriter(p.out), progressbar.OptionSetWidth(16), progressbar.OptionSetDescription(phase),
			progressbar.OptionThrottle(50 * time.Millisecond), progressbar.OptionUseANSICodes(true), progressbar.OptionClearOnFinish(),
		}
		switch {
		case p.unit == "":
			options = append(options, progressbar.OptionShowCount(), progressbar.OptionShowBytes(true))
		case total > 0: // without a total, figures say nothing yet
			options = append(options, progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(p.unit))
		}
		p.bar, p.phase = progressbar.NewOptions64(total, options...), phase
	}
	if phase != p.phase {
		p.phase = phase
		p.bar.Describe(phase)
	}
	if total > 0 && total != p.bar.GetMax64() {
		p.bar.ChangeMax64(total)
	}
	// An error while drawing must not stop the work.
	_ = p.bar.Set64(max(done, 0))
}

// done removes the bar.
func (p *progress) done() {
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
}
