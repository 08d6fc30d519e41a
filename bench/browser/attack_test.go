package browser

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// attacks are what a foreign page tries with the cookies of a visit, at an address whose query
// names the try. Each ends with what it got hold of, or with why it got nothing.
const attacks = `(async (ui, lesson) => {
  const at = (name, what = "") => ui + "/ui/lessons/" + lesson + what + "?attack=" + name;
  const form = () => new URLSearchParams({token: "x", sure: "1", why: "x", lesson: "x"});
  const read = r => r.text().then(text => text || Promise.reject("nothing to read"));
  const element = (name, make) => new Promise((got, not) => {
    const e = document.createElement(name);
    e.onload = () => { try { got(String(e.contentDocument?.body.innerText ?? (name === "iframe" ? not("closed") : name))); } catch (why) { not(why); } };
    e.onerror = () => not("error");
    make(e);
    document.body.append(e);
  });
  const channel = (c) => new Promise((got, not) => {
    c.onopen = () => got("open");
    c.onerror = () => { c.close(); not("error"); };
  });
  const tries = {
    fetch: () => fetch(at("fetch"), {credentials: "include"}).then(read),
    blindfetch: () => fetch(at("blindfetch"), {credentials: "include", mode: "no-cors"}).then(read),
    post: () => fetch(at("post", "/forget"), {credentials: "include", mode: "no-cors", method: "POST", body: form()}).then(read),
    json: () => fetch(at("json", "/forget"), {credentials: "include", method: "POST", headers: {"Content-Type": "application/json"}, body: "{}"}).then(read),
    remove: () => fetch(at("remove"), {credentials: "include", method: "DELETE"}).then(read),
    beacon: () => Promise.reject(navigator.sendBeacon(at("beacon", "/retract"), form())),
    image: () => element("img", e => e.src = at("image")),
    script: () => element("script", e => e.src = ui + "/ui/files/page.js?attack=script"),
    style: () => element("link", e => { e.rel = "stylesheet"; e.href = ui + "/ui/files/page.css?attack=style"; }),
    frame: () => element("iframe", e => e.src = at("frame")),
    socket: () => channel(new WebSocket(at("socket").replace("http", "ws"))),
    events: () => channel(new EventSource(at("events"), {withCredentials: true})),
    sandbox: () => new Promise((got, not) => {
      // A form of a page without an origin.
      const e = document.createElement("iframe");
      e.sandbox = "allow-forms allow-scripts";
      e.srcdoc = '<form method=post action="' + at("sandbox", "/forget") + '"><input name=sure value=1></form><script>onload = () => setTimeout(() => document.forms[0].submit())</' + 'script>';
      let loads = 0;
      e.onload = () => { if (++loads === 2) not("sent blind"); };
      document.body.append(e);
    }),
  };
  const results = await Promise.allSettled(Object.values(tries).map(t => t()));
  return Object.fromEntries(Object.keys(tries).map((name, i) => [name, results[i].status === "fulfilled" ? "got " + results[i].value : ""]));
})`

// TestAttacks: a foreign page, on the same host or on another, gets nothing from recalld and
// changes nothing, though the browser has a visit.
func TestAttacks(t *testing.T) {
	w := theWorld(t)
	lesson := w.remember(t, "A foreign page must not remove this lesson.")
	foreign := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		_, _ = rw.Write([]byte("<!doctype html><title>foreign</title><body>"))
	}))
	t.Cleanup(foreign.Close)
	before, err := w.memories()
	if err != nil {
		t.Fatal(err)
	}
	for name, origin := range map[string]string{
		"another port":  foreign.URL, // to which browsers send the same cookies
		"another host":  strings.Replace(foreign.URL, "127.0.0.1", "localhost", 1),
		"attacker.name": strings.Replace(foreign.URL, "127.0.0.1", rebound, 1),
	} {
		t.Run(name, func(t *testing.T) {
			b := w.strangersTab(t)
			b.open(w.link(t, w.shop))
			b.open(origin)
			for attack, got := range value[map[string]string](b, attacks+`("`+w.ui+`", "`+lesson+`")`) {
				if got != "" {
					t.Errorf("%s %.200s", attack, got)
				}
				// A frame without an origin is a tab of its own to the browser's debugger.
				if attack != "sandbox" && !strings.Contains(strings.Join(b.addresses(), " "), "?attack="+attack) {
					t.Errorf("%s was not tried", attack)
				}
			}
			if !strings.Contains(strings.Join(b.complained(), " "), "frame-ancestors") {
				t.Errorf("a frame with the page was not refused: %q", b.complained())
			}
			// A form that takes the browser to the page.
			status := b.load(submit(w.ui + "/ui/lessons/" + lesson + "/forget"))
			if status != http.StatusForbidden {
				t.Errorf("a foreign form is answered with %d: %s", status, b.text())
			}
		})
	}
	after, err := w.memories()
	if err != nil {
		t.Fatal(err)
	}
	if before != after {
		t.Errorf("a foreign page changed the memory; before:\n%s\nafter:\n%s", before, after)
	}
}

// submit sends a form of the page that is open.
func submit(to string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](`(() => {
  const form = document.createElement("form");
  form.method = "post";
  form.action = "` + to + `";
  form.innerHTML = "<input name=sure value=1><input name=token value=x>";
  document.body.append(form);
  form.submit();
})()`)
}

// TestRebinding: a page under a name that resolves to this machine, on the page's own port, is
// refused, whatever it asks for.
func TestRebinding(t *testing.T) {
	w := theWorld(t)
	b := w.strangersTab(t)
	link := w.link(t, w.shop)
	at, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	at.Host = rebound + ":" + at.Port()
	if status := b.open(at.String()); status != http.StatusForbidden {
		t.Errorf("a login link under another name is answered with %d: %s", status, b.text())
	}
	for what, got := range value[map[string]string](b, `(async () => ({
  page: (await fetch("/ui/", {credentials: "include"})).status + "",
  form: (await fetch("/ui/lessons/l-1/forget", {method: "POST", body: new URLSearchParams({sure: 1})})).status + "",
  socket: await new Promise(done => { const s = new WebSocket("ws://" + location.host + "/ui/"); s.onopen = () => done("open"); s.onerror = () => done("403"); }),
}))()`) {
		if got != "403" {
			t.Errorf("%s is answered with %s", what, got)
		}
	}
	if status := b.open(link); status != http.StatusOK {
		t.Errorf("the link was spent under another name: %d", status)
	}
}

// TestStolenLink: a login link that was followed is of no use to who reads it later, and the
// cookie that came of it is out of the reach of scripts.
func TestStolenLink(t *testing.T) {
	w := theWorld(t)
	owner, thief := w.tab(t), w.strangersTab(t)
	link := w.link(t, w.shop)
	if status := owner.open(link); status != http.StatusOK {
		t.Fatalf("status %d: %s", status, owner.text())
	}
	if cookies := value[string](owner, `document.cookie`); cookies != "" {
		t.Errorf("scripts see the cookie %q", cookies)
	}
	if strings.Contains(value[string](owner, `location.href + document.referrer`), "key=") {
		t.Error("the link's key stays in the address")
	}
	for _, address := range []string{link, w.ui + "/ui/", w.ui + "/ui/lessons?project=" + w.shop.id} {
		if status := thief.open(address); status != http.StatusForbidden || strings.Contains(thief.text(), "npm") {
			t.Errorf("%s is answered with %d: %s", address, status, thief.text())
		}
	}
}
