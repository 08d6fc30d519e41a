package recall

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

const day = 24 * time.Hour

func TestRecency(t *testing.T) {
	for _, test := range []struct {
		age, halfLife time.Duration
		want          float64
	}{
		{0, 90 * day, 1}, {-day, 90 * day, 1}, {90 * day, 90 * day, 0.9}, {180 * day, 90 * day, 0.85},
		{14 * day, 14 * day, 0.9}, {100 * 365 * day, 14 * day, 0.8}, {365 * day, 0, 1},
	} {
		if got := recency(test.age, test.halfLife); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("recency(%v, %v) = %v, want %v", test.age, test.halfLife, got, test.want)
		}
	}
}

// TestSuccessGrowsWithSuccess: one more success never counts for less, one more
// failure never for more, and no outcome moves a rank out of its bounds.
func TestSuccessGrowsWithSuccess(t *testing.T) {
	of := func(x, n int) float64 { return success(memory.Rate{Successes: x, Attempts: n}) }
	for n := range 60 {
		for x := range n + 1 {
			here := of(x, n)
			if more := of(x+1, n+1); more < here {
				t.Errorf("%d/%d counts %v, and %d/%d only %v", x, n, here, x+1, n+1, more)
			}
			if less := of(x, n+1); less > here {
				t.Errorf("%d/%d counts %v, and %d/%d even %v", x, n, here, x, n+1, less)
			}
			if here < 0.8 || here > 1.2 {
				t.Errorf("%d/%d counts %v, want it within 0.8–1.2", x, n, here)
			}
		}
	}
	for name, ok := range map[string]bool{
		"nothing known is 1":        of(0, 0) == 1,
		"half is 1":                 math.Abs(of(5, 10)-1) < 1e-12,
		"9/10 beats 1/1":            of(9, 10) > of(1, 1),
		"1/1 beats nothing known":   of(1, 1) > of(0, 0),
		"0/5 loses to nothing":      of(0, 5) < 1,
		"0/5 loses to 0/1":          of(0, 5) < of(0, 1),
		"certain success nears 1.2": of(1e6, 1e6) > 1.199,
		"certain failure nears 0.8": of(0, 1e6) < 0.801,
	} {
		if !ok {
			t.Errorf("%s: it is not so", name)
		}
	}
}

