package recall

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

// code reads anchors of files that a test chooses, by root and path. It counts its reads.
type code struct {
	files map[string]memory.AnchorFound
	read  func(ctx context.Context) // before every read
	mu    sync.Mutex                // guards reads
	reads []string
}

func (c *code) Anchor(_ context.Context, at memory.Location, want memory.AnchorRequest) (memory.Anchor, error) {
	if _, ok := c.files[at.Root+" "+at.Path]; !ok {
		return memory.Anchor{}, &memory.GateError{Reason: memory.Gone, Path: at.Path}
	}
	if want.Symbol == "In.Odd" {
		return memory.Anchor{}, memory.Invalid("symbol", "", "there is none")
	}
	a := memory.Anchor{Path: at.Path, Symbol: want.Symbol, Whole: want.Symbol == "" && want.Lines == nil, Code: memory.FileChunk{End: 1 + len(want.Symbol)}}
	if want.Lines != nil {
		a.Code.StartLine, a.Code.EndLine, a.Code.End = want.Lines[0], want.Lines[1], 99
	}
	return a, nil
}

func (c *code) Compare(ctx context.Context, at memory.Location, anchors []memory.Anchor) ([]memory.AnchorFound, error) {
	c.mu.Lock()
	c.reads = append(c.reads, at.Root+" "+at.Path)
	c.mu.Unlock()
	if c.read != nil {
		c.read(ctx)
	}
	found, ok := c.files[at.Root+" "+at.Path]
	if !ok {
		return nil, &memory.GateError{Reason: memory.Gone, Path: at.Path}
	}
	out := make([]memory.AnchorFound, len(anchors))
	for i := range out {
		out[i] = found
	}
	return out, nil
}

// over puts the code into the options of a service, below some folders.
func (c *code) over(roots ...string) func(*Options) {
	return func(o *Options) { o.Anchors, o.Roots = c, func(string, string) []string { return roots } }
}

func withAnchors(anchors ...memory.Anchor) func(*memory.Record) {
	return func(r *memory.Record) { r.Event.Anchors = anchors }
}

func anchorsOf(a *memory.RecallResponse, id string) string {
	for _, item := range a.Items {
		if item.ID == id {
			var all []string
			for _, c := range item.Anchors {
				all = append(all, fmt.Sprintf("%s %s %.2f %s", c.Path, c.State, c.Changed, c.MovedTo))
			}
			return strings.Join(all, "; ")
		}
	}
	return "not shown"
}

