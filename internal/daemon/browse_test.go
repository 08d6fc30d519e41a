package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// texts are the lessons of a list.
func texts(list *memory.LessonList) (out []string) {
	for _, l := range list.Lessons {
		out = append(out, l.Lesson)
	}
	return out
}

// TestLessonsArePaged: a list is cut into pages, found by words, and ordered by outcomes;
// what is withdrawn has a list of its own.
func TestLessonsArePaged(t *testing.T) {
	dir := shop(t)
	s := serve(t, newConfig(t))
	in := memory.Caller{Dir: dir}
	remember := func(req memory.RememberRequest) string {
		t.Helper()
		req.Caller = in
		kept, err := service.Remember.Do(t.Context(), s, req)
		must(t, err)
		return kept.ID
	}
	list := func(req memory.LessonsRequest) *memory.LessonList {
		t.Helper()
		req.Caller = in
		got, err := service.Lessons.Do(t.Context(), s, req)
		must(t, err)
		return got
	}
	wrong := remember(memory.RememberRequest{Lesson: "chmod the cache", SuccessRate: "0/4"})
	remember(memory.RememberRequest{Lesson: "clean the cache of npm", SuccessRate: "5/6"})
	remember(memory.RememberRequest{Lesson: "warm the oven", SuccessRate: "1/1", Tags: []string{"kitchen"}})
	all := texts(list(memory.LessonsRequest{}))
	var paged []string
	for skip := range 3 {
		page := list(memory.LessonsRequest{Skip: skip, Limit: 1})
		if paged = append(paged, texts(page)...); page.Found != 3 || page.Total != 3 {
			t.Errorf("page %d is of %d found and %d in all, want 3 of both", skip, page.Found, page.Total)
		}
	}
	if !slices.Equal(paged, all) {
		t.Errorf("pages hold %q, the list %q", paged, all)
	}
	for order, first := range map[memory.LessonOrder]string{memory.WorkedFirst: "clean the cache of npm", memory.FailedFirst: "chmod the cache"} {
		if got := texts(list(memory.LessonsRequest{Order: order})); got[0] != first {
			t.Errorf("%s first: %q, want %q first", order, got, first)
		}
	}
	if got := list(memory.LessonsRequest{Words: "oven"}); !slices.Equal(texts(got), []string{"warm the oven"}) || got.Found != 1 || got.Total != 3 {
		t.Errorf("with the word oven: %d of %d, %q", got.Found, got.Total, texts(got))
	}
	// Of several words all must be held, unless no lesson holds them all.
	for words, want := range map[string][]string{"warm cache": all, "npm cache": {"clean the cache of npm"}} {
		got := texts(list(memory.LessonsRequest{Words: words}))
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("with the words %s: %q, want %q", words, got, want)
		}
	}
	if got := list(memory.LessonsRequest{Tag: "kitchen"}); !slices.Equal(texts(got), []string{"warm the oven"}) || got.Found != 1 || got.Total != 3 {
		t.Errorf("with the tag kitchen: %d of %d, %q", got.Found, got.Total, texts(got))
	}
	for since, n := range map[time.Duration]int{-time.Hour: 3, time.Hour: 0} {
		if got := list(memory.LessonsRequest{Since: time.Now().Add(since)}); len(got.Lessons) != n || got.Total != 3 {
			t.Errorf("since now%+v: %q of %d, want %d of 3", since, texts(got), got.Total, n)
		}
	}
	by := remember(memory.RememberRequest{Lesson: "never chmod it", Retracts: []string{wrong}})
	if got := list(memory.LessonsRequest{Withdrawn: true, Words: "chmod"}); !slices.Equal(texts(got), []string{"chmod the cache"}) || got.Total != 3 {
		t.Errorf("withdrawn: %q, and %d recalled", texts(got), got.Total)
	}

	h, err := service.Lesson.Do(t.Context(), s, memory.LessonRequest{ID: wrong, Caller: in})
	must(t, err)
	if h.Withdrawn == nil || h.Withdrawn.By != by || h.Lesson.Lesson != "chmod the cache" || len(h.Observations) != 1 {
		t.Errorf("the withdrawn lesson is shown as %+v", h)
	}
	for range 2 { // the second time changes nothing
		_, err = service.RestoreLesson.Do(t.Context(), s, memory.RestoreLessonRequest{ID: wrong, Caller: in})
		must(t, err)
	}
	if got := list(memory.LessonsRequest{Words: "chmod"}); got.Total != 4 || len(got.Lessons) != 2 {
		t.Errorf("after it was restored: %q of %d", texts(got), got.Total)
	}
	a := s.ask(dir, "chmod the cache", memory.Lesson)
	if len(a.Items) == 0 || a.Items[0].ID != wrong {
		t.Errorf("the restored lesson is not recalled: %+v", a.Items)
	}
	settled(t, func() bool {
		h, err = service.Lesson.Do(t.Context(), s, memory.LessonRequest{ID: wrong, Handouts: true, Caller: in})
		must(t, err)
		return len(h.HandedOut) == 1
	})
	if out := h.HandedOut[0]; out.Receipt != a.Receipt || out.Asked != "chmod the cache" {
		t.Errorf("it was handed out as %+v", out)
	}

	// An id of another kind is no lesson.
	started, err := service.StartSession.Do(t.Context(), s, memory.StartSessionRequest{Goal: "g", Caller: in})
	must(t, err)
	step, err := service.RecordStep.Do(t.Context(), s, memory.RecordStepRequest{SessionID: started.ID, Tool: memory.StepTool{Name: "bash"}, Outcome: memory.Outcome{OK: true}, Caller: in})
	must(t, err)
	for _, id := range []string{step.ID, "l-unknown"} {
		if _, err := service.Lesson.Do(t.Context(), s, memory.LessonRequest{ID: id, Caller: in}); memory.CodeOf(err) != memory.CodeNotFound {
			t.Errorf("lesson %s: %v", id, err)
		}
		if _, err := service.RestoreLesson.Do(t.Context(), s, memory.RestoreLessonRequest{ID: id, Caller: in}); memory.CodeOf(err) != memory.CodeNotFound {
			t.Errorf("restore %s: %v", id, err)
		}
	}

	activity, err := service.Activity.Do(t.Context(), s, memory.ActivityRequest{Days: 2, Caller: in})
	must(t, err)
	made := map[memory.Kind]int{}
	for _, day := range activity.Days {
		for kind, n := range day.Counts {
			made[kind] += n
		}
	}
	if len(activity.Days) != 2 || made[memory.Lesson] != 4 || made[memory.Step] != 1 {
		t.Errorf("in two days %v were made", made)
	}

	log, err := service.Log.Do(t.Context(), s, memory.LogRequest{Lines: 1})
	must(t, err)
	if len(log.Lines) != 1 || !strings.Contains(log.Lines[0], "level=") {
		t.Errorf("the last line of the log is %q", log.Lines)
	}

	var m *memory.MemoryMap
	settled(t, func() bool {
		m, err = service.Map.Do(t.Context(), s, memory.MapRequest{})
		must(t, err)
		return m.Ready
	})
	if len(m.IDs) != 5 || len(m.X) != 5 || len(m.Success) != 5 || !slices.IsSorted(m.IDs) {
		t.Errorf("the map has %v at %v", m.IDs, m.X)
	}
}

