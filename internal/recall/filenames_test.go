package recall

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/index/files"
	"github.com/recalld/recalld/internal/memory"
)

// lightShelf is a light index over files that a test puts on a shelf.
type lightShelf struct {
	shelf *shelf
	index files.Index
	files []memory.Candidate
	held  memory.CodeCounts
	asked int // questions
}

// newLight returns a shelf with a light index that nothing is in.
func newLight() (*shelf, *lightShelf) {
	s := newShelf()
	return s, &lightShelf{shelf: s}
}

// file puts a file on the disk and into the light index.
func (l *lightShelf) file(key memory.FileKey, text string) {
	head := text[:min(len(text), memory.MaxHead)]
	l.shelf.texts[key], l.shelf.heads[key] = text, head
	l.index.Put(uint32(len(l.files)), key.Path, head)
	l.files = append(l.files, memory.Candidate{Kind: memory.Chunk, Project: "p-own", Created: now, File: key, Head: true})
	l.held.Files++
}

func (l *lightShelf) FilesByName(question string, _ memory.Selection, limit int) []memory.Candidate {
	l.asked++
	return l.candidates(l.index.Ask(question, nil, limit))
}

// PrunedFiles takes every file for one whose chunks gave way, as long as any did.
func (l *lightShelf) PrunedFiles(question string, sel memory.Selection, limit int) []memory.Candidate {
	return l.FilesByName(question, sel, limit)
}

func (l *lightShelf) Files(pattern, _ string, limit int) ([]memory.Candidate, int) {
	matches, total := l.index.Search(pattern, nil, limit)
	return l.candidates(matches), total
}

func (l *lightShelf) Fits(pattern, path, head string) bool { return files.Fits(pattern, path, head) }

func (l *lightShelf) CodeCounts(string) memory.CodeCounts { return l.held }

func (l *lightShelf) candidates(ms []files.Match) []memory.Candidate {
	out := make([]memory.Candidate, len(ms))
	for i, m := range ms {
		out[i] = l.files[m.ID]
		out[i].Fit = m.Share
	}
	return out
}

// options puts the light index beside a full one that may be off, or lack something.
func (l *lightShelf) options(full bool, missing string) func(*Options) {
	return func(o *Options) {
		o.FileNames = l
		o.Settings = new(DefaultSettings())
		o.Settings.Full = full
		o.Missing = func(string) string { return missing }
	}
}

// recallLight asks with the floors as they are.
func recallLight(t *testing.T, s *shelf, req memory.RecallRequest, change ...func(*Options)) *memory.RecallResponse {
	t.Helper()
	a, err := s.service(t, change...).Recall(t.Context(), req)
	if err != nil {
		t.Fatalf("recall: %v", err)
	}
	return a
}

func codeReason(a *memory.RecallResponse) string {
	for _, d := range a.Degraded {
		if d.Part == memory.PartCode {
			return d.Reason
		}
	}
	return ""
}