// TestAnchorStates: of the caller's folder, or of all folders the one that has most.
func TestAnchorStates(t *testing.T) {
	same, changed := memory.AnchorFound{Same: true, StartLine: 3, EndLine: 4}, memory.AnchorFound{Changed: .5}
	whole, part := memory.Anchor{Path: "a.go", Whole: true}, memory.Anchor{Path: "a.go", Symbol: "A"}
	little, most := memory.AnchorFound{Changed: .2}, memory.AnchorFound{Changed: .8}
	for name, test := range map[string]struct {
		anchor memory.Anchor
		files  map[string]memory.AnchorFound
		roots  []string
		want   string
		worst  memory.AnchorState
	}{
		"as it was":                {part, map[string]memory.AnchorFound{"/r a.go": same}, []string{"/r"}, "a.go unchanged 0.00 ", memory.AnchorUnchanged},
		"a part changed":           {part, map[string]memory.AnchorFound{"/r a.go": little}, []string{"/r"}, "a.go changed 0.20 ", memory.AnchorChanged},
		"a file changed a little":  {whole, map[string]memory.AnchorFound{"/r a.go": little}, []string{"/r"}, "a.go unchanged 0.20 ", memory.AnchorUnchanged},
		"a file changed":           {whole, map[string]memory.AnchorFound{"/r a.go": changed}, []string{"/r"}, "a.go changed 0.50 ", memory.AnchorChanged},
		"gone":                     {part, nil, []string{"/r"}, "a.go gone 0.00 ", memory.AnchorGone},
		"nowhere to look":          {part, nil, nil, "a.go unknown 0.00 ", memory.AnchorUnknown},
		"one of two folders":       {part, map[string]memory.AnchorFound{"/s a.go": same}, []string{"/r", "/s"}, "a.go unchanged 0.00 ", memory.AnchorUnchanged},
		"the better of two":        {part, map[string]memory.AnchorFound{"/r a.go": most, "/s a.go": little}, []string{"/r", "/s"}, "a.go changed 0.20 ", memory.AnchorChanged},
		"the better is the first":  {part, map[string]memory.AnchorFound{"/r a.go": little}, []string{"/r", "/s"}, "a.go changed 0.20 ", memory.AnchorChanged},
		"its text in another file": {part, map[string]memory.AnchorFound{"/r b.go": same}, []string{"/r"}, "a.go moved 0.00 b.go:3-4", memory.AnchorMoved},
		"its symbol, changed":      {part, map[string]memory.AnchorFound{"/r b.go": little}, []string{"/r"}, "a.go changed 0.20 b.go", memory.AnchorChanged},
		"another of its name":      {part, map[string]memory.AnchorFound{"/r b.go": most}, []string{"/r"}, "a.go gone 0.00 ", memory.AnchorGone},
	} {
		s := newShelf()
		s.lesson("l-1", withAnchors(test.anchor))
		b := memory.FileKey{Sandbox: "/r", Path: "b.go"}
		s.texts[b] = "func A"
		s.definitions = map[memory.Name][]memory.Definition{{Name: "A"}: {{Exact: true, Within: true, Places: []memory.Candidate{
			{Kind: memory.Chunk, File: memory.FileKey{Sandbox: "/r", Path: "a.go"}}, {Kind: memory.Chunk, File: b},
		}}}}
		c := &code{files: test.files}
		a := s.ask(t, memory.RecallRequest{Query: "q", Explain: true}, c.over(test.roots...))
		if got := anchorsOf(a, "l-1"); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		if got := a.Items[0].RankFactors.Anchor; got != test.worst {
			t.Errorf("%s: the factors say %q, want %q", name, got, test.worst)
		}
	}
}

// TestAnchorReads: a file is read once for all of a lesson's anchors, and an answer reads
// a bounded number of them.
func TestAnchorReads(t *testing.T) {
	s := newShelf()
	c := &code{files: map[string]memory.AnchorFound{}}
	for i := range 6 {
		var anchors []memory.Anchor
		for j := range memory.MaxAnchors {
			anchors = append(anchors, memory.Anchor{Path: fmt.Sprintf("%d/%d.go", i, j), Symbol: "A"}, memory.Anchor{Path: fmt.Sprintf("%d/%d.go", i, j), Symbol: "B"})
			c.files["/r "+anchors[2*j].Path] = memory.AnchorFound{Same: true}
		}
		s.lesson(fmt.Sprintf("l-%d", i), withAnchors(anchors[:memory.MaxAnchors]...))
	}
	s.lesson("l-none")
	s.ask(t, memory.RecallRequest{Query: "q", Limit: 20, MaxTokens: 8000, Kinds: []memory.Kind{memory.Lesson}}, c.over("/r"))
	if want := 6 * memory.MaxAnchors / 2; len(c.reads) != want {
		t.Errorf("%d files were read, want %d", len(c.reads), want)
	}
	c.reads = nil
	for i := 6; i < 20; i++ {
		s.lesson(fmt.Sprintf("l-%d", i), withAnchors(s.records["l-0"].Event.Anchors...))
	}
	s.ask(t, memory.RecallRequest{Query: "q", Limit: 20, MaxTokens: 8000, Kinds: []memory.Kind{memory.Lesson}}, c.over("/r"))
	if len(c.reads) != maxAnchorReads {
		t.Errorf("%d files were read, want %d", len(c.reads), maxAnchorReads)
	}
}

