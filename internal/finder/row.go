package finder

import (
	"fmt"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// row is an item of the list with what is drawn of it, all of it visible text on one line.
type row struct {
	item  memory.Item
	title string
}

func newRow(i memory.Item) row { return row{i, title(i)} }

// title says in a line what an item is about.
func title(i memory.Item) string {
	text := i.Text
	switch {
	case i.Kind == memory.Chunk:
		place := i.Source.Path
		if i.Source.Lines != nil {
			place = fmt.Sprintf("%s:%d", place, i.Source.Lines[0])
		}
		return render.Printable(render.OneLine(place + "  " + i.Source.Symbol))
	case i.Strength == memory.Maybe:
		// Its text is a line that begins with its id and its day.
		_, text, _ = strings.Cut(text, " ")
		if rest, ok := strings.CutPrefix(text, "["); ok {
			_, text, _ = strings.Cut(rest, "] ")
		}
	case i.Kind == memory.Lesson && i.Lesson != "":
		text = render.Lesson(i, 0)
	}
	return render.Printable(render.OneLine(text))
}

// kindName is a kind as the list names it.
func kindName(i memory.Item) string {
	if i.Kind == memory.Chunk {
		return "code"
	}
	return i.Kind.Words()
}

// day is when an item was recorded; code has no day.
func (r *row) day() string {
	if r.item.Kind == memory.Chunk || r.item.CreatedAt.IsZero() {
		return ""
	}
	return r.item.CreatedAt.UTC().Format("2006-01-02")
}

// stepItem is a step of a list as an item.
func stepItem(s memory.StepView) memory.Item {
	end := s.StepEnd
	return memory.Item{ID: s.ID, Kind: memory.Step, CreatedAt: s.Timestamp, Text: s.Tool + " " + s.Snippet, StepEnd: &end,
		Source: memory.Source{Session: s.SessionID}, Provenance: s.Provenance}
}

// wholeLines is an item in full, as the preview shows it.
func wholeLines(i memory.Item) []string {
	about := i.ID + "  " + kindName(i)
	if !i.CreatedAt.IsZero() && i.Kind != memory.Chunk {
		about += "  " + render.Time(i.CreatedAt, "")
	}
	if i.SuccessRate != "" {
		about += "  worked " + i.SuccessRate
	}
	if i.Foreign {
		about += "  from " + i.Source.Repo
	}
	head := []string{about}
	if i.Source.Path != "" {
		place := i.Source.Path
		if i.Source.Lines != nil {
			place += fmt.Sprintf(":%d-%d", i.Source.Lines[0], i.Source.Lines[1])
		}
		head = append(head, place+"  "+i.Source.Symbol)
	}
	if i.Source.Session != "" {
		head = append(head, "session "+i.Source.Session)
	}
	if i.Provenance != nil {
		head = append(head, render.Provenance(i.Provenance, render.OneLine))
	}
	for _, anchor := range i.Anchors {
		head = append(head, anchor.String())
	}
	for n := range head {
		head[n] = render.Printable(head[n])
	}
	text := i.Text
	if i.Kind == memory.Lesson && i.Lesson != "" {
		text = i.Lesson
		if i.Context != "" {
			text = i.Context + "\n\n" + text
		}
		if i.Command != "" {
			text += "\n\n$ " + i.Command
		}
	}
	return append(append(head, ""), textLines(text)...)
}

// textLines splits a stored text into visible lines.
func textLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")
		lines = append(lines, render.Printable(line))
	}
	return lines
}
