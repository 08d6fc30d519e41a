package recall

import (
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

func TestNeighboursOrderStepsAndTurns(t *testing.T) {
	in := func(kind memory.Kind, id, series string, at int, fused float64) *candidate {
		return &candidate{Candidate: memory.Candidate{ID: id, Kind: kind, Project: "p", Series: series, At: at}, fused: fused, match: fused}
	}
	step := func(id string, at int, fused float64) *candidate { return in(memory.Step, id, "s", at, fused) }
	same := func(c *candidate, series string, at int) *candidate {
		c.others = append(c.others, memory.Candidate{Kind: c.Kind, Project: "p", Series: series, At: at})
		return c
	}
	for name, test := range map[string]struct {
		cs   []*candidate
		want string
	}{
		"beside the best":                {[]*candidate{step("best", 5, 1), in(memory.Step, "alone", "x", 1, .5), step("beside", 6, .3)}, "best beside alone"},
		"two places on":                  {[]*candidate{step("best", 5, 1), in(memory.Step, "alone", "x", 1, .5), step("next", 3, .3)}, "best next alone"},
		"the same session, far away":     {[]*candidate{step("best", 5, 1), in(memory.Step, "alone", "x", 1, .5), step("far", 50, .4)}, "best far alone"},
		"too little in common":           {[]*candidate{step("best", 5, 1), in(memory.Step, "alone", "x", 1, .9), step("beside", 6, .1)}, "best alone beside"},
		"one without a session stays":    {[]*candidate{step("best", 5, 1), in(memory.Step, "none", "", 0, .5), step("beside", 6, .3)}, "best none beside"},
		"other kinds keep their places":  {[]*candidate{step("best", 5, 1), in(memory.Lesson, "lesson", "", 0, .8), in(memory.Step, "alone", "x", 1, .5), step("beside", 6, .3)}, "best lesson beside alone"},
		"a turn is no neighbour of step": {[]*candidate{step("best", 5, 1), in(memory.Reference, "alone", "x", 1, .5), in(memory.Reference, "turn", "s", 6, .3)}, "best alone turn"},
		"a text that is said twice":      {[]*candidate{step("best", 5, 1), in(memory.Step, "alone", "x", 1, .5), same(in(memory.Step, "thanks", "y", 1, .3), "s", 4)}, "best thanks alone"},
		"of another project":             {[]*candidate{step("best", 5, 1), in(memory.Step, "alone", "x", 1, .5), func() *candidate { c := step("beside", 6, .3); c.Project = "q"; return c }()}, "best alone beside"},
	} {
		var before []float64
		for _, c := range test.cs {
			before = append(before, c.fused)
		}
		r := &run{candidates: test.cs}
		r.neighbours()
		var got []string
		for i, c := range r.candidates {
			got = append(got, c.ID)
			if c.fused != before[i] || c.match != before[i] {
				t.Errorf("%s: place %d has the score %v, before %v: the scores must stay", name, i, c.fused, before[i])
			}
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: order %s, want %s", name, got, test.want)
		}
	}
}
