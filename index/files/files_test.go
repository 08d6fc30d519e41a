package files

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

// tree is what an index holds, for the naive answers that it is compared with.
type tree map[uint32][2]string // path and head by number

// index is an index of the tree, filled in the order of numbers.
func (tr tree) index() *Index {
	var x Index
	for _, id := range slices.Sorted(keys(tr)) {
		x.Put(id, tr[id][0], tr[id][1])
	}
	return &x
}

func keys(tr tree) func(func(uint32) bool) {
	return func(yield func(uint32) bool) {
		for id := range tr {
			if !yield(id) {
				return
			}
		}
	}
}

// paths are the paths of matches in their order.
func (tr tree) paths(ms []Match) []string {
	out := []string{}
	for _, m := range ms {
		out = append(out, tr[m.ID][0])
	}
	return out
}

func treeOf(paths ...string) tree {
	tr := tree{}
	for i, p := range paths {
		path, head, _ := strings.Cut(p, "|")
		tr[uint32(i)] = [2]string{path, head}
	}
	return tr
}

func TestSearch(t *testing.T) {
	tr := treeOf(
		"cmd/main.go|// Package main starts the daemon.",
		"internal/queue/queue.go|package queue holds jobs",
		"internal/queue/job.go|package queue",
		"internal/Retry/Policy.go|// BackOff with jitter",
		"docs/Queue.md|# The queue",
		"web/index.ts|import {Queue} from './queue'",
		"straße/Ünïcode.txt|ÄÖÜ",
		"a b/with space.txt|",
		"cafe\u0301.ini|cre\u0300me", // as macOS may name it
	)
	x := tr.index()
	for pattern, want := range map[string][]string{
		"queue":             {"docs/Queue.md", "internal/queue/queue.go", "internal/queue/job.go", "web/index.ts"},
		"QUEUE":             {"docs/Queue.md", "internal/queue/queue.go", "internal/queue/job.go", "web/index.ts"},
		"queue job":         {"internal/queue/job.go", "internal/queue/queue.go"},
		"queue/j":           {"internal/queue/job.go"},
		"backoff":           {"internal/Retry/Policy.go"},
		"ünïCODE äö":        {"straße/Ünïcode.txt"},
		"x":                 {"web/index.ts", "a b/with space.txt", "straße/Ünïcode.txt"},
		"ma":                {"cmd/main.go"},
		"main main":         {"cmd/main.go"},
		"nothing":           {},
		"queue nothing":     {},
		"":                  {},
		" \t\n":             {},
		"*.go":              {"cmd/main.go", "internal/queue/job.go", "internal/queue/queue.go", "internal/Retry/Policy.go"},
		"*.GO queue":        {"internal/queue/queue.go", "internal/queue/job.go"},
		"internal/*/*.go":   {"internal/queue/job.go", "internal/queue/queue.go", "internal/Retry/Policy.go"},
		"**/queue*":         {"docs/Queue.md", "internal/queue/queue.go"},
		"**/queue/**":       {"internal/queue/job.go", "internal/queue/queue.go"},
		"internal/**/job.*": {"internal/queue/job.go"},
		"docs/*":            {"docs/Queue.md"},
		"./docs/*":          {"docs/Queue.md"},
		"*/*/*/*":           {},
		"?ob.go":            {"internal/queue/job.go"},
		"?nïcode.*":         {"straße/Ünïcode.txt"},
		"????.go":           {"cmd/main.go"},
		"with?space*":       {"a b/with space.txt"},
		"caf\u00e9":         {"cafe\u0301.ini"},
		"cafe\u0301":        {"cafe\u0301.ini"},
		"caf?.ini":          {"cafe\u0301.ini"},
		"cr\u00e8me":        {"cafe\u0301.ini"},
		"u\u0308n":          {"straße/Ünïcode.txt"},
	} {
		got, total := x.Search(pattern, nil, 10)
		if paths := tr.paths(got); !slices.Equal(paths, want) || total != len(want) {
			t.Errorf("search %q = %v, %d in all; want %v", pattern, paths, total, want)
		}
	}
}

// TestWordsDoNotSpanPathAndHead: a path's end and a head's beginning are no text.
func TestWordsDoNotSpanPathAndHead(t *testing.T) {
	x := treeOf("a.go|package a").index()
	for _, pattern := range []string{"gopackage", "go\x00package", "go\x00pack*"} {
		if _, total := x.Search(pattern, nil, 1); (total > 0) != (pattern == "go\x00package") {
			t.Errorf("search %q finds %d", pattern, total) // NUL separates words
		}
	}
}

