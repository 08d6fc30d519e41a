package browser

import (
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// mapPoints is how many memories the benchmark's map has.
const mapPoints = 100_000

// manyPoints has the page draw points of the benchmark's own in the place of the memory's, in
// the page's format: six columns of 16 bits.
const manyPoints = `(() => {
  const n = %POINTS%, data = new ArrayBuffer(4 + 12 * n), columns = new Uint16Array(data, 4);
  new DataView(data).setUint32(0, n, true);
  for (let i = 0, seed = 1; i < 6 * n; i++) { seed = (seed * 48271) % 2147483647; columns[i] = i < 2 * n ? seed & 65535 : 0; }
  const fetched = window.fetch;
  window.fetch = (address, options) => String(address).includes("/ui/map/points") ? Promise.resolve(new Response(data)) : fetched(address, options);
})()`

// BenchmarkMapFrame measures how long the browser takes to draw a frame of the map with
// 100,000 points, as the page itself measures it: after each step of the wheel.
func BenchmarkMapFrame(b *testing.B) {
	w := theWorld(b)
	w.pages(b, w.shop) // which waits until the map is made
	tab := w.visit(b, w.shop)
	tab.beforeLoad(strings.Replace(manyPoints, "%POINTS%", strconv.Itoa(mapPoints), 1))
	tab.at(w.ui + "/ui/map?project=" + w.shop.id)
	tab.until(`document.querySelector("#map-canvas").dataset.points === "` + strconv.Itoa(mapPoints) + `"`)
	tab.do(chromedp.ScrollIntoView(chromedp.CSS("#map-canvas")))
	const frame = `new Promise(done => {
  const canvas = document.querySelector("#map-canvas");
  canvas.dispatchEvent(new WheelEvent("wheel", {deltaY: Math.random() < .5 ? 1 : -1, cancelable: true}));
  requestAnimationFrame(() => requestAnimationFrame(() => done(Number(canvas.dataset.frame))));
})`
	var sum, worst float64
	for b.Loop() {
		took := value[float64](tab, frame)
		sum, worst = sum+took, max(worst, took)
	}
	b.ReportMetric(sum/float64(b.N), "ms/frame")
	b.ReportMetric(worst, "ms/worst")
	b.ReportMetric(mapPoints, "points")
}
