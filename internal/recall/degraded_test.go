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

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

// failing is a vector source that answers with err, or hangs without one.
func failing(name string, err error) index.Source {
	return index.Source{Name: name, Space: name + "@4-00", Retriever: retriever(func(ctx context.Context, _ index.Query) (index.Result, error) {
		if err == nil {
			<-ctx.Done()
			return index.Result{}, fmt.Errorf("embed query: %w", ctx.Err())
		}
		return index.Result{}, err
	})}
}

// working is a vector source that answers, though documents may be missing.
func working(name, degraded string, missing ...uint32) index.Source {
	return index.Source{Name: name, Space: name + "@4-00", Degraded: degraded, Missing: roaring.BitmapOf(missing...), Retriever: retriever(func(context.Context, index.Query) (index.Result, error) {
		return index.Result{Best: 1, Searched: 9, Mean: 0.1, Deviation: 0.1, Hits: []index.Hit{{Doc: 1, Score: 0.9}}}, nil
	})}
}

func TestDegraded(t *testing.T) {
	const name = "vector/ollama/m"
	for title, test := range map[string]struct {
		source index.Source
		want   []memory.Degraded
		spaces []string
	}{
		"whole":             {working(name, ""), nil, []string{name + "@4-00"}},
		"partial":           {working(name, "", 0, 2), []memory.Degraded{{Part: name, Reason: "partial: 33 % embedded, 1 of 3 documents"}}, []string{name + "@4-00"}},
		"partial of others": {working(name, "", 7, 8), nil, []string{name + "@4-00"}},
		"back again":        {working(name, "unavailable"), nil, []string{name + "@4-00"}},
		"stuck":             {working(name, "unavailable", 0), []memory.Degraded{{Part: name, Reason: "unavailable"}}, []string{name + "@4-00"}},
		"unavailable":       {failing(name, errors.New("connection refused")), []memory.Degraded{{Part: name, Reason: "unavailable: connection refused"}}, nil},
		"late":              {failing(name, nil), []memory.Degraded{{Part: name, Reason: "deadline: no answer within 250ms"}}, nil},
		"still empty":       {failing(name, index.ErrNotReady), nil, nil},
		"empty and filling": {
			func() index.Source {
				s := failing(name, index.ErrNotReady)
				s.Missing = roaring.BitmapOf(0, 1, 2)
				return s
			}(),
			[]memory.Degraded{{Part: name, Reason: "partial: 0 % embedded, 0 of 3 documents"}}, nil,
		},
		"not there": {index.Source{Name: name, Degraded: "unavailable"}, []memory.Degraded{{Part: name, Reason: "unavailable"}}, nil},
	} {
		t.Run(title, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShelf()
				s.many(3)
				s.more = []index.Source{test.source}
				began := time.Now()
				a := s.ask(t, memory.RecallRequest{})
				if took := time.Since(began); took > 250*time.Millisecond {
					t.Errorf("the answer took %v, more than the deadline", took)
				}
				if diff := cmp.Diff(test.want, a.Degraded); diff != "" {
					t.Errorf("degraded (-want +got):\n%s", diff)
				}
				if len(a.Items) != 3 {
					t.Errorf("%d items, want the words' 3 whatever the vectors do", len(a.Items))
				}
				for _, d := range test.want {
					if !strings.Contains(a.Text, "(degraded: "+d.Part+": "+d.Reason+")") {
						t.Errorf("the text does not name %+v:\n%s", d, a.Text)
					}
				}
				if got := s.receipts[0]; !slices.Equal(got.Spaces, test.spaces) || len(got.Degraded) != len(test.want) {
					t.Errorf("the receipt has spaces %v and degraded %v, want %v and %v", got.Spaces, got.Degraded, test.spaces, test.want)
				}
			})
		})
	}
}

func TestLoading(t *testing.T) {
	s := newShelf()
	s.many(3)
	s.lexical = index.Source{Name: "lexical", Degraded: "loading"}
	s.more = []index.Source{{Name: "vector/m", Space: "m@4-00", Degraded: "loading"}}
	a := s.ask(t, memory.RecallRequest{})
	if a.NothingRelevant || len(a.Items) > 0 {
		t.Errorf("while loading: nothing relevant %v, items %v; want neither", a.NothingRelevant, a.Items)
	}
	want := []memory.Degraded{{Part: "lexical", Reason: "loading"}, {Part: "vector/m", Reason: "loading"}}
	if diff := cmp.Diff(want, a.Degraded); diff != "" {
		t.Errorf("degraded (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(a.Text, "The memory cannot be searched yet") || !strings.Contains(a.Text, "loading") {
		t.Errorf("text = %q, want it to say so", a.Text)
	}
}

func TestNothingRelevant(t *testing.T) {
	for name, test := range map[string]struct {
		shelve func(*shelf)
		min    float64
		want   bool
	}{
		"empty":               {func(*shelf) {}, 0, true},
		"nothing held":        {func(s *shelf) { s.lexical = failing("lexical", index.ErrNotReady) }, 0, true},
		"all below the floor": {func(s *shelf) { s.many(3); s.scale = .001 }, 1.0, true},
		"something":           {func(s *shelf) { s.many(3) }, 0, false},
		"words failed":        {func(s *shelf) { s.lexical = failing("lexical", errors.New("broken")) }, 0, false},
		"words failed, not other": {func(s *shelf) {
			s.lexical = failing("lexical", errors.New("broken"))
			s.more = []index.Source{failing("vector/m", index.ErrNotReady)}
		}, 0, true},
	} {
		s := newShelf()
		test.shelve(s)
		a := s.ask(t, memory.RecallRequest{MinRelevance: &test.min})
		if a.NothingRelevant != test.want {
			t.Errorf("%s: nothing relevant = %v, want %v", name, a.NothingRelevant, test.want)
		}
		if said := strings.HasPrefix(a.Text, "Nothing relevant is remembered in own.\n"); said != test.want {
			t.Errorf("%s: text = %q", name, a.Text)
		}
		if a.Items == nil || a.Withheld == nil {
			t.Errorf("%s: items %v and withheld %v must be lists, also empty", name, a.Items, a.Withheld)
		}
		if test.min == 1 && len(s.records) > 0 && len(a.Withheld) == 0 {
			t.Errorf("%s: the nearest below the floor are not told", name)
		}
	}
}

// TestCallerGone: an answer that nobody waits for is not given.
func TestCallerGone(t *testing.T) {
	s := newShelf()
	s.many(2)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.service(t).Recall(ctx, memory.RecallRequest{Query: "needle"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Recall = %v, want %v", err, context.Canceled)
	}
	if len(s.receipts) > 0 {
		t.Error("a receipt was written for an answer that was not given")
	}
}