func TestAllowAndLimit(t *testing.T) {
	tr := tree{}
	for i := range uint32(500) {
		tr[i] = [2]string{fmt.Sprintf("dir/file%03d.go", i), "head"}
	}
	x := tr.index()
	odd := func(id uint32) bool { return id%2 == 1 }
	for _, limit := range []int{0, 1, 3, 250, 1000} {
		got, total := x.Search("file", odd, limit)
		if total != 250 || len(got) != min(limit, 250) {
			t.Errorf("limit %d: %d of %d files, want %d of 250", limit, len(got), total, min(limit, 250))
		}
		for i, m := range got {
			if want := uint32(2*i + 1); m.ID != want {
				t.Errorf("limit %d: file %d is %d, want %d", limit, i, m.ID, want)
			}
		}
	}
	if got := x.Ask("where is file007?", odd, 3); len(got) == 0 || got[0].ID != 7 {
		t.Errorf("ask for file007 = %v, want number 7", got)
	}
	if got := x.Ask("where is file008?", odd, 3); len(got) != 0 {
		t.Errorf("ask for a file that is not allowed = %v", got)
	}
}

func TestReplaceAndDelete(t *testing.T) {
	var x Index
	x.Put(7, "old.go", "alpha")
	x.Put(7, "new.go", "beta")
	x.Put(9, "other.go", "beta")
	for pattern, want := range map[string]int{"alpha": 0, "old": 0, "beta": 2, "new": 1} {
		if _, total := x.Search(pattern, nil, 1); total != want {
			t.Errorf("after replacing, %q finds %d, want %d", pattern, total, want)
		}
	}
	x.Delete(7)
	x.Delete(7)
	x.Delete(1000)
	if _, total := x.Search("beta", nil, 1); total != 1 || x.Len() != 1 {
		t.Errorf("after deleting, beta finds %d of %d files, want 1 of 1", total, x.Len())
	}
	x.Delete(9)
	if x.Len() != 0 || x.pages != nil {
		t.Errorf("an empty index holds %d files and %d pages", x.Len(), len(x.pages))
	}
	x.Put(1, "again.go", "")
	if _, total := x.Search("again", nil, 1); total != 1 {
		t.Errorf("after it was empty, it finds %d", total)
	}
}

func TestQuestionWords(t *testing.T) {
	for question, want := range map[string][]string{
		"How does the queue retry?":             {"queue", "retry"},
		"Where are handlers, policies tested":   {"handler", "polic", "test"},
		"class glass process":                   {"class", "glass", "process"},
		"in internal/recall/light.go:42":        {"internal/recall/light.go", "internal", "recall", "light", "42"},
		"IndexRepo(ctx)":                        {"indexrepo", "index", "repo", "ctx"},
		"parse_config_file HTTPServer":          {"parse_config_file", "parse", "config", "file", "httpserver"},
		"the the THE":                           nil,
		"":                                      nil,
		"--- ... ///":                           nil,
		"queue Queue jobs job":                  {"queue", "jobs", "job"},
		strings.Repeat("w", 3000) + " what now": {strings.Repeat("w", 3000), "now"},
	} {
		if got := questionWords(question); !slices.Equal(got, want) {
			t.Errorf("words of %q = %q, want %q", question, got, want)
		}
	}
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, "word%d ", i)
	}
	if n := len(questionWords(many.String())); n != maxWords {
		t.Errorf("a long question has %d words, want %d", n, maxWords)
	}
}

