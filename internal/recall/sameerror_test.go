package recall

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/recalld/recalld/internal/fingerprint"
	"github.com/recalld/recalld/internal/memory"
)

const quoted = "npm ERR! code EACCES\nnpm ERR! Error: EACCES: permission denied, mkdir '/usr/lib/node_modules/left-pad'"

// telling makes a lesson or step tell of the error.
func telling(text string) func(*memory.Record) {
	return func(r *memory.Record) {
		if r.Event != nil {
			r.Event.Fingerprints = fingerprint.Of(text)
		} else {
			r.Step.Fingerprints = fingerprint.Of(text)
		}
	}
}

// TestSameErrorFirst: what tells of the quoted error comes first, lessons before
// steps, though no retriever found it relevant, and within the limit.
func TestSameErrorFirst(t *testing.T) {
	if len(fingerprint.Of(quoted)) == 0 {
		t.Fatal("the error has no fingerprint")
	}
	s := newShelf()
	s.session("sess")
	s.lesson("like") // the best match by words
	s.lesson("other", telling("fatal: not a git repository (or any of the parent directories): .git"))
	step := s.did("sess", "npm", telling(quoted))
	// Seen elsewhere: another path.
	s.lesson("same", telling(strings.ReplaceAll(quoted, "/usr/lib", "/opt/node/lib")))
	s.lesson("theirs", telling(quoted), func(r *memory.Record) { r.Project, r.Repo = "p-other", "other" })
	all := []string{"same", "theirs", step.ID, "like", "other"}
	for limit := 1; limit <= len(all); limit++ {
		a := s.ask(t, memory.RecallRequest{Query: quoted, Limit: limit, Explain: true})
		got, want := ids(a), slices.Clone(all[:limit])
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%d items: %v, want %v", limit, got, want)
		}
		for _, item := range a.Items {
			same := item.ID == "same" || item.ID == "theirs" || item.ID == step.ID
			if item.RankFactors.Error != same || same && item.Relevance != 1 {
				t.Errorf("%s has relevance %v and factors %+v; want the same error marked, with relevance 1", item.ID, item.Relevance, item.RankFactors)
			}
		}
		if n := strings.Count(a.Text, ", the same error"); n != min(limit, 3) {
			t.Errorf("%d items: %d are explained as the same error:\n%s", limit, n, a.Text)
		}
	}
	if a := s.ask(t, memory.RecallRequest{Query: quoted}); a.Items[0].ID != "same" || a.Items[1].ID != "theirs" {
		t.Errorf("the answer is in the order %v, want the lessons about the error first", ids(a))
	}
	// With the floor on, only they are relevant.
	s.scale = .001
	if a := s.ask(t, memory.RecallRequest{Query: quoted, MinRelevance: new(.9)}); len(a.Items) != 3 {
		t.Errorf("above a floor there are %v, want the three of the same error", ids(a))
	}
	if a := s.ask(t, memory.RecallRequest{Query: "needle"}); slices.ContainsFunc(a.Items, func(i memory.Item) bool { return i.RankFactors != nil && i.RankFactors.Error }) {
		t.Errorf("a question without an error has items of the same error: %v", ids(a))
	}
}

// TestSameErrorKeepsToBudgetAndFilters: it is no way around either.
func TestSameErrorKeepsToBudgetAndFilters(t *testing.T) {
	s := newShelf()
	s.session("sess")
	for i := range 9 {
		s.lesson(fmt.Sprintf("long-%d", i), telling(quoted), func(r *memory.Record) {
			r.Event.Lesson = strings.Repeat(fmt.Sprintf("word%c ", 'a'+i), 400)
		})
	}
	a := s.ask(t, memory.RecallRequest{Query: quoted, MaxTokens: 200, Limit: 9})
	if a.Tokens > 200 || len(a.Items) == 0 || len(a.Items) == 9 {
		t.Errorf("%d items in %d tokens, want some in 200", len(a.Items), a.Tokens)
	}
	if a := s.ask(t, memory.RecallRequest{Query: quoted, Kinds: []memory.Kind{memory.Step}}); len(a.Items) != 0 {
		t.Errorf("steps were asked for, and there are %v", ids(a))
	}
}

// TestAsideLessonsAreNotRecalled, though one was put aside only after it was
// found.
func TestAsideLessonsAreNotRecalled(t *testing.T) {
	s := newShelf()
	s.lesson("wrong", telling(quoted), func(r *memory.Record) { r.Event.Withdrawn = &memory.Withdrawal{Reason: "retracted"} })
	s.lesson("right")
	if got := ids(s.ask(t, memory.RecallRequest{Query: quoted})); !slices.Equal(got, []string{"right"}) {
		t.Errorf("recalled %v, want the lesson that holds", got)
	}
}
