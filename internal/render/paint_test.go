package render

import (
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

func TestPaint(t *testing.T) {
	for in, want := range map[string]string{
		"":                                "",
		"plain\n":                         "plain\n",
		"no end":                          "no end",
		"**Memories (1)**\n":              "\x1b[1mMemories (1)\x1b[0m\n",
		"run `npm ci` now\n":              "run \x1b[36mnpm ci\x1b[0m now\n",
		"run `` echo `date` `` x `\n":     "run \x1b[36mecho `date`\x1b[0m x `\n",
		"``a` b `c`\n":                    "``a\x1b[36mb\x1b[0mc`\n",
		"## Title\n":                      "\x1b[1mTitle\x1b[0m\n",
		"#hash and f(**args, **more)\n":   "#hash and f(**args, **more)\n",
		"a ** b ** c\n":                   "a ** b ** c\n",
		"LESSON  AGE  TEXT\n":             "\x1b[1mLESSON  AGE  TEXT\x1b[0m\n",
		"HTTP  2\n":                       "HTTP  2\n",
		"l-4f2a9c00  3d\n":                "\x1b[33ml-4f2a9c00\x1b[0m  3d\n",
		"x (relevance 0.91)\n":            "x (relevance \x1b[32m0.91\x1b[0m)\n",
		"x (relevance 0.60)\n":            "x (relevance \x1b[33m0.60\x1b[0m)\n",
		"```go\nfunc `x` **y**\n```\nz\n": "    \x1b[35mfunc\x1b[0m \x1b[32m`x`\x1b[0m **y**\nz\n",
		"```txt\nfunc `x` **y**\n```\n":   "    func `x` **y**\n",
		"```sh\nfor x in $in; do a --for done.do\n":      "    \x1b[35mfor\x1b[0m x \x1b[35min\x1b[0m $in; \x1b[35mdo\x1b[0m a --for \x1b[35mdone\x1b[0m.do\n",
		"```go\nx <-chan ifé éif\n```\n":                 "    x <-\x1b[35mchan\x1b[0m ifé éif\n",
		"```rs\nlet a = 'b; // \"x\"\n```\n":             "    \x1b[35mlet\x1b[0m a = 'b; \x1b[2m// \"x\"\x1b[0m\n",
		"```py\nx = a#1 if 'b\\'c' else \"d\n# e\n```\n": "    x = a#1 \x1b[35mif\x1b[0m \x1b[32m'b\\'c'\x1b[0m \x1b[35melse\x1b[0m \"d\n    \x1b[2m# e\x1b[0m\n",
		"```c\na /* b\nc */ d /* e */\n```\n":            "    a \x1b[2m/* b\x1b[0m\n    \x1b[2mc */\x1b[0m d \x1b[2m/* e */\x1b[0m\n",
		"````\n```\n````\n":                              "    ```\n",
		// A word of a lesson that begins a folded line is no fence.
		"    ```sh make\n    of it\n": "    ```sh make\n    of it\n",
		"    ```sh\n    of it\n":      "    ```sh\n    of it\n",
		"  ```sh\n  if\n  ```\n":      "      \x1b[35mif\x1b[0m\n",
		"daemon  failed  gone\n":      "daemon  \x1b[31mfailed\x1b[0m  gone\n",
		"store   ok\n":                "store   \x1b[32mok\x1b[0m\n",
		"\x1b[31m `\x1b]52;c;x\a`\n":  "\\x1b[31m \x1b[36m\\x1b]52;c;x\\x07\x1b[0m\n",
	} {
		if got := Paint(in); got != want {
			t.Errorf("Paint(%q) =\n%q, want\n%q", in, got, want)
		}
	}
}

// TestPaintManyFences: lines that look like the beginning of a block, which never ends, take no
// more time than others. If each of them looked for the end, this took over ten minutes.
func TestPaintManyFences(t *testing.T) {
	text := strings.Repeat("  ```x\n", 300_000)
	if got := Paint(text); got != text {
		t.Errorf("painted %.80q, want the text as it is", got)
	}
}

// sequences are all that Paint may write beside visible text.
var sequences = regexp.MustCompile("\x1b\\[(0|1|2|3[1-6])m")

// FuzzPaint: whatever is painted, nothing but the colours of Paint reaches a terminal, and
// no colour is left on at the end of a line.
func FuzzPaint(f *testing.F) {
	for _, seed := range []string{"`a` **b** l-123456 x\n```\n\x1b[2J\n", "A  B\n\u202e`\u202d`", "**\x1b**\r\n", "# \xff\n→ x", "````\n", "```py\n\"a\\\n'é#\n```\n", "```go\n/*\n\n*/\"\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, painted := range []string{Paint(text), PaintError(text)} {
			shows(t, sequences.ReplaceAllString(painted, ""))
			for line := range strings.Lines(painted) {
				if last := strings.LastIndex(line, "\x1b["); last >= 0 && !strings.HasPrefix(line[last:], sgrReset) {
					t.Fatalf("Paint(%q) leaves a colour on: %q", text, line)
				}
			}
		}
	})
}