// settled asks until something in the background is done.
func settled(t *testing.T, done func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("it is not done")
		}
	}
}

// TestRepoFiles: the files of a folder are listed with languages, one of them with its chunks,
// whose text recall reads.
func TestRepoFiles(t *testing.T) {
	dir := shop(t)
	place(t, dir, "a/one.go", "package a\n\n// One adds one to a number.\nfunc One(n int) int { return n + 1 }\n")
	place(t, dir, "b.py", "def two():\n    return 2\n")
	s := serve(t, newConfig(t))
	in := memory.Caller{Dir: dir}
	queued, err := service.IndexRepo.Do(t.Context(), s, memory.IndexRequest{Path: dir, Wait: true, Caller: in})
	must(t, err)
	list := func(req memory.RepoFilesRequest) *memory.RepoFiles {
		t.Helper()
		req.Sandbox = queued.Sandbox
		got, err := service.RepoFiles.Do(t.Context(), s, req)
		must(t, err)
		return got
	}
	all := list(memory.RepoFilesRequest{})
	if all.Langs["go"] != 3 || all.Langs["python"] != 1 || all.Total != all.Found || all.Sandbox.Root != queued.Root {
		t.Errorf("the folder has %+v", all)
	}
	if got := list(memory.RepoFilesRequest{Part: "ONE", Lang: "go"}); got.Found != 1 || got.Files[0].Path != "a/one.go" || got.Total != all.Total {
		t.Errorf("by part and language: %+v", got.Files)
	}
	if got := list(memory.RepoFilesRequest{Skip: all.Total - 1}); len(got.Files) != 1 {
		t.Errorf("the last page has %+v", got.Files)
	}
	one := list(memory.RepoFilesRequest{Path: "a/one.go"})
	if len(one.Files) != 1 || len(one.Files[0].Parts) == 0 {
		t.Fatalf("the file is %+v", one.Files)
	}
	a, err := service.Recall.Do(t.Context(), s, memory.RecallRequest{IDs: []string{one.Files[0].Parts[0].ID}, Caller: in})
	must(t, err)
	if len(a.Items) != 1 || !strings.Contains(a.Items[0].Text, "func One") {
		t.Errorf("its first chunk is %+v", a.Items)
	}
	if _, err := service.RepoFiles.Do(t.Context(), s, memory.RepoFilesRequest{Sandbox: "s-unknown"}); memory.AsError(err).Field != "sandbox" {
		t.Errorf("an unknown folder: %v", err)
	}
}