// TestAnchorsOnHangingDisk: the lesson is shown when the deadline of code has passed, and
// nothing is said about its code.
func TestAnchorsOnHangingDisk(t *testing.T) {
	s := newShelf()
	s.lesson("l-1", withAnchors(memory.Anchor{Path: "a.go"}))
	back := make(chan struct{})
	defer close(back)
	c := &code{read: func(context.Context) { <-back }}
	settings := DefaultSettings()
	settings.CodeDeadline = 20 * time.Millisecond
	a := s.ask(t, memory.RecallRequest{Query: "q"}, c.over("/r"), func(o *Options) { o.Settings = &settings })
	if got := anchorsOf(a, "l-1"); got != "a.go unknown 0.00 " || strings.Contains(a.Text, "code") {
		t.Errorf("the lesson has %q:\n%s", got, a.Text)
	}
}

// TestAnchorsInAnswers: the line of a lesson says what is bad, its whole text all of it,
// and a path is redacted.
func TestAnchorsInAnswers(t *testing.T) {
	s := newShelf()
	s.lesson("l-one", withAnchors(memory.Anchor{Path: "hunter2/a.go", Symbol: "A"}, memory.Anchor{Path: "b.go", Symbol: "B"}))
	c := &code{files: map[string]memory.AnchorFound{"/r hunter2/a.go": {Changed: .34}, "/r b.go": {Same: true}}}
	redact := func(o *Options) {
		o.Redact = func(text string) (string, int) {
			return strings.ReplaceAll(text, "hunter2", "[redacted]"), strings.Count(text, "hunter2")
		}
	}
	if a := s.ask(t, memory.RecallRequest{Query: "q"}, c.over("/r"), redact); !strings.Contains(a.Text, "lesson l-one (code changed since)\n") {
		t.Errorf("the answer is\n%s", a.Text)
	}
	a := s.ask(t, memory.RecallRequest{IDs: []string{"l-one"}}, c.over("/r"), redact)
	if want := "Code: [redacted]/a.go A: changed since, about a third of its lines\nCode: b.go B: unchanged\n"; !strings.Contains(a.Text, want) {
		t.Errorf("the whole lesson is\n%s\nwant in it\n%s", a.Text, want)
	}
}

// TestAnchorsWeaken: a lesson whose code changed or is gone is one step weaker, told in a
// line if it was likely. Where a question lets no lines in it stays likely, and what has no
// room for its line is withheld.
func TestAnchorsWeaken(t *testing.T) {
	fresh, old := memory.AnchorFound{Same: true}, memory.AnchorFound{Changed: .5}
	for name, test := range map[string]struct {
		found  memory.AnchorFound
		sure   float64 // the least relevance of what is sure
		lines  bool
		tokens int
		want   memory.Strength
	}{
		"sure and unchanged":   {fresh, 0, true, 0, memory.Sure},
		"sure and changed":     {old, 0, true, 0, memory.Likely},
		"likely and unchanged": {fresh, 1, true, 0, memory.Likely},
		"likely and changed":   {old, 1, true, 0, memory.Maybe},
		"without lines":        {old, 1, false, 0, memory.Likely},
		"without room":         {old, 1, true, 50, ""},
	} {
		s := newShelf()
		s.lesson("l-one", withAnchors(memory.Anchor{Path: "a.go", Symbol: "A"}))
		settings := memory.AnswerSettings{
			MinRelevance: map[memory.Kind]float64{memory.Lesson: 0}, Sure: map[memory.Kind]float64{memory.Lesson: test.sure * 1.1}, Maybe: map[memory.Kind]float64{memory.Lesson: -1},
		}
		req := memory.RecallRequest{Query: "needle", Kinds: []memory.Kind{memory.Lesson}, MaxTokens: test.tokens, Explain: true}
		c := &code{files: map[string]memory.AnchorFound{"/r a.go": test.found}}
		a, _, err := s.service(t, c.over("/r")).Ask(t.Context(), req, AskOptions{Settings: &settings, NoLines: !test.lines})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if test.want == "" {
			if len(a.Items) != 0 || len(a.Withheld) != 1 || a.Withheld[0].Reason != memory.BelowThreshold {
				t.Errorf("%s: shown %+v, withheld %+v", name, a.Items, a.Withheld)
			}
			continue
		}
		if len(a.Items) != 1 || len(a.Withheld) != 0 || a.Items[0].Strength != test.want {
			t.Fatalf("%s: shown %+v, withheld %+v, want it %s", name, a.Items, a.Withheld, test.want)
		}
		if marked := strings.Count(a.Text, "(code changed since)") == 1; marked == test.found.Same {
			t.Errorf("%s: the text is\n%s", name, a.Text)
		}
		if got := a.Items[0].RankFactors; got.Anchor != memory.WorstAnchor(a.Items[0].Anchors) || len(c.reads) != 1 {
			t.Errorf("%s: the factors say %q, the anchors %+v, after %d reads", name, got.Anchor, a.Items[0].Anchors, len(c.reads))
		}
	}
}

