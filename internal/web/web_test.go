package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/service/servicetest"
)

const hostile = "<script>alert(1)</script>\u202e\x1b[31m'\"&"

// browser is a client with cookies before a site.
type browser struct {
	t        *testing.T
	site     *Site
	svc      *servicetest.Service
	server   *httptest.Server
	client   *http.Client
	now      time.Time
	projects []memory.Project
}

func newBrowser(t *testing.T) *browser {
	b := &browser{t: t, svc: servicetest.Full(hostile, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), now: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC),
		projects: []memory.Project{{ID: "p-1", Name: hostile, Roots: []string{hostile}}, {ID: "p-2", Name: "other"}}}
	var err error
	if b.site, err = New(Options{Service: b.svc, Projects: func() ([]memory.Project, error) { return b.projects, nil }, Now: func() time.Time { return b.now }}); err != nil {
		t.Fatal(err)
	}
	b.server = httptest.NewServer(b.site)
	t.Cleanup(b.server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b.client = &http.Client{Jar: jar}
	return b
}

// get loads a page, and post sends a form; both return status and text.
func (b *browser) get(path string) (int, string) {
	b.t.Helper()
	return b.read(b.client.Get(b.server.URL + path))
}

func (b *browser) post(path string, form url.Values) (int, string) {
	b.t.Helper()
	return b.read(b.client.PostForm(b.server.URL+path, form))
}

func (b *browser) read(answer *http.Response, err error) (int, string) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	if csp := answer.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
		b.t.Errorf("%s has the policy %q", answer.Request.URL.Path, csp)
	}
	return answer.StatusCode, string(text)
}

// token is that of the visit's forms.
func (b *browser) token() string {
	b.t.Helper()
	_, text := b.get(Root + "lessons/l-1")
	found := regexp.MustCompile(`name="token" value="([^"]+)"`).FindStringSubmatch(text)
	if found == nil {
		b.t.Fatalf("no token in %s", text)
	}
	return found[1]
}

var pages = []string{Root, Root + "search", Root + "search?q=x", Root + "lessons", Root + "lessons?sort=worked&q=script&list=withdrawn", Root + "lessons/l-1", Root + "sessions", Root + "sessions/x-12",
	Root + "context", Root + "context/r-1", Root + "code", Root + "code/" + url.PathEscape(hostile), Root + "code/" + url.PathEscape(hostile) + "/skipped", Root + "chunks/c-1", Root + "map", Root + "replay?run=1", Root + "health?check=1"}

// TestOnlyVisitsSeePages: without a visit there is nothing to see, a link is good once and
// not for long, and a visit ends.
func TestOnlyVisitsSeePages(t *testing.T) {
	b := newBrowser(t)
	for _, page := range pages {
		if status, text := b.get(page); status != http.StatusForbidden || strings.Contains(text, "alert(1)") {
			t.Errorf("%s without a visit: %d", page, status)
		}
	}
	link := b.site.Link("p-1")
	b.now = b.now.Add(linkLife + time.Second)
	if status, _ := b.get(link); status != http.StatusForbidden {
		t.Errorf("an old link: %d", status)
	}
	link = b.site.Link("p-1")
	if answer, err := b.client.Head(b.server.URL + link); err != nil || len(answer.Cookies()) > 0 {
		t.Errorf("a HEAD request is answered with %v, %v", answer, err)
	}
	if status, _ := b.get(link); status != http.StatusOK {
		t.Errorf("a link: %d", status)
	}
	thief := newBrowser(t)
	thief.server = b.server
	if status, _ := thief.get(link); status != http.StatusForbidden {
		t.Errorf("a link that was used: %d", status)
	}
	if status, _ := thief.get(Root + "login?key="); status != http.StatusForbidden {
		t.Errorf("an empty key: %d", status)
	}
	for _, page := range pages {
		if status, _ := b.get(page); status != http.StatusOK {
			t.Errorf("%s: %d", page, status)
		}
	}
	b.now = b.now.Add(visitLife + time.Second)
	if status, _ := b.get(Root); status != http.StatusForbidden {
		t.Errorf("a visit that ended: %d", status)
	}
}

// TestStoredTextIsText: what is stored never becomes markup, and what a terminal or an eye
// would act on is shown.
func TestStoredTextIsText(t *testing.T) {
	b := newBrowser(t)
	b.get(b.site.Link("p-1"))
	for _, page := range pages {
		_, text := b.get(page)
		text = regexp.MustCompile(`value="[^"]*"`).ReplaceAllString(text, "") // what forms send back
		text = regexp.MustCompile(`(?s)<textarea.*?</textarea>`).ReplaceAllString(text, "")
		if strings.Contains(text, "<script>alert") || strings.ContainsAny(text, "\u202e\x1b") {
			t.Errorf("%s has stored text as it came", page)
		}
		if page != Root+"search" && page != Root && !strings.Contains(text, "&lt;script&gt;alert(1)") {
			t.Errorf("%s does not show stored text: %.500s", page, text)
		}
	}
}

