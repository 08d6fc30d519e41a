package daemon

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
)

// stale are the lessons of a folder whose code changed or is gone, by their text.
func (s *served) stale(dir string) map[string]string {
	s.t.Helper()
	list, err := service.Lessons.Do(s.t.Context(), s, memory.LessonsRequest{Stale: true, Caller: memory.Caller{Dir: dir}})
	must(s.t, err)
	out := map[string]string{}
	for _, l := range list.Lessons {
		for _, a := range l.Anchors {
			if a.State.Outdated() {
				out[l.Lesson] += a.String() + "; "
			}
		}
	}
	if list.Stale != len(list.Lessons) {
		s.t.Errorf("%d stale lessons are listed, %d counted", len(list.Lessons), list.Stale)
	}
	return out
}

// TestAnchors: a lesson follows the code that it names through edits, moves and removals,
// in every answer that shows it.
func TestAnchors(t *testing.T) {
	dir := shop(t)
	s := serve(t, newConfig(t))
	s.indexed(s.index(dir))
	in := memory.Caller{Dir: dir}
	const named, whole, outside, plain = "Total() in cart.go counts articles, not prices", "mail.go sends nothing while offline", "Pin shop/Makefile targets", "Nothing here names code"
	for _, lesson := range []string{named, whole, plain} {
		s.keep(dir, lesson)
	}
	place(t, dir, "Makefile", "all:\n\tgo build ./...\n")
	_, err := service.Remember.Do(t.Context(), s, memory.RememberRequest{Lesson: outside, Anchors: []memory.AnchorRequest{{Path: filepath.Join(dir, "Makefile")}}, Caller: in})
	must(t, err) // a file that is not indexed yet
	anchors := func() string {
		t.Helper()
		var all []string
		for _, item := range s.ask(dir, "Total counts articles not prices", memory.Lesson).Items {
			if item.Lesson == named {
				for _, a := range item.Anchors {
					all = append(all, a.String())
				}
			}
		}
		return strings.Join(all, ", ")
	}
	if got := anchors(); got != "cart/cart.go Total: unchanged" {
		t.Errorf("at first: %q", got)
	}
	if got := s.stale(dir); len(got) > 0 {
		t.Errorf("stale at first: %v", got)
	}

	place(t, dir, "cart/cart.go", "package cart\n\n// Total adds up the prices of all articles in the shopping cart, discounts taken off.\nfunc Total(prices []int) int { return sum(prices) }\n")
	if got := anchors(); got != "cart/cart.go Total: changed since, about half of its lines" {
		t.Errorf("after an edit: %q", got)
	}
	if text := s.ask(dir, "Total counts articles not prices", memory.Lesson).Text; !strings.Contains(text, named+" (code changed since)") {
		t.Errorf("after an edit the text is\n%s", text)
	}

	text, err := os.ReadFile(filepath.Join(shop(t), "cart", "cart.go")) // as it was
	must(t, err)
	must(t, os.Remove(filepath.Join(dir, "cart", "cart.go")))
	place(t, dir, "cart/total.go", "package cart\n\nvar x int\n\n"+string(text[strings.Index(string(text), "//"):]))
	s.index(dir)
	// A run that had begun before the move may end first.
	for start := time.Now(); anchors() != "cart/cart.go Total: moved to cart/total.go:5-6"; {
		if time.Since(start) > patience {
			t.Fatalf("after a move: %q", anchors())
		}
	}

	must(t, os.Remove(filepath.Join(dir, "mail", "mail.go")))
	must(t, os.Mkdir(filepath.Join(dir, "mail", "mail.go"), 0o755))
	must(t, os.Remove(filepath.Join(dir, "Makefile")))
	if err := os.Symlink("/etc/hosts", filepath.Join(dir, "Makefile")); err != nil {
		t.Skipf("this system has no links: %v", err)
	}
	got := s.stale(dir)
	if got[whole] != "mail/mail.go: gone; " || got[outside] != "Makefile: gone; " || len(got) != 2 {
		t.Errorf("stale lessons: %v", got)
	}
	if text := s.ask(dir, "mail.go sends nothing while offline", memory.Lesson).Text; !strings.Contains(text, "(code gone)") {
		t.Errorf("the text is\n%s", text)
	}
	if got := s.stale(t.TempDir()); len(got) > 0 {
		t.Errorf("another project's lessons are stale: %v", got)
	}
}

