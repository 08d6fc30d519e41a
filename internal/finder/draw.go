package finder

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

// styles are how the parts of the screen look. They use the terminal's own colours, so
// that they suit a dark and a light one.
type styles struct{ plain, bold, dim, mark, kind, sure, likely, weak, chosen, found, alert tcell.Style }

func stylesOf(plain bool) styles {
	usual := tcell.StyleDefault
	s := styles{plain: usual, bold: usual.Bold(true), dim: usual.Dim(true), mark: usual.Bold(true), kind: usual, sure: usual, likely: usual, weak: usual.Dim(true),
		chosen: usual.Reverse(true), found: usual.Bold(true), alert: usual.Bold(true)}
	if plain {
		return s
	}
	s.mark = s.bold.Foreground(tcell.PaletteColor(6))
	s.kind = usual.Foreground(tcell.PaletteColor(6))
	s.sure, s.likely = usual.Foreground(tcell.PaletteColor(2)), usual.Foreground(tcell.PaletteColor(3))
	s.found = s.bold.Foreground(tcell.PaletteColor(3))
	s.alert = s.bold.Foreground(tcell.PaletteColor(1))
	return s
}

// besideWidth is the least width at which the preview stands beside the list.
const besideWidth = 120

// area is a part of the screen.
type area struct{ x, y, width, height int }

// draw paints the model. It only reads the screen's size, so it takes the same time
// however many memories there are.
func draw(screen tcell.Screen, m *model) {
	screen.Clear()
	screen.HideCursor()
	width, height := screen.Size()
	if width < 20 || height < 6 {
		put(screen, 0, 0, width, "The terminal is too small.", tcell.StyleDefault)
		return
	}
	p := painter{screen, stylesOf(m.plain), words(string(m.query))}
	if m.mode == helping {
		p.help(m.keys, width, height)
		return
	}
	foot := height - 1
	p.foot(m, foot, width)
	if m.mode == reading {
		p.preview(m, area{1, 0, width - 2, foot})
		return
	}
	p.head(m, width)
	list, preview := area{0, 2, width, foot - 2}, area{}
	if width >= besideWidth {
		list.width = width * 9 / 20
		preview = area{list.width + 2, 2, width - list.width - 3, list.height}
		for y := list.y; y < foot; y++ {
			put(screen, list.width, y, width, "│", p.dim)
		}
	} else {
		list.height = max(3, (foot-2)*2/5)
		line := list.y + list.height
		put(screen, 0, line, width, strings.Repeat("─", width), p.dim)
		preview = area{1, line + 1, width - 2, foot - line - 1}
	}
	p.list(m, list)
	p.preview(m, preview)
}

// painter draws parts of the screen. Found are the words of the query, which are marked
// where they stand.
type painter struct {
	screen tcell.Screen
	styles
	found []string
}

const prompt = "› "

// head draws the query with the filters, and below it what became of the question.
func (p painter) head(m *model, width int) {
	filters := kinds[m.kind].name + " · " + m.projects[m.project].label
	side := min(render.Width(filters), width/2)
	put(p.screen, width-side-1, 0, width, filters, p.kind)
	at := put(p.screen, 0, 0, width, prompt, p.mark)
	room := width - side - 3 - at
	// A long query is shown around its cursor.
	from := m.cursor
	for from > 0 && render.Width(string(m.query[from-1:m.cursor])) < room {
		from--
	}
	if len(m.query) == 0 {
		put(p.screen, at, 0, at+room, "type to search", p.dim)
	}
	put(p.screen, at, 0, at+room, render.Within(string(m.query[from:]), room), p.bold)
	before := put(p.screen, at, 0, at+room, string(m.query[from:m.cursor]), p.bold)
	p.screen.ShowCursor(before, 0)

	count := ""
	switch {
	case m.problem != "":
	case m.service == nil:
		count = " connecting to the daemon… "
	case m.asking && len(m.rows) == 0:
		count = " searching… "
	case len(m.query) == 0:
		count = fmt.Sprintf(" %d newest ", len(m.rows))
	default:
		count = fmt.Sprintf(" %s, %s ", memory.Count(len(m.rows), "result"), took(m.took))
	}
	put(p.screen, 0, 1, width, strings.Repeat("─", width), p.dim)
	put(p.screen, 2, 1, width, count, p.dim)
}

