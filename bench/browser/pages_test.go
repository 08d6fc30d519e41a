package browser

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// pageAt is a page: its name in tests and in files, where it is, and for the answer to a form
// what is clicked there, the last of which loads it.
type pageAt struct {
	name, path string
	clicks     []string
}

// pages are all pages of a project, each with something to show.
func (w *world) pages(t testing.TB, p *project) []pageAt {
	t.Helper()
	if p.pages != nil {
		return p.pages
	}
	words, session, query, file := "The npm cache belonged", "voucher-3", "npm ci fails with EACCES: permission denied", "price.go"
	if p == w.hostile {
		words, session, query, file = "pwned", "hostile-1", "pwned", "<b>.go"
	}
	lesson, err := w.lessonID(p, words)
	if err != nil {
		t.Fatal(err)
	}
	b := w.visit(t, p)
	in := func(path string, values ...string) string {
		v := url.Values{"project": {p.id}}
		for i := 0; i < len(values); i += 2 {
			v.Set(values[i], values[i+1])
		}
		return path + "?" + v.Encode()
	}
	var sandbox string
	for _, link := range value[[]string](b.at(w.ui+in("/ui/code")), `[...document.querySelectorAll("main .card")].map(c => c.querySelector("h2 a").pathname + " " + c.querySelector("h2 small").textContent)`) {
		if path, root, _ := strings.Cut(link, " "); root == p.dir {
			sandbox = path
		}
	}
	for value[bool](b.at(w.ui+in("/ui/map")), `document.querySelector("#making") !== null`) {
	}
	p.pages = []pageAt{
		{"overview", in("/ui/"), nil},
		{"search-empty", in("/ui/search"), nil},
		{"search", in("/ui/search", "q", query), nil},
		{"lessons", in("/ui/lessons"), nil},
		{"lessons-ticked", in("/ui/lessons"), []string{`[data-row]:nth-child(1) [type=checkbox]`, `[data-row]:nth-child(2) [type=checkbox]`, `[name=action][value=retract]`}},
		{"lesson", in("/ui/lessons/" + lesson), nil},
		{"contexts", in("/ui/context"), nil},
		{"context", b.at(w.ui + in("/ui/context", "session", session)).link(`main td a[href^="/ui/context/"]`), nil},
		{"sessions", in("/ui/sessions"), nil},
		{"session", in("/ui/sessions/" + session), nil},
		{"code", in("/ui/code"), nil},
		{"repo", in(sandbox), nil},
		{"skipped", in(sandbox + "/skipped"), nil},
		{"chunk", b.at(w.ui + in(sandbox, "path", file)).link(`main a[href^="/ui/chunks/"]`), nil},
		{"map", in("/ui/map"), nil},
		{"replay", in("/ui/replay"), nil},
		{"replayed", in("/ui/replay", "run", "1", "days", "7", "limit", "20", "least", "0.4", "kind", "lesson"), nil},
		{"health", in("/ui/health"), nil},
	}
	if p == w.shop { // the others have no twins
		p.pages = append(p.pages, pageAt{"map-chosen", in("/ui/map"), []string{"#twins button"}})
	}
	return p.pages
}

// at opens an address and returns the tab.
func (b *tab) at(address string) *tab {
	b.t.Helper()
	if status := b.open(address); status != 200 {
		b.t.Fatalf("%s has status %d: %s", address, status, b.text())
	}
	return b
}

// link is where an element leads to.
func (b *tab) link(selector string) string {
	b.t.Helper()
	return value[string](b, `(e => e.pathname + e.search)(document.querySelector(`+strconv.Quote(selector)+`))`)
}

// show opens a page, by its form if it is the answer to one, and waits for what its scripts
// draw.
func (w *world) show(b *tab, p pageAt) {
	b.t.Helper()
	b.at(w.ui + p.path)
	if strings.HasPrefix(p.name, "map") && !b.unscripted { // what is below the map moves when it is drawn
		b.until(`document.querySelector("#map-canvas").dataset.points > 0`)
	}
	for i, selector := range p.clicks {
		if i < len(p.clicks)-1 {
			b.click(selector)
		} else if status := b.submit(selector); status != 200 {
			b.t.Fatalf("%s has status %d: %s", p.name, status, b.text())
		}
	}
}

// widths are those of a telephone, a window and a large screen.
var widths = []int64{360, 1100, 2560}

