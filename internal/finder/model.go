package finder

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/gdamore/tcell/v2"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// kind is a filter by kinds; newest is the operation that lists them without a question.
type kind struct {
	name   string
	kinds  []memory.Kind
	newest string
}

var kinds = []kind{
	{"all", nil, service.Lessons.Name},
	{"lessons", []memory.Kind{memory.Lesson}, service.Lessons.Name},
	{"code", []memory.Kind{memory.Chunk}, ""},
	{"steps", []memory.Kind{memory.Step}, service.LastSteps.Name},
	{"tasks", []memory.Kind{memory.Task}, ""},
}

// project is a project that can be asked. The first one of a model is the working
// folder's, which has no id here.
type project struct{ id, label string }

// projectsOf lists the projects of sandboxes, by name; those of one name have their
// folder beside it.
func projectsOf(repos []memory.SandboxState) []project {
	var list []project
	for id, label := range render.ProjectLabels(repos) {
		list = append(list, project{id, render.Printable(label)})
	}
	slices.SortFunc(list, func(a, b project) int { return cmp.Or(strings.Compare(a.label, b.label), strings.Compare(a.id, b.id)) })
	return list
}

// mode is what keys mean.
type mode int

const (
	searching  mode = iota
	confirming      // a y forgets the row
	reading         // the preview has the whole screen
	helping         // the keys are shown
)

// action is what a key wants done outside of the model.
type action int

const (
	actNone action = iota
	actOpen
	actCopy
	actForget
)

// model is all that is shown.
type model struct {
	query  []rune
	cursor int
	mode   mode
	keys   keymap
	plain  bool
	quit   bool
	// pasting says that keys are pasted text: a line's end in it opens nothing.
	pasting bool

	kind     int
	projects []project
	project  int

	service service.Service // nil until connected
	caller  memory.Caller

	rows          []row
	selected, top int
	chosen        string // the id of the row that was chosen since the query changed
	scroll        int    // lines of the preview above its window
	wholes        map[string][]string
	reading       string // the id whose whole text was asked for last
	forgetting    string // the id that the question is about, whatever rows come meanwhile

	number  int // of the newest question
	askDue  bool
	asking  bool
	took    time.Duration
	problem string // why there are no rows
	note    string // until the next key

	previewHeight int // as it was drawn, for keys that page
}

func newModel(o Options) *model {
	return &model{
		keys: newKeymap(o.Keys), plain: o.Plain, caller: o.Caller,
		projects: []project{{label: "this folder"}}, wholes: map[string][]string{}, askDue: true,
	}
}

// row returns the selected row, nil if there is none.
func (m *model) row() *row {
	if m.selected >= len(m.rows) {
		return nil
	}
	return &m.rows[m.selected]
}

func (m *model) question() question {
	return question{m.number, strings.TrimSpace(string(m.query)), kinds[m.kind], m.projects[m.project].id, m.caller}
}

// changed makes the rows outdated. They stay until others are there, so that the list
// does not flicker.
func (m *model) changed() {
	m.number++
	m.askDue, m.chosen = true, ""
}

func (m *model) receive(msg message) { msg.receive(m) }

// why writes an error as the screen shows it.
func why(err error) string { return render.Printable(memory.AsError(err).Error()) }

func (c connected) receive(m *model) {
	if c.err != nil {
		m.problem = why(c.err)
		return
	}
	m.service = c.service
	m.projects = append(m.projects, c.projects...)
}

func (a answered) receive(m *model) {
	if a.number != m.number {
		return
	}
	m.asking, m.took, m.rows, m.top, m.scroll, m.reading = false, a.took, a.rows, 0, 0, ""
	m.selected = max(0, slices.IndexFunc(m.rows, func(r row) bool { return r.item.ID == m.chosen }))
	m.problem = ""
	switch {
	case a.err != nil:
		m.problem = why(a.err)
	case a.note != "":
		m.note = render.Printable(a.note)
	}
}

func (w wholeText) receive(m *model) {
	if w.err != nil { // it is asked for again when the row is chosen again
		m.note = why(w.err)
		return
	}
	m.wholes[w.id] = w.lines
}

func (f forgotten) receive(m *model) {
	if f.err != nil {
		m.note = why(f.err)
		return
	}
	m.note = "Forgotten: " + f.id
	at := slices.IndexFunc(m.rows, func(r row) bool { return r.item.ID == f.id })
	if at < 0 {
		return
	}
	m.rows = slices.Delete(m.rows, at, at+1)
	if at < m.selected {
		m.selected-- // the same row as before
	}
	m.selected = max(0, min(m.selected, len(m.rows)-1))
}

// paste begins or ends pasted text, which goes to the query whatever was shown before.
func (m *model) paste(begins bool) {
	m.pasting = begins
	if begins {
		m.mode, m.note = searching, ""
	}
}

