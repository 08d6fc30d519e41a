package web

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
)

const (
	perPage    = 50
	maxLessons = 1000 // that the service lists
)

// view is what a page shows.
type view struct {
	Title, Page string
	Visit       *visit
	Project     string // as it is named in addresses; empty is none chosen
	Projects    []memory.Project
	Query       string
	Notice      string
	Error       *memory.Error

	Status  *memory.Status
	Counts  []count
	Answer  *memory.RecallResponse
	Lessons *lessonTable
	Lesson  *memory.Item

	Sessions []memory.SessionView
	Steps    []memory.StepView
}

// count is how many memories there are of a kind.
type count struct {
	Name string
	N    int
}

// lessonTable is one page of the lessons.
type lessonTable struct {
	Items                  []memory.Item
	Total, Found           int
	Sort                   string
	Number, Pages          int
	Stale                  bool
	Previous, Next, Action string // addresses
}

// request is one request of a visit.
type request struct {
	site  *Site
	visit *visit
	w     http.ResponseWriter
	r     *http.Request
}

// view begins a view of a page: with the projects to choose from.
func (q *request) view(title, page string) (view, *memory.Status, error) {
	v := view{Title: title, Page: page, Visit: q.visit, Project: q.r.FormValue("project"), Query: strings.TrimSpace(q.r.FormValue("q")), Notice: notices[q.r.URL.Query().Get("done")]}
	status, err := service.Status.Do(q.r.Context(), q.site.opts.Service, service.None{})
	if err != nil {
		return v, nil, err
	}
	if v.Projects, err = q.site.opts.Projects(); err != nil {
		return v, nil, err
	}
	if v.Project == "" && len(v.Projects) > 0 {
		v.Project = v.Projects[0].ID
	}
	return v, status, nil
}

// notices say what was done, by the word of the address that the browser is sent to.
var notices = map[string]string{"retracted": "The lesson was retracted: it is kept and not recalled.", "superseded": "The lesson was replaced by this one.", "forgotten": "The lesson was forgotten for good."}

// ok shows a page, or the error that stands for it.
func (q *request) ok(page string, v view, err error) {
	if err == nil {
		q.site.show(q.w, http.StatusOK, page, v)
		return
	}
	e, known := errors.AsType[*memory.Error](err)
	if !known {
		e = &memory.Error{Code: memory.CodeInternal, Message: err.Error()}
	}
	v.Title, v.Error = "Not done", e
	status := http.StatusInternalServerError
	switch e.Code {
	case memory.CodeInvalidInput:
		status = http.StatusBadRequest
	case memory.CodeNotFound:
		status = http.StatusNotFound
	case memory.CodeConflict:
		status = http.StatusConflict
	}
	q.site.show(q.w, status, "error", v)
}

func (q *request) caller() memory.Caller { return memory.Caller{Client: client} }

// overview shows what there is.
func (q *request) overview() {
	v, status, err := q.view("Overview", "overview")
	if err == nil {
		v.Status = status
		for _, kind := range slices.Sorted(maps.Keys(status.Records)) {
			v.Counts = append(v.Counts, count{string(kind), status.Records[kind]})
		}
	}
	q.ok("overview", v, err)
}

// search shows what a question finds, with the parts of each score.
func (q *request) search() {
	v, _, err := q.view("Search", "search")
	if err == nil && v.Query != "" {
		req := memory.RecallRequest{Query: v.Query, Project: v.Project, Explain: true, Limit: 20, MaxTokens: memory.MaxTokens, Caller: q.caller()}
		if kind := q.r.FormValue("kind"); kind != "" {
			req.Kinds = []memory.Kind{memory.Kind(kind)}
		}
		if least := q.r.FormValue("least"); least != "" {
			var n float64
			if n, err = strconv.ParseFloat(least, 64); err != nil {
				err = memory.Invalid("least", "a number from 0 to 1", "%q is not one", least)
			}
			req.MinRelevance = &n
		}
		if err == nil {
			v.Answer, err = service.Recall.Do(q.r.Context(), q.site.opts.Service, req)
		}
	}
	q.ok("search", v, err)
}