// TestPages: each page that the navigation leads to loads, shows no error, fits three widths,
// and can be read without scripts.
func TestPages(t *testing.T) {
	w := theWorld(t)
	b := w.visit(t, w.shop)
	pages := w.pages(t, w.shop)
	for _, link := range value[[]string](b, `[...document.querySelectorAll("nav.pages a")].map(a => a.pathname)`) {
		if !slices.ContainsFunc(pages, func(p pageAt) bool { path, _, _ := strings.Cut(p.path, "?"); return path == link }) {
			t.Errorf("no test loads %s", link)
		}
	}
	for _, p := range pages {
		t.Run(p.name, func(t *testing.T) {
			b.t = t
			w.show(b, p)
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
			defer b.scripts(true)
			w.show(b, p)
			if without := b.text(); len(without) < len(with)*3/4 {
				t.Errorf("without scripts it has %d letters instead of %d:\n%s", len(without), len(with), without)
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
			w.show(b, p)
			if made := value[[]string](b, `[...document.querySelectorAll("body script, img, body b, body i:not(#map-legend i), [onerror], a[href^='javascript:'], a[href*='evil.example']")].map(e => e.outerHTML)`); len(made) > 0 {
				t.Errorf("stored text became %q", made)
			}
			shown := b.text()
			if strings.ContainsAny(shown, "\x1b\u202e\u2066") {
				t.Errorf("control characters are sent as they are: %q", shown)
			}
			if !slices.Contains([]string{"search-empty", "code", "repo", "skipped", "replay", "health"}, p.name) { // which show names alone
				b.shows(hostileShown...)
			}
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

// TestKeys: / goes to the search, g with a letter to a page, arrows to rows, and ? lists them.
func TestKeys(t *testing.T) {
	w := theWorld(t)
	b := w.visit(t, w.shop)
	b.do(chromedp.KeyEvent("?"))
	b.until(`document.querySelector("dialog").open`)
	b.shows("next and previous row")
	b.do(chromedp.KeyEvent(kb.Escape))
	b.until(`!document.querySelector("dialog").open`)
	b.do(chromedp.KeyEvent("/"))
	b.until(`document.activeElement.name === "q"`)
	b.load(chromedp.KeyEvent("voucher" + kb.Enter))
	if b.path() != "/ui/search" {
		t.Errorf("a question leads to %s", b.path())
	}
	b.shows("voucher")
	b.load(chromedp.KeyEvent("gl"))
	if b.path() != "/ui/lessons" {
		t.Errorf("g l leads to %s", b.path())
	}
	b.do(chromedp.KeyEvent(kb.ArrowDown + kb.ArrowDown + kb.ArrowUp + kb.ArrowDown + "x"))
	b.until(`document.querySelectorAll("[data-row]")[1].matches(".here") && document.querySelectorAll("[data-row] [type=checkbox]:checked").length === 1`)
	second := b.link(`[data-row]:nth-child(2) a`)
	b.load(chromedp.KeyEvent(kb.Enter))
	if !strings.HasPrefix(second, b.path()) {
		t.Errorf("Enter on the second row leads to %s, not to %s", b.path(), second)
	}
}

// TestReplay: past questions under another floor, with what moved.
func TestReplay(t *testing.T) {
	w := theWorld(t)
	b := w.visit(t, w.shop)
	b.at(w.ui + "/ui/replay?project=" + w.shop.id)
	b.put(`#replay [name=least]`, "0.95")
	if status := b.submit(`#replay button`); status != 200 {
		t.Fatalf("status %d: %s", status, b.text())
	}
	b.shows("stripe webhook signature", "settings matter", "went")
	if tally := value[string](b, `document.querySelector("#tally").innerText`); strings.Contains(tally, "0 came, 0 went, 0 moved") {
		t.Errorf("no setting mattered: %s", tally)
	}
}

// TestLiveIndexing: while a file is saved, the page of the code follows, without being loaded
// again.
func TestLiveIndexing(t *testing.T) {
	w := theWorld(t)
	b := w.visit(t, w.shop)
	b.at(w.ui + "/ui/code?project=" + w.shop.id)
	card := `[...document.querySelectorAll("#live .card")].find(c => c.querySelector("h2").textContent.includes(` + strconv.Quote(w.shop.dir) + `)).querySelector("dl div:nth-child(2) dd").textContent`
	before := value[string](b, `(window.sameLoad = true, `+card+`)`)
	for n := range 3 {
		if err := os.WriteFile(filepath.Join(w.shop.dir, fmt.Sprintf("live%d.go", n)), []byte("package shop\n\n// Live is saved while a page is open.\nfunc Live() {}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.until(card + ` !== ` + strconv.Quote(before) + ` && window.sameLoad`)
}