func TestAskOrder(t *testing.T) {
	tr := treeOf(
		"queue/run.go|package queue",
		"lib/queue.go|package lib",
		"lib/run.go|// the queue of jobs",
		"lib/longer_queue.go|package lib",
		"retry/retry.go|package retry",
		"docs/readme.md|# readme",
	)
	x := tr.index()
	for question, want := range map[string][]string{
		// A name says more than a folder, and that more than a head; of two names the
		// shorter path.
		"where is the queue": {"lib/queue.go", "lib/longer_queue.go", "queue/run.go", "lib/run.go"},
		// More words say more than one, and a rare one more than a common one.
		"queue retry":   {"retry/retry.go", "lib/queue.go", "lib/longer_queue.go", "queue/run.go", "lib/run.go"},
		"run the queue": {"queue/run.go", "lib/run.go", "lib/queue.go", "lib/longer_queue.go"},
		"kubernetes":    {},
		"how":           {},
	} {
		if got := tr.paths(x.Ask(question, nil, 10)); !slices.Equal(got, want) {
			t.Errorf("ask %q = %v, want %v", question, got, want)
		}
	}
	share := func(question string) float64 {
		ms := x.Ask(question, nil, 1)
		if len(ms) == 0 {
			return 0
		}
		return ms[0].Share
	}
	if got := share("readme"); got != 1 {
		t.Errorf("a file that holds all of a question in its name has a share of %v, want 1", got)
	}
	if got := share("readme kubernetes"); math.Abs(got-.5) > 1e-9 {
		t.Errorf("of a rare word and one that nothing has, a file has a share of %v, want .5", got)
	}
	if one, two := share("readme kubernetes"), share("readme kubernetes operator"); two >= one {
		t.Errorf("with more words that nothing has, the share goes from %v to %v", one, two)
	}
}

// TestCommonWordOfManyFiles: a word that more files have than are looked through is
// still found when it is asked for alone, and counts for nothing beside a rare one.
func TestCommonWordOfManyFiles(t *testing.T) {
	var x Index
	for i := range uint32(maxLooks + 100) {
		x.Put(i, fmt.Sprintf("f%d.go", i), "copyright")
	}
	x.Put(1_000_000, "license.go", "copyright")
	if got := x.Ask("copyright", nil, 3); len(got) != 3 {
		t.Errorf("a common word finds %d files, want 3", len(got))
	}
	got := x.Ask("copyright license", nil, 3)
	if len(got) != 1 || got[0].ID != 1_000_000 || got[0].Share != 1 {
		t.Errorf("beside a rare word it finds %+v, want the one file with a share of 1", got)
	}
}

// TestRandomChanges puts and deletes at random and compares with a fresh index.
func TestRandomChanges(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	var x Index
	tr := tree{}
	words := strings.Fields("alpha beta gamma queue retry a/b c/d.go e_f zz")
	text := func(n int) string {
		var b strings.Builder
		for range 1 + rng.IntN(n) {
			b.WriteString(words[rng.IntN(len(words))])
		}
		return b.String()
	}
	for step := range 3000 {
		id := uint32(rng.IntN(200))
		if rng.IntN(3) == 0 {
			x.Delete(id)
			delete(tr, id)
		} else {
			tr[id] = [2]string{text(3), text(6)}
			x.Put(id, tr[id][0], tr[id][1])
		}
		if step%50 > 0 {
			continue
		}
		fresh := tr.index()
		pattern, question := text(2)+" "+text(2), text(2)+" "+text(3)+" "+text(2)
		got, total := x.Search(pattern, nil, 20)
		want, wantTotal := fresh.Search(pattern, nil, 20)
		if !slices.Equal(got, want) || total != wantTotal || x.Len() != len(tr) {
			t.Fatalf("seed %d, step %d: search %q = %v (%d), a fresh index %v (%d)", seed, step, pattern, got, total, want, wantTotal)
		}
		if got, want := x.Ask(question, nil, 20), fresh.Ask(question, nil, 20); !slices.Equal(got, want) {
			t.Fatalf("seed %d, step %d: ask %q = %v, a fresh index %v", seed, step, question, got, want)
		}
	}
}

// TestConcurrentUse is for the race detector; what it can see without is that every
// answer is of whole files.
func TestConcurrentUse(t *testing.T) {
	var x Index
	var wg sync.WaitGroup
	for worker := range uint32(4) {
		wg.Go(func() {
			for i := range uint32(500) {
				x.Put(worker*1000+i%50, fmt.Sprintf("dir/w%d_%d.go", worker, i%50), "package needle")
				if i%7 == 0 {
					x.Delete(worker*1000 + i%50)
				}
			}
		})
		wg.Go(func() {
			for range 200 {
				ms, total := x.Search("needle", nil, 1000)
				if len(ms) != total {
					t.Errorf("%d matches of %d", len(ms), total)
				}
				x.Ask("where is the needle", nil, 5)
			}
		})
	}
	wg.Wait()
}