func TestRank(t *testing.T) {
	from := rankContext{now: now, project: "p-own", names: []string{"shop", "store"}, session: "mine"}
	lesson := func(id string, match float64, change ...func(*candidate)) *candidate {
		c := &candidate{Candidate: memory.Candidate{ID: id, Kind: memory.Lesson, Project: "p-own", Created: now}, match: match}
		for _, f := range change {
			f(c)
		}
		return c
	}
	old := func(c *candidate) { c.Created = now.Add(-90 * day) }
	foreign := func(c *candidate) { c.Project = "p-other" }
	about := func(repo string) func(*candidate) { return func(c *candidate) { c.Repo = repo } }
	same := func(c *candidate) { c.error = true }
	step := func(c *candidate) { c.Kind = memory.Step }
	summary := func(c *candidate) { c.Kind = memory.SessionSummary }
	mine := func(c *candidate) { c.Session = "mine" }
	proven := func(c *candidate) { c.Rate = &memory.Rate{Successes: 50, Attempts: 50} }
	failed := func(c *candidate) { c.Rate = &memory.Rate{Successes: 0, Attempts: 50} }
	file := func(c *candidate) { c.Followed = true } // from the repository's files
	for name, test := range map[string]struct {
		cs   []*candidate
		want []string
	}{
		"match alone":              {[]*candidate{lesson("b", .5), lesson("a", 1)}, []string{"a", "b"}},
		"ties keep their order":    {[]*candidate{lesson("z", 1), lesson("a", 1)}, []string{"z", "a"}},
		"newer first":              {[]*candidate{lesson("old", 1, old), lesson("new", .95)}, []string{"new", "old"}},
		"own project first":        {[]*candidate{lesson("theirs", 1, foreign), lesson("own", .85)}, []string{"own", "theirs"}},
		"own lessons before all":   {[]*candidate{lesson("theirs", 1, foreign), lesson("own", .1)}, []string{"own", "theirs"}},
		"told here of another one": {[]*candidate{lesson("of another", 1, about("cli")), lesson("own", .5, about("shop"))}, []string{"own", "of another"}},
		"under an older name":      {[]*candidate{lesson("older", 1, about("store")), lesson("own", .5, about("shop"))}, []string{"older", "own"}},
		"the same error is nearer": {[]*candidate{lesson("own", 1), lesson("theirs", 1, foreign, same), lesson("own-same", .2, same)}, []string{"own-same", "theirs", "own"}},
		"others keep their places": {[]*candidate{lesson("theirs", 1, foreign), lesson("step", .7, step), lesson("own", .2)}, []string{"own", "step", "theirs"}},
		"own session":              {[]*candidate{lesson("any", 1), lesson("mine", .95, mine)}, []string{"mine", "any"}},
		"proven success":           {[]*candidate{lesson("unknown", 1), lesson("proven", .9, proven)}, []string{"proven", "unknown"}},
		"proven failure":           {[]*candidate{lesson("failed", 1, failed), lesson("unknown", .9)}, []string{"unknown", "failed"}},
		"told before followed":     {[]*candidate{lesson("file", 1, file, proven, mine, same), lesson("theirs", .2, foreign, old), lesson("own", .1, failed)}, []string{"own", "theirs", "file"}},
		"a step before a file":     {[]*candidate{lesson("file", 1, file), lesson("step", .5, step)}, []string{"step", "file"}},
		"a summary after a tie":    {[]*candidate{lesson("summary", 1, summary), lesson("lesson", 1), lesson("step", 1, step)}, []string{"lesson", "step", "summary"}},
		"a summary that fits more": {[]*candidate{lesson("lesson", .9), lesson("summary", 1, summary)}, []string{"summary", "lesson"}},
		"files by what fits":       {[]*candidate{lesson("file b", .5, file), lesson("file a", 1, file), lesson("own", .2)}, []string{"own", "file a", "file b"}},
		"no factor lifts a misfit": {[]*candidate{lesson("misfit", .4, proven, mine), lesson("fit", 1, old, failed)}, []string{"fit", "misfit"}},
	} {
		var got []string
		for _, c := range rank(test.cs, DefaultHalfLife(), from) {
			got = append(got, c.ID)
			f := c.factors
			if all := f.Score / c.match; all < minFactors-1e-9 || all > maxFactors+1e-9 {
				t.Errorf("%s: %s is moved by ×%.3f, want it within ×%v–%v", name, c.ID, all, minFactors, maxFactors)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: order (-want +got):\n%s", name, diff)
		}
	}
}

// TestLeadLessons: lessons that are relevant are not pushed out by steps, and keep
// their order.
func TestLeadLessons(t *testing.T) {
	for name, test := range map[string]struct {
		ranked string // l a lesson, s a step, y a summary, e a step of the same error, c code; digits tell them apart
		limit  int
		want   string
	}{
		"steps alone":               {"s1 s2 s3", 2, "s1 s2 s3"},
		"half of an even limit":     {"s1 s2 s3 s4 l1 l2 l3", 4, "s1 s2 l1 l2 s3 s4 l3"},
		"more than half of an odd":  {"s1 s2 s3 s4 s5 l1 l2 l3 l4", 5, "s1 s2 l1 l2 l3 s3 s4 s5 l4"},
		"fewer lessons than places": {"s1 s2 s3 s4 s5 s6 l1", 5, "s1 s2 s3 s4 l1 s5 s6"},
		"some are there":            {"s1 l1 s2 s3 s4 l2 s5 l3", 5, "s1 l1 s2 l2 l3 s3 s4 s5"},
		"enough are there":          {"l1 s1 l2 s2 l3 l4", 5, "l1 s1 l2 s2 l3 l4"},
		"code gives no place":       {"c1 c2 s1 l1 l2", 3, "c1 c2 l1 s1 l2"},
		"nor does the same error":   {"e1 e2 l1", 2, "e1 e2 l1"},
		"a limit of one":            {"s1 l1", 1, "l1 s1"},
		"a summary gives its place": {"y1 y2 l1 l2", 2, "y1 l1 y2 l2"},
		"all fit":                   {"s1 s2 l1", 5, "s1 s2 l1"},
	} {
		kinds := map[byte]memory.Kind{'l': memory.Lesson, 's': memory.Step, 'y': memory.SessionSummary, 'e': memory.Step, 'c': memory.Chunk}
		var cs []*candidate
		for id := range strings.FieldsSeq(test.ranked) {
			cs = append(cs, &candidate{Candidate: memory.Candidate{ID: id, Kind: kinds[id[0]]}, error: id[0] == 'e'})
		}
		var got []string
		for _, c := range leadLessons(cs, test.limit) {
			got = append(got, c.ID)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %s with limit %d becomes %s, want %s", name, test.ranked, test.limit, strings.Join(got, " "), test.want)
		}
	}
}

// TestPackageDocNamesStages holds the package's documentation against the stages.
func TestPackageDocNamesStages(t *testing.T) {
	source, err := os.ReadFile("recall.go")
	if err != nil {
		t.Fatal(err)
	}
	doc, _, _ := strings.Cut(string(source), "\npackage recall")
	doc = strings.Join(strings.Fields(strings.ReplaceAll(doc, "//", "")), " ")
	var names []string
	for _, st := range stages {
		names = append(names, st.name)
	}
	if want := strings.Join(names, " → "); !strings.Contains(doc, want) {
		t.Errorf("the package doc does not name the stages in order, want:\n%s", want)
	}
}

func TestThreshold(t *testing.T) {
	service := newShelf().service(t) // with the thresholds .5 and .75
	kinds := []memory.Kind{memory.Lesson, memory.Chunk}
	var cs []*candidate
	for i, r := range []float64{.9, .75, .7499, .5, .4, .3, .2, .1, 0} {
		kind := memory.Lesson
		if i < 3 {
			kind = memory.Chunk
		}
		cs = append(cs, &candidate{Candidate: memory.Candidate{ID: string(rune('a' + i)), Kind: kind}, relevance: r})
	}
	for name, test := range map[string]struct {
		min   *float64
		other map[memory.Kind]float64
		above int
		below int
	}{
		"by kind":                     {nil, nil, 3, 5},
		"asked for":                   {new(.7), nil, 3, 5},
		"off":                         {new(0.0), nil, 9, 0},
		"unreachable":                 {new(1.0), nil, 0, 5},
		"of another kind":             {nil, map[memory.Kind]float64{memory.Rule: 1}, 3, 5},
		"other settings":              {nil, map[memory.Kind]float64{memory.Chunk: .8}, 2, 5},
		"other settings, asked for":   {new(.2), map[memory.Kind]float64{memory.Lesson: .4}, 5, 4},
		"other settings for one kind": {new(0.0), map[memory.Kind]float64{memory.Chunk: 1}, 6, 3},
	} {
		var other *memory.AnswerSettings
		if test.other != nil {
			other = &memory.AnswerSettings{MinRelevance: test.other}
		}
		above, lines, below := byStrength(cs, service.settings.levels(memory.RecallRequest{Kinds: kinds, MinRelevance: test.min}, AskOptions{Settings: other, NoLines: true}))
		if len(lines) > 0 {
			t.Errorf("%s: %d lines, want none", name, len(lines))
		}
		if len(above) != test.above || len(below) != test.below {
			t.Errorf("%s: %d above and %d told of below, want %d and %d", name, len(above), len(below), test.above, test.below)
		}
		for _, w := range below {
			if w.Reason != memory.BelowThreshold {
				t.Errorf("%s: the reason is %s, want %s", name, w.Reason, memory.BelowThreshold)
			}
		}
	}
	if _, _, below := byStrength(cs, service.settings.levels(memory.RecallRequest{Kinds: kinds}, AskOptions{NoLines: true})); below[0].NearestScore != .7499 {
		t.Errorf("the first below has %v, want the nearest, .7499", below[0].NearestScore)
	}
}

func TestWordPairs(t *testing.T) {
	long := "the deploy script copies the archive to the host and restarts the unit there, then it waits until the port answers, " +
		"and after that it tells the balancer to send requests again"
	for _, test := range []struct {
		a, b      string
		want      float64
		duplicate bool
	}{
		{"one two three", "one two three", 1, true},
		{"one two three", "One, two; THREE", 1, true},
		{"one two three", "three, two; one", 0, false},
		{"one two", "one three", 1.0 / 3, false},
		{"return err if !ok", "return err if ok", 3.0 / 5, false},
		{"built with C++", "built with C#", 2.0 / 4, false},
		{"कि", "का", 0, false},
		{"one", "two", 0, false}, {"", "", 0, true}, {"one", "", 0, false},
		{"copy the rows from staging to production", "copy the rows from production to staging", 4.0 / 10, false},
		{"listen on port 8080 behind the proxy of the office", "listen on port 8081 behind the proxy of the office", 8.0 / 12, false},
		{long, long + " today", 32.0 / 33, true},
		{long, strings.Replace(long, "port", "socket", 1), 30.0 / 34, false},
	} {
		if got := pairsOf(test.a).like(pairsOf(test.b)); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%q is like %q by %v, want %v", test.a, test.b, got, test.want)
		}
		if got := (&Service{}).Alike(test.a, test.b); got != test.duplicate {
			t.Errorf("duplicates %q, %q: %v, want %v", test.a, test.b, got, test.duplicate)
		}
	}
}

