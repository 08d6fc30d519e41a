package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// axeVersion is that of axe-core, which finds what keeps people from using a page.
const axeVersion = "4.14.1"

// axe returns the script of axe-core, installed from npm once.
func axe(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", ".build", "browser", axeVersion))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "node_modules", "axe-core", "axe.min.js")
	if _, err := os.Stat(path); err != nil {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := run(dir, nil, "npm", "install", "--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--fetch-retries", "1", "--fetch-retry-mintimeout", "1000",
			"--fetch-retry-maxtimeout", "2000", "--fetch-timeout", "60000", "--prefix", dir, "axe-core@"+axeVersion); err != nil {
			t.Skipf("not run: npm (of Node.js: https://nodejs.org, or apt-get install npm) and its registry are needed: %.300v", err)
		}
	}
	script, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

// axeRun has axe look at the page as the Web Content Accessibility Guidelines 2.2, A and AA,
// have it. It returns a line for each fault, and how many checks passed.
const axeRun = `axe.run(document, {runOnly: {type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}).then(r => ({
  passed: r.passes.length,
  faults: r.violations.flatMap(v => v.nodes.map(n => v.id + ": " + n.target.join(" ") + ": " + n.failureSummary.replace(/\s+/g, " "))),
}))`

// TestAccessibility: axe finds no fault on any page, in light and in dark, on the screen of a
// telephone, in a window, and on a large screen.
func TestAccessibility(t *testing.T) {
	w := theWorld(t)
	script := axe(t)
	b := w.visit(t, w.shop)
	defer func() { b.t = t }()
	for _, p := range w.pages(t, w.shop) {
		b.t = t
		w.show(b, p)
		value[bool](b, script+"\n;true")
		for _, scheme := range []string{"light", "dark"} {
			b.scheme(scheme)
			for _, width := range widths {
				t.Run(fmt.Sprint(p.name, "/", scheme, width), func(t *testing.T) {
					b.t = t
					b.do(chromedp.EmulateViewport(width, 800))
					found := value[struct {
						Passed int
						Faults []string
					}](b, axeRun)
					if found.Passed < 10 {
						t.Errorf("axe made only %d checks", found.Passed)
					}
					for _, fault := range found.Faults {
						t.Error(fault)
					}
				})
			}
		}
	}
}
