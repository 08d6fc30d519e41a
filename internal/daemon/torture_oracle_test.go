package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// TestTortureOracle shows that what judges the answers of the torture test can fail:
// for each way in which an answer can be wrong there is one, beside one that is right.
func TestTortureOracle(t *testing.T) {
	root := t.TempDir()
	base := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(second int) time.Time { return base.Add(time.Duration(second) * time.Second) }
	between := func(from, to int) span { return span{at(from), at(to)} }
	h := newDiskHistory(root)
	full := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	learn := func(s step) {
		t.Helper()
		must(t, h.learn(s))
	}

	place(t, root, "a.go", "one\ntwo\nthree\n")
	place(t, root, "dir/b.go", "alpha\nbeta\n")
	place(t, root, "blob", "nul\n\x00\n")
	learn(step{when: between(0, 1)})
	place(t, root, "a.go", "one\nTWO\nthree\n")
	learn(step{when: between(10, 11), overwritten: "a.go"})
	must(t, os.Rename(full("dir"), full("moved")))
	learn(step{when: between(20, 21), from: "dir", to: "moved"})
	must(t, os.Remove(full("a.go")))
	learn(step{when: between(30, 31)})
	must(t, os.Symlink(filepath.FromSlash("moved/b.go"), full("inside")))
	outside := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(outside, []byte("alpha\nbeta\n"), 0o600))
	must(t, os.Symlink(outside, full("outside")))
	learn(step{when: between(40, 41), between: map[string][]string{"a.go": {"passing\n"}}})

	for name, c := range map[string]struct {
		path  string
		lines [2]int
		text  string
		light bool
		asked span
		wrong bool
	}{
		"as it is":                        {path: "a.go", lines: [2]int{1, 2}, text: "one\ntwo", asked: between(2, 3)},
		"without its last blank line":     {path: "a.go", lines: [2]int{1, 4}, text: "one\ntwo\nthree", asked: between(2, 3)},
		"while it was changed":            {path: "a.go", lines: [2]int{2, 2}, text: "two", asked: between(5, 10)},
		"changed before the answer":       {path: "a.go", lines: [2]int{2, 2}, text: "TWO", asked: between(5, 10)},
		"half of each":                    {path: "a.go", lines: [2]int{2, 2}, text: "TWo", asked: between(10, 11)},
		"a part, while it was written":    {path: "a.go", lines: [2]int{1, 2}, text: "one\nt", asked: between(0, 1)},
		"at its new place":                {path: "moved/b.go", lines: [2]int{1, 2}, text: "alpha\nbeta", asked: between(22, 23)},
		"through a folder opened before":  {path: "dir/b.go", lines: [2]int{1, 1}, text: "alpha", asked: between(20, 25)},
		"by a link inside":                {path: "inside", lines: [2]int{1, 1}, text: "alpha", asked: between(42, 43)},
		"there during a step only":        {path: "a.go", lines: [2]int{1, 1}, text: "passing", asked: between(40, 41)},
		"how it begins":                   {path: "a.go", lines: [2]int{1, 2}, text: "one\nt", light: true, asked: between(2, 3)},
		"stale":                           {path: "a.go", lines: [2]int{2, 2}, text: "two", asked: between(12, 13), wrong: true},
		"before its time":                 {path: "a.go", lines: [2]int{2, 2}, text: "TWO", asked: between(2, 3), wrong: true},
		"half of each later":              {path: "a.go", lines: [2]int{2, 2}, text: "TWo", asked: between(12, 13), wrong: true},
		"a part, though it was whole":     {path: "a.go", lines: [2]int{1, 2}, text: "one\nt", asked: between(2, 3), wrong: true},
		"other lines":                     {path: "a.go", lines: [2]int{2, 3}, text: "one\ntwo", asked: between(2, 3), wrong: true},
		"lines that it has not":           {path: "a.go", lines: [2]int{4, 9}, text: "three", asked: between(2, 3), wrong: true},
		"deleted":                         {path: "a.go", lines: [2]int{2, 2}, text: "TWO", asked: between(32, 33), wrong: true},
		"at its old place":                {path: "dir/b.go", lines: [2]int{1, 1}, text: "alpha", asked: between(22, 23), wrong: true},
		"not there yet":                   {path: "moved/b.go", lines: [2]int{1, 1}, text: "alpha", asked: between(2, 3), wrong: true},
		"by a link that leads out":        {path: "outside", lines: [2]int{1, 1}, text: "alpha", asked: between(42, 43), wrong: true},
		"by a link before it was made":    {path: "inside", lines: [2]int{1, 1}, text: "alpha", asked: between(32, 33), wrong: true},
		"binary":                          {path: "blob", lines: [2]int{1, 1}, text: "nul", asked: between(2, 3), wrong: true},
		"a path that never was":           {path: "never", lines: [2]int{1, 1}, text: "one", asked: between(2, 3), wrong: true},
		"of a step that is over":          {path: "a.go", lines: [2]int{1, 1}, text: "passing", asked: between(42, 43), wrong: true},
		"how another file begins":         {path: "a.go", lines: [2]int{1, 1}, text: "alpha", light: true, asked: between(2, 3), wrong: true},
		"how it began before it was gone": {path: "a.go", lines: [2]int{1, 1}, text: "one", light: true, asked: between(32, 33), wrong: true},
	} {
		item := memory.Item{Kind: memory.Chunk, Text: c.text, Source: memory.Source{Path: c.path, Lines: &c.lines}}
		if c.light {
			item.State = "light"
		}
		if err := h.judge(item, c.asked); (err != nil) != c.wrong {
			t.Errorf("%s: judged %v, want wrong: %t", name, err, c.wrong)
		}
	}
	err := h.judge(memory.Item{Text: "one", Source: memory.Source{Path: "a.go"}}, between(2, 3))
	if err == nil || !strings.Contains(err.Error(), "without its lines") {
		t.Errorf("code without lines is judged %v", err)
	}
	if got, want := len(h.texts()), 1; got != want {
		t.Errorf("%d texts are on disk at the end, want %d: %v", got, want, sortedKeys(h.texts()))
	}
}
