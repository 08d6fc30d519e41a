package recall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

func TestGates(t *testing.T) {
	for _, reason := range []memory.Reason{memory.Gone, memory.Outside, memory.Binary, memory.Changed, memory.Unreadable, memory.TooSlow} {
		t.Run(string(reason), func(t *testing.T) {
			s := newShelf()
			s.chunk("func good() {}", at("good.go"))
			s.chunk("func bad() {}", at("bad.go"))
			s.gates[at("bad.go")] = &memory.GateError{Reason: reason, Path: "bad.go"}
			a := s.ask(t, memory.RecallRequest{})
			if got := ids(a); !slices.Equal(got, []string{"good.go"}) {
				t.Errorf("items = %v, want the good chunk alone", got)
			}
			if got := reasons(a)["bad.go"]; got != reason {
				t.Errorf("the bad chunk was withheld because %q, want %q", got, reason)
			}
			if strings.Contains(a.Text, "bad") {
				t.Errorf("the answer shows the bad chunk:\n%s", a.Text)
			}
			if want := reason == memory.Gone || reason == memory.Changed; a.Stale != want || strings.Contains(a.Text, "(stale: ") != want {
				t.Errorf("stale = %v, want %v, and the text to say so:\n%s", a.Stale, want, a.Text)
			}
			if a.NothingRelevant {
				t.Error("the answer says that nothing is relevant")
			}
		})
	}
}

func TestAllWithheldIsNotNothingRelevant(t *testing.T) {
	s := newShelf()
	s.chunk("func bad() {}", at("bad.go"))
	s.gates[at("bad.go")] = errors.New("some fault of the disk")
	a := s.ask(t, memory.RecallRequest{})
	if a.NothingRelevant || reasons(a)["bad.go"] != memory.Unreadable {
		t.Errorf("nothing relevant: %v, withheld %v; want it unreadable", a.NothingRelevant, a.Withheld)
	}
	if want := "What is relevant was withheld: 1 unreadable.\n"; a.Text != want {
		t.Errorf("text = %q, want %q", a.Text, want)
	}
}

func TestSecondPlaceOfAChunk(t *testing.T) {
	key := func(box string) memory.FileKey { return memory.FileKey{Sandbox: box, Path: "a.go"} }
	for name, test := range map[string]struct {
		dir   string
		gates map[memory.FileKey]error
		box   string
	}{
		"first place":            {"", nil, "/one"},
		"the caller's own":       {"/three/sub", nil, "/three"},
		"own has changed":        {"/three", map[memory.FileKey]error{key("/three"): &memory.GateError{Reason: memory.Changed}}, "/one"},
		"only the last is there": {"", map[memory.FileKey]error{key("/one"): &memory.GateError{Reason: memory.Gone}, key("/two"): &memory.GateError{Reason: memory.Gone}}, "/three"},
	} {
		s := newShelf()
		s.chunk("func f() {}", key("/one"), key("/two"), key("/three"))
		s.gates = test.gates
		a := s.ask(t, memory.RecallRequest{Caller: memory.Caller{Dir: test.dir}})
		if len(a.Items) != 1 || a.Items[0].Source.Sandbox != test.box {
			t.Errorf("%s: items = %+v, want the chunk in %s", name, a.Items, test.box)
		}
	}
}

func TestManyPlacesAreNotAllRead(t *testing.T) {
	s := newShelf()
	var places []memory.FileKey
	for i := range 100 {
		key := at(fmt.Sprintf("f%d.go", i))
		places = append(places, key)
		s.gates[key] = &memory.GateError{Reason: memory.Gone}
	}
	s.chunk("license", places...)
	s.ask(t, memory.RecallRequest{})
	if n := len(s.verified); n != maxPlaces {
		t.Errorf("%d places were read, want %d", n, maxPlaces)
	}
}

func TestCodeDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		s.lesson("l-1")
		for i := range 4 {
			s.chunk(fmt.Sprintf("func f%d() {}", i), at(fmt.Sprintf("f%d.go", i)))
		}
		s.verify = func(ctx context.Context) {
			if len(s.verified) == 2 { // the second hangs
				<-ctx.Done()
				s.gates[at("f1.go")] = ctx.Err()
			}
		}
		began := time.Now()
		a := s.ask(t, memory.RecallRequest{Limit: 50})
		if took := time.Since(began); took != 200*time.Millisecond {
			t.Errorf("the answer took %v, want the deadline of 200 ms", took)
		}
		if got, want := ids(a), []string{"l-1", "f0.go"}; !slices.Equal(got, want) {
			t.Errorf("items = %v, want what was checked in time: %v", got, want)
		}
		want := map[string]memory.Reason{"f1.go": memory.TooSlow, "f2.go": memory.TooSlow, "f3.go": memory.TooSlow}
		if diff := cmp.Diff(want, reasons(a)); diff != "" {
			t.Errorf("withheld (-want +got):\n%s", diff)
		}
		if len(a.Degraded) != 1 || a.Degraded[0].Part != "code" || !strings.Contains(a.Degraded[0].Reason, "in part") {
			t.Errorf("degraded = %+v, want that code was searched in part", a.Degraded)
		}
		if !strings.Contains(a.Text, "(Code was searched in part") {
			t.Errorf("the text does not say so:\n%s", a.Text)
		}
	})
}

func TestLimit(t *testing.T) {
	for name, test := range map[string]struct {
		limit, settings, want int
	}{
		"default": {0, 0, 5}, "asked for": {7, 0, 7}, "settings": {0, 2, 2}, "asked for over settings": {3, 2, 3}, "more than there is": {50, 0, 12},
	} {
		s := newShelf()
		s.many(12)
		a := s.ask(t, memory.RecallRequest{Limit: test.limit}, func(o *Options) {
			if test.settings > 0 {
				set := DefaultSettings()
				set.Limit = test.settings
				o.Settings = &set
			}
		})
		if len(a.Items) != test.want {
			t.Errorf("%s: %d items, want %d", name, len(a.Items), test.want)
		}
		over := 0
		for _, r := range reasons(a) {
			if r == memory.OverLimit {
				over++
			}
		}
		if over != 12-test.want {
			t.Errorf("%s: %d withheld over the limit, want %d", name, over, 12-test.want)
		}
	}
}

func TestCodeCaps(t *testing.T) {
	s := newShelf()
	for i := range 6 {
		// Texts without a word in common, or they would be one another's alike.
		s.chunk(strings.Repeat(fmt.Sprintf("word%c line of %c code\n", 'a'+i, 'a'+i), 40), at(fmt.Sprintf("f%d.go", i)))
	}
	s.lesson("l-1")
	for name, test := range map[string]struct {
		req                 memory.RecallRequest
		chunks, least, most int
	}{
		"by default":              {memory.RecallRequest{}, 3, 1500, 2048},
		"a limit is for code too": {memory.RecallRequest{Limit: 20, MaxTokens: 8000}, 6, 6 * 600, 6 * 900},
		"a lesson has its place":  {memory.RecallRequest{Limit: 4, MaxTokens: 8000}, 3, 1500, 4000},
		"a budget without limit":  {memory.RecallRequest{MaxTokens: 4000}, 3, 1800, 4000},
	} {
		a := s.ask(t, test.req)
		chunks, size := 0, 0
		for _, i := range a.Items {
			if i.Kind == memory.Chunk {
				chunks++
				size += len(i.Text)
			}
		}
		if chunks != test.chunks || size > test.most || size < test.least {
			t.Errorf("%s: %d pieces of code with %d bytes, want %d with %d to %d", name, chunks, size, test.chunks, test.least, test.most)
		}
		if !slices.Contains(ids(a), "l-1") {
			t.Errorf("%s: the lesson that ranks below the code is missing: %v", name, ids(a))
		}
	}
	a := s.ask(t, memory.RecallRequest{Kinds: []memory.Kind{memory.Chunk}, Limit: 5, MaxTokens: 8000})
	if len(a.Items) != 5 {
		t.Errorf("%d pieces when 5 of code alone are asked for", len(a.Items))
	}
}

// TestMuchCodeHidesNoLesson: however much code is withheld above it.
func TestMuchCodeHidesNoLesson(t *testing.T) {
	s := newShelf()
	for i := range maxWithheld + 20 {
		s.chunk(fmt.Sprintf("func f%d() {}", i), at(fmt.Sprintf("f%d.go", i)))
	}
	s.lesson("l-1")
	a := s.ask(t, memory.RecallRequest{})
	if !slices.Contains(ids(a), "l-1") {
		t.Errorf("items = %v, want the lesson among them", ids(a))
	}
	if len(a.Withheld) != maxWithheld {
		t.Errorf("%d withheld are told, want at most %d", len(a.Withheld), maxWithheld)
	}
}