// TestCommandForPeople: a person sees the command as it is to be run, on one line or, if it is
// long, on several.
func TestCommandForPeople(t *testing.T) {
	for command, want := range map[string]string{
		"echo `date`":             "\n    $ echo `date`\n",
		"cd sub\nmake":            "\n    $ cd sub ⏎ make\n",
		"grep 'a  b' x":           "\n    $ grep 'a  b' x\n",
		"make one two three four": "\n    $ make one two three\n      four\n",
	} {
		a := &memory.RecallResponse{Items: []memory.Item{{ID: "l-1", Kind: memory.Lesson, Strength: memory.Sure, Lesson: "do it", Command: command}}}
		if got := sequences.ReplaceAllString(Paint(ForPeople(a, 20)), ""); !strings.Contains(got, want) {
			t.Errorf("%q is shown as\n%s\nwant %q in it", command, got, want)
		}
	}
}

// TestInvisibleForPeople: what cannot be seen is shown, and counts, where lines are broken.
func TestInvisibleForPeople(t *testing.T) {
	a := &memory.RecallResponse{Items: []memory.Item{{ID: "l-1", Kind: memory.Lesson, Strength: memory.Sure, Lesson: "one two three four \u200b five \x1b[31m \u202e six", Command: "echo \u202e \u202e \u202e x"}}}
	got := sequences.ReplaceAllString(Paint(ForPeople(a, 24)), "")
	if want := "one two three four\n    U+200B five \\x1b[31m\n    U+202E six\n"; !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant %q in it", got, want)
	}
	for line := range strings.Lines(got) {
		if Width(strings.TrimSuffix(line, "\n")) > 26 { // MinLast beside six blanks
			t.Errorf("the line %q is too long", line)
		}
	}
}

// TestForPeople: every item has its relevance and its id, lines are as wide as the
// terminal at most, and remarks are in the words of the command line.
func TestForPeople(t *testing.T) {
	at := time.Date(2026, 1, 15, 0, 0, 0, 0, time.UTC)
	a := &memory.RecallResponse{ProjectName: "shop", Receipt: "rc-00008ab8b9", Incomplete: true, Why: "code was late", Items: []memory.Item{
		{ID: "l-4f2a9c00", Kind: memory.Lesson, Strength: memory.Sure, Relevance: 0.97, CreatedAt: at, SuccessRate: "9/10", Context: "publishing from CI",
			Lesson: "npm fails with EACCES when its cache belongs to root: use a cache inside the project", Command: "npm ci --cache .npm"},
		{ID: "s-1", Kind: memory.Step, Strength: memory.Likely, Relevance: 0.66, CreatedAt: at, Text: "Bash npm ci → failed"},
		{ID: "c-77d0e1f2aa", Kind: memory.Chunk, Strength: memory.Sure, Relevance: 0.81, Text: "func retry() {}\n", Source: memory.Source{Path: "ci/retry.go", Lines: &[2]int{41, 41}, Symbol: "retry"}},
		{ID: "l-5", Kind: memory.Lesson, Strength: memory.Maybe, Relevance: 0.31, Text: "l-5 [2026-01-15] something else"},
		{ID: "l-6", Kind: memory.Lesson, Strength: memory.Maybe, Relevance: 0.22, Text: "l-6 [2026-01-15] something longer that was cut…"},
	}}
	const want = `**Memories (1)**

 1. publishing from CI: npm fails with EACCES when its cache
    belongs to root: use a cache inside the project
    $ ` + "`npm ci --cache .npm`" + `
    relevance 0.97 · 2026-01-15 · worked 9/10 · l-4f2a9c00

**Records (1)**

 2. Bash npm ci → failed
    relevance 0.66, likely · 2026-01-15 · s-1

**Code in shop (1)**

 3. **ci/retry.go:41-41 retry** (relevance 0.81)
` + "```go\nfunc retry() {}\n```" + `

**Perhaps** (` + "`recalld show ID`" + ` shows one in full)

- l-5 [2026-01-15] something else (relevance 0.31)
- l-6 [2026-01-15] something longer that w… (relevance 0.22)

(incomplete: code was late; ask again in a moment)

Tell what came of it: ` + "`recalld feedback 8ab8b9 worked`" + `
`
	if got := ForPeople(a, 60); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	empty := &memory.RecallResponse{ProjectName: "shop", NothingRelevant: true, Withheld: []memory.Withheld{{Kind: memory.Lesson, Reason: memory.BelowThreshold, NearestScore: 0.46}}}
	if got := ForPeople(empty, 60); !strings.Contains(got, "--min-relevance 0.4 shows it") {
		t.Errorf("an answer without items says %q, want the flag", got)
	}
}