// lessons shows a page of the lessons of a project.
func (q *request) lessons() {
	v, _, err := q.view("Lessons", "lessons")
	if err != nil {
		q.ok("lessons", v, err)
		return
	}
	if len(v.Projects) == 0 {
		v.Lessons = &lessonTable{Sort: "newest"}
		q.ok("lessons", v, nil)
		return
	}
	stale := q.r.FormValue("stale") != ""
	list, err := service.Lessons.Do(q.r.Context(), q.site.opts.Service, memory.LessonsRequest{Project: v.Project, Stale: stale, Limit: maxLessons, Caller: q.caller()})
	if err != nil {
		q.ok("lessons", v, err)
		return
	}
	items := list.Lessons
	if words := strings.Fields(strings.ToLower(v.Query)); len(words) > 0 {
		items = slices.DeleteFunc(slices.Clone(items), func(i memory.Item) bool {
			text := strings.ToLower(i.Lesson + " " + i.Context + " " + i.Command)
			return slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
		})
	}
	t := &lessonTable{Total: list.Total, Found: len(items), Sort: q.r.FormValue("sort"), Stale: stale}
	switch t.Sort {
	case "oldest":
		slices.Reverse(items)
	case "worked":
		slices.SortStableFunc(items, func(a, b memory.Item) int { return cmp.Compare(successes(b), successes(a)) })
	default:
		t.Sort = "newest"
	}
	t.Pages = max(1, (len(items)+perPage-1)/perPage)
	t.Number, _ = strconv.Atoi(q.r.FormValue("page"))
	t.Number = min(max(t.Number, 1), t.Pages)
	t.Items = items[(t.Number-1)*perPage : min(t.Number*perPage, len(items))]
	if t.Number > 1 {
		t.Previous = q.page(t.Number - 1)
	}
	if t.Number < t.Pages {
		t.Next = q.page(t.Number + 1)
	}
	v.Lessons = t
	q.ok("lessons", v, nil)
}

// successes is how often a lesson worked.
func successes(i memory.Item) int {
	n, _, _ := strings.Cut(i.SuccessRate, "/")
	count, _ := strconv.Atoi(n)
	return count
}

// page is the address of another page of the same table.
func (q *request) page(n int) string {
	values := maps.Clone(q.r.URL.Query())
	values.Set("page", strconv.Itoa(n))
	return q.r.URL.Path + "?" + url.Values(values).Encode()
}

// sessions lists the newest sessions of a project.
func (q *request) sessions() {
	v, _, err := q.view("Sessions", "sessions")
	if err == nil && len(v.Projects) > 0 {
		var list *memory.SessionList
		list, err = service.Sessions.Do(q.r.Context(), q.site.opts.Service, memory.SessionsRequest{Project: v.Project, Limit: 50, Caller: q.caller()})
		if err == nil {
			v.Sessions = list.Sessions
		}
	}
	q.ok("sessions", v, err)
}

// session shows the steps of a session.
func (q *request) session() {
	v, _, err := q.view("Session", "sessions")
	if err == nil {
		var list *memory.StepList
		scope := &memory.Scope{Session: q.r.PathValue("id")}
		list, err = service.LastSteps.Do(q.r.Context(), q.site.opts.Service, memory.LastStepsRequest{Project: v.Project, Scope: scope, N: 200, Caller: q.caller()})
		if err == nil {
			if v.Steps = list.Steps; len(v.Steps) > 0 && v.Steps[0].SessionGoal != "" {
				v.Title = v.Steps[0].SessionGoal
			}
		}
	}
	q.ok("session", v, err)
}

// code shows the indexed repositories.
func (q *request) code() {
	v, status, err := q.view("Code", "code")
	v.Status = status
	q.ok("code", v, err)
}

// lesson shows one lesson whole.
func (q *request) lesson() {
	v, _, err := q.view("Lesson", "lessons")
	if err == nil {
		v.Lesson, err = q.read(v.Project)
	}
	q.ok("lesson", v, err)
}

