package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// view is what a page shows: the frame, and the data of its own template.
type view struct {
	Title, Page string
	Visit       *visit
	Project     string // as it is named in addresses; empty is none chosen
	Projects    []memory.Project
	Query       string
	Notice      string
	Undo        *undo
	Error       *memory.Error
	Data        any
}

// undo is the way back from what was just done: a form of a lesson, and its field.
type undo struct{ ID, Form, Name, Value string }

// markUndos are the ways back from marking a lesson, by the word of the notice. That it was
// made private is not taken back by one click.
var markUndos = map[string]undo{
	"pinned": {Name: "pinned", Value: "0"}, "unpinned": {Name: "pinned", Value: "1"}, "shared": {Name: "private", Value: "1"},
}

// request is one request of a visit.
type request struct {
	site  *Site
	visit *visit
	w     http.ResponseWriter
	r     *http.Request
	// last is the address of the last page of a list where one beyond it was asked for.
	last string
}

// notices say what was done, by the word of the address that the browser is sent to.
var notices = map[string]string{
	"retracted": "The lesson was retracted: it is kept and not recalled.", "superseded": "The lesson was replaced by this one.",
	"forgotten": "It was forgotten for good.", "restored": "The lesson is recalled again.", "undone": "That was undone: the lesson is recalled again.",
	"pinned": "The lesson is pinned: briefs of the project have the newest three first.", "unpinned": "The lesson is not pinned any more.",
	"private":  "The lesson is kept on this machine: " + memory.PrivateNote + ".",
	"shared":   "The lesson may be shared again: with the team, if the project is, and in the repository's log when it is told again.",
	"requeued": "The job gets another try.", "indexing": "The folder is being indexed; the list below says how far it is.",
}

// page serves a page below a title, with its place in the menu; fill adds what it shows.
func page(name, title, menu string, fill func(*request, *view) error) func(*request) {
	return func(q *request) {
		v, err := q.view(title, menu)
		if err == nil {
			err = fill(q, &v)
		}
		if err == nil && q.last != "" { // what was on the page was forgotten, say
			http.Redirect(q.w, q.r, q.last, http.StatusSeeOther)
			return
		}
		q.ok(name, v, err)
	}
}

// change carries out a change, and sends the browser to the path and values by which it
// shows.
func change(menu string, do func(q *request, project string) (path string, values url.Values, err error)) func(*request) {
	return func(q *request) {
		project := q.r.PostForm.Get("project")
		path, values, err := do(q, project)
		if err != nil {
			q.refused(menu, err)
			return
		}
		values.Set("project", project)
		q.to(path, values)
	}
}

// refused shows why a change was not made.
func (q *request) refused(menu string, err error) {
	v, _ := q.view("Not done", menu)
	q.ok("error", v, err)
}

// view begins a view of a page: with the projects to choose from.
func (q *request) view(title, page string) (view, error) {
	asked := q.r.URL.Query()
	v := view{Title: title, Page: page, Visit: q.visit, Project: q.r.FormValue("project"), Query: strings.TrimSpace(asked.Get("q")), Notice: notices[asked.Get("done")]}
	if id := asked.Get("undo"); v.Notice != "" && id != "" {
		v.Undo = &undo{id, "undo", "by", asked.Get("by")}
		if mark, ok := markUndos[asked.Get("done")]; ok {
			v.Undo = &undo{id, "mark", mark.Name, mark.Value}
		}
	}
	var err error
	if v.Projects, err = q.site.opts.Projects(); err != nil {
		return v, err
	}
	if v.Project == "" && len(v.Projects) > 0 {
		v.Project = v.Projects[0].ID
	}
	return v, nil
}

// ok shows a page, or the error that stands for it.
func (q *request) ok(page string, v view, err error) {
	if err == nil {
		q.site.show(q.w, http.StatusOK, page, v)
		return
	}
	e := memory.AsError(err)
	v.Title, v.Error, v.Notice, v.Undo = "Not done", e, "", nil
	status := http.StatusInternalServerError
	switch e.Code {
	case memory.CodeInvalidInput:
		status = http.StatusBadRequest
	case memory.CodeNotFound:
		status = http.StatusNotFound
	case memory.CodeConflict:
		status = http.StatusConflict
	case memory.CodeUnavailable:
		status = http.StatusServiceUnavailable
	}
	q.site.show(q.w, status, "error", v)
}

func (q *request) caller() memory.Caller { return memory.Caller{Client: Client} }

// ask carries out an operation.
func ask[Request, Response any](q *request, op service.Operation[Request, Response], req Request) (*Response, error) {
	return op.Do(q.r.Context(), q.site.opts.Service, req)
}

// decimal reads a number from 0 to most from the address, nil for none.
func (q *request) decimal(name string, most float64) (*float64, error) {
	text := q.r.FormValue(name)
	if text == "" {
		return nil, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0 && n <= most) { // NaN is neither
		return nil, memory.Invalid(name, fmt.Sprintf("a number from 0 to %v", most), "%s is not one", memory.Quote(text))
	}
	return &n, nil
}

// number reads a whole number from 1 to most from the address. One out of range is the
// nearest, and what is none is the usual one.
func (q *request) number(name string, most, usual int) int {
	n, err := strconv.Atoi(q.r.FormValue(name))
	if err != nil {
		return usual
	}
	return min(max(n, 1), most)
}

// choice reads one of some words from the address, by default the first.
func (q *request) choice(name string, of ...string) string {
	if v := q.r.FormValue(name); slices.Contains(of, v) {
		return v
	}
	return of[0]
}

// with is the address of the same page with another value.
func (q *request) with(name, value string) string {
	values := q.r.URL.Query()
	for _, once := range []string{"done", "undo", "by"} {
		values.Del(once)
	}
	values.Set(name, value)
	return q.r.URL.Path + "?" + values.Encode()
}

// to sends the browser to a page, where a notice says what was done.
func (q *request) to(path string, values url.Values) {
	for name := range values {
		if values.Get(name) == "" {
			values.Del(name)
		}
	}
	http.Redirect(q.w, q.r, Root+path+"?"+values.Encode(), http.StatusSeeOther)
}

// pager leads through the pages of a list.
type pager struct {
	Number, Pages, Found int
	Previous, Next       string // addresses; empty is none
}

// pageNumber is the page of a list that the address names.
func (q *request) pageNumber() int { return q.number("page", 20_000, 1) }

// skip is how much comes before that page.
func (q *request) skip(per int) int { return (q.pageNumber() - 1) * per }

func (q *request) pager(per, found int) pager {
	p := pager{Number: q.pageNumber(), Pages: max(1, (found+per-1)/per), Found: found}
	if p.Number > 1 {
		p.Previous = q.with("page", strconv.Itoa(min(p.Number-1, p.Pages)))
	}
	if p.Number < p.Pages {
		p.Next = q.with("page", strconv.Itoa(p.Number+1))
	}
	if p.Number > p.Pages {
		q.last = q.with("page", strconv.Itoa(p.Pages))
	}
	return p
}
