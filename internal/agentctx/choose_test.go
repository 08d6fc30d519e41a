package agentctx

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/memory"
)

func TestWhichMatchesAreTaken(t *testing.T) {
	for _, c := range []struct {
		what                  string
		req                   memory.AssembleRequest
		scores                []score
		taken, over, below    string
		registered            []memory.CatalogueEntry
		removed, addedEntries []string
	}{
		{what: "the first, and none below the floor",
			req:    memory.AssembleRequest{TopN: 1},
			scores: []score{{"a", .69}, {"b", .6}, {"c", .4}}, taken: "rule a", over: "rule b", below: "rule c"},
		{what: "all that score high, too",
			req:    memory.AssembleRequest{TopN: 1},
			scores: []score{{"a", .9}, {"b", .7}, {"c", .69}, {"d", .8}}, taken: "rule a, rule b, rule d", over: "rule c"},
		{what: "with another score",
			req:    memory.AssembleRequest{TopN: 1, IncludeScore: new(.6)},
			scores: []score{{"a", .9}, {"b", .65}, {"c", .55}}, taken: "rule a, rule b", over: "rule c"},
		{what: "a score of 0 takes all that is above the floor",
			req:    memory.AssembleRequest{TopN: 1, IncludeScore: new(0.0)},
			scores: []score{{"a", .9}, {"b", .55}, {"c", .45}}, taken: "rule a, rule b", below: "rule c"},
		{what: "no more than are considered",
			req:    memory.AssembleRequest{TopK: 2, TopN: 1},
			scores: []score{{"a", .9}, {"b", .85}, {"c", .8}}, taken: "rule a, rule b", over: "rule c"},
		{what: "what is held or disabled is not considered",
			req:    memory.AssembleRequest{TopK: 2, TopN: 2},
			scores: []score{{"always", .99}, {"manual", .98}, {"off", .97}, {"a", .6}, {"b", .55}}, taken: "rule a, rule b"},
	} {
		t.Run(c.what, func(t *testing.T) {
			d, m := withMatcher(t)
			for i, name := range []string{"a", "b", "c", "d"} {
				d.register(entry("rule "+name+" agent", strings.Repeat(fmt.Sprintf("text %d of %s ", i, name), 3)))
			}
			d.register(entry("rule always always", "yes"), entry("rule manual manual", "perhaps"), entry("rule off agent off", "no"))
			m.scores, c.req.Message = c.scores, "a message"
			out := d.assemble(c.req)
			var taken []string
			for _, item := range out.Items {
				if item.IncludeMode == memory.IncludeAgent {
					taken = append(taken, string(item.Type)+" "+item.Name)
				}
			}
			if got := strings.Join(taken, ", "); got != c.taken {
				t.Errorf("taken are %q, want %q", got, c.taken)
			}
			if got := withheldFor(out, memory.OverLimit); got != c.over {
				t.Errorf("over the limit are %q, want %q", got, c.over)
			}
			if got := withheldFor(out, memory.BelowThreshold); got != c.below {
				t.Errorf("below the floor are %q, want %q", got, c.below)
			}
		})
	}
}

// Those that relevance does not decide on match better, by the hundred, and one that the
// session was given does: neither takes a place among those considered.
func TestOthersTakeNoPlaceAmongThoseConsidered(t *testing.T) {
	d := newDesk(t, func(o *ContextOptions) { o.Recall = onlyMatches{o.Recall} })
	for i := range 300 {
		mode := []string{"manual", "agent off"}[i%2]
		d.register(entry(fmt.Sprintf("rule other-%d %s", i, mode), fmt.Sprintf("Rotate the signing keys, case %d.", i)))
	}
	d.register(
		entry("rule given agent", "Rotate the signing keys every month."),
		entry("rule wanted agent", "The signing keys of releases are in the vault, which is opened by two of the owners; they rotate."),
	)
	d.alter(added("rule given"))
	out := d.assemble(memory.AssembleRequest{Message: "rotate the signing keys", TopK: 1})
	if got, want := handedOut(out), "rule given manual, rule wanted agent"; got != want {
		t.Errorf("handed out is %q, want %q", got, want)
	}
	if w := withheldFor(out, memory.OverLimit); w != "" {
		t.Errorf("withheld for the limit is %q, want nothing", w)
	}
}

func TestDuplicatesCollapse(t *testing.T) {
	d, m := withMatcher(t)
	const text = "Use the logger of the context and never print to standard output."
	d.register(entry("rule held always", text), entry("rule copy agent", text), entry("reference copied agent", text),
		entry("tool a:log agent", "Logs."), entry("tool b:log agent", "Logs."))
	m.scores = []score{{"copy", .9}, {"copied", .8}, {"log", .75}}
	out := d.assemble(memory.AssembleRequest{Message: "a message"})
	if got, want := handedOut(out), "rule held always, reference copied agent, tool a:log agent, tool b:log agent"; got != want {
		t.Errorf("handed out %q, want %q", got, want)
	}
	if got, want := withheldFor(out, memory.Duplicate), "rule copy"; got != want {
		t.Errorf("duplicates are %q, want %q", got, want)
	}
}

// A host's tools that have no room do not hide what nearly was relevant, nor all of them
// be hidden.
func TestWhatHasNoRoomHidesNothingElse(t *testing.T) {
	d, m := withMatcher(t)
	entries := []memory.CatalogueEntry{entry("rule near agent", "A rule."), entry("rule far agent", "Another rule."), entry("rule long agent", strings.Repeat("no room for this ", 300))}
	for i := range 300 {
		entries = append(entries, entry(fmt.Sprintf("tool host:tool_%d always", i), strings.Repeat("describes itself at length ", 10)))
	}
	d.register(entries...)
	m.scores = []score{{"long", .9}, {"near", .6}, {"far", .4}}
	out := d.assemble(memory.AssembleRequest{Message: "a message", MaxTokens: 1000, TopN: 1})
	for reason, want := range map[memory.Reason]string{memory.OverLimit: "rule near", memory.BelowThreshold: "rule far"} {
		if got := withheldFor(out, reason); got != want {
			t.Errorf("%s is %q, want %q", reason, got, want)
		}
	}
	if got := withheldFor(out, memory.OverBudget); !strings.Contains(got, "rule long") || !strings.Contains(got, "tool host:tool_") || len(out.Withheld) != maxWithheld {
		t.Errorf("%d are withheld, without room %.200q, want %d, the long rule and tools among them", len(out.Withheld), got, maxWithheld)
	}
}

func TestMemoriesThatAreWithheldAreInTheReceipt(t *testing.T) {
	d := newDesk(t)
	d.remember("npm install fails with EACCES", "change the owner of the npm cache folder")
	out := d.assemble(memory.AssembleRequest{Message: "paint the garden wall in blue"})
	below := func(ws []memory.Withheld) bool {
		return slices.ContainsFunc(ws, func(w memory.Withheld) bool { return w.Kind == memory.Lesson && w.Reason == memory.BelowThreshold })
	}
	if len(out.Memories) > 0 || !below(out.Withheld) || !below(d.receipt(out.Receipt).Withheld) {
		t.Errorf("memories are %+v and withheld %+v, want the lesson below the floor", out.Memories, out.Withheld)
	}
}