type wide struct {
	strings.Builder
	columns int
}

func (w *wide) Columns() int { return w.columns }

func TestTableFitsItsWidth(t *testing.T) {
	rows := [][]string{{"ID", "TEXT"}, {"l-1", strings.Repeat("word ", 40)}, {"l-2", "short"}, {"only one"}}
	for _, columns := range []int{40, 80, 200} {
		w := &wide{columns: columns}
		Table(w, rows)
		for line := range strings.Lines(w.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > columns {
				t.Errorf("in %d columns a line has %d: %q", columns, n, line)
			}
		}
		if !strings.Contains(w.String(), "short\n") {
			t.Errorf("in %d columns:\n%s", columns, w.String())
		}
	}
}

// TestListOnNarrowTerminal: where the other columns leave no room, the last one stands below
// them.
func TestListOnNarrowTerminal(t *testing.T) {
	rows := [][]string{{"LESSON", "CODE", "TEXT"}, {"l-4f2a9c00", "gone", "npm needs a clean cache"}, {"", "", "a.go: gone"}, {"l-4f2a9c01", "-", ""}}
	for columns, want := range map[int]string{
		50: "LESSON      CODE  TEXT\nl-4f2a9c00  gone  npm needs a clean cache\n                  a.go: gone\nl-4f2a9c01  -\n",
		38: "LESSON      CODE  TEXT\nl-4f2a9c00  gone  npm needs a clean c…\n                  a.go: gone\nl-4f2a9c01  -\n",
		25: "LESSON      CODE\n  TEXT\nl-4f2a9c00  gone\n  npm needs a clean cache\n  a.go: gone\nl-4f2a9c01  -\n",
		24: "LESSON      CODE\n  TEXT\nl-4f2a9c00  gone\n  npm needs a clean cac…\n  a.go: gone\nl-4f2a9c01  -\n",
	} {
		for name, write := range map[string]func(io.Writer, [][]string){"List": List, "FitTable": FitTable} {
			w := &wide{columns: columns}
			if write(w, rows); w.String() != want {
				t.Errorf("%s in %d columns:\n%s\nwant\n%s", name, columns, w, want)
			}
		}
	}
}

// TestTableKeepsRows: a line end or tab in a cell, as in the name of a file, makes no row or
// column of its own.
func TestTableKeepsRows(t *testing.T) {
	rows := [][]string{{"CHECK", "RESULT", "DETAIL"}, {"index", "failed", "put a\nstore\tok\tevery value is sound\r\n\v\fx"}}
	for name, write := range map[string]func(io.Writer, [][]string){"Table": Table, "List": List, "FitTable": FitTable} {
		var w strings.Builder
		write(&w, rows)
		if got := strings.Count(w.String(), "\n"); got != 2 || strings.ContainsAny(w.String(), "\t\v\f\r") {
			t.Errorf("%s writes %d lines, want 2:\n%q", name, got, w.String())
		}
	}
}
