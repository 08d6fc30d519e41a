package recall

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
)

func TestLevels(t *testing.T) {
	s := DefaultSettings()
	lesson := defaultLevels(memory.Lesson)
	for name, test := range map[string]struct {
		min  *float64
		opts AskOptions
		want levels
	}{
		"of the kind":               {nil, AskOptions{}, lesson},
		"a question's threshold":    {new(.1), AskOptions{}, levels{lesson.sure, .1, .1}},
		"above what is sure":        {new(.99), AskOptions{}, levels{.99, .99, .99}},
		"without lines":             {nil, AskOptions{NoLines: true}, levels{lesson.sure, lesson.likely, lesson.likely}},
		"of a receipt before lines": {nil, AskOptions{Settings: &memory.AnswerSettings{}}, levels{lesson.sure, lesson.likely, lesson.likely}},
		"of a receipt": {new(.1), AskOptions{Settings: &memory.AnswerSettings{
			MinRelevance: map[memory.Kind]float64{memory.Lesson: .6}, Sure: map[memory.Kind]float64{memory.Lesson: .8}, Maybe: map[memory.Kind]float64{memory.Lesson: .3},
		}}, levels{.8, .6, .3}},
	} {
		req := memory.RecallRequest{Kinds: []memory.Kind{memory.Lesson}, MinRelevance: test.min}
		if got := s.levels(req, test.opts)[memory.Lesson]; got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
	for _, kind := range memory.Kinds {
		if l := defaultLevels(kind); l.sure < l.likely || l.likely <= l.maybe || l.maybe <= 0 {
			t.Errorf("the levels of %s are %+v, want each below the one before", kind, l)
		}
	}
	for relevance, want := range map[float64]memory.Strength{.9: memory.Sure, .8: memory.Sure, .79: memory.Likely, .5: memory.Likely, .49: memory.Maybe, .2: memory.Maybe, .19: ""} {
		if got := (levels{.8, .5, .2}).of(relevance); got != want {
			t.Errorf("a relevance of %v is %q, want %q", relevance, got, want)
		}
	}
}

// levelled answers with the given levels for all kinds.
func levelled(sure, likely, maybe float64) AskOptions {
	a := memory.AnswerSettings{MinRelevance: map[memory.Kind]float64{}, Sure: map[memory.Kind]float64{}, Maybe: map[memory.Kind]float64{}}
	for _, kind := range memory.DefaultKinds {
		a.Sure[kind], a.MinRelevance[kind], a.Maybe[kind] = sure, likely, maybe
	}
	return AskOptions{Settings: &a}
}

// strengths are the strengths of an answer's items, in order.
func strengths(a *memory.RecallResponse) (out []memory.Strength) {
	for _, i := range a.Items {
		out = append(out, i.Strength)
	}
	return out
}

// TestLines: what is maybe is told in lines that take at most their tokens, and recall with
// the ids in them shows all of it.
func TestLines(t *testing.T) {
	s := newShelf()
	s.scale = .001 // nothing is sure
	for i := range 7 {
		s.lesson(fmt.Sprintf("l-7f3a%02d00000000", i), func(r *memory.Record) {
			word := strings.Repeat(string(rune('a'+i)), 4)
			r.Event.Context, r.Event.Lesson = word+" install\nin a pipeline", strings.Repeat(word+" lesson ", 60)
			r.Event.Rate = &memory.Rate{Successes: 3, Attempts: 4}
		})
	}
	a, receipt := s.asked(t, memory.RecallRequest{}, levelled(1, 1, 0))
	if len(a.Items) != maxLinesUnsure || a.NothingRelevant || receipt.Items[0].Strength != memory.Maybe {
		t.Fatalf("%d items, nothing relevant %v, want %d lines:\n%s", len(a.Items), a.NothingRelevant, maxLinesUnsure, a.Text)
	}
	if !strings.HasPrefix(render.Bare(a.Text), "Perhaps (recall ids: …):\n- l-7f3a00 [2026-02-03] aaaa install in a pipeline: aaaa lesson") {
		t.Errorf("the lines are\n%s", a.Text)
	}
	for _, i := range a.Items {
		if i.Tokens > render.LineTokens || render.Tokens("- "+i.Text+"\n") > render.LineTokens || !strings.HasSuffix(i.Text, "… (3/4)") || i.Lesson != "" || i.Cut {
			t.Errorf("%q takes %d tokens, want at most %d, and no more than the line", i.Text, i.Tokens, render.LineTokens)
		}
		id, _, _ := strings.Cut(i.Text, " ")
		if whole := s.ask(t, memory.RecallRequest{IDs: []string{id}}); len(whole.Items) != 1 || whole.Items[0].ID != i.ID || len(whole.Items[0].Lesson) < 500 {
			t.Errorf("recall of %s shows %+v, want all of %s", id, whole.Items, i.ID)
		}
	}
	if silent, _ := s.asked(t, memory.RecallRequest{}, levelled(1, 1, 1)); len(silent.Items) > 0 || !silent.NothingRelevant {
		t.Errorf("below all levels the answer is\n%s", silent.Text)
	}
	if named, _ := s.asked(t, memory.RecallRequest{MinRelevance: new(1.0)}, AskOptions{}); slices.Contains(strengths(named), memory.Maybe) {
		t.Errorf("below a threshold that is named the answer is\n%s", named.Text)
	}
}

// TestNoRoomForLinesIsNotNothing: a budget without room for a line does not make what is
// remembered irrelevant.
func TestNoRoomForLinesIsNotNothing(t *testing.T) {
	s := newShelf()
	s.scale = .001
	s.lesson("l-7f3a0000000000", func(r *memory.Record) { r.Event.Lesson = strings.Repeat("long lesson ", 60) })
	a, _ := s.asked(t, memory.RecallRequest{MaxTokens: memory.MinTokens}, levelled(1, 1, 0))
	if len(a.Items) > 0 || a.NothingRelevant || !strings.Contains(a.Text, "withheld") {
		t.Errorf("%d items, nothing relevant %v:\n%s", len(a.Items), a.NothingRelevant, a.Text)
	}
}

// TestLinesFollowWhatIsShown: over the limit there are lines, three at most where something
// is sure; a duplicate has none, and they take no room from the items.
func TestLinesFollowWhatIsShown(t *testing.T) {
	s := newShelf()
	s.many(9)
	s.lesson("l-twin", func(r *memory.Record) { r.Event.Context, r.Event.Lesson = "context of l-0", "lesson l-0" })
	a, _ := s.asked(t, memory.RecallRequest{}, levelled(0, 0, -1))
	full, lines := 0, 0
	for _, st := range strengths(a) {
		if st == memory.Maybe {
			lines++
		} else if full++; lines > 0 {
			t.Errorf("the strengths are %v, want lines last", strengths(a))
		}
	}
	if full != 5 || lines != maxLines {
		t.Errorf("%d in full and %d lines, want 5 and %d:\n%s", full, lines, maxLines, a.Text)
	}
	for _, i := range a.Items {
		if _, withheld := reasons(a)[i.ID]; withheld {
			t.Errorf("%s is both shown and withheld", i.ID)
		}
	}
	small := s.ask(t, memory.RecallRequest{MaxTokens: 90})
	with, _ := s.asked(t, memory.RecallRequest{MaxTokens: 90}, levelled(0, 0, -1))
	if got := len(ids(small)); got == 0 || strengths(with)[0] == memory.Maybe || with.Tokens > 90 {
		t.Errorf("in 90 tokens:\n%s\nwant what is sure before any line:\n%s", with.Text, small.Text)
	}
}

// TestLineSaysWhereItIsFrom: an item that is shown as a line has the marks of one in full.
func TestLineSaysWhereItIsFrom(t *testing.T) {
	s := newShelf()
	s.scale = .001
	s.lesson("l-7f3a0000000000", func(r *memory.Record) {
		r.Project, r.Provenance = "p-other", memory.Provenance{Origin: memory.OriginImported, Path: "/logs/a.jsonl"}
		r.Event.Team = []memory.TeamShare{{Member: "ann"}}
	})
	a, receipt := s.asked(t, memory.RecallRequest{}, levelled(1, 1, 0))
	if len(a.Items) != 1 || a.Items[0].Strength != memory.Maybe {
		t.Fatalf("the items are %+v, want one line", a.Items)
	}
	i := a.Items[0]
	if !i.Foreign || i.Team != "ann" || i.Provenance == nil || i.Provenance.Path != "/logs/a.jsonl" {
		t.Errorf("the line is foreign: %v, of %q, with provenance %+v; want it foreign, ann's and imported", i.Foreign, i.Team, i.Provenance)
	}
	if receipt.Items[0].Provenance == nil {
		t.Error("the receipt has no provenance of the line")
	}
}

// TestLikelyHasAShare: what is likely is marked and takes no more than its share.
func TestLikelyHasAShare(t *testing.T) {
	s := newShelf()
	s.scale = .001
	for i := range 3 {
		s.lesson(fmt.Sprintf("l-%d", i), func(r *memory.Record) {
			r.Event.Lesson = strings.Repeat(strings.Repeat(string(rune('a'+i)), 5)+" ", 400)
		})
	}
	a, _ := s.asked(t, memory.RecallRequest{}, levelled(1, 0, -1))
	if len(a.Items) != 3 || strings.Count(a.Text, "] (likely) ") != 3 {
		t.Errorf("three that are likely are\n%s", a.Text)
	}
	if a.Tokens > memory.DefaultTokens/2+headTokens {
		t.Errorf("what is likely takes %d tokens, want half of the budget", a.Tokens)
	}
	if sure, _ := s.asked(t, memory.RecallRequest{}, levelled(0, 0, -1)); sure.Tokens < 900 || strings.Contains(sure.Text, "(likely)") {
		t.Errorf("what is sure takes %d tokens, want the budget used:\n%s", sure.Tokens, sure.Text)
	}
}

// TestLineOfCode: its place, if it is still there; no line of what changed.
func TestLineOfCode(t *testing.T) {
	s := newShelf()
	s.scale = .001
	s.chunk("func good() {}", at("good.go"))
	s.chunk("func bad() {}", at("bad.go"))
	s.gates[at("bad.go")] = &memory.GateError{Reason: memory.Changed}
	a, _ := s.asked(t, memory.RecallRequest{}, levelled(1, 1, 0))
	if len(a.Items) != 1 || !strings.HasSuffix(a.Items[0].Text, " good.go:11-11 Symbol") || a.Items[0].Source.Lines == nil || strings.Contains(a.Text, "func good") {
		t.Errorf("the line of code is %+v in\n%s", a.Items, a.Text)
	}
	if reasons(a)["bad.go"] != memory.Changed {
		t.Errorf("withheld: %v, want what changed", a.Withheld)
	}
}