// TestLightAnswers: it answers where the full index cannot, marked, with the reason,
// and is silent where the full one answered, if only with nothing.
func TestLightAnswers(t *testing.T) {
	gone := &memory.GateError{Reason: memory.Gone}
	failing := retriever(func(context.Context, index.Query) (index.Result, error) {
		return index.Result{}, context.DeadlineExceeded
	})
	for name, test := range map[string]struct {
		change  func(*shelf, *lightShelf)
		full    bool
		missing string
		want    []string
		reason  string
	}{
		"switched off":        {nil, false, "", []string{"queue/retry.go"}, "searched by file names only: the full index is switched off"},
		"not indexed yet":     {nil, true, "not indexed yet", []string{"queue/retry.go"}, "searched by file names only: not indexed yet"},
		"no chunks":           {nil, true, "", []string{"queue/retry.go"}, "searched by file names only: no file is indexed in full"},
		"nothing fits":        {func(_ *shelf, l *lightShelf) { l.held.Chunked = 1 }, true, "", []string{}, ""},
		"loading":             {func(s *shelf, l *lightShelf) { s.lexical = index.Source{Name: "lexical", Degraded: "loading"} }, true, "", []string{"queue/retry.go"}, "searched by file names only: the full index did not answer"},
		"retrieval late":      {func(s *shelf, l *lightShelf) { s.lexical.Retriever = failing }, true, "", []string{"queue/retry.go"}, "searched by file names only: the full index did not answer"},
		"the full one has it": {func(s *shelf, l *lightShelf) { s.chunk("func f() {}", at("full.go")) }, true, "not indexed yet", []string{"full.go"}, ""},
		"a line of the full one": {func(s *shelf, l *lightShelf) {
			l.held.Chunked, s.scale = 1, .001
			s.chunk("func f() {}", at("full.go"))
		}, true, "", []string{"full.go"}, ""},
		"what the full one has is gone": {func(s *shelf, l *lightShelf) {
			l.held.Chunked = 1
			s.chunk("func f() {}", at("full.go"))
			s.gates[at("full.go")] = gone
		}, true, "", []string{"queue/retry.go"}, "searched by file names only: what was found has changed since it was indexed"},
		"gave way": {func(_ *shelf, l *lightShelf) { l.held = memory.CodeCounts{Files: 2, Chunked: 1, Pruned: 1} }, true, "", []string{"queue/retry.go"}, "searched by file names only: the index is over its size limit"},
	} {
		s, l := newLight()
		l.file(at("queue/retry.go"), "package queue // retries")
		l.file(at("docs/readme.md"), "# Read me")
		if test.change != nil {
			test.change(s, l)
		}
		a := recallLight(t, s, memory.RecallRequest{Query: "how does the queue retry"}, l.options(test.full, test.missing))
		if got := ids(a); !slices.Equal(got, test.want) {
			t.Errorf("%s: items = %v, want %v", name, got, test.want)
			continue
		}
		if got := codeReason(a); got != test.reason {
			t.Errorf("%s: code is degraded by %q, want %q", name, got, test.reason)
		}
		if marked := len(a.Items) > 0 && a.Items[0].State == memory.FilePreview; marked != (test.reason != "") {
			t.Errorf("%s: marked as light: %v", name, marked)
		}
		if test.reason != "" && (!strings.Contains(a.Text, "(Code was "+test.reason+".)") || !strings.Contains(a.Text, ", by file name)")) {
			t.Errorf("%s: the text does not say so:\n%s", name, a.Text)
		}
		if a.NothingRelevant != (len(test.want) == 0) {
			t.Errorf("%s: nothing relevant: %v with %d items", name, a.NothingRelevant, len(a.Items))
		}
	}
}

// TestLightItem: what an item says.
func TestLightItem(t *testing.T) {
	s, l := newLight()
	l.file(at("queue/retry.go"), "package queue")
	a := recallLight(t, s, memory.RecallRequest{Query: "retry queue", Kinds: []memory.Kind{memory.Chunk}, Format: memory.FormatMarkdown, Explain: true}, l.options(false, ""))
	if len(a.Items) != 1 {
		t.Fatalf("%d items, want 1", len(a.Items))
	}
	got := a.Items[0]
	got.RankFactors, got.Tokens, got.Relevance = nil, 0, 0
	want := memory.Item{
		ID: memory.ChunkID("/box", "queue/retry.go", memory.FileChunk{}), Kind: memory.Chunk, Strength: memory.Likely, Text: "package queue", Project: "p-own",
		Source: memory.Source{Path: "queue/retry.go", Lines: &[2]int{1, 1}, Sandbox: "/box"}, CreatedAt: now, State: "light",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("item (-want +got):\n%s", diff)
	}
	if r := a.Items[0].Relevance; r < fileNameThreshold || r > fileNameRelevance {
		t.Errorf("relevance is %v, want it from %v to %v", r, fileNameThreshold, fileNameRelevance)
	}
	if !strings.Contains(a.Text, "Found 1 relevant snippet:\n\n1. queue/retry.go (Relevance: 0.") || !strings.Contains(a.Text, ", by file name)\n") {
		t.Errorf("the block is not marked:\n%s", a.Text)
	}
	if r := s.receipts[0]; len(r.Items) != 1 || r.Items[0].RankFactors.Retrievers["light"].Score == 0 {
		t.Errorf("the receipt does not tell what found it: %+v", r.Items)
	}
}