// TestFindAnchors: given places are checked; mentioned ones count if one file has them.
func TestFindAnchors(t *testing.T) {
	s := newShelf()
	key := func(path string) memory.Candidate {
		k := memory.FileKey{Sandbox: "/r", Path: path}
		s.texts[k] = "text"
		return memory.Candidate{Kind: memory.Chunk, File: k}
	}
	s.at = map[memory.CodeLocation][]memory.Candidate{
		{Path: "a.go"}: {key("x/a.go"), key("x/a.go")}, {Path: "b.go"}: {key("x/b.go"), key("y/b.go")}, {Path: "gone.go"}: {key("gone.go")},
		{Path: "a.go", Line: 12}: {key("x/a.go")}, {Path: "hunter2.go"}: {key("hunter2.go")},
	}
	declared := func(exact bool, paths ...string) (defs []memory.Definition) {
		for _, p := range paths {
			defs = append(defs, memory.Definition{Exact: exact, Within: true, Places: []memory.Candidate{key(p)}})
		}
		return defs
	}
	s.definitions = map[memory.Name][]memory.Definition{
		{Name: "readFile"}: declared(true, "x/a.go"), {Name: "Close", In: "Server"}: declared(true, "x/s.go"), {Name: "twoOf"}: declared(true, "x/a.go", "x/b.go"),
		{Name: "read_file"}: declared(false, "x/a.go"), {Name: "Odd", In: "In"}: declared(true, "x/a.go"),
	}
	c := &code{files: map[string]memory.AnchorFound{"/r x/a.go": {}, "/r x/b.go": {}, "/r x/s.go": {}, "/r hunter2.go": {}}}
	service := s.service(t, c.over("/r"), func(o *Options) {
		o.Redact = func(text string) (string, int) { return text, strings.Count(text, "hunter2") }
	})
	show := func(anchors []memory.Anchor) (out []string) {
		for _, a := range anchors {
			out = append(out, fmt.Sprintf("%s %s %d", a.Path, a.Symbol, a.Code.EndLine))
		}
		return out
	}
	for text, want := range map[string][]string{
		"nothing that is code":                    nil,
		"see a.go and readFile()":                 {"x/a.go readFile 0"}, // not the whole file as well
		"see a.go":                                {"x/a.go  0"},
		"see a.go:12":                             {"x/a.go Symbol 0"},
		"see b.go, which two folders have":        nil,
		"see gone.go, which is not on disk":       nil,
		"see hunter2.go, which is a secret":       nil,
		"Server.Close and twoOf and read_file":    {"x/s.go Server.Close 0"},
		"In.Odd has no such container on disk":    {"x/a.go Odd 0"},
		"readFile and again readFile() in `a.go`": {"x/a.go readFile 0"},
	} {
		got, err := service.FindAnchors(t.Context(), memory.AnchorQuery{Project: "p-own", Text: text})
		if diff := cmp.Diff(want, show(got)); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got)\n%s", text, err, diff)
		}
	}
	touched := []string{"b.go", "nowhere.go", "a.go"}
	if got, err := service.FindAnchors(t.Context(), memory.AnchorQuery{Project: "p-own", Text: "no code", Touched: touched}); err != nil || !cmp.Equal(show(got), []string{"x/a.go  0"}) {
		t.Errorf("from the steps before: %v, %v", show(got), err)
	}
	if got, err := service.FindAnchors(t.Context(), memory.AnchorQuery{Project: "p-own", Text: "Server.Close", Touched: touched}); err != nil || !cmp.Equal(show(got), []string{"x/s.go Server.Close 0"}) {
		t.Errorf("of a lesson that names code: %v, %v", show(got), err)
	}

	for path, want := range map[string]string{
		"x/a.go": "", "/r/x/a.go": "", "./x//a.go": "", `x\a.go`: "",
		"../a.go": "anchors[0].path", "/etc/passwd": "anchors[0].path", "/rx/a.go": "anchors[0].path", ".": "anchors[0].path", "no.go": "anchors[0].path", "hunter2.go": "anchors[0].path",
	} {
		got, err := service.FindAnchors(t.Context(), memory.AnchorQuery{Project: "p-own", Text: "readFile", Given: []memory.AnchorRequest{{Path: path}}})
		switch {
		case want != "" && (memory.AsError(err).Field != want || got != nil):
			t.Errorf("%s: %v, %v; want an error of %s", path, got, err, want)
		case want == "" && (err != nil || !cmp.Equal(show(got), []string{"x/a.go  0"})):
			t.Errorf("%s: %v, %v", path, show(got), err)
		}
	}
	if _, err := service.FindAnchors(t.Context(), memory.AnchorQuery{Given: []memory.AnchorRequest{{Path: "x/a.go"}, {Path: "x/a.go", Symbol: "In.Odd"}}}); memory.AsError(err).Field != "anchors[1].symbol" {
		t.Errorf("a symbol that is nowhere: %v", err)
	}
	homeless := s.service(t, c.over())
	if got, err := homeless.FindAnchors(t.Context(), memory.AnchorQuery{Text: "readFile"}); got != nil || err != nil {
		t.Errorf("without a folder: %v, %v", got, err)
	}
	if _, err := homeless.FindAnchors(t.Context(), memory.AnchorQuery{Given: []memory.AnchorRequest{{Path: "x/a.go"}}}); memory.AsError(err).Field != "anchors" {
		t.Errorf("given without a folder: %v", err)
	}
}