// TestChanges: forms change what they say, with the visit's token alone.
func TestChanges(t *testing.T) {
	b := newBrowser(t)
	lesson := &memory.LessonHistory{Lesson: memory.Item{ID: "l-1", Kind: memory.Lesson, Lesson: "old", Context: "when"}, Seen: 1, Observations: []memory.LessonReport{{Agent: Client}}, Withdrawn: &memory.Withdrawal{By: "l-2", Reason: "superseded"}}
	b.svc.Answers[service.Lesson.Name] = lesson
	b.svc.Answers[service.Remember.Name] = &memory.Remembered{ID: "l-2"}
	b.get(b.site.Link("p-1"))
	token := b.token()
	for name, test := range map[string]struct {
		path string
		form url.Values
		op   string
		want int
	}{
		"retract":               {"retract", url.Values{"why": {"it is wrong"}}, service.Remember.Name, http.StatusOK},
		"retract without words": {"retract", url.Values{"why": {" "}}, "", http.StatusBadRequest},
		"supersede":             {"supersede", url.Values{"lesson": {"new"}}, service.Remember.Name, http.StatusOK},
		"forget":                {"forget", url.Values{"sure": {"1"}}, service.Forget.Name, http.StatusOK},
		"forget unsure":         {"forget", url.Values{}, "", http.StatusBadRequest},
		"restore":               {"restore", nil, service.RestoreLesson.Name, http.StatusOK},
		"pin":                   {"mark", url.Values{"pinned": {"1"}}, service.MarkLesson.Name, http.StatusOK},
		"make private":          {"mark", url.Values{"private": {"1"}}, service.MarkLesson.Name, http.StatusOK},
		"share, unsure":         {"mark", url.Values{"private": {"0"}}, "", http.StatusBadRequest},
		"share again":           {"mark", url.Values{"private": {"0"}, "sure": {"1"}}, service.MarkLesson.Name, http.StatusOK},
		"undo":                  {"undo", url.Values{"by": {"l-2"}}, service.RestoreLesson.Name + service.Forget.Name, http.StatusOK},
		"undo another change":   {"undo", url.Values{"by": {"l-3"}}, "", http.StatusConflict},
		"forget, forged":        {"forget", url.Values{"sure": {"1"}, "token": {"x"}}, "", http.StatusForbidden},
		"too long":              {"retract", url.Values{"why": {strings.Repeat("x", maxForm)}}, "", http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			if test.form == nil {
				test.form = url.Values{}
			}
			if test.form.Get("token") == "" {
				test.form.Set("token", token)
			}
			before := len(b.svc.Calls())
			status, text := b.post(Root+"lessons/l-1/"+test.path, test.form)
			if status != test.want {
				t.Errorf("status %d, want %d: %s", status, test.want, text)
			}
			changed := ""
			for _, call := range b.svc.Calls()[before:] {
				if !service.Find(call.Operation).ReadOnly {
					changed += call.Operation
				}
			}
			if changed != test.op {
				t.Errorf("it called %q, want %q", changed, test.op)
			}
		})
	}
	b.t = t
	if status, _ := b.get(Root + "lessons/l-1/forget"); status == http.StatusOK {
		t.Error("a link forgets")
	}
}

// TestFolderKeepsItsProject: the pages of a folder lead on in its project.
func TestFolderKeepsItsProject(t *testing.T) {
	b := newBrowser(t)
	box := memory.Sandbox{ID: "s-2", Project: "p-2", Root: "/src/other"}
	b.svc.Answers[service.Repos.Name] = &memory.RepoList{Repos: []memory.SandboxState{{Sandbox: box}}}
	b.svc.Answers[service.RepoFiles.Name] = &memory.RepoFiles{Sandbox: memory.SandboxState{Sandbox: box}}
	b.get(b.site.Link("p-1"))
	for _, page := range []string{"", "/skipped"} {
		if _, text := b.get(Root + "code/s-2" + page); !strings.Contains(text, Root+"lessons?project=p-2") {
			t.Errorf("code/s-2%s leads to another project", page)
		}
	}
}

// TestLinesOfForms: browsers send the ends of lines as CR LF; a command with them does not run.
func TestLinesOfForms(t *testing.T) {
	b := newBrowser(t)
	b.svc.Answers[service.Lesson.Name] = &memory.LessonHistory{Lesson: memory.Item{ID: "l-1", Kind: memory.Lesson, Lesson: "old"}}
	b.svc.Answers[service.Remember.Name] = &memory.Remembered{ID: "l-2"}
	b.get(b.site.Link("p-1"))
	b.post(Root+"lessons/l-1/supersede", url.Values{"token": {b.token()}, "lesson": {"a\r\nb"}, "context": {"c\r\nd"}, "command": {"make a\r\nmake b"}})
	for _, call := range b.svc.Calls() {
		if r, ok := call.Request.(memory.RememberRequest); ok {
			if r.Lesson != "a\nb" || r.Context != "c\nd" || r.Command != "make a\nmake b" {
				t.Errorf("it stores %q, %q, %q", r.Lesson, r.Context, r.Command)
			}
			return
		}
	}
	t.Error("nothing was stored")
}