// key changes the model as a key says and returns what is left to do.
func (m *model) key(e *tcell.EventKey) action {
	if e.Key() == tcell.KeyCtrlC { // also within a paste, whose end may be lost
		m.quit = true
		return actNone
	}
	if m.pasting {
		if e.Key() != tcell.KeyRune {
			e = tcell.NewEventKey(tcell.KeyRune, ' ', tcell.ModNone)
		}
		m.line(e)
		return actNone
	}
	action := m.keys.action(e)
	switch m.mode {
	case confirming:
		m.mode = searching
		if e.Key() == tcell.KeyRune && unicode.ToLower(e.Rune()) == 'y' {
			return actForget
		}
		m.note = "Nothing was forgotten."
		return actNone
	case helping:
		m.mode = searching
		return actNone
	case reading:
		if action == "leave" || action == "open" {
			m.mode = searching
			return actNone
		}
	}
	switch action {
	case "":
		m.line(e)
	case "leave":
		if len(m.query) == 0 {
			m.quit = true
		} else {
			m.edit(nil, 0)
		}
	case "up":
		m.move(-1)
	case "down":
		m.move(1)
	case "scroll-up":
		m.scroll = max(0, m.scroll-max(1, m.previewHeight-1))
	case "scroll-down":
		m.scroll += max(1, m.previewHeight-1) // draw holds it at the end
	case "next-kind":
		m.kind = (m.kind + 1) % len(kinds)
		m.changed()
	case "former-kind":
		m.kind = (m.kind + len(kinds) - 1) % len(kinds)
		m.changed()
	case "next-project":
		m.project = (m.project + 1) % len(m.projects)
		m.changed()
	case "open":
		return m.enter()
	case "show":
		if m.row() != nil {
			m.mode = reading
		}
	case "copy":
		if m.row() != nil {
			return actCopy
		}
	case "forget":
		switch row := m.row(); {
		case row == nil:
		case row.item.Kind == memory.Chunk:
			m.note = "Code is not forgotten: it is a file of yours."
		default:
			m.mode, m.forgetting = confirming, row.item.ID
		}
	case "keys":
		m.mode = helping
	}
	return actNone
}

// enter opens code in the editor, and shows anything else in full.
func (m *model) enter() action {
	switch row := m.row(); {
	case row == nil:
		return actNone
	case row.item.Kind == memory.Chunk && row.item.Source.Path != "":
		return actOpen
	}
	m.mode = reading
	return actNone
}

// line edits the query as a shell does.
func (m *model) line(e *tcell.EventKey) {
	switch e.Key() {
	case tcell.KeyLeft, tcell.KeyCtrlB:
		m.cursor = max(0, m.cursor-1)
	case tcell.KeyRight, tcell.KeyCtrlF:
		m.cursor = min(len(m.query), m.cursor+1)
	case tcell.KeyHome, tcell.KeyCtrlA:
		m.cursor = 0
	case tcell.KeyEnd, tcell.KeyCtrlE:
		m.cursor = len(m.query)
	case tcell.KeyBackspace, tcell.KeyBackspace2:
		if m.cursor > 0 {
			m.edit(slices.Delete(slices.Clone(m.query), m.cursor-1, m.cursor), m.cursor-1)
		}
	case tcell.KeyDelete, tcell.KeyCtrlD:
		if m.cursor < len(m.query) {
			m.edit(slices.Delete(slices.Clone(m.query), m.cursor, m.cursor+1), m.cursor)
		}
	case tcell.KeyCtrlU:
		m.edit(slices.Clone(m.query[m.cursor:]), 0)
	case tcell.KeyCtrlK:
		m.edit(slices.Clone(m.query[:m.cursor]), m.cursor)
	case tcell.KeyCtrlW:
		at := m.cursor
		for at > 0 && unicode.IsSpace(m.query[at-1]) {
			at--
		}
		for at > 0 && !unicode.IsSpace(m.query[at-1]) {
			at--
		}
		m.edit(slices.Delete(slices.Clone(m.query), at, m.cursor), at)
	case tcell.KeyRune:
		r := e.Rune()
		if e.Modifiers()&tcell.ModAlt != 0 || render.Visible(string(r)) != string(r) || len(m.query) >= maxQuery {
			return
		}
		m.edit(slices.Insert(slices.Clone(m.query), m.cursor, r), m.cursor+1)
	}
}

// maxQuery bounds what can be typed, in characters: more does not help a search.
const maxQuery = 2000

// edit replaces the query.
func (m *model) edit(query []rune, cursor int) {
	m.cursor = cursor
	if string(query) != string(m.query) {
		m.query = query
		m.changed()
	}
}

// move selects another row.
func (m *model) move(by int) {
	if to := m.selected + by; to >= 0 && to < len(m.rows) {
		m.selected, m.chosen, m.scroll = to, m.rows[to].item.ID, 0
	}
}