// TestBriefOnHangingDisk: a brief does not wait for a drive that hangs, and has its lessons.
func TestBriefOnHangingDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		s.lesson("l-1", withAnchors(memory.Anchor{Path: "a.go"}), func(r *memory.Record) { r.Event.Rate = &memory.Rate{Successes: 9, Attempts: 10} })
		s.lesson("l-2", withAnchors(memory.Anchor{Path: "a.go"}), func(r *memory.Record) { r.Event.Pinned = true })
		back := make(chan struct{})
		defer close(back)
		c := &code{read: func(context.Context) { <-back }}
		service, began := s.service(t, c.over("/r")), time.Now()
		proven, err := service.Proven(t.Context(), memory.Project{ID: "p-own"}, memory.Caller{}, 3)
		pinned, errPinned := service.Pinned(t.Context(), "p-own", memory.Caller{}, 3)
		if took := time.Since(began); errors.Join(err, errPinned) != nil || len(proven) != 1 || len(pinned) == 0 || took > 300*time.Millisecond {
			t.Errorf("after %v: %d proven and %d pinned lessons, %v, %v; want some of both in 300 ms", took, len(proven), len(pinned), err, errPinned)
		}
	})
}

// TestInsideOf: a path of an anchor is relative to the root, or absolute below it, with the
// separators of any system.
func TestInsideOf(t *testing.T) {
	for _, test := range []struct{ root, path, want string }{
		{"/a", "b/c.go", "b/c.go"}, {"/a", "/a/b/c.go", "b/c.go"}, {"/", "/b/c.go", "b/c.go"}, {"/a", "/ab/c.go", ""}, {"/a", "/a", ""}, {"/a", "/a/../c.go", ""},
		{`C:\a`, `C:\a\b\c.go`, "b/c.go"}, {`C:\a`, `C:/a/b/c.go`, "b/c.go"}, {`C:\a`, `b\c.go`, "b/c.go"},
	} {
		if got, err := insideOf(test.root, test.path); got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s in %s is %q, %v; want %q", test.path, test.root, got, err, test.want)
		}
	}
}