func TestByKind(t *testing.T) {
	var items []memory.Item
	for i, k := range []memory.Kind{memory.Chunk, memory.Step, memory.Lesson, memory.Chunk, memory.Lesson, memory.Reference, memory.Step} {
		items = append(items, memory.Item{ID: string(rune('0' + i)), Kind: k})
	}
	var got []string
	for _, i := range byKind(items) {
		got = append(got, i.ID)
	}
	if want := []string{"2", "4", "1", "6", "5", "0", "3"}; !slices.Equal(got, want) {
		t.Errorf("order = %v, want lessons, steps, references, code: %v", got, want)
	}
}

func TestCaps(t *testing.T) {
	code := []memory.Kind{memory.Chunk}
	s := DefaultSettings()
	for name, test := range map[string]struct {
		req  memory.RecallRequest
		want caps
	}{
		"default":              {memory.RecallRequest{Kinds: memory.DefaultKinds}, caps{chunks: 3, bytes: 2048, lessons: lessonTokens}},
		"much of everything":   {memory.RecallRequest{Kinds: memory.DefaultKinds, Limit: 50, MaxTokens: 8000}, caps{chunks: 25, bytes: 25 * snippetBytes, lessons: 8000, moreChunks: 25, moreBytes: 25 * snippetBytes}},
		"two of everything":    {memory.RecallRequest{Kinds: memory.DefaultKinds, Limit: 2}, caps{chunks: 2, bytes: 2048, lessons: lessonTokens}},
		"code alone":           {memory.RecallRequest{Kinds: code}, caps{chunks: 3, bytes: 2048, lessons: lessonTokens}},
		"code, a few":          {memory.RecallRequest{Kinds: code, Limit: 2}, caps{chunks: 2, bytes: 2048, lessons: lessonTokens}},
		"code, many":           {memory.RecallRequest{Kinds: code, Limit: 10}, caps{chunks: 10, bytes: 10 * snippetBytes, lessons: lessonTokens}},
		"code, a large budget": {memory.RecallRequest{Kinds: code, MaxTokens: 8000}, caps{chunks: 3, bytes: 8000 * bytesPerToken, lessons: 8000}},
		"code, a small budget": {memory.RecallRequest{Kinds: code, MaxTokens: 50}, caps{chunks: 3, bytes: 2048, lessons: 50}},
	} {
		if got := s.caps(test.req); got != test.want {
			t.Errorf("%s: caps = %+v, want %+v", name, got, test.want)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, test := range []struct {
		dir, root string
		want      bool
	}{
		{"/a/b", "/a/b", true}, {"/a/b/c", "/a/b", true}, {"/a/bc", "/a/b", false}, {"/a", "/a/b", false}, {`C:\a\b`, `C:\a`, true}, {"", "/a", false},
		{"/a", "/", true}, {"/", "/", true}, {`C:\a`, `C:\`, true}, {"", "/", false},
	} {
		if got := within(test.dir, test.root); got != test.want {
			t.Errorf("within(%q, %q) = %v, want %v", test.dir, test.root, got, test.want)
		}
	}
}

func TestSettingsAreValidated(t *testing.T) {
	for name, change := range map[string]func(*Settings){
		"limit": func(s *Settings) { s.Limit = 0 }, "max_tokens": func(s *Settings) { s.MaxTokens = -1 }, "chunks": func(s *Settings) { s.Chunks = 0 },
		"chunk_bytes": func(s *Settings) { s.ChunkBytes = 0 }, "depth": func(s *Settings) { s.Depth = 0 }, "deadline": func(s *Settings) { s.CodeDeadline = 0 },
	} {
		s := DefaultSettings()
		change(&s)
		if err := s.validate(); memory.CodeOf(err) != memory.CodeInvalidInput || memory.AsError(err).Field != name {
			t.Errorf("%s: validate = %v, want an error that names the field", name, err)
		}
	}
	if _, err := New(Options{}); memory.CodeOf(err) != memory.CodeInvalidInput {
		t.Errorf("New without anything = %v, want invalid input", err)
	}
}
