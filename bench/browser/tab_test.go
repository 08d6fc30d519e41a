package browser

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// tab is one tab of the browser, with cookies of its own. It notes what the page asks for
// and complains of.
type tab struct {
	t   testing.TB
	ctx context.Context

	unscripted bool

	mu         sync.Mutex
	asked      []string // addresses
	complaints []string // errors on the console, and what the policy of content stopped
}

// visit opens a tab and follows a login link in it, to the overview of the project.
func (w *world) visit(t testing.TB, p *project) *tab {
	t.Helper()
	b := w.tab(t)
	b.open(w.link(t, p))
	return b
}

// link is a new login link.
func (w *world) link(t testing.TB, p *project) string {
	t.Helper()
	out, err := w.recalld(p.dir, "ui", "--no-open")
	if err != nil {
		t.Fatal(err)
	}
	link := strings.TrimSpace(out)
	w.ui, _, _ = strings.Cut(link, "/ui/")
	return link
}

// tab opens an empty tab. When the test ends, what the tab asked for has to have been on this
// machine, and nothing may have gone wrong on its pages.
func (w *world) tab(t testing.TB) *tab {
	t.Helper()
	b := w.strangersTab(t)
	t.Cleanup(func() {
		for _, address := range b.addresses() {
			if !strings.HasPrefix(address, w.ui+"/ui/") && !strings.HasPrefix(address, "data:") {
				t.Errorf("the page asked for %s", address)
			}
		}
		for _, complaint := range b.complained() {
			t.Errorf("on the console: %s", complaint)
		}
	})
	return b
}

// strangersTab opens an empty tab for pages that are not recalld's.
func (w *world) strangersTab(t testing.TB) *tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(w.browser, chromedp.WithNewBrowserContext())
	ctx, cancel := context.WithTimeout(ctx, 4*patience)
	t.Cleanup(func() { cancel(); closeTab() })
	b := &tab{t: t, ctx: ctx}
	b.do(chromedp.EmulateViewport(1100, 800))
	if err := chromedp.Listen(ctx, b.note); err != nil {
		t.Fatal(err)
	}
	return b
}

// note keeps an event of the tab that tests ask about.
func (b *tab) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.asked = append(b.asked, e.Request.URL)
	case *network.EventWebSocketCreated:
		b.asked = append(b.asked, e.URL)
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.EntryLevelError || e.Entry.Level == cdplog.EntryLevelWarning {
			b.complaints = append(b.complaints, e.Entry.Text+" "+e.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		b.complaints = append(b.complaints, text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			b.complaints = append(b.complaints, "the page called console."+string(e.Type))
		}
	}
}

func (b *tab) addresses() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.asked...)
}

func (b *tab) complained() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.complaints...)
}

// forgive drops the complaints so far, which the test expected.
func (b *tab) forgive() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = nil
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// open loads an address and returns the status.
func (b *tab) open(address string) int64 {
	b.t.Helper()
	return b.load(chromedp.Navigate(address))
}

// load does what loads another page, and returns the page's status.
func (b *tab) load(steps ...chromedp.Action[chromedp.Void]) int64 {
	b.t.Helper()
	answer, err := chromedp.RunResponse(b.ctx, steps...)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer.Status
}

// click clicks on an element, and submit on one that loads another page, whose status it
// returns.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

func (b *tab) submit(selector string) int64 {
	b.t.Helper()
	return b.load(chromedp.Click(chromedp.CSS(selector)))
}

// put puts a text in the place of what is in a field, as typing does.
func (b *tab) put(selector, text string) {
	b.t.Helper()
	b.do(chromedp.Clear(chromedp.CSS(selector)), chromedp.SendKeys(chromedp.CSS(selector), text))
}

// until waits for an expression to be true, on the page that is loaded.
func (b *tab) until(expression string) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(patience), chromedp.WithPollingInterval(20*time.Millisecond))); err != nil {
		b.t.Fatalf("wait for %s: %v\n%.2000s", expression, err, b.text())
	}
}

// text is what the page shows.
func (b *tab) text() string {
	b.t.Helper()
	return value[string](b, "document.body.innerText")
}

// shows fails the test if the page does not show all the texts.
func (b *tab) shows(texts ...string) {
	b.t.Helper()
	shown := b.text()
	for _, text := range texts {
		if !strings.Contains(shown, text) {
			b.t.Errorf("%s does not show %q:\n%.2000s", b.path(), text, shown)
		}
	}
}

// path is where the tab is.
func (b *tab) path() string {
	b.t.Helper()
	at, err := url.Parse(value[string](b, "location.href"))
	if err != nil {
		b.t.Fatal(err)
	}
	return at.Path
}

// value is that of an expression of JavaScript, awaited if it is a promise.
func value[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%.200s: %v", expression, err)
	}
	return v
}

// scripts switches scripts of pages on or off.
func (b *tab) scripts(on bool) {
	b.t.Helper()
	b.unscripted = !on
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on}); err != nil {
		b.t.Fatal(err)
	}
}

// scheme has the system choose light or dark.
func (b *tab) scheme(choice string) {
	b.t.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: choice}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		b.t.Fatal(err)
	}
}

// beforeLoad runs a script on each page that the tab loads, before the page's own.
func (b *tab) beforeLoad(script string) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script}); err != nil {
		b.t.Fatal(err)
	}
}
