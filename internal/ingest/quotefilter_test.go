package ingest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/recalld/recalld/internal/memory"
)

const echoAnswer = "**Relevant Memories (3):**\n\n" +
	"1. [2025-10-28] npm install → EACCES: Run `sudo chown -R $USER .` first (9/10 success)\n" +
	"2. [2025-10-25] node_modules corruption: `rm -rf node_modules && npm ci` (7/8 success)\n" +
	"3. [2025-10-20] package-lock conflicts: Delete lock file, regenerate (5/5 success)\n" +
	"\n**Relevant Code in shop (1):**\n\n" +
	"1. src/auth/login.ts:10-14 login (relevance 0.89)\n```ts\nexport async function login(user: User, retries = 3) {\n  const token = await fetchToken(user.name)\n  return token\n}\n```\n"

func TestEchoStrip(t *testing.T) {
	lines := strings.Split(echoAnswer, "\n")
	quoted, err := json.Marshal(map[string]string{"text": echoAnswer})
	must(t, err)
	twice, err := json.Marshal(map[string]string{"result": string(quoted)})
	must(t, err)
	var numbered, cited strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&numbered, "%5d→%s\n", i+40, line)
		fmt.Fprintf(&cited, "> %s\n", line)
	}
	for name, test := range map[string]struct{ in, want string }{
		"whole":             {echoAnswer, ""},
		"windows":           {strings.ReplaceAll(echoAnswer, "\n", "\r\n"), ""},
		"cited":             {cited.String(), ""},
		"numbered":          {numbered.String(), ""},
		"one item":          {lines[3], ""},
		"other number":      {"7) npm install -> EACCES: Run \"sudo chown -R $USER .\" first", ""},
		"bullet":            {"* npm install → EACCES: Run 'sudo chown -R $USER .' first (10/11 success)", ""},
		"from elsewhere":    {"2. [2025-10-28] npm install → EACCES: Run `sudo chown -R $USER .` first (and 2 alike) [from api]", ""},
		"with own words":    {"It worked twice.\n" + lines[3] + "\nBut on Alpine doas is needed instead of sudo.", "It worked twice.\n\nBut on Alpine doas is needed instead of sudo."},
		"own words before":  {"Note to self, as the memory said:\n" + echoAnswer, "Note to self, as the memory said:\n"},
		"code in between":   {"seen:\nexport async function login(user: User, retries = 3) {\n}\n  const token = await fetchToken(user.name)\nThat leaks the token of the user.", "seen:\n\nThat leaks the token of the user."},
		"json":              {string(quoted), `{"text":"\n"}`},
		"json in json":      {string(twice), `{"result":"{\"text\":\"**Relevant Memories (3):**\\n\\n\\n\"}"}`},
		"heading, unheard":  {"**Relevant Memories (1):**\n\n1. [2024-01-01] an item: that this daemon never handed out\n", ""},
		"context, unheard":  {"## RELEVANT CODEBASE CONTEXT (from RAG)\nFound 1 relevant snippet:\n\n1. a/b.go (Relevance: 0.91)\nown words follow", "\nown words follow"},
		"item, no heading":  {"1. [2024-01-01] an item: that this daemon never handed out", "1. [2024-01-01] an item: that this daemon never handed out"},
		"text after a list": {"**Relevant Memories (1):**\n\nmy own finding is different\n1. [2024-01-01] and this list is my own, with dates", "\n\nmy own finding is different\n1. [2024-01-01] and this list is my own, with dates"},
	} {
		e := NewQuoteFilter()
		e.add(echoAnswer)
		rest, n := e.strip(test.in)
		if strings.TrimRight(rest, "\r\n") != strings.TrimRight(test.want, "\n") {
			t.Errorf("%s: Strip(%q)\n got %q\nwant %q", name, test.in, rest, test.want)
		}
		if changed := rest != test.in; changed != (n > 0) {
			t.Errorf("%s: %d lines counted, changed: %v", name, n, changed)
		}
	}
}

func TestEchoMark(t *testing.T) {
	e := NewQuoteFilter()
	e.add(echoAnswer)
	in := "$ recalld recall npm\n" + echoAnswer + "$ npm ci\nadded 120 packages in the blink of an eye"
	want := "$ recalld recall npm\n[recalled]\n$ npm ci\nadded 120 packages in the blink of an eye"
	got, n := e.mark(in)
	if got != want || n == 0 {
		t.Errorf("Mark gives %q, %d, want %q", got, n, want)
	}
	if again, n := e.mark(got); again != got || n != 0 {
		t.Errorf("marking again gives %q, %d", again, n)
	}
	raw, err := json.Marshal(map[string]any{"stdout": echoAnswer, "ok": true})
	must(t, err)
	marked, n := e.mark(string(raw))
	if !json.Valid([]byte(marked)) || n == 0 || strings.Contains(marked, "node_modules") || !strings.Contains(marked, `"stdout":"[recalled]`) {
		t.Errorf("Mark(JSON) = %s, %d", marked, n)
	}
}

