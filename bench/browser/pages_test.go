package browser

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// pageAt is a page of a project: its name in tests and in files, and where it is.
type pageAt struct{ name, path string }

// pages are all pages of a project. Those of one lesson and of one session are of such as have
// something to show.
func (w *world) pages(t testing.TB, p *project) []pageAt {
	t.Helper()
	words, session, query := "The npm cache belonged", "checkout-1", "npm ci fails with EACCES: permission denied"
	if p == w.hostile {
		words, session, query = "pwned", "hostile-1", "pwned"
	}
	lesson, err := w.lessonID(p, words)
	if err != nil {
		t.Fatal(err)
	}
	all := []pageAt{
		{"overview", "/ui/"}, {"search-empty", "/ui/search"}, {"search", "/ui/search?q=" + url.QueryEscape(query)},
		{"lessons", "/ui/lessons"}, {"lesson", "/ui/lessons/" + lesson},
		{"sessions", "/ui/sessions"}, {"session", "/ui/sessions/" + session}, {"code", "/ui/code"},
	}
	for i, page := range all {
		to, err := url.Parse(page.path)
		if err != nil {
			t.Fatal(err)
		}
		values := to.Query()
		values.Set("project", p.id)
		to.RawQuery = values.Encode()
		all[i].path = to.String()
	}
	return all
}

// widths are those of a telephone, a window and a large screen.
var widths = []int64{360, 1100, 2560}

// TestPages: each page that the navigation leads to loads, shows no error, fits three widths,
// and can be read without scripts.
func TestPages(t *testing.T) {
	w := theWorld(t)
	b := w.visit(t, w.shop)
	pages := w.pages(t, w.shop)
	for _, link := range value[[]string](b, `[...document.querySelectorAll("nav a")].map(a => a.pathname)`) {
		if !slices.ContainsFunc(pages, func(p pageAt) bool { path, _, _ := strings.Cut(p.path, "?"); return path == link }) {
			t.Errorf("no test loads %s", link)
		}
	}
	for _, p := range pages {
		t.Run(p.name, func(t *testing.T) {
			b.t = t
			if status := b.open(w.ui + p.path); status != 200 {
				t.Fatalf("status %d: %s", status, b.text())
			}
			if title := value[string](b, `document.title`); !strings.HasSuffix(title, "recalld") {
				t.Errorf("the title is %q", title)
			}
			if n := value[int](b, `document.querySelectorAll("h1").length`); n != 1 {
				t.Errorf("it has %d headings of the first level", n)
			}
			for _, width := range widths {
				b.do(chromedp.EmulateViewport(width, 800))
				if over := value[[]string](b, overflow); len(over) > 0 {
					t.Errorf("at %d px it is wider than the window: %s", width, strings.Join(over, ", "))
				}
			}
			with := b.text()
			b.scripts(false)
			status := b.open(w.ui + p.path)
			without := b.text()
			b.scripts(true)
			if status != 200 || len(without) < len(with)*9/10 {
				t.Errorf("without scripts: status %d, and %d letters instead of %d:\n%s", status, len(without), len(with), without)
			}
		})
	}
	b.t = t
}

// overflow lists what reaches beyond the right side of the window.
const overflow = `(() => {
  const root = document.scrollingElement;
  if (root.scrollWidth <= root.clientWidth) return [];
  return ["the page: " + root.scrollWidth, ...[...document.querySelectorAll("body *")]
    .filter(e => e.getBoundingClientRect().right > root.clientWidth + 1).slice(0, 5)
    .map(e => e.tagName + "." + e.className + " " + Math.round(e.getBoundingClientRect().right))];
})()`

// TestHostileText: stored text is text on each page. No element comes of it, no script runs,
// and what would turn letters round is shown as what it is.
func TestHostileText(t *testing.T) {
	w := theWorld(t)
	b := w.visit(t, w.hostile)
	for _, p := range w.pages(t, w.hostile) {
		t.Run(p.name, func(t *testing.T) {
			b.t = t
			if status := b.open(w.ui + p.path); status != 200 {
				t.Fatalf("status %d: %s", status, b.text())
			}
			if made := value[[]string](b, `[...document.querySelectorAll("body script, img, body b, body i, [onerror], a[href^='javascript:'], a[href*='evil.example']")].map(e => e.outerHTML)`); len(made) > 0 {
				t.Errorf("stored text became %q", made)
			}
			shown := b.text()
			if strings.ContainsAny(shown, "\x1b\u202e\u2066") {
				t.Errorf("control characters are sent as they are: %q", shown)
			}
			if p.name == "search-empty" || p.name == "overview" || p.name == "code" {
				return // they show no stored text but names
			}
			b.shows(hostileShown...)
		})
	}
	b.t = t
}

// TestSearch: a question finds the lesson that answers it, with the parts of its score.
func TestSearch(t *testing.T) {
	w := theWorld(t)
	b := w.visit(t, w.shop)
	b.open(w.ui + "/ui/search?project=" + w.shop.id)
	b.put(`main [name=q]`, "stripe webhooks fail with 400: the raw body and its signature")
	if status := b.submit(`main form button`); status != 200 {
		t.Fatalf("status %d: %s", status, b.text())
	}
	b.shows("mount the route before the JSON parser", "recency", "success")
	if n := value[int](b, `document.querySelectorAll("main svg").length`); n < 3 {
		t.Errorf("%d parts of scores are drawn", n)
	}
	b.put(`main [name=q]`, "how to grow tomatoes on Mars")
	b.submit(`main form button`)
	b.shows("Nothing relevant")
}

// TestKeys: / goes to the search, and g with a letter to a page.
func TestKeys(t *testing.T) {
	w := theWorld(t)
	b := w.visit(t, w.shop)
	b.load(chromedp.KeyEvent("/"))
	if b.path() != "/ui/search" {
		t.Errorf("/ leads to %s", b.path())
	}
	b.do(chromedp.KeyEvent("/"))
	b.until(`document.activeElement.name === "q"`)
	b.load(chromedp.KeyEvent("voucher" + kb.Enter))
	b.shows("voucher")
	b.load(chromedp.KeyEvent("gl"))
	if b.path() != "/ui/lessons" {
		t.Errorf("g l leads to %s", b.path())
	}
}
