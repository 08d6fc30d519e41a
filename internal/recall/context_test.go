package recall

import (
	"slices"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

func TestContextQuestions(t *testing.T) {
	type question struct {
		kinds []memory.Kind
		limit int
	}
	for _, c := range []struct {
		kinds []memory.Kind
		want  []question
	}{
		{[]memory.Kind{memory.Rule, memory.Reference, memory.Tool}, nil},
		{[]memory.Kind{memory.Lesson}, []question{{[]memory.Kind{memory.Lesson}, 0}}},
		{[]memory.Kind{memory.Chunk}, []question{{[]memory.Kind{memory.Chunk}, 0}}},
		{[]memory.Kind{memory.Rule, memory.Lesson, memory.Step, memory.Chunk}, []question{
			{[]memory.Kind{memory.Lesson, memory.Step}, 2 * memory.DefaultLimit}, {[]memory.Kind{memory.Chunk}, 0},
		}},
	} {
		var got []question
		for _, q := range ContextQuestions(memory.RecallRequest{Query: "why", Kinds: c.kinds}) {
			got = append(got, question{q.Kinds, q.Limit})
			if q.Query != "why" || q.Format != memory.FormatMarkdown || memory.Check(&q) != nil {
				t.Errorf("%v: the question is %+v", c.kinds, q)
			}
		}
		if !slices.EqualFunc(got, c.want, func(a, b question) bool { return slices.Equal(a.kinds, b.kinds) && a.limit == b.limit }) {
			t.Errorf("%v: the questions are %v, want %v", c.kinds, got, c.want)
		}
	}
}

func TestReceiptIDsSortByTime(t *testing.T) {
	first, second := ReceiptID(now), ReceiptID(now.Add(time.Millisecond))
	if first >= second || len(first) != len(second) {
		t.Errorf("%s does not come before %s", first, second)
	}
}

func TestAlike(t *testing.T) {
	s := newShelf().service(t)
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"", "", true},
		{"use the logger of the context", "use the logger of the context", true},
		{"Use the logger of the context!", "use  the logger of the context", true},
		{"use the logger of the context", "never print to standard output", false},
		{"use the logger", "", false},
	} {
		if got := s.Alike(c.a, c.b); got != c.want {
			t.Errorf("%q and %q are alike: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
