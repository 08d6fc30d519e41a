package recall

import (
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

func TestBothSides(t *testing.T) {
	for name, test := range map[string]struct {
		ranked string // l a lesson, s a step, c code; L, S and C are sure, e a step of the same error
		limit  int
		want   string
	}{
		"lessons fill the limit":        {"l1 l2 l3 l4 l5 c1 c2 c3", 5, "l1 l2 l3 c1 c2 l4 l5 c3"},
		"code fills the limit":          {"c1 c2 c3 c4 c5 l1 s1 l2", 5, "c1 c2 c3 l1 s1 c4 c5 l2"},
		"one is there":                  {"l1 c1 l2 l3 l4 c2 c3", 5, "l1 c1 l2 l3 c2 l4 c3"},
		"enough are there":              {"l1 c1 l2 c2 l3 c3", 5, "l1 c1 l2 c2 l3 c3"},
		"there is one":                  {"l1 l2 l3 l4 s5 c1 l6", 5, "l1 l2 l3 l4 c1 s5 l6"},
		"what is sure stays":            {"L1 L2 L3 L4 L5 c1 c2", 5, "L1 L2 L3 L4 L5 c1 c2"},
		"for what is sure, likely goes": {"L1 L2 L3 L4 l5 C1 C2", 5, "L1 L2 L3 C1 C2 L4 l5"},
		"the same error stays":          {"l1 l2 l3 e4 e5 c1 c2", 5, "l1 l2 l3 e4 e5 c1 c2"},
		"one side alone":                {"l1 l2 l3 l4 l5 l6", 5, "l1 l2 l3 l4 l5 l6"},
		"no place to give":              {"l1 l2 c1", 2, "l1 l2 c1"},
		"all fit":                       {"l1 l2 c1", 5, "l1 l2 c1"},
	} {
		kinds := map[string]memory.Kind{"l": memory.Lesson, "s": memory.Step, "e": memory.Step, "c": memory.Chunk}
		var cs []*candidate
		for id := range strings.FieldsSeq(test.ranked) {
			c := &candidate{Candidate: memory.Candidate{ID: id, Kind: kinds[strings.ToLower(id[:1])]}, strength: memory.Likely, error: id[0] == 'e'}
			if strings.ToUpper(id[:1]) == id[:1] {
				c.strength = memory.Sure
			}
			cs = append(cs, c)
		}
		var got []string
		for _, c := range bothSides(cs, test.limit) {
			got = append(got, c.ID)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %s with limit %d becomes %s, want %s", name, test.ranked, test.limit, strings.Join(got, " "), test.want)
		}
	}
}
