package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// remember stores a lesson of the shop for one test, and returns its id.
func (w *world) remember(t *testing.T, lesson string) string {
	t.Helper()
	var kept struct{ ID string }
	if err := w.call("/v1/remember", w.shop, map[string]any{"lesson": lesson, "context": "a test of the page"}, &kept); err != nil {
		t.Fatal(err)
	}
	return kept.ID
}

// TestSupersede: a lesson is replaced by another on its page, and the change is undone.
func TestSupersede(t *testing.T) {
	w := theWorld(t)
	id := w.remember(t, "The kettle boils at 90 °C.")
	b := w.visit(t, w.shop)
	b.open(w.ui + "/ui/lessons/" + id + "?project=" + w.shop.id)
	b.put(`form[action$="/supersede"] [name=lesson]`, "The kettle boils at 100 °C.")
	if status := b.submit(`form[action$="/supersede"] button`); status != 200 {
		t.Fatalf("status %d: %s", status, b.text())
	}
	b.shows("The kettle boils at 100 °C.")
	kept := b.path()
	b.open(w.ui + "/ui/lessons?q=kettle&project=" + w.shop.id)
	b.shows("100 °C")
	if value[bool](b, `document.body.innerText.includes("90 °C")`) {
		t.Errorf("the replaced lesson is still listed: %s", b.text())
	}
	b.at(w.ui + "/ui/lessons/" + id + "?project=" + w.shop.id)
	b.shows("not recalled")
	b.at(w.ui + kept + "?project=" + w.shop.id)
	b.put(`form[action$="/supersede"] [name=lesson]`, "The kettle boils at 80 °C.")
	b.submit(`form[action$="/supersede"] button`)
	if status := b.submit(`#undo button`); status != 200 {
		t.Fatalf("undo: status %d: %s", status, b.text())
	}
	b.at(w.ui + "/ui/lessons?q=kettle&project=" + w.shop.id)
	b.shows("100 °C")
	if value[bool](b, `document.body.innerText.includes("80 °C")`) {
		t.Errorf("what was undone is still listed: %s", b.text())
	}
}

// TestRetract: a lesson that is taken back is recalled no more, and the reason is.
func TestRetract(t *testing.T) {
	w := theWorld(t)
	id := w.remember(t, "The lamp needs 12 V.")
	b := w.visit(t, w.shop)
	b.open(w.ui + "/ui/lessons/" + id + "?project=" + w.shop.id)
	b.put(`form[action$="/retract"] [name=why]`, "The lamp was measured: it needs 5 volts.")
	if status := b.submit(`form[action$="/retract"] button`); status != 200 {
		t.Fatalf("status %d: %s", status, b.text())
	}
	b.open(w.ui + "/ui/lessons?q=lamp&project=" + w.shop.id)
	b.shows("5 volts")
	if value[bool](b, `document.body.innerText.includes("12 V")`) {
		t.Errorf("the retracted lesson is still listed: %s", b.text())
	}
}

// TestForget: a lesson is removed for good, and not before that was confirmed.
func TestForget(t *testing.T) {
	w := theWorld(t)
	id := w.remember(t, "The door code is on the wall.")
	b := w.visit(t, w.shop)
	address := w.ui + "/ui/lessons/" + id + "?project=" + w.shop.id
	b.open(address)
	b.click(`form[action$="/forget"] button`) // the browser asks for the tick
	if value[bool](b, `document.querySelector('form[action$="/forget"]').checkValidity()`) {
		t.Error("the form needs no confirmation")
	}
	if _, err := w.lessonID(w.shop, "door code"); err != nil {
		t.Fatalf("forgotten without a confirmation: %v", err)
	}
	b.do(chromedp.Click(chromedp.CSS(`form[action$="/forget"] [name=sure]`)))
	if status := b.submit(`form[action$="/forget"] button`); status != 200 {
		t.Fatalf("status %d: %s", status, b.text())
	}
	b.shows("forgotten")
	if _, err := w.lessonID(w.shop, "door code"); err == nil {
		t.Error("the lesson is still there")
	}
	if status := b.open(address); status != 404 {
		t.Errorf("the page of a forgotten lesson has status %d", status)
	}
	b.forgive() // the browser complains of 404
}

// TestMark: a lesson is pinned and listed so, which one click takes back; a private one is
// shared again only after a tick, and that takes one click back.
func TestMark(t *testing.T) {
	w := theWorld(t)
	id := w.remember(t, "The roof has 12 panels.")
	b := w.visit(t, w.shop)
	address := w.ui + "/ui/lessons/" + id + "?project=" + w.shop.id
	pinned := func() bool {
		b.at(w.ui + "/ui/lessons?list=pinned&project=" + w.shop.id)
		return value[bool](b, `document.body.innerText.includes("12 panels")`)
	}
	b.at(address)
	if status := b.submit(`#pin button`); status != 200 {
		t.Fatalf("pin: status %d: %s", status, b.text())
	}
	b.shows("Unpin it", "newest three first")
	if !pinned() {
		t.Errorf("the pinned lesson is not listed: %s", b.text())
	}
	b.at(address)
	b.submit(`#pin button`)
	b.submit(`#undo button`)
	if !pinned() {
		t.Error("unpinning is not undone")
	}
	b.at(address)
	b.submit(`#private button`)
	b.shows("Share it again")
	if value[bool](b, `document.querySelector("#undo") !== null || document.querySelector("#private").checkValidity()`) {
		t.Error("one click shares a private lesson")
	}
	b.do(chromedp.Click(chromedp.CSS(`#private [name=sure]`)))
	if status := b.submit(`#private button`); status != 200 {
		t.Fatalf("share: status %d: %s", status, b.text())
	}
	b.submit(`#undo button`)
	b.shows("Share it again")
}
