package web

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

const (
	perPage = 50
	// perRetract is how many lessons one sentence retracts at once.
	perRetract = 20
)

// The lists of lessons.
const (
	inUse     = "in-use"
	pinned    = "pinned"
	changed   = "changed"
	withdrawn = "withdrawn"
)

// lessonTable is one page of the lessons.
type lessonTable struct {
	Items []memory.Item
	Total int
	Sort  string
	List  string
	pager
	Tabs []tab
}

// tab is one of several lists of the same page.
type tab struct {
	Name, Address string
	Current       bool
}

// lessons shows a page of the lessons of a project.
func (q *request) lessons(v *view) error {
	t := &lessonTable{Sort: q.choice("sort", "newest", "oldest", "worked", "failed"), List: q.choice("list", inUse, pinned, changed, withdrawn)}
	v.Data = t
	if len(v.Projects) > 0 {
		list, err := ask(q, service.Lessons, memory.LessonsRequest{
			Project: v.Project, Words: v.Query, Pinned: t.List == pinned, Stale: t.List == changed, Withdrawn: t.List == withdrawn,
			Order: memory.LessonOrder(t.Sort), Skip: q.skip(perPage), Limit: perPage, Caller: q.caller(),
		})
		if err != nil {
			return err
		}
		t.Items, t.Total, t.pager = list.Lessons, list.Total, q.pager(perPage, list.Found)
		if t.List == changed && list.Unread > 0 {
			q.last = "" // there may be more of them
		}
	}
	for _, list := range []struct{ word, name string }{{inUse, "In use"}, {pinned, "Pinned"}, {changed, "Code changed since"}, {withdrawn, "Withdrawn"}} {
		values := url.Values{"project": {v.Project}, "list": {list.word}, "sort": {t.Sort}}
		if v.Query != "" {
			values.Set("q", v.Query)
		}
		t.Tabs = append(t.Tabs, tab{list.name, Root + "lessons?" + values.Encode(), list.word == t.List})
	}
	return nil
}

// lessonPage is one lesson with its history.
type lessonPage struct {
	*memory.LessonHistory
	Outcomes *chart // over time; nil without any
}

// lesson shows one lesson whole.
func (q *request) lesson(v *view) error {
	h, err := ask(q, service.Lesson, memory.LessonRequest{ID: q.r.PathValue("id"), Project: v.Project, Handouts: true, Caller: q.caller()})
	if err == nil {
		v.Data = lessonPage{h, outcomes(h)}
	}
	return err
}

// outcomes draws the share of attempts that worked, as it was told over time, and verdicts.
func outcomes(h *memory.LessonHistory) *chart {
	c := &chart{}
	for _, o := range h.Observations {
		if rate, err := memory.ParseRate(o.SuccessRate); err == nil && rate.Attempts > 0 {
			c.add(o.At, 100*float64(rate.Successes)/float64(rate.Attempts), o.SuccessRate)
		}
	}
	for _, out := range slices.Backward(h.HandedOut) {
		switch out.Verdict {
		case memory.Worked:
			c.add(out.VerdictAt, 100, "worked")
		case memory.Failed, memory.Outdated, memory.Irrelevant:
			c.add(out.VerdictAt, 0, string(out.Verdict))
		}
	}
	if len(c.Points) == 0 {
		return nil
	}
	return c.drawn()
}

// retract keeps a lesson and has it recalled no more: a lesson about it says why.
func (q *request) retract(i *memory.LessonHistory, project string) (string, url.Values, error) {
	by, err := q.withdraw([]string{i.Lesson.ID}, project, i.Lesson.Context)
	return "lessons", url.Values{"done": {"retracted"}, "undo": {i.Lesson.ID}, "by": {by}}, err
}

// withdraw retracts lessons by the sentence of the form, and returns the lesson that says it.
func (q *request) withdraw(ids []string, project, context string) (by string, err error) {
	why := strings.TrimSpace(q.r.PostForm.Get("why"))
	if why == "" {
		return "", memory.Invalid("why", "a sentence", "is empty")
	}
	for part := range slices.Chunk(ids, perRetract) {
		kept, err := ask(q, service.Remember, memory.RememberRequest{Lesson: why, Context: context, Retracts: part, Project: project, Caller: q.caller()})
		if err != nil {
			return by, err
		}
		by = kept.ID
	}
	return by, nil
}

// supersede puts another lesson in the place of one.
func (q *request) supersede(i *memory.LessonHistory, project string) (string, url.Values, error) {
	kept, err := ask(q, service.Remember, memory.RememberRequest{
		Lesson: q.r.PostForm.Get("lesson"), Context: q.r.PostForm.Get("context"), Command: q.r.PostForm.Get("command"),
		Type: i.Type, Tags: i.Tags, Supersedes: []string{i.Lesson.ID}, Project: project, Caller: q.caller(),
	})
	if err != nil {
		return "", nil, err
	}
	return "lessons/" + url.PathEscape(kept.ID), url.Values{"done": {"superseded"}, "undo": {i.Lesson.ID}, "by": {kept.ID}}, nil
}

// restore brings a withdrawn lesson back.
func (q *request) restore(i *memory.LessonHistory, project string) (string, url.Values, error) {
	_, err := ask(q, service.RestoreLesson, memory.RestoreLessonRequest{ID: i.Lesson.ID, Project: project, Caller: q.caller()})
	return "lessons/" + url.PathEscape(i.Lesson.ID), url.Values{"done": {"restored"}}, err
}