func TestEchoLeavesOthersAlone(t *testing.T) {
	e := NewQuoteFilter()
	e.add(echoAnswer)
	e.add("short\n}\nreturn nil, err\n")
	for _, text := range []string{
		"", "short", "}", "return nil, err", "npm install → EACCES", "Delete lock file, regenerate",
		"Run `sudo chown -R $USER .` first", // the lesson told again, which is merged
		"npm install → EACCES: Run `sudo chown -R $USER .` first, then npm ci",
		"The heading **Relevant Memories (3):** is bold in our answers", "Found 3 relevant snippets in the book, all of them old",
		`{"text":"an ordinary string of JSON with enough words","n":3}`, `C:\new\folder\that\is\long "and quoted" too`,
	} {
		if rest, n := e.strip(text); rest != text || n != 0 {
			t.Errorf("Strip(%q) = %q, %d", text, rest, n)
		}
	}
	var none *QuoteFilter
	none.add(echoAnswer)
	if rest, n := none.strip(echoAnswer); rest != echoAnswer || n != 0 {
		t.Errorf("a nil Echo strips %d lines", n)
	}
}

func TestEchoForgetsTheOldest(t *testing.T) {
	line := func(i int) string { return fmt.Sprintf("a line of an answer that has the number %d in it", i) }
	e := NewQuoteFilter()
	for i := range maxEchoLines {
		e.add(line(i))
	}
	e.add(line(0)) // handed out again: the youngest now
	e.add(line(maxEchoLines))
	for i, want := range map[int]int{0: 1, 1: 0, 2: 1, maxEchoLines: 1} {
		if _, n := e.strip(line(i)); n != want {
			t.Errorf("line %d: %d found, want %d", i, n, want)
		}
	}
	if len(e.ring) != maxEchoLines || len(e.place) > maxEchoLines {
		t.Errorf("%d lines and %d hashes are kept, want at most %d", len(e.ring), len(e.place), maxEchoLines)
	}
}

func TestEchoConcurrently(t *testing.T) {
	e := NewQuoteFilter()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				e.add(echoAnswer)
				if _, n := e.strip(echoAnswer); n == 0 {
					t.Error("what was added is unknown")
				}
			}
		})
	}
	group.Wait()
}

// TestLessonToldAgain: a lesson without a context is handed out as it was told,
// and telling it again is an outcome, not an echo.
func TestLessonToldAgain(t *testing.T) {
	echo := NewQuoteFilter()
	r := newRig(t, func(_ *rig, o *Options) { o.QuoteFilter = echo })
	req := memory.RememberRequest{Lesson: "Own the folder first, then run the installer again", SuccessRate: "9/10", Caller: r.caller}
	first := r.remember(req)
	echo.add(r.record(first.ID).Text)
	req.SuccessRate = "10/11"
	again, err := r.ingest.Remember(t.Context(), req)
	if err != nil || again.ID != first.ID || !again.Merged {
		t.Fatalf("telling it again gives %+v, %v, want it merged", again, err)
	}
	if rate := r.record(first.ID).Event.Rate; rate.Attempts < 11 {
		t.Errorf("the rate is %v after the second telling", rate)
	}
}

func FuzzEcho(f *testing.F) {
	f.Add(echoAnswer, "own words\n"+echoAnswer)
	f.Add("a line that is long enough to be known", `{"a":"\\\"\n\u00e9\\n a line that is long enough to be known \`)
	f.Fuzz(func(t *testing.T, answer, text string) {
		e := NewQuoteFilter()
		e.add(answer)
		rest, n := e.strip(text)
		if n == 0 && rest != text || len(rest) > len(text) {
			t.Fatalf("Strip(%q) = %q, %d", text, rest, n)
		}
		marked, _ := e.mark(text)
		if utf8.ValidString(text) && (!utf8.ValidString(rest) || !utf8.ValidString(marked)) {
			t.Fatalf("Strip(%q) = %q, Mark %q: not UTF-8", text, rest, marked)
		}
	})
}
