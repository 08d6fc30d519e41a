package recall

import (
	"context"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// TextOf returns the text of a lesson, step or chunk in an answer, without the mark of a
// cut: the mark grows with the number of memories.
func TextOf(i memory.Item) string {
	text, _ := render.SplitMark(i)
	return text
}

// Then finds the texts again whose hashes a receipt holds: in the store, or, for code, on
// disk within the deadline of code. Items without a hash have no state. Text from followed
// files is shown only if the caller asks from the project (inside). The answer has the
// order of the items.
func (s *Service) Then(ctx context.Context, project memory.Project, inside bool, items []memory.ReceiptItem) []memory.PastText {
	r := &run{s: s, ctx: ctx, settings: s.settings}
	r.startCode()
	defer r.end()
	sel := memory.Selection{Project: project.ID, AllLessons: true, Followed: inside}
	out := make([]memory.PastText, len(items))
	for i := range items {
		item := &items[i]
		switch {
		case item.Hash == "":
		case item.Kind == memory.Chunk:
			out[i] = r.thenCode(item, sel)
		case item.ID != "":
			out[i] = r.thenRecord(item, sel)
		}
	}
	return out
}

// thenRecord finds the text of a record.
func (r *run) thenRecord(item *memory.ReceiptItem, sel memory.Selection) memory.PastText {
	rec, err := r.s.opts.Corpus.Record(item.ID)
	if err != nil {
		return r.gone(memory.CodeOf(err) == memory.CodeNotFound)
	}
	var text string
	found := false
	switch {
	case rec.Event != nil:
		text, found = r.thenLesson(item, rec.Event)
	case rec.Step != nil:
		text, found = beginning(r.redact(render.Step(rec.Step)), item)
	case rec.Entry != nil:
		text = memory.EntryText(rec.Kind, rec.Entry.Description, rec.Entry.Content, rec.Entry.InputSchema)
		found = isOf(item, text)
	case rec.Task != nil:
		text = memory.TaskText(rec.Task)
		found = isOf(item, text)
	default:
		return memory.PastText{}
	}
	switch {
	case !found:
		return memory.PastText{State: memory.Changed}
	case rec.Provenance.Followed() && !sel.Followed, (rec.Event != nil || rec.Step != nil) && !r.s.opts.Corpus.Selected(rec.ID, sel):
		return memory.PastText{} // unchanged, but not visible to this caller
	}
	return memory.PastText{Text: r.redact(text)}
}

// gone is the result for a missing text. Its state is unknown while the store is loading
// or damaged.
func (r *run) gone(isCertain bool) memory.PastText {
	if !isCertain || r.s.whyLost() != "" {
		return memory.PastText{}
	}
	return memory.PastText{State: memory.Gone}
}

func isOf(item *memory.ReceiptItem, text string) bool {
	return memory.DocumentID(text).String() == item.Hash
}

// beginning returns the part of a text that was handed out: all of it, or its beginning.
func beginning(text string, item *memory.ReceiptItem) (string, bool) {
	if item.Bytes > 0 && item.Bytes < len(text) {
		text = text[:item.Bytes]
	}
	return text, isOf(item, text)
}

// cutSlack is how much longer than the cut text its room may have been: a text is cut at
// the end of a word, a sentence or a rune, and its command may not have fitted.
const cutSlack = 512

// thenLesson returns the part of a lesson that was handed out: its line, or a cut form of it.
func (r *run) thenLesson(item *memory.ReceiptItem, e *memory.Event) (string, bool) {
	i := memory.Item{Lesson: r.redact(e.Lesson), Context: r.redact(e.Context), Command: r.redact(e.Command)}
	whole := render.Lesson(i, 0)
	if isOf(item, whole) || item.Bytes == 0 || item.Bytes >= len(whole) {
		return whole, isOf(item, whole)
	}
	last := ""
	for room := item.Bytes; room <= item.Bytes+cutSlack; room++ {
		if text := cutLesson(i, room, ""); len(text) == item.Bytes && text != last {
			if last = text; isOf(item, text) {
				return text, true
			}
		}
	}
	return "", false
}

// thenCode finds code on disk at its old place: in a chunk of its file, or at the
// beginning of a file without chunks.
func (r *run) thenCode(item *memory.ReceiptItem, sel memory.Selection) memory.PastText {
	if item.Path == "" || r.s.ready() != nil {
		return memory.PastText{}
	}
	places := r.s.opts.Corpus.At(memory.CodeLocation{Path: item.Path}, sel)
	if r.s.opts.FileNames != nil {
		heads, _ := r.s.opts.FileNames.Files(item.Path, sel.Project, maxPlaces)
		places = append(slices.Clip(places), heads...)
	}
	there := false
	for _, c := range places {
		if c.File.Path != item.Path {
			continue
		}
		at, err := r.s.opts.Corpus.Location(c)
		if err != nil {
			continue
		}
		v, reason := r.reread(at, c.Head)
		switch reason {
		case "":
			whole := r.redact(v.Text)
			if text, found := part(whole, item); found {
				return memory.PastText{Text: text}
			}
			if !c.Head && memory.ChunkID(at.Sandbox, at.Path, at.Chunk) == item.ID {
				return memory.PastText{Text: whole} // a part of it that is not contiguous
			}
			there = true
		case memory.Gone:
		case memory.TooSlow, memory.Unreadable:
			return memory.PastText{}
		default:
			there = true
		}
	}
	if !there {
		return r.gone(r.s.opts.Missing(sel.Project) == "")
	}
	return memory.PastText{State: memory.Changed}
}

// part returns the part of a text that was handed out; it begins with a line.
func part(whole string, item *memory.ReceiptItem) (string, bool) {
	for from := 0; item.Bytes > 0 && from+item.Bytes <= len(whole); {
		if text := whole[from : from+item.Bytes]; isOf(item, text) {
			return text, true
		}
		next := strings.IndexByte(whole[from:], '\n')
		if next < 0 {
			break
		}
		from += next + 1
	}
	return "", false
}