// TestLightFloors: by default half of a question; a floor that is asked for holds.
func TestLightFloors(t *testing.T) {
	s, l := newLight()
	l.file(at("queue.go"), "package a")
	for i := range 8 {
		l.file(at(fmt.Sprintf("f%d.go", i)), "package b")
	}
	for name, test := range map[string]struct {
		query string
		floor *float64
		want  int
	}{
		"all of it":      {"the queue", nil, 1},
		"a third":        {"queue kubernetes operator", nil, 0},
		"a third wanted": {"queue kubernetes operator", new(0.2), 1},
		"all, over .75":  {"the queue", new(0.75), 0},
	} {
		a := recallLight(t, s, memory.RecallRequest{Query: test.query, MinRelevance: test.floor}, l.options(false, ""))
		if len(a.Items) != test.want {
			t.Errorf("%s: %d items, want %d", name, len(a.Items), test.want)
		}
		for _, w := range a.Withheld {
			if want := memory.ChunkID("/box", w.Path, memory.FileChunk{}); w.ID != want {
				t.Errorf("%s: %s is withheld as %s, want %s", name, w.Path, w.ID, want)
			}
		}
		if test.want == 0 && (!a.NothingRelevant || reasons(a)["queue.go"] != memory.BelowThreshold) {
			t.Errorf("%s: nothing relevant %v, withheld %v; want it said", name, a.NothingRelevant, a.Withheld)
		}
	}
}

func TestLightGates(t *testing.T) {
	for reason, change := range map[memory.Reason]func(*shelf){
		memory.Gone:    func(s *shelf) { s.gates[at("queue.go")] = &memory.GateError{Reason: memory.Gone} },
		memory.Outside: func(s *shelf) { s.gates[at("queue.go")] = &memory.GateError{Reason: memory.Outside} },
		memory.Binary:  func(s *shelf) { s.gates[at("queue.go")] = &memory.GateError{Reason: memory.Binary} },
		memory.Changed: func(s *shelf) { s.texts[at("queue.go")] = "package other" },
	} {
		s, l := newLight()
		l.file(at("queue.go"), "package queue")
		change(s)
		a := recallLight(t, s, memory.RecallRequest{Query: "queue"}, l.options(false, ""))
		if len(a.Items) > 0 || reasons(a)["queue.go"] != reason || strings.Contains(a.Text, "package") {
			t.Errorf("%s: items %v, withheld %v; want it withheld", reason, ids(a), a.Withheld)
		}
		if outdated := reason == memory.Gone || reason == memory.Changed; a.Stale != outdated {
			t.Errorf("%s: stale = %v", reason, a.Stale)
		}
	}
}

// TestLightWithholdsOnce: a file that neither index can show, for one reason, is
// counted once.
func TestLightWithholdsOnce(t *testing.T) {
	s, l := newLight()
	s.chunk("package queue", at("queue.go"))
	l.file(at("queue.go"), "package queue")
	l.held.Chunked = 1
	s.gates[at("queue.go")] = &memory.GateError{Reason: memory.Gone}
	a := recallLight(t, s, memory.RecallRequest{Query: "queue"}, l.options(true, ""))
	if l.asked == 0 || len(a.Items) > 0 || len(a.Withheld) != 1 || !strings.Contains(a.Text, "withheld: 1 gone") {
		t.Errorf("items %v, withheld %+v, want one file that is gone:\n%s", ids(a), a.Withheld, a.Text)
	}
}