// undo brings a lesson back that was just withdrawn, and forgets the one that was told for
// that, unless it was told before or elsewhere, too.
func (q *request) undo(i *memory.LessonHistory, project string) (string, url.Values, error) {
	by := q.r.PostForm.Get("by")
	if i.Withdrawn == nil || i.Withdrawn.By != by || by == "" {
		return "", nil, &memory.Error{Code: memory.CodeConflict, Field: "by", Message: "something else has changed the lesson since", Hint: "its page shows how it stands now"}
	}
	if _, err := ask(q, service.RestoreLesson, memory.RestoreLessonRequest{ID: i.Lesson.ID, Project: project, Caller: q.caller()}); err != nil {
		return "", nil, err
	}
	told, err := ask(q, service.Lesson, memory.LessonRequest{ID: by, Project: project, Caller: q.caller()})
	if err == nil && told.Seen == 1 && len(told.Observations) == 1 && told.Observations[0].Agent == Client {
		_, err = ask(q, service.Forget, memory.ForgetRequest{IDs: []string{by}})
	}
	if memory.CodeOf(err) == memory.CodeNotFound {
		err = nil // it was forgotten meanwhile
	}
	return "lessons/" + url.PathEscape(i.Lesson.ID), url.Values{"done": {"undone"}}, err
}

// mark pins a lesson or makes it private, or takes that back. To share it again its box must be
// ticked: what leaves the machine may not come back.
func (q *request) mark(i *memory.LessonHistory, project string) (string, url.Values, error) {
	form := q.r.PostForm
	req := memory.MarkLessonRequest{ID: i.Lesson.ID, Project: project, Caller: q.caller()}
	var done string
	if form.Has("pinned") {
		on := form.Get("pinned") == "1"
		req.Pinned, done = &on, map[bool]string{true: "pinned", false: "unpinned"}[on]
	}
	if form.Has("private") {
		on := form.Get("private") == "1"
		if !on && form.Get("sure") == "" {
			return "", nil, memory.Invalid("sure", "ticked", "is not ticked, and what is shared may not come back")
		}
		req.Private, done = &on, map[bool]string{true: "private", false: "shared"}[on]
	}
	_, err := ask(q, service.MarkLesson, req)
	values := url.Values{"done": {done}}
	if _, ok := markUndos[done]; ok {
		values.Set("undo", i.Lesson.ID)
	}
	return "lessons/" + url.PathEscape(i.Lesson.ID), values, err
}

// forget removes a lesson for good, if its box is ticked.
func (q *request) forget(i *memory.LessonHistory, _ string) (string, url.Values, error) {
	return "lessons", url.Values{"done": {"forgotten"}}, q.forgetAll([]string{i.Lesson.ID})
}

func (q *request) forgetAll(ids []string) error {
	if q.r.PostForm.Get("sure") == "" {
		return memory.Invalid("sure", "ticked", "is not ticked, and what is forgotten cannot be brought back")
	}
	_, err := ask(q, service.Forget, memory.ForgetRequest{IDs: ids})
	return err
}

// ofLesson makes a change of the lesson that the address names.
func ofLesson(do func(q *request, i *memory.LessonHistory, project string) (string, url.Values, error)) func(*request) {
	return change("lessons", func(q *request, project string) (string, url.Values, error) {
		i, err := ask(q, service.Lesson, memory.LessonRequest{ID: q.r.PathValue("id"), Project: project, Caller: q.caller()})
		if err != nil {
			return "", nil, err
		}
		return do(q, i, project)
	})
}

// bulkPage asks whether several lessons are to be changed.
type bulkPage struct {
	Action  string
	Lessons []memory.LessonHistory
}

// maxBulk is how many lessons are changed at once.
const maxBulk = 200

// bulk changes several lessons: the first time it shows them and asks, then it does it.
func (q *request) bulk() {
	project, ids := q.r.PostForm.Get("project"), q.r.PostForm["id"]
	page := bulkPage{Action: q.choice("action", "retract", "restore", "forget")}
	var err error
	switch {
	case len(ids) == 0:
		err = memory.Invalid("id", "1–"+strconv.Itoa(maxBulk)+" lessons", "none is ticked")
	case len(ids) > maxBulk:
		err = memory.Invalid("id", "1–"+strconv.Itoa(maxBulk)+" lessons", "%d are ticked", len(ids))
	}
	for _, id := range ids {
		if err != nil {
			break
		}
		var h *memory.LessonHistory // an id of another kind is refused here
		if h, err = ask(q, service.Lesson, memory.LessonRequest{ID: id, Project: project, Caller: q.caller()}); err == nil {
			page.Lessons = append(page.Lessons, *h)
		}
	}
	if err == nil && q.r.PostForm.Get("confirmed") == "" {
		v, failed := q.view("Change several lessons", "lessons")
		v.Project, v.Data = project, page
		q.ok("bulk", v, failed)
		return
	}
	done := map[string]string{"retract": "retracted", "restore": "restored", "forget": "forgotten"}[page.Action]
	if err == nil {
		switch page.Action {
		case "retract":
			_, err = q.withdraw(ids, project, "")
		case "restore":
			for _, id := range ids {
				_, failed := ask(q, service.RestoreLesson, memory.RestoreLessonRequest{ID: id, Project: project, Caller: q.caller()})
				err = errors.Join(err, failed)
			}
		case "forget":
			err = q.forgetAll(ids)
		}
	}
	if err != nil {
		q.refused("lessons", err)
		return
	}
	q.to("lessons", url.Values{"project": {project}, "done": {done}, "list": {map[string]string{"retract": withdrawn}[page.Action]}})
}
