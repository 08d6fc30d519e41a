// Package finder is the interactive search on a terminal: results as you type, with a
// preview beside them.
//
// Vocabulary. The model is everything that is shown, without the terminal; keys and
// messages change it, and draw paints it. A message is what work in the background sends
// back: a connection, the rows of a question, the whole text of a row. Work never holds up
// a key: it runs in goroutines of the finder, and the next key cancels what it outdates.
//
// Stored text is made visible before it reaches the screen.
package finder

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// Options are what the finder works with. All are required but Keys.
type Options struct {
	Screen tcell.Screen
	// Connect returns the daemon; it is called once, after the first paint.
	Connect func(context.Context) (service.Service, error)
	// Edit opens a file at a line in the user's editor and returns when that is closed.
	Edit   func(file string, line int) error
	Caller memory.Caller
	// Keys changes keys: texts such as ctrl-j=down, as the setting search.keys has them.
	Keys []string
	// Plain leaves out colours; bold and reversed text stay.
	Plain bool
	Now   func() time.Time
}

// Run shows the finder until the user leaves it, or ctx ends.
func Run(ctx context.Context, o Options) error {
	if err := o.Screen.Init(); err != nil {
		return fmt.Errorf("open terminal: %w", err)
	}
	// The terminal is given back before a panic is printed on it.
	defer o.Screen.Fini()
	o.Screen.EnablePaste()
	ctx, cancel := context.WithCancel(ctx)
	f := &finder{o: o, ctx: ctx, messages: make(chan message), model: newModel(o)}
	defer f.work.Wait()
	defer cancel()

	events, stop := make(chan tcell.Event, 64), make(chan struct{})
	defer close(stop)
	go o.Screen.ChannelEvents(events, stop) // ends with the screen

	f.paint()
	f.start(func(ctx context.Context) message { return connect(ctx, o) })
	for !f.model.quit {
		select {
		case e, open := <-events:
			if !open {
				return nil
			}
			f.handle(e)
			// Keys that wait are taken before the next paint: a paste is one change.
			for more := true; more && !f.model.quit; {
				select {
				case e, open := <-events:
					if !open {
						return nil
					}
					f.handle(e)
				default:
					more = false
				}
			}
		case m := <-f.messages:
			f.model.receive(m)
		case <-ctx.Done():
			return nil
		}
		f.follow()
		f.paint()
	}
	return nil
}

// forgetLimit bounds how long a memory that is being forgotten holds up the end of a run.
const forgetLimit = 5 * time.Second

// finder is one run: the model, and the work in the background.
type finder struct {
	o        Options
	ctx      context.Context
	model    *model
	messages chan message
	work     sync.WaitGroup
	// stopAsking and stopReading cancel the question and the preview in progress.
	stopAsking, stopReading context.CancelFunc
}

// start runs work in the background and hands its message to the loop. The function it
// returns cancels it; a message of cancelled work is dropped.
func (f *finder) start(work func(context.Context) message) context.CancelFunc {
	ctx, cancel := context.WithCancel(f.ctx)
	f.work.Go(func() {
		defer cancel()
		m := work(ctx)
		if m == nil {
			return
		}
		select {
		case f.messages <- m:
		case <-ctx.Done():
		}
	})
	return cancel
}

// handle gives an event to the model and does what follows outside of it.
func (f *finder) handle(e tcell.Event) {
	switch e := e.(type) {
	case *tcell.EventResize:
		f.o.Screen.Sync()
	case *tcell.EventPaste:
		f.model.paste(e.Start())
	case *tcell.EventKey:
		f.model.note = ""
		switch f.model.key(e) {
		case actOpen:
			f.open()
		case actCopy:
			row := f.model.row()
			f.o.Screen.SetClipboard([]byte(row.item.ID))
			f.model.note = "Copied " + row.item.ID + " (if the terminal allows it)."
		case actForget:
			svc, id := f.model.service, f.model.forgetting
			f.start(func(ctx context.Context) message {
				// A yes is carried out, also if the user leaves meanwhile.
				ctx, cancel := outlive(ctx, forgetLimit)
				defer cancel()
				return forget(ctx, svc, id)
			})
		}
	}
}

// outlive returns a context that ends so long after another.
func outlive(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(by, cancel) })
	return late, func() {
		stop()
		cancel()
	}
}

// open leaves the terminal to the editor and takes it back.
func (f *finder) open() {
	source := f.model.row().item.Source
	line := 1
	if source.Lines != nil {
		line = source.Lines[0]
	}
	file := filepath.Join(source.Sandbox, filepath.FromSlash(source.Path))
	if err := f.o.Screen.Suspend(); err != nil {
		f.model.note = err.Error()
		return
	}
	err := f.o.Edit(file, line)
	clear(f.model.wholes) // several chunks may be of the file, which may have changed
	f.model.reading = ""
	if resumed := f.o.Screen.Resume(); resumed != nil {
		f.model.quit = true // there is nothing to draw on any more
		return
	}
	if err != nil {
		f.model.note = err.Error()
	}
}

// follow starts the work that the model is due.
func (f *finder) follow() {
	m := f.model
	if m.service == nil {
		return
	}
	if m.askDue {
		m.askDue, m.asking = false, true
		if f.stopAsking != nil {
			f.stopAsking()
		}
		svc, q := m.service, m.question()
		f.stopAsking = f.start(func(ctx context.Context) message { return ask(ctx, svc, q, f.o.Now) })
	}
	if row := m.row(); row != nil && row.item.ID != m.reading && m.wholes[row.item.ID] == nil {
		m.reading = row.item.ID
		if f.stopReading != nil {
			f.stopReading()
		}
		svc, id, project := m.service, row.item.ID, row.item.Project
		f.stopReading = f.start(func(ctx context.Context) message { return read(ctx, svc, id, project, f.o.Caller) })
	}
}

func (f *finder) paint() {
	draw(f.o.Screen, f.model)
	f.o.Screen.Show()
}