// TestNothingThere: empty pages say what to do, and errors say what is wrong.
func TestNothingThere(t *testing.T) {
	b := newBrowser(t)
	b.svc.Answers = map[string]any{
		service.Status.Name: &memory.Status{}, service.Lessons.Name: &memory.LessonList{}, service.Recall.Name: &memory.RecallResponse{NothingRelevant: true},
	}
	b.projects = nil
	b.get(b.site.Link(""))
	for page, want := range map[string]string{
		Root: "recalld up", Root + "lessons": "There are no lessons yet", Root + "sessions": "No session was recorded yet", Root + "code": "recalld up", Root + "search?q=x": "Nothing relevant",
		Root + "search?q=x&least=y": "a number from 0 to 1", Root + "search?q=x&least=NaN": "a number from 0 to 1", Root + "search?q=x&least=2": "a number from 0 to 1",
		Root + "context": "leaves a receipt", Root + "map": "is being made", Root + "replay?run=1": "Nothing is changed by it",
	} {
		if _, text := b.get(page); !strings.Contains(text, want) {
			t.Errorf("%s does not say %q: %s", page, want, text)
		}
	}
}

// TestBeyondLastPage: a page beyond the last one, as when its lessons were forgotten since, leads
// to the last one.
func TestBeyondLastPage(t *testing.T) {
	b := newBrowser(t)
	b.get(b.site.Link("p-1"))
	b.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, page := range []string{"lessons?page=9&q=x", "sessions?page=9", "sessions/x-12?page=9", "code/x?page=9"} {
		answer, err := b.client.Get(b.server.URL + Root + page)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if to := answer.Header.Get("Location"); answer.StatusCode != http.StatusSeeOther || to != Root+strings.Replace(page, "=9", "=1", 1) {
			t.Errorf("%s: %d to %q, want the last page", page, answer.StatusCode, to)
		}
		if status, _ := b.get(Root + strings.Replace(page, "=9", "=1", 1)); status != http.StatusOK {
			t.Errorf("page 1 of %s: %d", page, status)
		}
	}
}

// TestEventsBetweenPages: what happened between the last step of one page and the first of the next
// is on one of them.
func TestEventsBetweenPages(t *testing.T) {
	b := newBrowser(t)
	begun := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	b.site.opts.Service = servicetest.With(b.svc, service.Bind(service.LastSteps, func(_ context.Context, req memory.LastStepsRequest) (*memory.StepList, error) {
		list := &memory.StepList{}
		for n := 2*stepsPerPage - req.Skip; n > max(0, 2*stepsPerPage-req.Skip-req.N); n-- { // newest first, a minute each
			list.Steps = append(list.Steps, memory.StepView{ID: fmt.Sprint("s-", n), Timestamp: begun.Add(time.Duration(n) * time.Minute)})
		}
		return list, nil
	}))
	between := begun.Add(stepsPerPage*time.Minute + 30*time.Second)
	b.svc.Answers = map[string]any{
		service.SummarizeSession.Name: &memory.Summary{StepCount: 2 * stepsPerPage, CreatedAt: begun},
		service.Receipts.Name:         &memory.ReceiptList{Receipts: []memory.Receipt{{ID: "r-between", At: between}}},
	}
	b.get(b.site.Link(""))
	shown := 0
	for _, page := range []string{"1", "2"} {
		_, text := b.get(Root + "sessions/session-1?page=" + page)
		shown += strings.Count(text, "context/r-between")
	}
	if shown != 1 {
		t.Errorf("an answer between the steps of two pages is shown %d times, want once", shown)
	}
}

// TestSessionWithoutSteps: a session of a host that records no steps shows all that was
// handed out.
func TestSessionWithoutSteps(t *testing.T) {
	b := newBrowser(t)
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	b.svc.Answers = map[string]any{
		service.SummarizeSession.Name: &memory.Summary{CreatedAt: at},
		service.LastSteps.Name:        &memory.StepList{},
		service.Receipts.Name:         &memory.ReceiptList{Receipts: []memory.Receipt{{ID: "r-second", At: at.Add(time.Hour)}, {ID: "r-first", At: at}}},
		service.WorkingContext.Name:   &memory.WorkingContext{Compactions: 1, CompactedAt: at.Add(time.Minute), Summary: "what was compacted"},
		service.TaskHistory.Name:      &memory.TaskHistory{},
	}
	b.get(b.site.Link(""))
	_, text := b.get(Root + "sessions/session-1")
	for _, want := range []string{"context/r-first", "context/r-second", "what was compacted"} {
		if !strings.Contains(text, want) {
			t.Errorf("the session does not show %q", want)
		}
	}
}

func TestAgo(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "just now", -time.Hour: "just now", time.Minute: "1 minute ago", 90 * time.Minute: "1 hour ago", 49 * time.Hour: "2 days ago", 400 * 24 * time.Hour: "1 year ago",
	} {
		if got := ago(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
