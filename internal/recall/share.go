package recall

import (
	"math"
	"slices"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

// Lessons, entries and tasks have one line of text. fill reserves the least room that each
// may need. Once all items of an answer are known, the items that need more share the rest
// evenly. A text that still does not fit is cut and ends with the id for the full text.

// cuttable says whether the text of an item may be cut to its share. Steps and code have
// bounds of their own, and JSON must stay whole.
func (r *run) cuttable(item memory.Item) bool {
	return item.Kind != memory.Chunk && item.Kind != memory.Step && r.req.Format != memory.FormatJSON
}

// leastTokens returns the tokens of the shortest form of an item.
func leastTokens(item memory.Item) int {
	least := item
	least.Text = strings.Repeat(" ", min(leastText, len(item.Text)))
	if len(item.Text) > leastText {
		least.Text += cutMark(item.ID)
	}
	return render.ItemTokens(least)
}

// share distributes the rest of the budget among the items that need more than their
// reserve, and cuts those that need still more: first what is sure, then what is likely
// within its share. Many lessons have a bound of their own, which they share with the lines.
func (r *run) share() {
	var lessons, sure, likely []int // indexes of items
	room, likelyRoom, held := r.caps.tokens, r.caps.likely, 0
	for i, reserved := range r.reserved {
		if reserved == 0 {
			continue
		}
		room += reserved
		if r.items[i].Kind == memory.Lesson {
			lessons = append(lessons, i)
		}
		if r.items[i].Strength == memory.Likely {
			likely, held = append(likely, i), held+reserved
		} else {
			sure = append(sure, i)
		}
	}
	lines := r.lineRoom()
	if len(lessons) >= manyLessons {
		r.cutTo(lessons, max(r.caps.lessons, len(lessons)*leastShare)-lines)
	}
	room -= lines
	room -= r.cutTo(sure, room-held)
	room -= r.cutTo(likely, min(room, likelyRoom+held))
	r.caps.tokens = room + lines
}

// cutTo shares some tokens among items, cuts those that need more than their share, and
// returns the tokens used.
func (r *run) cutTo(items []int, room int) (used int) {
	needs := make([]int, len(items))
	for n, i := range items {
		needs[n] = r.items[i].Tokens
	}
	share := level(needs, room)
	for _, i := range items {
		item := &r.items[i]
		if item.Tokens > share {
			r.cut(item, share)
		}
		used += item.Tokens
	}
	return used
}

// cut shortens an item's text until the item takes at most some tokens, but keeps
// leastText.
func (r *run) cut(item *memory.Item, tokens int) {
	frame := *item
	frame.Text = ""
	n := max(render.MaxBytes(tokens-1)-len(render.Item(frame, r.req.Limit)), leastText)
	if item.Kind == memory.Lesson {
		item.Text = cutLesson(*item, n, r.s.cutMark(item.ID))
	} else {
		item.Text = r.s.cutLine(item.Text, n, item.ID)
	}
	item.Cut, item.Tokens = true, render.ItemTokens(*item)
}

// level returns the largest share for which the sum of min(need, share) fits into the room.
func level(needs []int, room int) int {
	sorted := slices.Sorted(slices.Values(needs))
	for i, need := range sorted {
		if left := len(sorted) - i; need*left > room {
			return room / left
		}
		room -= need
	}
	return math.MaxInt
}

// idDigits is how many characters after the prefix a short id shows.
const idDigits = 6

// cutMark is the mark of a cut text, with the id for the full text.
func cutMark(id string) string {
	return render.CutMark(id[:min(len(id), strings.IndexByte(id, '-')+1+idDigits)])
}

// cutMark shows as much of the id as is unique.
func (s *Service) cutMark(id string) string { return render.CutMark(s.shortID(id)) }

// shortID returns the shortest unique beginning of a record's id.
func (s *Service) shortID(id string) string {
	for n := strings.IndexByte(id, '-') + 1 + idDigits; n < len(id); n += 2 {
		if len(s.opts.Corpus.IDs(id[:n], 2)) < 2 {
			return id[:n]
		}
	}
	return id
}

// cutLine cuts a text to at most n bytes, including the mark with the id.
func (s *Service) cutLine(text string, n int, id string) string {
	mark := s.cutMark(id)
	return strings.TrimSuffix(render.Shorten(text, max(n-len(mark), leastText/2)+len(render.Ellipsis)), render.Ellipsis) + mark
}

// cutLesson returns the line of a lesson in at most n bytes, including the mark. The command
// stays whole if it takes at most half of the room; otherwise the mark replaces it.
func cutLesson(i memory.Item, n int, mark string) string {
	room := max(n-len(mark), leastText/2)
	command := render.Command(i)
	if len(command) > room/2 {
		command = ""
	}
	i.Command = ""
	return strings.TrimSuffix(render.Lesson(i, room-len(command)+len(render.Ellipsis)), render.Ellipsis) + command + mark
}
