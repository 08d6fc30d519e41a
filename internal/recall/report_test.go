package recall

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

func TestTitleOf(t *testing.T) {
	body := strings.Repeat("It worked before the last release.\n", 10)
	for question, want := range map[string]string{
		"": "", "why?": "", "One line alone is no report, however long it is: " + strings.Repeat("so ", 100): "",
		"Timeout ends all retries\nIt should end one.":         "",
		"Timeout ends all retries\n\n" + body:                  "Timeout ends all retries",
		"\n## Timeout ends all retries  \r\n" + body:           "Timeout ends all retries",
		"Timeout\n" + body:                                     "",
		strings.Repeat("a long first line ", 20) + "\n" + body: "",
	} {
		if got := titleOf(question); got != want {
			t.Errorf("title of %.40q is %q, want %q", question, got, want)
		}
	}
}

// located is a corpus that knows only roots.
type located struct{ Corpus }

func (located) Location(c memory.Candidate) (memory.Location, error) {
	if c.File.Sandbox == "gone" || c.File.Path == "gone.go" {
		return memory.Location{}, errors.New("replaced")
	}
	return memory.Location{Root: "/" + c.File.Sandbox}, nil
}

// told is a history of one sandbox.
type told map[string]float64

func (h told) Files(_ context.Context, sandbox, root, _ string) map[string]float64 {
	if root != "/"+sandbox {
		panic("root " + root)
	}
	return h
}

func TestByFile(t *testing.T) {
	report := "Timeout ends all retries\n" + strings.Repeat("It worked before the last release. ", 10)
	chunk := func(path string, ord int, fused float64) *candidate {
		return &candidate{Candidate: memory.Candidate{Kind: memory.Chunk, Ord: ord, File: memory.FileKey{Sandbox: "box", Path: path}}, fused: fused, match: fused}
	}
	named := func(c *candidate, rank, line int) *candidate {
		c.mention = mentionMatch{rank: rank, at: memory.CodeLocation{Path: c.File.Path, Line: line}}
		return c
	}
	of := func(c *candidate, sandbox string) *candidate { c.File.Sandbox = sandbox; return c }
	lesson := &candidate{Candidate: memory.Candidate{Kind: memory.Lesson, ID: "lesson"}, fused: .9, match: .9}
	for name, test := range map[string]struct {
		question string
		history  History
		cs       []*candidate
		want     string
	}{
		"by the best chunk":            {"q", nil, []*candidate{chunk("a.go", 0, 1), chunk("b.go", 0, .5)}, "a.go b.go"},
		"several chunks":               {"q", nil, []*candidate{chunk("a.go", 0, 1), chunk("b.go", 0, .95), chunk("b.go", 1, .9)}, "b.go b.go a.go"},
		"several weak chunks":          {"q", nil, []*candidate{chunk("a.go", 0, 1), chunk("b.go", 0, .5), chunk("b.go", 1, .5), chunk("b.go", 2, .5)}, "a.go b.go b.go b.go"},
		"history":                      {"q", told{"b.go": 1, "c.go": .1}, []*candidate{chunk("a.go", 0, 1), chunk("b.go", 0, .7), chunk("c.go", 0, .6)}, "b.go a.go c.go"},
		"history of a report":          {report, told{"b.go": 1, "c.go": .1}, []*candidate{chunk("a.go", 0, 1), chunk("b.go", 0, .4), chunk("c.go", 0, .3)}, "b.go a.go c.go"},
		"a little history":             {"q", told{"b.go": .2}, []*candidate{chunk("a.go", 0, 1), chunk("b.go", 0, .5)}, "a.go b.go"},
		"history of a test":            {"q", told{"b_test.go": 1}, []*candidate{chunk("a.go", 0, 1), chunk("b_test.go", 0, .5)}, "a.go b_test.go"},
		"no place any more":            {"q", told{"b.go": 1}, []*candidate{of(chunk("a.go", 0, 1), "gone"), of(chunk("b.go", 0, .5), "gone")}, "a.go b.go"},
		"one file replaced meanwhile":  {"q", told{"b.go": 1}, []*candidate{chunk("gone.go", 0, 1), chunk("b.go", 0, .7)}, "b.go gone.go"},
		"what a report names":          {report, nil, []*candidate{chunk("a.go", 0, 1), chunk("b.go", 0, .8), named(chunk("b.go", 1, 0), 1, 0)}, "b.go a.go b.go"},
		"what another question names":  {"q", nil, []*candidate{chunk("a.go", 0, 1), named(chunk("b.go", 0, .8), 1, 0)}, "a.go b.go!"},
		"a line that a report names":   {report, nil, []*candidate{chunk("a.go", 0, 1), named(chunk("b.go", 0, .8), 1, 7)}, "a.go b.go!"},
		"other kinds, the best before": {"q", told{"b.go": 1}, []*candidate{chunk("a.go", 0, 1), lesson, chunk("b.go", 0, .9)}, "b.go lesson a.go"},
		"no score":                     {"q", told{"b.go": 1}, []*candidate{chunk("a.go", 0, 0), chunk("b.go", 0, -1)}, "a.go b.go"},
	} {
		best := test.cs[0].fused
		r := &run{s: &Service{opts: Options{Corpus: located{}, History: test.history}}, ctx: t.Context(), query: test.question, candidates: slices.Clone(test.cs)}
		r.byFile()
		var got []string
		for _, c := range r.candidates {
			id := c.File.Path + c.ID
			if c.mention.rank > 0 {
				id += "!" // rank puts it first
			}
			got = append(got, id)
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: order %s, want %s", name, got, test.want)
		}
		if now := r.candidates[0].fused; now != best {
			t.Errorf("%s: the best score is %v, before %v", name, now, best)
		}
	}
}

// TestRelevanceFollowsOrder: code keeps its relevances and gets them in its order; what is
// named keeps its own.
func TestRelevanceFollowsOrder(t *testing.T) {
	code := func(id string, relevance float64) *candidate {
		return &candidate{Candidate: memory.Candidate{Kind: memory.Chunk, ID: id}, relevance: relevance}
	}
	byName := code("named", .6)
	byName.mention.rank = 1
	lesson := &candidate{Candidate: memory.Candidate{Kind: memory.Lesson, ID: "lesson"}, relevance: .99}
	r := &run{candidates: []*candidate{code("first", .2), lesson, code("second", .9), byName, code("third", .5)}}
	r.followOrder()
	want := map[string]float64{"first": .9, "lesson": .99, "second": .5, "named": .6, "third": .2}
	for _, c := range r.candidates {
		if c.relevance != want[c.ID] {
			t.Errorf("%s has the relevance %v, want %v", c.ID, c.relevance, want[c.ID])
		}
	}
}