// TestLessonsAreMarked: a brief begins with what is pinned, whatever came of it. A private
// lesson writes no line into the log of the repository, also when it is told again or
// replaced by one who does not know that it is private.
func TestLessonsAreMarked(t *testing.T) {
	dir := shop(t)
	must(t, os.MkdirAll(filepath.Join(dir, "agent-knowledge", "logs"), 0o755)) // so a log is kept without git
	s := serve(t, newConfig(t))
	in := memory.Caller{Dir: dir}
	remember := func(req memory.RememberRequest) *memory.Remembered {
		t.Helper()
		req.Caller = in
		kept, err := service.Remember.Do(t.Context(), s, req)
		must(t, err)
		return kept
	}
	mark := func(id string, pinned, private *bool) *memory.MarkedLesson {
		t.Helper()
		marked, err := service.MarkLesson.Do(t.Context(), s, memory.MarkLessonRequest{ID: id, Pinned: pinned, Private: private, Caller: in})
		must(t, err)
		return marked
	}
	brief := func() string {
		t.Helper()
		b, err := service.Brief.Do(t.Context(), s, memory.BriefRequest{Caller: in})
		must(t, err)
		return b.Text
	}
	pinned := func() []string {
		t.Helper()
		list, err := service.Lessons.Do(t.Context(), s, memory.LessonsRequest{Pinned: true, Caller: in})
		must(t, err)
		for _, l := range list.Lessons {
			if !l.Pinned {
				t.Errorf("%s is listed among the pinned and is not marked so", l.ID)
			}
		}
		return texts(list)
	}
	yes, no := new(true), new(false)
	lesson := memory.RememberRequest{Lesson: "never push on a Friday", SuccessRate: "0/3"}
	first := remember(lesson)
	if first.Log == "" {
		t.Fatal("a lesson is not logged here, so that this test shows nothing")
	}
	_, err := service.BlockTask.Do(t.Context(), s, memory.BlockTaskRequest{TaskID: "task-1", Reason: "no key", Caller: in})
	must(t, err)
	if text := brief(); strings.Contains(text, "Friday") {
		t.Errorf("before it is pinned the brief has it:\n%s", text)
	}
	for range 2 { // the second time changes nothing
		if m := mark(first.ID, yes, nil); !m.Pinned || m.Private || m.Note != "" {
			t.Errorf("pinned it is %+v", m)
		}
	}
	if text := brief(); !strings.Contains(text, "Friday") || strings.Index(text, "Friday") > strings.Index(text, "task-1") {
		t.Errorf("the brief does not begin with it:\n%s", text)
	}
	if m := mark(first.ID, nil, yes); !m.Pinned || !m.Private || m.Note == "" {
		t.Errorf("private it is %+v", m)
	}
	if again := remember(lesson); again.ID != first.ID || again.Log != "" {
		t.Errorf("told again, the private lesson is logged in %q", again.Log)
	}
	better := remember(memory.RememberRequest{Lesson: "never push on a Friday after noon", Supersedes: []string{first.ID}})
	if better.Log != "" {
		t.Errorf("a correction of a private lesson is logged in %q", better.Log)
	}
	if got := pinned(); !slices.Equal(got, []string{"never push on a Friday after noon"}) {
		t.Errorf("pinned: %q", got)
	}
	h, err := service.Lesson.Do(t.Context(), s, memory.LessonRequest{ID: better.ID, Caller: in})
	must(t, err)
	if !h.Lesson.Pinned || !h.Lesson.Private {
		t.Errorf("the correction is shown as %+v", h.Lesson)
	}
	if m := mark(better.ID, no, no); m.Pinned || m.Private {
		t.Errorf("taken back it is %+v", m)
	}
	if got := pinned(); len(got) != 0 || strings.Contains(brief(), "Friday") {
		t.Errorf("nothing is pinned, and yet: %q\n%s", got, brief())
	}
	if shared := remember(memory.RememberRequest{Lesson: "never push on a Friday after noon"}); shared.Log == "" {
		t.Error("told again after it was shared, it is not logged")
	}
	for id, code := range map[string]memory.Code{"l-unknown": memory.CodeNotFound, better.ID: memory.CodeInvalidInput} {
		if _, err := service.MarkLesson.Do(t.Context(), s, memory.MarkLessonRequest{ID: id, Pinned: map[bool]*bool{true: yes}[code == memory.CodeNotFound], Caller: in}); memory.CodeOf(err) != code {
			t.Errorf("mark %s: %v, want %s", id, err, code)
		}
	}
}
