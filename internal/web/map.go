package web

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

const (
	shownGroups = 20
	// maxChosen is how many points are shown together.
	maxChosen = 200
	// A cluster is a square of a grid over the map. It is stale if it has at least staleLeast
	// lessons, all older than staleDays and none known to have worked.
	grid       = 32
	staleLeast = 5
	staleDays  = 90
)

// mapPage is what the map shows without scripts.
type mapPage struct {
	*memory.MemoryMap
	Number  int64 // of the map: places are meant of this one
	Twins   []group
	Squares []group // that are stale
	// Names are of the projects that the map has, in its order.
	Names []string
}

// group is lessons that lie together.
type group struct {
	N, Age int
	Places string // as a form sends them
	Text   string // of one of them
}

// plot shows the map of all memories.
func (q *request) plot(v *view) error {
	m, err := ask(q, service.Map, memory.MapRequest{Again: q.r.FormValue("again") != ""})
	if err != nil {
		return err
	}
	page := &mapPage{MemoryMap: m}
	v.Data = page
	if !m.Ready {
		return nil
	}
	page.Number = m.At.UnixMilli()
	page.Twins = q.groups(m, m.Twins)
	page.Squares = q.groups(m, staleSquares(m))
	names := map[string]string{}
	for _, p := range v.Projects {
		names[p.ID] = p.Name
	}
	for _, id := range m.Projects {
		page.Names = append(page.Names, cmp.Or(names[id], id))
	}
	return nil
}

// staleSquares returns the lessons of each square that is stale, most first.
func staleSquares(m *memory.MemoryMap) [][]int32 {
	lesson := int32(slices.Index(m.Kinds, memory.Lesson))
	squares, fresh := map[int32][]int32{}, map[int32]bool{}
	for i := range m.IDs {
		if m.Kind[i] != lesson {
			continue
		}
		at := m.X[i]*grid/(memory.MapScale+1)*grid + m.Y[i]*grid/(memory.MapScale+1)
		squares[at] = append(squares[at], int32(i))
		fresh[at] = fresh[at] || m.Age[i] < staleDays || m.Success[i] > 0
	}
	var all [][]int32
	for at, places := range squares {
		if len(places) >= staleLeast && !fresh[at] {
			all = append(all, places)
		}
	}
	slices.SortFunc(all, func(a, b []int32) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a[0], b[0])) })
	return all
}

// groups are the first of some groups of places, with a text of each.
func (q *request) groups(m *memory.MemoryMap, of [][]int32) []group {
	var all []group
	for _, places := range of[:min(len(of), shownGroups)] {
		g := group{N: len(places)}
		var words []string
		for _, p := range places[:min(len(places), maxChosen)] {
			words = append(words, strconv.Itoa(int(p)))
			g.Age = max(g.Age, int(m.Age[p]))
		}
		g.Places = strings.Join(words, ",")
		if h, err := ask(q, service.Lesson, memory.LessonRequest{ID: m.IDs[places[0]], Project: m.Projects[m.Project[places[0]]], Caller: q.caller()}); err == nil {
			g.Text = h.Lesson.Lesson
		}
		all = append(all, g)
	}
	return all
}

// latest returns the map that the address means: places are of no other one.
func (q *request) latest() (*memory.MemoryMap, error) {
	m, err := ask(q, service.Map, memory.MapRequest{})
	if err == nil && (!m.Ready || strconv.FormatInt(m.At.UnixMilli(), 10) != q.r.FormValue("map")) {
		err = &memory.Error{Code: memory.CodeConflict, Field: "map", Message: "the map was made anew", Hint: "load the page again"}
	}
	return m, err
}

// points sends the points of the map: the number of them, and then each list as numbers of
// 16 bits, little-endian: x, y, kind, project, success (65535 is unknown), age in days.
func (q *request) points() {
	m, err := q.latest()
	if err != nil {
		http.Error(q.w, err.Error(), http.StatusConflict)
		return
	}
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(m.IDs)))
	for _, list := range [][]int32{m.X, m.Y, m.Kind, m.Project, m.Success, m.Age} {
		for _, n := range list {
			out = binary.LittleEndian.AppendUint16(out, uint16(min(n, memory.MapScale)))
		}
	}
	q.w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = q.w.Write(out) // the browser is gone
}

// point says what one point is, for a pointer that rests on it.
func (q *request) point() {
	m, err := q.latest()
	i, failed := strconv.Atoi(q.r.FormValue("i"))
	if err == nil && (failed != nil || i < 0 || i >= len(m.IDs)) {
		err = memory.Errorf(memory.CodeNotFound, "the map has no such point")
	}
	if err != nil {
		http.Error(q.w, err.Error(), http.StatusNotFound)
		return
	}
	answer := map[string]string{"id": m.IDs[i], "kind": string(m.Kinds[m.Kind[i]]), "project": m.Projects[m.Project[i]], "text": "it was forgotten, or is not shown"}
	if m.Kinds[m.Kind[i]] == memory.Lesson {
		if h, err := ask(q, service.Lesson, memory.LessonRequest{ID: m.IDs[i], Project: answer["project"], Caller: q.caller()}); err == nil {
			answer["text"] = render.Visible(h.Lesson.Lesson)
		}
	} else if item, err := q.item(m.IDs[i], m.Projects[m.Project[i]]); err == nil {
		answer["text"] = render.Visible(item.Text)
	}
	q.w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(q.w).Encode(answer) // the browser is gone
}

// chosenPage is the lessons among points that were chosen.
type chosenPage struct {
	Lessons []memory.LessonHistory
	Others  int // of other kinds, or forgotten since
	Left    int // that are too many
}

// choose shows the lessons among chosen points, to be cleaned up.
func (q *request) choose(v *view) error {
	m, err := q.latest()
	if err != nil {
		return err
	}
	page := &chosenPage{}
	v.Data = page
	for word := range strings.SplitSeq(q.r.PostForm.Get("places"), ",") {
		i, failed := strconv.Atoi(word)
		switch {
		case failed != nil || i < 0 || i >= len(m.IDs):
			return memory.Invalid("places", "numbers of points", "%s is none", memory.Quote(word))
		case m.Kinds[m.Kind[i]] != memory.Lesson || m.Projects[m.Project[i]] != v.Project:
			page.Others++
		case len(page.Lessons) == maxChosen:
			page.Left++
		default:
			h, missing := ask(q, service.Lesson, memory.LessonRequest{ID: m.IDs[i], Project: v.Project, Caller: q.caller()})
			if missing != nil {
				page.Others++
				continue
			}
			page.Lessons = append(page.Lessons, *h)
		}
	}
	return nil
}