// read returns the lesson that the address names.
func (q *request) read(project string) (*memory.Item, error) {
	id := q.r.PathValue("id")
	a, err := service.Recall.Do(q.r.Context(), q.site.opts.Service, memory.RecallRequest{IDs: []string{id}, Project: project, MaxTokens: memory.MaxTokens, Caller: q.caller()})
	switch {
	case err != nil:
		return nil, err
	case len(a.Items) > 0:
		return &a.Items[0], nil
	case len(a.Withheld) > 0:
		return nil, memory.Errorf(memory.CodeNotFound, "%s is not shown: %s", id, cmp.Or(a.Withheld[0].Note, string(a.Withheld[0].Reason)))
	}
	return nil, memory.Errorf(memory.CodeNotFound, "there is no lesson %s", id)
}

// retract keeps a lesson and has it recalled no more: a lesson about it says why.
func (q *request) retract() {
	q.change("retracted", func(i *memory.Item, project string) (string, error) {
		why := strings.TrimSpace(q.r.PostForm.Get("why"))
		if why == "" {
			return "", memory.Invalid("why", "a sentence", "is empty")
		}
		_, err := service.Remember.Do(q.r.Context(), q.site.opts.Service, memory.RememberRequest{Lesson: why, Context: i.Context, Retracts: []string{i.ID}, Project: project, Caller: q.caller()})
		return "", err
	})
}

// supersede puts another lesson in the place of one.
func (q *request) supersede() {
	q.change("superseded", func(i *memory.Item, project string) (string, error) {
		kept, err := service.Remember.Do(q.r.Context(), q.site.opts.Service, memory.RememberRequest{
			Lesson: q.r.PostForm.Get("lesson"), Context: q.r.PostForm.Get("context"), Command: q.r.PostForm.Get("command"),
			Supersedes: []string{i.ID}, Project: project, Caller: q.caller(),
		})
		if err != nil {
			return "", err
		}
		return kept.ID, nil
	})
}

// forget removes a lesson for good, if its box is ticked.
func (q *request) forget() {
	q.change("forgotten", func(i *memory.Item, _ string) (string, error) {
		if q.r.PostForm.Get("sure") == "" {
			return "", memory.Invalid("sure", "ticked", "is not ticked, and what is forgotten cannot be brought back")
		}
		_, err := service.Forget.Do(q.r.Context(), q.site.opts.Service, memory.ForgetRequest{IDs: []string{i.ID}})
		return "", err
	})
}

// change carries out a change and sends the browser to where it shows: the lesson that the
// change names, or the list.
func (q *request) change(done string, do func(i *memory.Item, project string) (id string, err error)) {
	project := q.r.PostForm.Get("project")
	i, err := q.read(project)
	var id string
	if err == nil {
		id, err = do(i, project)
	}
	if err != nil {
		v, _, _ := q.view("Not done", "lessons")
		q.ok("error", v, err)
		return
	}
	to := Root + "lessons"
	if id != "" {
		to += "/" + url.PathEscape(id)
	}
	http.Redirect(q.w, q.r, to+"?"+url.Values{"project": {project}, "done": {done}}.Encode(), http.StatusSeeOther)
}

// functions are what templates call.
func (s *Site) functions() template.FuncMap {
	return template.FuncMap{
		// Control and bidirectional characters are shown, not sent.
		"text":  func(v any) string { return render.Visible(fmt.Sprint(v)) },
		"bytes": render.Bytes,
		"exact": func(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05 MST") },
		"ago":   func(t time.Time) string { return ago(s.opts.Now().Sub(t)) },
		"bar":   func(x float64) int { return int(min(max(x, 0), 1)*100 + .5) },
		"share": func(x float64) string { return fmt.Sprintf("%.2f", x) },
		"retrievers": func(f *memory.RankFactors) []string {
			if f == nil {
				return nil
			}
			return slices.Sorted(maps.Keys(f.Retrievers))
		},
		"short": render.ShortID,
		"state": func(p memory.SandboxState) string { return p.IndexState() },
	}
}

// ago says how long ago something was, as people say it.
func ago(d time.Duration) string {
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{365 * 24 * time.Hour, "year"}, {30 * 24 * time.Hour, "month"}, {24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if n := int(d / unit.of); n == 1 {
			return "1 " + unit.name + " ago"
		} else if n > 1 {
			return fmt.Sprintf("%d %ss ago", n, unit.name)
		}
	}
	return "just now"
}