func TestNearDuplicatesCollapse(t *testing.T) {
	s := newShelf()
	text := "clean the cache of the package manager, then install again with the lock file removed"
	s.step("t-1", text)
	s.step("t-2", strings.ToUpper(text)+"!")
	s.step("t-3", "something else entirely")
	s.lesson("l-1", func(r *memory.Record) { r.Event.Context, r.Event.Lesson = "", text })
	a := s.ask(t, memory.RecallRequest{})
	if got, want := ids(a), []string{"l-1", "t-1", "t-3"}; !slices.Equal(got, want) {
		t.Errorf("items = %v, want %v: kinds are not compared with one another", got, want)
	}
	if a.Items[1].Similar != 1 || reasons(a)["t-2"] != memory.Duplicate {
		t.Errorf("similar = %d, withheld %v; want t-2 counted as one alike", a.Items[1].Similar, a.Withheld)
	}
	if !strings.Contains(a.Text, text+" (and 1 alike)\n") {
		t.Errorf("the text does not count it:\n%s", a.Text)
	}
}

// TestEqualStepsAreCounted: steps with the same text are one document, and a step counts
// them as well as its near-duplicates.
func TestEqualStepsAreCounted(t *testing.T) {
	s := newShelf()
	command := "clean the cache of the package manager then install again with the lock file removed"
	for range 3 {
		s.did("x", command)
	}
	for range 2 {
		s.did("x", strings.ToUpper(command))
	}
	s.docs = [][]memory.Candidate{slices.Concat(s.docs[:3]...), slices.Concat(s.docs[3:]...)}
	a := s.ask(t, memory.RecallRequest{})
	if len(a.Items) != 1 || a.Items[0].Similar != 4 {
		t.Errorf("items = %+v, want one that stands for 4 others", a.Items)
	}
}

func TestSameTextOfTwoProjects(t *testing.T) {
	s := newShelf()
	s.lesson("theirs", func(r *memory.Record) { r.Project, r.Repo = "p-other", "other" })
	s.lesson("own")
	s.docs = [][]memory.Candidate{append(s.docs[0], s.docs[1]...)}
	if got := ids(s.ask(t, memory.RecallRequest{})); !slices.Equal(got, []string{"own"}) {
		t.Errorf("items = %v, want the own record to stand for the text", got)
	}
}

func TestSecretsAreTakenOutBeforeCutting(t *testing.T) {
	s := newShelf()
	key := "BEGIN\n" + strings.Repeat("needle secret line\n", 60) + "END"
	s.chunk("first\n"+key+"\nlast", at("key.go"))
	s.lesson("l-1", func(r *memory.Record) { r.Event.Command = key })
	a := s.ask(t, memory.RecallRequest{}, func(o *Options) {
		o.Redact = func(text string) (string, int) {
			return strings.ReplaceAll(text, key, "[redacted:key]"), strings.Count(text, key)
		}
	})
	for _, i := range a.Items {
		if strings.Contains(i.Text+i.Command+a.Text, "secret") {
			t.Errorf("%s shows what was to be taken out: %+v", i.ID, i)
		}
	}
	if !a.Redacted || len(a.Items) != 2 {
		t.Fatalf("redacted = %v with %d items, want both items redacted", a.Redacted, len(a.Items))
	}
	if got := *a.Items[1].Source.Lines; got != [2]int{11, 74} {
		t.Errorf("lines = %v, want those of the whole chunk", got)
	}
}

// TestRecordGoneMeanwhile: what is dropped between search and answer is not
// shown.
func TestRecordGoneMeanwhile(t *testing.T) {
	s := newShelf()
	s.many(2)
	delete(s.records, "l-00")
	a := s.ask(t, memory.RecallRequest{})
	if got := ids(a); !slices.Equal(got, []string{"l-01"}) || reasons(a)["l-00"] != memory.Gone {
		t.Errorf("items %v, withheld %v; want l-00 gone", got, a.Withheld)
	}
	if a.Stale {
		t.Error("the index of code is called stale because of a lesson")
	}
}