// TestLightIsWithinTheCaps: pieces, bytes, limit and tokens hold, and it takes what
// is left by surer memories.
func TestLightIsWithinTheCaps(t *testing.T) {
	s, l := newLight()
	for i := range 9 {
		l.file(at(fmt.Sprintf("queue%d.go", i)), "package queue "+strings.Repeat("x", 80))
	}
	off := l.options(false, "")
	if got := ids(recallLight(t, s, memory.RecallRequest{Query: "queue"}, off)); len(got) != 3 {
		t.Errorf("%d pieces, want the 3 that code may have", len(got))
	}
	if got := ids(recallLight(t, s, memory.RecallRequest{Query: "queue", Limit: 9, Kinds: []memory.Kind{memory.Chunk}}, off)); len(got) != 9 {
		t.Errorf("only code was asked for: %d pieces, want 9", len(got))
	}
	small := func(o *Options) { off(o); o.Settings.ChunkBytes = 150 }
	if got := ids(recallLight(t, s, memory.RecallRequest{Query: "queue"}, small)); len(got) != 1 {
		t.Errorf("%d pieces in 150 bytes, want 1", len(got))
	}
	for _, budget := range []int{50, 60, 80, 120, 200} {
		a := recallLight(t, s, memory.RecallRequest{Query: "queue", MaxTokens: budget}, off)
		if a.Tokens > budget {
			t.Errorf("%d tokens of %d:\n%s", a.Tokens, budget, a.Text)
		}
	}
	s.many(4)
	if got := ids(recallLight(t, s, memory.RecallRequest{Query: "queue", MinRelevance: new(0.1)}, off)); len(got) != 5 || got[4] != "queue0.go" {
		t.Errorf("items = %v, want four lessons and the best file", got)
	}
}

// TestLightSecretsAndWorktrees: a head is redacted, and the caller's own worktree is
// shown for one path.
func TestLightSecretsAndWorktrees(t *testing.T) {
	s, l := newLight()
	l.file(memory.FileKey{Sandbox: "/one", Path: "queue.go"}, "package hunter2")
	l.file(memory.FileKey{Sandbox: "/two", Path: "queue.go"}, "package hunter2")
	l.file(at("empty_queue.go"), "")
	a := recallLight(t, s, memory.RecallRequest{Query: "queue", Caller: memory.Caller{Dir: "/two/sub"}}, l.options(false, ""), func(o *Options) {
		o.Redact = func(text string) (string, int) {
			return strings.ReplaceAll(text, "hunter2", "[redacted]"), strings.Count(text, "hunter2")
		}
	})
	if len(a.Items) != 1 || a.Items[0].Source.Sandbox != "/two" || a.Items[0].Text != "package [redacted]" || !a.Redacted {
		t.Errorf("items = %+v (redacted %v), want the file of the caller's folder without its secret", a.Items, a.Redacted)
	}
}

// TestLightIsNotAsked: code that is not wanted is not looked for.
func TestLightIsNotAsked(t *testing.T) {
	s, l := newLight()
	l.file(at("queue.go"), "package queue")
	recallLight(t, s, memory.RecallRequest{Query: "queue", Kinds: []memory.Kind{memory.Lesson}}, l.options(false, ""))
	if l.asked > 0 {
		t.Error("the light index was asked for lessons")
	}
}

// TestWhatGaveWay stands behind the code that the full index has, if it holds most of
// the question, and however low a floor is asked for.
func TestWhatGaveWay(t *testing.T) {
	s, l := newLight()
	s.chunk("func f() {}", at("full.go"))
	l.file(at("queue/retry.go"), "package queue")
	l.file(at("other.go"), "package other")
	l.held = memory.CodeCounts{Files: 3, Chunked: 1, Pruned: 2}
	for name, test := range map[string]struct {
		query string
		floor *float64
		want  []string
	}{
		"all of it":        {"retry the queue", nil, []string{"full.go", "queue/retry.go"}},
		"half of it":       {"retry kubernetes", nil, []string{"full.go"}},
		"half, no floor":   {"retry kubernetes", new(0.0), []string{"full.go"}},
		"all, over a high": {"retry the queue", new(0.72), []string{"full.go"}},
	} {
		a := recallLight(t, s, memory.RecallRequest{Query: test.query, MinRelevance: test.floor}, l.options(true, ""))
		if got := ids(a); !slices.Equal(got, test.want) {
			t.Errorf("%s: items = %v, want %v", name, got, test.want)
		}
		if said := codeReason(a) != ""; said != (len(test.want) == 2) {
			t.Errorf("%s: code is degraded by %q", name, codeReason(a))
		}
	}
}

