package finder

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/service/servicetest"
	"github.com/recalld/recalld/internal/testkit/golden"
)

var noon = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

// bench is a finder on a screen in memory, with a fake daemon. Painted is signalled after
// every paint.
type bench struct {
	t       *testing.T
	screen  tcell.SimulationScreen
	fake    *servicetest.Service
	painted chan string
	ended   chan error
	edited  chan string
	cancel  context.CancelFunc
}

// watched is a screen that hands over what was painted.
type watched struct {
	tcell.SimulationScreen
	painted chan string
	done    <-chan struct{}
}

func (w watched) Show() {
	w.SimulationScreen.Show()
	select {
	case w.painted <- contents(w.SimulationScreen):
	case <-w.done:
	}
}

// contents is what a screen shows, without blanks at the ends of lines.
func contents(s tcell.SimulationScreen) string {
	cells, width, height := s.GetContents()
	var b strings.Builder
	for y := range height {
		var line strings.Builder
		for x := range width {
			if r := cells[y*width+x].Runes; len(r) > 0 {
				line.WriteString(string(r))
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

func newBench(t *testing.T, width, height int, fake *servicetest.Service, keys ...string) *bench {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	b := &bench{t: t, screen: tcell.NewSimulationScreen("UTF-8"), fake: fake, painted: make(chan string), ended: make(chan error, 1), edited: make(chan string, 1), cancel: cancel}
	if err := b.screen.Init(); err != nil {
		t.Fatal(err)
	}
	b.screen.SetSize(width, height)
	go func() {
		b.ended <- Run(ctx, Options{
			Screen: watched{unset{b.screen}, b.painted, ctx.Done()}, Caller: memory.Caller{Dir: "/src/shop", Client: "cli"},
			Connect: func(context.Context) (service.Service, error) { return fake, nil },
			Edit:    func(file string, line int) error { b.edited <- file; return nil },
			Now:     func() time.Time { return noon }, Keys: keys,
		})
	}()
	t.Cleanup(func() {
		cancel()
		<-b.ended
	})
	return b
}

// unset keeps the size that the test has given the screen.
type unset struct{ tcell.SimulationScreen }

func (unset) Init() error { return nil }

// until reads paints until one has a text, and returns it.
func (b *bench) until(what string) string {
	b.t.Helper()
	last := ""
	late := time.After(time.Minute)
	for {
		select {
		case last = <-b.painted:
			if strings.Contains(last, what) {
				return last
			}
		case err := <-b.ended:
			b.ended <- err
			b.t.Fatalf("the finder ended (%v) before it showed %q; the last screen was\n%s", err, what, last)
		case <-late:
			b.t.Fatalf("%q was never shown; the last screen was\n%s", what, last)
		}
	}
}

func (b *bench) press(key tcell.Key) { b.screen.InjectKey(key, 0, tcell.ModNone) }

// write types a text as it is typed: key by key, each painted.
func (b *bench) write(text string) {
	b.t.Helper()
	typed := ""
	for _, r := range text {
		typed += string(r)
		b.screen.InjectKey(tcell.KeyRune, r, tcell.ModNone)
		b.until(prompt + strings.TrimRight(typed, " "))
	}
}

func fullService() *servicetest.Service {
	lesson := memory.Item{ID: "l-4f2a9c00aa", Kind: memory.Lesson, Strength: memory.Sure, Relevance: 0.97, CreatedAt: noon, Project: "p1", SuccessRate: "9/10",
		Context: "publishing from CI", Lesson: "npm fails with EACCES when its cache belongs to root: use a cache inside the project", Command: "npm ci --cache .npm"}
	code := memory.Item{ID: "c-77d0e1f2aa", Kind: memory.Chunk, Strength: memory.Likely, Relevance: 0.81, Project: "p1", Text: "func retryNpm() {\n\tinstall(\"npm\")\n}\n",
		Source: memory.Source{Path: "ci/retry.go", Lines: &[2]int{41, 43}, Symbol: "retryNpm", Sandbox: "/src/shop"}}
	return &servicetest.Service{Answers: map[string]any{
		service.Lessons.Name: &memory.LessonList{Lessons: []memory.Item{lesson}, Total: 1},
		service.Recall.Name:  &memory.RecallResponse{Items: []memory.Item{lesson, code, {ID: "s-91a0c400aa", Kind: memory.Step, Strength: memory.Maybe, Relevance: 0.35, CreatedAt: noon, Text: "s-91a0c4 [2026-01-15] npm install failed in payments-api"}}},
		service.Repos.Name: &memory.RepoList{Repos: []memory.SandboxState{
			{ProjectName: "shop", Sandbox: memory.Sandbox{ID: "s1", Project: "p1", Root: "/src/shop"}},
			{ProjectName: "shop", Sandbox: memory.Sandbox{ID: "s2", Project: "p2", Root: "/old/shop"}}}},
		service.Forget.Name: &memory.Forgotten{Records: 1},
	}}
}

// TestScreens holds what is shown at two widths in a golden file.
func TestScreens(t *testing.T) {
	file := golden.Open(t, "testdata/screens.golden")
	for _, size := range []struct {
		name          string
		width, height int
	}{{"80x24", 80, 24}, {"200x16", 200, 16}} {
		b := newBench(t, size.width, size.height, fullService())
		file.Equal(size.name+" first paint", b.until("type to search"))
		b.until("1 newest")
		b.write("npm ")
		b.until("3 results")
		b.press(tcell.KeyDown)
		file.Equal(size.name+" results", b.until("▌ 0.81"))
		b.press(tcell.KeyF1)
		file.Equal(size.name+" keys", b.until("Any key goes back"))
		b.press(tcell.KeyEscape)
		b.until("▌ 0.81")
		b.press(tcell.KeyUp)
		b.until("▌ 0.97")
		b.press(tcell.KeyCtrlX)
		file.Equal(size.name+" question", b.until("for good?"))
		b.press(tcell.KeyEscape)
		b.until("Nothing was forgotten.")
	}
}

// TestTypingLeavesNoReceipts: questions that are still being typed say so, and name kind
// and project as the filters do.
func TestTypingLeavesNoReceipts(t *testing.T) {
	fake := fullService()
	b := newBench(t, 100, 20, fake)
	b.until("newest")
	b.press(tcell.KeyTab)
	b.until("lessons · this folder")
	b.press(tcell.KeyCtrlT)
	b.until("lessons · shop in /old/shop")
	b.write("npm")
	b.until("3 results")
	for _, call := range fake.Calls() {
		if r, ok := call.Request.(memory.RecallRequest); ok && !r.Typing {
			t.Errorf("%+v leaves a receipt", r)
		}
	}
	asked := false
	for _, call := range fake.Calls() {
		r, ok := call.Request.(memory.RecallRequest)
		asked = asked || ok && r.Query == "npm" && r.Project == "p2" && len(r.Kinds) == 1 && r.Kinds[0] == memory.Lesson && r.Caller.Dir == "/src/shop"
	}
	if !asked {
		t.Errorf("the question for lessons of p2 was not asked: %+v", fake.Calls())
	}
}

// TestKeysNeverWait: while a question is not answered, keys are painted; the next key
// cancels it.
func TestKeysNeverWait(t *testing.T) {
	fake := fullService()
	var mu sync.Mutex
	cancelled := 0
	fake.Before = func(ctx context.Context, operation string) {
		if operation == service.Recall.Name {
			<-ctx.Done() // it takes for ever
			mu.Lock()
			cancelled++
			mu.Unlock()
		}
	}
	b := newBench(t, 80, 20, fake)
	b.until("newest")
	b.write("slow question")
	b.press(tcell.KeyCtrlU)
	b.until("type to search")
	b.press(tcell.KeyEscape)
	for ended := false; !ended; {
		select {
		case <-b.painted:
		case err := <-b.ended:
			b.ended <- err
			ended = true
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if cancelled < len("slow question") {
		t.Errorf("%d questions were cancelled, want at least one a key", cancelled)
	}
}

func TestOpensCodeAndForgets(t *testing.T) {
	fake := fullService()
	b := onCode(t, fake)
	b.press(tcell.KeyCtrlX)
	b.until("Code is not forgotten")
	b.press(tcell.KeyEnter)
	for file := ""; file == ""; {
		select {
		case file = <-b.edited:
			if file != filepath.FromSlash("/src/shop/ci/retry.go") {
				t.Errorf("the editor is given %s", file)
			}
		case <-b.painted:
		}
	}
	b.press(tcell.KeyUp)
	b.until("▌ 0.97")
	b.press(tcell.KeyCtrlX)
	b.until("for good?")
	b.screen.InjectKey(tcell.KeyRune, 'y', tcell.ModNone)
	b.until("Forgotten: l-4f2a9c00aa")
	for _, call := range fake.Calls() {
		if r, ok := call.Request.(memory.ForgetRequest); ok && (len(r.IDs) != 1 || r.IDs[0] != "l-4f2a9c00aa") {
			t.Errorf("%+v was forgotten", r)
		}
	}
}

// TestPaste: pasted text goes to the query, whatever its characters are as keys.
func TestPaste(t *testing.T) {
	fake := fullService()
	b := newBench(t, 100, 20, fake)
	b.until("newest")
	b.write("npm")
	b.until("3 results")
	b.press(tcell.KeyCtrlX)
	b.until("for good?")
	post := func(e tcell.Event) {
		if err := b.screen.PostEvent(e); err != nil {
			t.Fatal(err)
		}
	}
	post(tcell.NewEventPaste(true))
	for _, key := range []tcell.Key{'y', tcell.KeyEnter, tcell.KeyTab, 'z'} {
		if key < ' ' {
			post(tcell.NewEventKey(key, 0, tcell.ModNone))
		} else {
			post(tcell.NewEventKey(tcell.KeyRune, rune(key), tcell.ModNone))
		}
	}
	post(tcell.NewEventPaste(false))
	b.until(prompt + "npmy  z")
	b.press(tcell.KeyTab)
	b.until("lessons · this folder")
	for _, call := range fake.Calls() {
		if call.Operation == service.Forget.Name {
			t.Errorf("a pasted y forgets: %+v", call.Request)
		}
	}
}

// TestActions: the setting takes the actions that there are.
func TestActions(t *testing.T) {
	actions := []string{"nothing"}
	for _, b := range usual {
		actions = append(actions, b.action)
	}
	slices.Sort(actions)
	if known := slices.Sorted(slices.Values(config.SearchActions)); !slices.Equal(known, slices.Compact(actions)) {
		t.Errorf("the setting search.keys takes %q, and the search knows %q", known, actions)
	}
}

// TestForgetOnANarrowTerminal: what is cut from the question is not which key forgets what.
func TestForgetOnANarrowTerminal(t *testing.T) {
	b := newBench(t, 25, 8, fullService())
	b.until("1 newest")
	b.press(tcell.KeyCtrlX)
	b.until("\ny: forget l-4f2a9c00aa")
}

// TestKeysTakenAway: the list of keys has no key that the setting gave another action, and no
// action without a key.
func TestKeysTakenAway(t *testing.T) {
	b := newBench(t, 80, 24, fullService(), "ctrl-k=up", "ctrl-x=nothing")
	b.until("1 newest")
	b.press(tcell.KeyF1)
	page := b.until("Any key goes back.")
	for _, want := range []string{" Ctrl-U Ctrl-W          remove the line, the word\n", "Ctrl-K ↑ Ctrl-P"} {
		if !strings.Contains(page, want) {
			t.Errorf("the keys lack %q:\n%s", want, page)
		}
	}
	for _, not := range []string{"the rest", "forget the result", "…"} {
		if strings.Contains(page, not) {
			t.Errorf("the keys have %q:\n%s", not, page)
		}
	}
}

// TestKeysChanged: a key of the setting does what it says, no longer what it did, and is
// named on the screen; the others stay.
func TestKeysChanged(t *testing.T) {
	b := newBench(t, 150, 24, fullService(), "ctrl-j=down", "alt-k=up", "f1=nothing", "ctrl-x=copy", "f8=forget")
	if foot := b.until("1 newest"); !strings.Contains(foot, "Alt-K Ctrl-J choose") || !strings.Contains(foot, "F8 forget") || !strings.Contains(foot, "Ctrl-G all keys") {
		t.Errorf("the last line does not name the keys of the setting:\n%s", foot)
	}
	b.write("npm")
	b.until("3 results")
	b.press(tcell.KeyCtrlJ)
	b.until("▌ 0.81")
	b.screen.InjectKey(tcell.KeyRune, 'k', tcell.ModAlt)
	b.until("▌ 0.97")
	b.press(tcell.KeyDown)
	b.until("▌ 0.81")
	b.press(tcell.KeyCtrlX)
	b.until("Copied c-77d0e1f2aa")
	b.press(tcell.KeyUp)
	b.until("▌ 0.97")
	b.press(tcell.KeyF8)
	b.until("y: forget l-4f2a9c00aa for good?")
	b.press(tcell.KeyEscape)
	b.until("Nothing was forgotten.")
	b.press(tcell.KeyF1) // nothing; the next key has the next paint
	if page := b.until("▌ 0.97"); strings.Contains(page, "Any key goes back.") {
		t.Errorf("F1 does what it did:\n%s", page)
	}
	b.press(tcell.KeyCtrlG)
	b.until("Alt-K ↑ Ctrl-P Ctrl-J ↓ Ctrl-N choose a result")
}

// TestHostileTextIsShown: no cell of the screen holds what a terminal would act on.
func TestHostileTextIsShown(t *testing.T) {
	fake := servicetest.Full("x\x1b[2J\u202e\x9b\a\u200b\xff y", noon)
	for _, width := range []int{80, 200} {
		b := newBench(t, width, 24, fake)
		b.write("a")
		b.until("2 results")
		b.press(tcell.KeyDown)
		text := b.until(`\x1b[2J`)
		for _, r := range text {
			if r != '\n' && (r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x202e || r == 0x200b) {
				t.Errorf("the screen holds %U:\n%s", r, text)
			}
		}
	}
}

func TestProblemsAreTold(t *testing.T) {
	fake := &servicetest.Service{Err: errors.New("the store is gone")}
	b := newBench(t, 80, 20, fake)
	b.until("the store is gone")
	b.screen.SetSize(15, 5)
	b.press(tcell.KeyDown)
	b.until("The terminal")
}

func TestFold(t *testing.T) {
	for in, want := range map[string]string{"one two three": "one two|three", "": "", "abcdefghijkl": "abcdefghi|jkl", "ééééé ééééé": "ééééé|ééééé",
		"日本語の長い文です": "日本語の|長い文で|す", "日本 語文 です": "日本 語文|です", "💻💻💻 💻💻💻": "💻💻💻|💻💻💻"} {
		if got := strings.Join(fold(in, 9), "|"); got != want {
			t.Errorf("fold(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestWideCharacters: no text of wide characters stands beyond its area.
func TestWideCharacters(t *testing.T) {
	screen := tcell.NewSimulationScreen("UTF-8")
	if err := screen.Init(); err != nil {
		t.Fatal(err)
	}
	screen.SetSize(40, 10)
	query := []rune(strings.Repeat("検索", 20) + "終")
	draw(screen, &model{query: query, cursor: len(query), projects: []project{{label: "all"}}})
	screen.Show()
	if line, _, _ := strings.Cut(contents(screen), "\n"); !strings.Contains(line, "終") || !strings.HasSuffix(line, " all · all") {
		t.Errorf("the head is %q, want the end of the query, where the cursor is, and the filters", line)
	}
	for right, want := range map[int]string{4: "日…", 5: "日本…"} {
		screen.Clear()
		if end := put(screen, 0, 0, right, "日本語", tcell.StyleDefault); end != right {
			t.Errorf("a text that does not fit ends in column %d, want %d", end, right)
		}
		screen.Show()
		if line, _, _ := strings.Cut(contents(screen), "\n"); strings.ReplaceAll(line, " ", "") != want {
			t.Errorf("the text before column %d is %q, want %q", right, line, want)
		}
	}
}

// TestForgetsWhatItAskedAbout: rows that come while the question stands on the screen change
// neither what it names nor what a yes forgets.
func TestForgetsWhatItAskedAbout(t *testing.T) {
	lesson := func(id string) row { return newRow(memory.Item{ID: id, Kind: memory.Lesson, Lesson: id}) }
	screen := tcell.NewSimulationScreen("UTF-8")
	if err := screen.Init(); err != nil {
		t.Fatal(err)
	}
	defer screen.Fini()
	screen.SetSize(80, 20)
	yes := tcell.NewEventKey(tcell.KeyRune, 'y', tcell.ModNone)
	for name, rows := range map[string][]row{"others": {lesson("l-other"), lesson("l-third")}, "none": nil} {
		m := newModel(Options{})
		m.receive(answered{rows: []row{lesson("l-first"), lesson("l-other")}})
		m.key(tcell.NewEventKey(tcell.KeyCtrlX, 0, tcell.ModCtrl))
		m.receive(answered{rows: rows})
		draw(screen, m)
		screen.Show()
		if shown := contents(screen); !strings.Contains(shown, "y: forget l-first for good?") {
			t.Errorf("%s: the question became\n%s", name, shown)
		}
		if did := m.key(yes); did != actForget || m.forgetting != "l-first" {
			t.Errorf("%s: a yes does %v to %q, want l-first forgotten", name, did, m.forgetting)
		}
	}
}

// TestForgottenRowLeavesTheChoice: a row that is forgotten above the chosen one does not move
// the choice to another memory.
func TestForgottenRowLeavesTheChoice(t *testing.T) {
	m := newModel(Options{})
	m.receive(answered{rows: []row{newRow(memory.Item{ID: "l-1"}), newRow(memory.Item{ID: "l-2"}), newRow(memory.Item{ID: "l-3"})}})
	m.move(1)
	m.receive(forgotten{id: "l-1"})
	if m.row().item.ID != "l-2" {
		t.Errorf("%s is chosen, want l-2", m.row().item.ID)
	}
	m.receive(forgotten{id: "l-2"})
	if m.row().item.ID != "l-3" {
		t.Errorf("%s is chosen, want l-3, which took the place", m.row().item.ID)
	}
}

// TestForgetsThoughTheUserLeaves: a yes is carried out, also if the search ends meanwhile.
func TestForgetsThoughTheUserLeaves(t *testing.T) {
	fake := fullService()
	asked, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	fake.Before = func(ctx context.Context, operation string) {
		if operation == service.Forget.Name {
			close(asked)
			<-goOn
			ended <- ctx.Err()
		}
	}
	b := newBench(t, 80, 20, fake)
	b.until("1 newest")
	b.press(tcell.KeyCtrlX)
	b.until("for good?")
	b.screen.InjectKey(tcell.KeyRune, 'y', tcell.ModNone)
	b.until("newest")
	<-asked
	b.cancel()
	close(goOn)
	if err := <-ended; err != nil {
		t.Errorf("the call that forgets ended with the search: %v", err)
	}
}

// TestOutlive: the end of a search holds up what must be carried out no longer than said.
func TestOutlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		late, cancel := outlive(ctx, time.Second)
		defer cancel()
		time.Sleep(time.Hour)
		leave()
		time.Sleep(time.Second - time.Millisecond)
		if late.Err() != nil {
			t.Error("it ended before its time")
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if late.Err() == nil {
			t.Error("it goes on for ever")
		}
	})
}

// TestPreviewIsReadAgain: what could not be read is asked for again when it is chosen again, and
// code when the editor was left.
func TestPreviewIsReadAgain(t *testing.T) {
	m := newModel(Options{})
	m.receive(answered{rows: []row{newRow(memory.Item{ID: "l-1", Kind: memory.Lesson, Lesson: "first"}), newRow(memory.Item{ID: "l-2"})}})
	m.reading = "l-1"
	m.receive(read(t.Context(), &servicetest.Service{Err: errors.New("the daemon is busy")}, "l-1", "", memory.Caller{}))
	if m.wholes["l-1"] != nil || !strings.Contains(m.note, "the daemon is busy") {
		t.Errorf("an error is kept as the text %q, and the note is %q", m.wholes["l-1"], m.note)
	}

	fake := fullService()
	b := onCode(t, fake)
	whole := func() (n int) {
		for _, call := range fake.Calls() {
			if r, ok := call.Request.(memory.RecallRequest); ok && slices.Contains(r.IDs, "c-77d0e1f2aa") {
				n++
			}
		}
		return n
	}
	for late := time.After(time.Minute); whole() == 0; {
		select {
		case <-b.painted:
		case <-late:
			t.Fatal("the code was never read")
		}
	}
	before := whole()
	b.press(tcell.KeyEnter)
	for late := time.After(time.Minute); whole() == before; {
		select {
		case <-b.painted:
		case <-b.edited:
			b.press(tcell.KeyF1) // a paint follows every key
		case <-late:
			t.Fatal("the code was not read again after the editor")
		}
	}
}

// onCode is a search whose chosen row is a piece of code.
func onCode(t *testing.T, fake *servicetest.Service) *bench {
	t.Helper()
	b := newBench(t, 80, 20, fake)
	b.until("newest")
	b.write("npm")
	b.until("3 results")
	b.press(tcell.KeyDown)
	b.until("▌ 0.81")
	return b
}
