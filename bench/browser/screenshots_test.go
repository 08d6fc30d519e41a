package browser

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// screenshotsEnv names the folder that TestScreenshots writes into.
const screenshotsEnv = "RECALLD_SCREENSHOTS"

// tall is the height, in pixels, below which a picture ends.
const tall = 2400

// TestScreenshots writes a picture of every page, at three widths, in light and in dark.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv(screenshotsEnv)
	if dir == "" {
		t.Skip("not run: it writes pictures of all pages; make screenshots does")
	}
	w := theWorld(t)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b := w.visit(t, w.shop)
	for _, scheme := range []string{"light", "dark"} {
		b.scheme(scheme)
		for _, width := range widths {
			b.do(chromedp.EmulateViewport(width, 800))
			for _, p := range w.pages(t, w.shop) {
				w.show(b, p)
				path := filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", p.name, width, scheme))
				if err := os.WriteFile(path, b.picture(width), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// picture is the page as a PNG of at most 256 colours.
func (b *tab) picture(width int64) []byte {
	b.t.Helper()
	whole := true
	height := min(value[float64](b, `document.documentElement.scrollHeight`), tall)
	shot, err := chromedp.Call(b.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{CaptureBeyondViewport: &whole,
		Clip: &page.Viewport{Width: float64(width), Height: height, Scale: 1}})
	if err != nil {
		b.t.Fatal(err)
	}
	taken, err := png.Decode(bytes.NewReader(shot.Data))
	if err != nil {
		b.t.Fatal(err)
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, reduced(taken)); err != nil {
		b.t.Fatal(err)
	}
	return out.Bytes()
}

// reduced is a picture with its most frequent colours; the others become the nearest of them.
// Pages have few but for the edges of letters.
func reduced(p image.Image) image.Image {
	bounds := p.Bounds()
	rgba := image.NewRGBA(bounds)
	draw.Draw(rgba, bounds, p, bounds.Min, draw.Src)
	counts := map[color.RGBA]int{}
	for at := 0; at < len(rgba.Pix); {
		c, from := colourAt(rgba.Pix, at), at
		for at += 4; at < len(rgba.Pix) && colourAt(rgba.Pix, at) == c; at += 4 { // most pixels are as the one before
		}
		counts[c] += (at - from) / 4
	}
	out := image.NewPaletted(bounds, frequent(counts, 256))
	nearest := map[color.RGBA]uint8{}
	var last color.RGBA
	var index uint8
	for n := range out.Pix {
		if c := colourAt(rgba.Pix, 4*n); n == 0 || c != last {
			i, known := nearest[c]
			if !known {
				i = uint8(out.Palette.Index(c))
				nearest[c] = i
			}
			last, index = c, i
		}
		out.Pix[n] = index
	}
	return out
}

// colourAt is the colour of a pixel.
func colourAt(pix []uint8, at int) color.RGBA {
	return color.RGBA{R: pix[at], G: pix[at+1], B: pix[at+2], A: pix[at+3]}
}

// frequent are the n most frequent colours, in an order that does not depend on the map's.
func frequent(counts map[color.RGBA]int, n int) color.Palette {
	all := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var palette color.Palette
	for _, c := range all[:min(n, len(all))] {
		palette = append(palette, c)
	}
	return palette
}