func took(d time.Duration) string {
	if d < time.Millisecond {
		return "under 1 ms"
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

// list draws the rows around the selected one.
func (p painter) list(m *model, in area) {
	if m.problem != "" {
		p.wrap(area{in.x + 1, in.y, in.width - 2, in.height}, m.problem, p.alert)
		return
	}
	if len(m.rows) == 0 {
		if m.service != nil && !m.asking {
			p.wrap(area{in.x + 1, in.y, in.width - 2, in.height}, emptyText(m), p.dim)
		}
		return
	}
	m.top = max(0, min(m.top, m.selected, len(m.rows)-in.height))
	m.top = max(m.top, m.selected-in.height+1)
	for n := range min(in.height, len(m.rows)-m.top) {
		r, y, right := &m.rows[m.top+n], in.y+n, in.x+in.width
		pick, text := "  ", p.plain
		if m.top+n == m.selected {
			pick, text = "▌ ", p.bold
		}
		x := put(p.screen, in.x, y, right, pick, p.mark)
		if len(m.query) > 0 {
			style := p.weak
			switch r.item.Strength {
			case memory.Sure:
				style = p.sure
			case memory.Likely:
				style = p.likely
			}
			x = put(p.screen, x, y, right, fmt.Sprintf("%.2f ", r.item.Relevance), style)
		}
		x = put(p.screen, x, y, right, fmt.Sprintf("%-7s", kindName(r.item)), p.kind)
		if day := r.day(); day != "" && in.width > 70 {
			x = put(p.screen, x, y, right, day+" ", p.dim)
		}
		p.marked(x, y, right, r.title, text)
	}
}

// emptyText says why there are no rows, and what to do.
func emptyText(m *model) string {
	k := kinds[m.kind]
	switch {
	case len(m.query) > 0:
		return "Nothing like it is remembered here. Tab searches other kinds, Ctrl-T other projects."
	case k.newest == "":
		return "Type what you look for: a question, a name, an error message."
	case k.newest == service.Lessons.Name:
		return "No lessons yet. Agents record them, and so does: recalld remember LESSON. Type to search code and steps."
	}
	return "No steps yet. Agents record them: recalld connect --all."
}

// preview draws the selected item in full.
func (p painter) preview(m *model, in area) {
	m.previewHeight = in.height
	r := m.row()
	if r == nil || in.height <= 0 {
		return
	}
	lines := m.wholes[r.item.ID]
	if lines == nil {
		lines = wholeLines(r.item) // the beginning, until all of it is there
	}
	code := r.item.Kind == memory.Chunk
	first := 0
	if code && r.item.Source.Lines != nil {
		first = r.item.Source.Lines[0]
	}
	wrapped := layout(lines, in.width, code, first)
	m.scroll = max(0, min(m.scroll, len(wrapped)-in.height))
	for y, line := range wrapped[m.scroll:min(len(wrapped), m.scroll+in.height)] {
		x := in.x
		if line.number != "" {
			x = put(p.screen, x, in.y+y, in.x+in.width, line.number, p.dim)
		}
		style := p.plain
		if line.head {
			style = p.dim
		}
		p.marked(x, in.y+y, in.x+in.width, line.text, style)
	}
}

// laid is a line of the preview as it is drawn.
type laid struct {
	number, text string
	head         bool
}

// layout breaks prose into lines of a width, numbers the lines of code, and leaves those
// as long as they are.
func layout(lines []string, width int, code bool, first int) []laid {
	var out []laid
	head, number := true, first
	for _, line := range lines {
		switch {
		case head && line == "":
			head = false
			out = append(out, laid{})
		case head:
			out = append(out, laid{text: line, head: true})
		case code:
			out = append(out, laid{number: fmt.Sprintf("%5d  ", number), text: line})
			number++
		default:
			for _, part := range fold(line, width) {
				out = append(out, laid{text: part})
			}
		}
	}
	return out
}

// fold breaks a line after words so that each part takes at most so many cells.
func fold(line string, width int) []string {
	var parts []string
	for {
		part := render.Within(line, width)
		if part == line {
			return append(parts, line)
		}
		if blank := strings.LastIndexByte(part, ' '); line[len(part)] != ' ' && blank > len(part)/2 {
			part = part[:blank]
		}
		parts = append(parts, part)
		line = strings.TrimPrefix(line[len(part):], " ")
	}
}

// wrap draws a text on several lines.
func (p painter) wrap(in area, text string, style tcell.Style) {
	for y, line := range fold(text, max(1, in.width)) {
		if y < in.height {
			put(p.screen, in.x, in.y+y, in.x+in.width, line, style)
		}
	}
}

// foot draws the last line: a question, what just happened, or the keys.
func (p painter) foot(m *model, y, width int) {
	switch {
	case m.mode == confirming:
		put(p.screen, 0, y, width, "y: forget "+m.forgetting+" for good? Any other key: keep it.", p.alert) // the key and what it does first, for a narrow terminal
	case m.note != "":
		put(p.screen, 0, y, width, m.note, p.bold)
	case m.mode == reading:
		p.keys(m.keys, y, width, "scroll-up scroll-down", "scroll", "copy", "copy id", "leave", "back")
	case width < 100:
		p.keys(m.keys, y, width, "up down", "choose", "open", "open", "next-kind", "kind", "next-project", "project", "keys", "keys", "leave", "leave")
	default:
		p.keys(m.keys, y, width, "up down", "choose", "open", "open", "scroll-up scroll-down", "scroll", "next-kind", "kind", "next-project", "project",
			"copy", "copy id", "forget", "forget", "keys", "all keys", "leave", "clear, leave")
	}
}

// keys draws pairs of actions and what they are called, with the first key of each action.
func (p painter) keys(keys keymap, y, width int, pairs ...string) {
	x := 0
	for i := 0; i+1 < len(pairs); i += 2 {
		if labels := keys.labels(pairs[i], 1); labels != "" { // else the setting has taken the key away
			x = put(p.screen, x, y, width, labels, p.bold)
			x = put(p.screen, x, y, width, " "+pairs[i+1]+"   ", p.dim)
		}
	}
}

// help lists all keys. What the setting has taken every key away from is left out.
func (p painter) help(keys keymap, width, height int) {
	edits, edited := keys.edits()
	lines := [][2]string{
		{"type", "search; results follow every key"},
		{keys.labels("up down", 3), "choose a result"},
		{keys.labels("open", 3), "open code in $VISUAL or $EDITOR; show others in full"},
		{keys.labels("show", 3), "show the result in full"},
		{keys.labels("scroll-up scroll-down", 3), "scroll the preview"},
		{keys.labels("next-kind former-kind", 3), "next, former kind: all, lessons, code, steps, tasks"},
		{keys.labels("next-project", 3), "next project"},
		{keys.labels("copy", 3), "copy the id, for recalld show, forget and feedback"},
		{keys.labels("forget", 3), "forget the result for good, after a question"},
		{edits, "remove " + edited},
		{keys.labels("leave", 3), "clear the query; leave if there is none"},
		{"Ctrl-C", "leave"},
	}
	lines = slices.DeleteFunc(lines, func(line [2]string) bool { return line[0] == "" })
	put(p.screen, 1, 0, width, "Keys", p.mark)
	for y, line := range lines {
		if y+2 < height-2 {
			x := put(p.screen, 1, y+2, width, line[0], p.bold)
			put(p.screen, max(24, x+1), y+2, width, line[1], p.plain)
		}
	}
	put(p.screen, 1, height-2, width, "Others: recalld config set search.keys ctrl-j=down,ctrl-k=up", p.dim)
	put(p.screen, 1, height-1, width, "Any key goes back.", p.dim)
}

// words are the words of a query that are marked in results.
func words(query string) []string {
	var list []string
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if word = strings.Trim(word, ".,;:?!()\"'`"); utf8.RuneCountInString(word) >= 3 {
			list = append(list, word)
		}
	}
	return list
}

// marked draws a line and marks the words of the query in it.
func (p painter) marked(x, y, right int, line string, style tcell.Style) {
	lower := strings.ToLower(line)
	if len(lower) != len(line) { // some letter has another length in lower case
		put(p.screen, x, y, right, line, style)
		return
	}
	for line != "" && x < right {
		at, length := len(line), 0
		for _, word := range p.found {
			if i := strings.Index(lower, word); i >= 0 && (i < at || i == at && len(word) > length) {
				at, length = i, len(word)
			}
		}
		x = put(p.screen, x, y, right, line[:at], style)
		if length > 0 {
			x = put(p.screen, x, y, right, line[at:at+length], p.styles.found)
		}
		line, lower = line[at+length:], lower[at+length:]
	}
}

// put draws a text from x to before right, made visible, and returns where it ended. A
// text that is too long ends in an ellipsis. Nothing else writes to the screen.
func put(screen tcell.Screen, x, y, right int, text string, style tcell.Style) int {
	text = render.Printable(text)
	last := right - 1 // where the last character was drawn
	for text != "" {
		if x >= right {
			if right > 0 {
				screen.Put(last, y, "…", style)
			}
			return right
		}
		rest, width := screen.Put(x, y, text, style)
		if width <= 0 {
			width = 1
		}
		if len(rest) == len(text) {
			return x // nothing that can be drawn
		}
		if x+width > right { // half of a wide character would stand beyond
			screen.Put(x, y, "…", style)
			return right
		}
		last, x, text = x, x+width, rest
	}
	return x
}