// TestBothOff: without any index of code, whoever wants nothing else is told why.
func TestBothOff(t *testing.T) {
	s := newShelf()
	s.chunk("func f() {}", at("f.go"))
	off := func(o *Options) {
		o.Settings = new(DefaultSettings())
		o.Settings.Full = false
	}
	a := recallLight(t, s, memory.RecallRequest{Query: "f", Kinds: []memory.Kind{memory.Chunk}}, off)
	if len(a.Items) > 0 || codeReason(a) != "not searched: both indexes are switched off" || !strings.Contains(a.Text, "both indexes are switched off") {
		t.Errorf("items %v, degraded %v; want none, and why:\n%s", ids(a), a.Degraded, a.Text)
	}
	if a := recallLight(t, s, memory.RecallRequest{Query: "f"}, off); len(a.Items) > 0 || codeReason(a) != "" {
		t.Errorf("items %v, degraded %v; who chose to have no code is not told every time", ids(a), a.Degraded)
	}
}

// TestMissingCodeIsSaid, also without a light index.
func TestMissingCodeIsSaid(t *testing.T) {
	s := newShelf()
	s.lesson("l-1")
	a := recallLight(t, s, memory.RecallRequest{Query: "needle"}, func(o *Options) { o.Missing = func(string) string { return "not indexed yet" } })
	if codeReason(a) != "not searched: not indexed yet" || !strings.Contains(a.Text, "(Code was not searched: not indexed yet.)") {
		t.Errorf("degraded = %v, want code, not indexed yet:\n%s", a.Degraded, a.Text)
	}
}

// TestBlockedDisk: a disk that hangs and takes no notice of deadlines costs the
// deadline and the code, nothing else; and once it is known to hang, not even the
// deadline.
func TestBlockedDisk(t *testing.T) {
	for name, full := range map[string]bool{"chunks": true, "heads": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := newLight()
				s.lesson("l-1")
				l.file(at("queue.go"), "package queue")
				l.held.Chunked = 1
				if full {
					s.chunk("func f() {}", at("f.go"))
				}
				back := make(chan struct{})
				release := sync.OnceFunc(func() { close(back) })
				defer release()
				s.verify = func(context.Context) { <-back }
				service := s.service(t, l.options(full, ""))
				for i := range maxLooks + 2 {
					want := 200 * time.Millisecond
					if i >= maxLeft {
						want = 0
					}
					began := time.Now()
					a, err := service.Recall(t.Context(), memory.RecallRequest{Query: "queue"})
					if err != nil {
						t.Fatal(err)
					}
					if took := time.Since(began); took != want {
						t.Fatalf("answer %d took %v, want %v", i, took, want)
					}
					if got := ids(a); !slices.Equal(got, []string{"l-1"}) {
						t.Fatalf("items = %v, want the lesson", got)
					}
					if !slices.Contains(slices.Sorted(mapValues(reasons(a))), memory.TooSlow) {
						t.Fatalf("withheld = %v, want code that was too slow", a.Withheld)
					}
					if codeReason(a) == "" || !strings.Contains(a.Text, "(Code was ") {
						t.Fatalf("degraded = %v, want code:\n%s", a.Degraded, a.Text)
					}
				}
				if n := len(s.verified); n != maxLeft {
					t.Errorf("%d looks hang, want no more than %d", n, maxLeft)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if err := service.Close(ctx); err == nil {
					t.Error("close returned while looks hang")
				}
				release()
				if err := service.Close(t.Context()); err != nil {
					t.Errorf("close: %v", err)
				}
				a, err := service.Recall(t.Context(), memory.RecallRequest{Query: "queue"})
				if err != nil || len(a.Items) != 2 {
					t.Errorf("when the disk is back, %v, %v; want the lesson and code", ids(a), err)
				}
			})
		})
	}
}

func mapValues[K comparable, V any](m map[K]V) func(func(V) bool) {
	return func(yield func(V) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}
