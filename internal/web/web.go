// Package web serves a page over the service: what the memory holds, what a question finds
// and why, what agents were given, and the lessons, to be corrected. It is a transport, as MCP
// and the API are.
//
// Who may see it. A login link, made by the daemon for its user, is good for one visit within
// two minutes. It becomes a cookie that scripts cannot read and other sites cannot send. Every
// change bears a token of the visit besides, so that no other page can have it made. Host and
// Origin are checked before, by httpserver.GuardPage.
//
// Pages are made on the server and can be read without scripts. Scripts add keys, parts that
// follow what changes (server-sent events), and the drawing of the map. Nothing is fetched
// from elsewhere: the policy of their content forbids it.
package web

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

const (
	// Root is the path below which the page is.
	Root = "/ui/"
	// Client is what the page is called in the audit log and in receipts.
	Client = "page"

	linkLife  = 2 * time.Minute
	visitLife = 12 * time.Hour
	maxLinks  = 16 // that wait for their visit
	maxVisits = 64
	maxForm   = 64 << 10 // bytes
	cookie    = "recalld_visit"
)

//go:embed pages/*.html
var pageFiles embed.FS

//go:embed files
var ownFiles embed.FS

// Options configure a Site.
type Options struct {
	Service service.Service
	// Projects are all that are known.
	Projects func() ([]memory.Project, error)
	// Done, if set, is closed when pages are to be kept up to date no longer.
	Done <-chan struct{}
	Now  func() time.Time
	Log  *slog.Logger
}

// Site is the page. It is safe for concurrent use.
type Site struct {
	opts  Options
	mux   *http.ServeMux
	pages map[string]*template.Template

	streams atomic.Int32 // pages that are kept up to date

	mu     sync.Mutex      // guards what follows
	links  map[string]link // by key
	visits map[string]*visit
}

// link is a login link.
type link struct {
	until   time.Time
	project string // that is shown first
}

// visit is one browser that has followed a link.
type visit struct {
	Token string // of every form
	until time.Time
}

// New returns the page of a service.
func New(opts Options) (*Site, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	s := &Site{opts: opts, mux: http.NewServeMux(), pages: map[string]*template.Template{}, links: map[string]link{}, visits: map[string]*visit{}}
	for _, name := range []string{"overview", "search", "lessons", "lesson", "bulk", "contexts", "context", "sessions", "session", "code", "repo", "skipped", "chunk", "map", "chosen", "replay", "health", "error"} {
		t, err := template.New("frame.html").Funcs(s.functions()).ParseFS(pageFiles, "pages/frame.html", "pages/parts.html", "pages/"+name+".html")
		if err != nil {
			return nil, err
		}
		s.pages[name] = t
	}
	s.mux.HandleFunc("GET "+Root+"login", s.login)
	s.mux.Handle("GET "+Root+"files/", http.StripPrefix(Root, http.FileServerFS(ownFiles)))
	for pattern, answer := range map[string]func(*request){
		"GET {$}":                   page("overview", "Overview", "overview", (*request).overview),
		"GET search":                page("search", "Search", "search", (*request).search),
		"GET events":                (*request).events,
		"GET lessons":               page("lessons", "Lessons", "lessons", (*request).lessons),
		"POST lessons":              (*request).bulk,
		"GET lessons/{id}":          page("lesson", "Lesson", "lessons", (*request).lesson),
		"POST lessons/{id}/retract": ofLesson((*request).retract), "POST lessons/{id}/supersede": ofLesson((*request).supersede), "POST lessons/{id}/forget": ofLesson((*request).forget),
		"POST lessons/{id}/restore": ofLesson((*request).restore), "POST lessons/{id}/undo": ofLesson((*request).undo), "POST lessons/{id}/mark": ofLesson((*request).mark),
		"GET context":            page("contexts", "Context used", "context", (*request).contexts),
		"GET context/{id}":       page("context", "Context", "context", (*request).context),
		"GET sessions":           page("sessions", "Sessions", "sessions", (*request).sessions),
		"GET sessions/{id}":      page("session", "Session", "sessions", (*request).session),
		"GET code":               page("code", "Code", "code", (*request).code),
		"GET code/{id}":          page("repo", "Files", "code", (*request).repo),
		"GET code/{id}/skipped":  page("skipped", "Files left out", "code", (*request).skipped),
		"POST code/{id}/index":   change("code", (*request).indexNow),
		"GET chunks/{id}":        page("chunk", "Code as it is now", "code", (*request).chunk),
		"GET map":                page("map", "Map", "map", (*request).plot),
		"POST map":               page("chosen", "Chosen on the map", "map", (*request).choose),
		"GET map/points":         (*request).points,
		"GET map/point":          (*request).point,
		"GET replay":             page("replay", "Replay", "replay", (*request).replay),
		"GET health":             page("health", "Health", "health", (*request).health),
		"POST jobs/{id}/requeue": change("health", (*request).requeue),
	} {
		method, path, _ := strings.Cut(pattern, " ")
		s.mux.HandleFunc(method+" "+Root+path, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, answer) })
	}
	return s, nil
}