// TestAnchorsOfFolders: the caller's own folder counts. From elsewhere the folder that has
// most of the code does, and a lesson of another project is compared with its own.
func TestAnchorsOfFolders(t *testing.T) {
	dir := shop(t)
	place(t, dir, ".git/HEAD", "ref: refs/heads/main\n")
	place(t, dir, ".git/config", "[remote \"origin\"]\n\turl = https://example.com/team/shop.git\n")
	other := filepath.Join(t.TempDir(), "other")
	place(t, other, "cart/cart.go", "package other\n\nfunc Other() {}\n")
	s := serve(t, newConfig(t))
	s.indexed(s.index(dir))
	s.keep(dir, "Total() in cart.go counts articles, not prices")
	place(t, dir, "cart/cart.go", "package cart\n")
	for _, test := range []struct {
		from string
		want memory.AnchorState
	}{{dir, memory.AnchorGone}, {filepath.Join(dir, "mail"), memory.AnchorGone}, {other, memory.AnchorGone}} {
		items := s.ask(test.from, "Total counts articles not prices", memory.Lesson).Items
		if len(items) != 1 || memory.WorstAnchor(items[0].Anchors) != test.want {
			t.Errorf("from %s: %+v, want %s", test.from, items, test.want)
		}
	}
}

// TestAnchorsAreExported and imported elsewhere: they say the same.
func TestAnchorsAreExported(t *testing.T) {
	dir := shop(t)
	s := serve(t, newConfig(t))
	s.indexed(s.index(dir))
	in := memory.Caller{Dir: dir}
	const lesson = "Total() in cart.go counts articles, not prices"
	s.keep(dir, lesson)
	out := filepath.Join(t.TempDir(), "out")
	_, err := service.Export.Do(t.Context(), s, memory.ExportRequest{Path: out, Caller: in})
	must(t, err)
	if again, err := service.Import.Do(t.Context(), s, memory.ImportRequest{Path: out, Caller: in}); err != nil || again.Lessons != 0 || again.Known != 1 {
		t.Errorf("imported where it came from: %+v, %v", again, err)
	}
	place(t, dir, "cart/cart.go", "package cart\n\nfunc Total(prices []int) int { return 0 }\n")

	fresh := serve(t, newConfig(t))
	if taken, err := service.Import.Do(t.Context(), fresh, memory.ImportRequest{Path: out, Caller: in}); err != nil || taken.Lessons != 1 {
		t.Fatalf("imported: %+v, %v", taken, err)
	}
	if got := fresh.stale(dir); !strings.HasPrefix(got[lesson], "cart/cart.go Total: changed since, all of its lines") {
		t.Errorf("stale after the import: %v", got)
	}
}

// TestMarksAreExported: a private lesson stays private where it is imported.
func TestMarksAreExported(t *testing.T) {
	dir := shop(t)
	s := serve(t, newConfig(t))
	in := memory.Caller{Dir: dir}
	kept := s.keep(dir, "the staging server is behind the second door")
	_, err := service.MarkLesson.Do(t.Context(), s, memory.MarkLessonRequest{ID: kept.ID, Pinned: new(true), Private: new(true), Caller: in})
	must(t, err)
	s.keep(dir, "articles are counted, not prices")
	out := filepath.Join(t.TempDir(), "out")
	_, err = service.Export.Do(t.Context(), s, memory.ExportRequest{Path: out, Caller: in})
	must(t, err)
	fresh := serve(t, newConfig(t))
	if _, err := service.Import.Do(t.Context(), fresh, memory.ImportRequest{Path: out, Caller: in}); err != nil {
		t.Fatal(err)
	}
	list, err := service.Lessons.Do(t.Context(), fresh, memory.LessonsRequest{Caller: in})
	must(t, err)
	for _, l := range list.Lessons {
		if marked := l.ID == kept.ID; l.Pinned != marked || l.Private != marked {
			t.Errorf("%s is imported pinned %v, private %v", l.Lesson, l.Pinned, l.Private)
		}
	}
	if len(list.Lessons) != 2 {
		t.Errorf("%d lessons were imported", len(list.Lessons))
	}
}

// TestLessonsAreListed newest first, withdrawn ones left out.
func TestLessonsAreListed(t *testing.T) {
	dir := shop(t)
	s := serve(t, newConfig(t))
	in := memory.Caller{Dir: dir}
	first := s.keep(dir, "one")
	s.keep(dir, "two")
	for kept := time.Now(); time.Now().UnixMilli() <= kept.UnixMilli(); {
		runtime.Gosched() // times of lessons are compared in milliseconds
	}
	_, err := service.Remember.Do(t.Context(), s, memory.RememberRequest{Lesson: "three", Supersedes: []string{first.ID}, Caller: in})
	must(t, err)
	for limit, want := range map[int][]string{1: {"three"}, 20: {"three", "two"}} {
		list, err := service.Lessons.Do(t.Context(), s, memory.LessonsRequest{Limit: limit, Caller: in})
		must(t, err)
		var got []string
		for _, l := range list.Lessons {
			got = append(got, l.Lesson)
		}
		if !slices.Equal(got, want) || list.Total != 2 {
			t.Errorf("at most %d: %v of %d, want %v of 2", limit, got, list.Total, want)
		}
	}
	if _, err := service.Lessons.Do(t.Context(), s, memory.LessonsRequest{Limit: 1001, Caller: in}); memory.AsError(err).Field != "limit" {
		t.Errorf("1001 lessons: %v", err)
	}
}