// Link returns the path of a login link, to a project if it is not empty.
func (s *Site) Link(project string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.opts.Now()
	for key, l := range s.links {
		if now.After(l.until) || len(s.links) >= maxLinks {
			delete(s.links, key)
		}
	}
	key := rand.Text()
	s.links[key] = link{now.Add(linkLife), project}
	return Root + "login?key=" + key
}

// ServeHTTP implements http.Handler.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	// With no-referrer, a browser sends the forms of this page with Origin: null.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	s.mux.ServeHTTP(w, r)
}

// login takes a link, which is gone then, for a visit.
func (s *Site) login(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet { // a HEAD request, of a preview for one, must not spend it
		return
	}
	now := s.opts.Now()
	s.mu.Lock()
	l, known := s.links[r.FormValue("key")]
	delete(s.links, r.FormValue("key"))
	ok := known && !now.After(l.until)
	id := rand.Text()
	if ok {
		for old, v := range s.visits {
			if now.After(v.until) || len(s.visits) >= maxVisits {
				delete(s.visits, old)
			}
		}
		s.visits[id] = &visit{Token: rand.Text(), until: now.Add(visitLife)}
	}
	s.mu.Unlock()
	if !ok {
		s.refuse(w, "This link was used, or is older than two minutes.")
		return
	}
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: id, Path: Root, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, Root+"?"+url.Values{"project": {l.project}}.Encode(), http.StatusSeeOther)
}

// refuse answers who has no visit.
func (s *Site) refuse(w http.ResponseWriter, why string) {
	s.show(w, http.StatusForbidden, "error", view{Title: "Not logged in", Error: &memory.Error{Message: why, Hint: "run 'recalld ui' for a new link"}})
}

// visitOf returns the visit of a request, nil if it has none.
func (s *Site) visitOf(r *http.Request) *visit {
	c, err := r.Cookie(cookie)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.visits[c.Value]
	if v == nil || s.opts.Now().After(v.until) {
		return nil
	}
	return v
}

// serve serves a page to who has a visit, and a change to who bears its token.
func (s *Site) serve(w http.ResponseWriter, r *http.Request, answer func(*request)) {
	v := s.visitOf(r)
	if v == nil {
		s.refuse(w, "This page is for you alone.")
		return
	}
	if r.Method == http.MethodPost {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := r.ParseForm(); err != nil {
			refused, ok := errors.AsType[*memory.Error](err) // no room for it now
			if !ok {
				refused = memory.Invalid("form", "64 KiB", "%v", err)
			}
			s.show(w, http.StatusBadRequest, "error", view{Title: "Not done", Error: refused, Visit: v})
			return
		}
		for _, texts := range r.PostForm { // browsers send ends of lines as CR LF
			for i := range texts {
				texts[i] = strings.ReplaceAll(texts[i], "\r\n", "\n")
			}
		}
		if subtle.ConstantTimeCompare([]byte(r.PostForm.Get("token")), []byte(v.Token)) != 1 {
			s.show(w, http.StatusForbidden, "error", view{Title: "Not done", Error: &memory.Error{Message: "The form is not of this visit.", Hint: "go back, load the page again and repeat it"}, Visit: v})
			return
		}
	}
	answer(&request{site: s, visit: v, w: w, r: r})
}

// show writes a page.
func (s *Site) show(w http.ResponseWriter, status int, page string, v view) {
	var text bytes.Buffer
	if err := s.pages[page].ExecuteTemplate(&text, "frame.html", v); err != nil {
		s.opts.Log.Error("a page could not be written", "part", "web", "page", page, "error", err)
		http.Error(w, "The page could not be written; the daemon's log says why.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes()) // the browser is gone
}
