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
	return index.Source{Name: name, Collection: name + "@4-00", Retriever: retriever(func(ctx context.Context, _ index.Query) (index.Result, error) {
		if err == nil {
			<-ctx.Done()
			return index.Result{}, fmt.Errorf("embed query: %w", ctx.Err())
		}
		return index.Result{}, err
	})}
}

// failingWords is a source of words that answers with err, or hangs without one.
func failingWords(err error) index.Source {
	src := failing("lexical", err)
	src.Collection = ""
	return src
}

// working is a vector source that answers, though documents may be missing.
func working(name, degraded string, missing ...uint32) index.Source {
	return index.Source{Name: name, Collection: name + "@4-00", Degraded: degraded, Missing: roaring.BitmapOf(missing...), Retriever: retriever(func(context.Context, index.Query) (index.Result, error) {
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
	s.more = []index.Source{{Name: "vector/m", Collection: "m@4-00", Degraded: "loading"}}
	a := s.ask(t, memory.RecallRequest{})
	if a.NothingRelevant || len(a.Items) > 0 {
		t.Errorf("while loading: nothing relevant %v, items %v; want neither", a.NothingRelevant, a.Items)
	}
	want := []memory.Degraded{{Part: "lexical", Reason: "loading"}, {Part: "vector/m", Reason: "loading"}}
	if diff := cmp.Diff(want, a.Degraded); diff != "" {
		t.Errorf("degraded (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(a.Text, "(incomplete: the memory is loading; ask again in a moment)") || !a.Incomplete || a.Why != "the memory is loading" {
		t.Errorf("incomplete %v because %q, text = %q; want it to say so", a.Incomplete, a.Why, a.Text)
	}
}

func TestNothingRelevant(t *testing.T) {
	for name, test := range map[string]struct {
		shelve func(*shelf)
		min    float64
		want   bool
	}{
		"empty":               {func(*shelf) {}, 0, true},
		"nothing held":        {func(s *shelf) { s.lexical = failingWords(index.ErrNotReady) }, 0, true},
		"all below the floor": {func(s *shelf) { s.many(3); s.scale = .001 }, 1.0, true},
		"something":           {func(s *shelf) { s.many(3) }, 0, false},
		"words failed":        {func(s *shelf) { s.lexical = failingWords(errors.New("broken")) }, 0, false},
		"words failed, not other": {func(s *shelf) {
			s.lexical = failingWords(errors.New("broken"))
			s.more = []index.Source{failing("vector/m", index.ErrNotReady)}
		}, 0, false},
		"words failed, vectors did not": {func(s *shelf) {
			s.lexical = failingWords(errors.New("broken"))
			s.more = []index.Source{{Name: "vector/m", Collection: "m@4-00", Retriever: retriever(func(context.Context, index.Query) (index.Result, error) {
				return index.Result{Searched: 9, Mean: 0.1, Deviation: 0.1}, nil
			})}}
		}, 0, false},
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
		if a.Incomplete == test.want && name != "something" || a.Incomplete != (a.Why != "") || a.Incomplete != strings.Contains(a.Text, "(incomplete: ") {
			t.Errorf("%s: incomplete %v because %q, text %q; want an answer with nothing to be either complete or incomplete, with the reason", name, a.Incomplete, a.Why, a.Text)
		}
		if a.Items == nil || a.Withheld == nil {
			t.Errorf("%s: items %v and withheld %v must be lists, also empty", name, a.Items, a.Withheld)
		}
		if test.min == 1 && len(s.records) > 0 && len(a.Withheld) == 0 {
			t.Errorf("%s: the nearest below the floor are not told", name)
		}
	}
}

// TestWordsHaveNoDeadline: on a busy machine words may take long. They are waited for,
// however late, and the vectors' deadline holds for vectors alone.
func TestWordsHaveNoDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		s.many(3)
		found := s.lexical.Retriever
		busy := make(chan struct{})
		s.lexical.Retriever = retriever(func(ctx context.Context, q index.Query) (index.Result, error) {
			select {
			case <-busy:
				return found.Retrieve(ctx, q)
			case <-ctx.Done():
				return index.Result{}, ctx.Err()
			}
		})
		s.more = []index.Source{failing("vector/m", nil)}
		time.AfterFunc(time.Minute, func() { close(busy) })
		a := s.ask(t, memory.RecallRequest{})
		if len(a.Items) != 3 || a.NothingRelevant || a.Incomplete {
			t.Errorf("%d items, nothing relevant %v, incomplete %v; want the words' 3, however late:\n%s", len(a.Items), a.NothingRelevant, a.Incomplete, a.Text)
		}
		if want := []memory.Degraded{{Part: "vector/m", Reason: "deadline: no answer within 250ms"}}; !slices.Equal(a.Degraded, want) {
			t.Errorf("degraded = %v, want %v", a.Degraded, want)
		}
	})
}

// TestOutOfTime: where the request's own time is over before the words were searched,
// the answer is an error that can be asked again, in every read path.
func TestOutOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		s.holding()
		s.lexical = failingWords(nil) // until the request ends
		service := s.service(t)
		for name, ask := range map[string]func(context.Context) error{
			"recall": func(ctx context.Context) error {
				_, err := service.Recall(ctx, memory.RecallRequest{Query: "needle"})
				return err
			},
			"search steps": func(ctx context.Context) error {
				_, err := service.SearchSteps(ctx, memory.SearchStepsRequest{Query: "needle"})
				return err
			},
			"match": func(ctx context.Context) error {
				_, err := service.Match(ctx, "needle", memory.Selection{Kinds: []memory.Kind{memory.Rule}, Project: "p-own"}, 5, AskOptions{})
				return err
			},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			err := ask(ctx)
			cancel()
			if e := memory.AsError(err); e.Code != memory.CodeUnavailable || e.Hint == "" || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v (hint %q), want %s with a hint to ask again", name, err, e.Hint, memory.CodeUnavailable)
			}
		}
		if len(s.receipts) > 0 {
			t.Error("a receipt was written for an answer that was not given")
		}
	})
}

// TestWordsFailed: steps and matches that could not be looked for by words are not
// taken for none.
func TestWordsFailed(t *testing.T) {
	s := newShelf()
	s.holding()
	s.lexical = failingWords(errors.New("broken"))
	steps, err := s.service(t).SearchSteps(t.Context(), memory.SearchStepsRequest{Query: "needle"})
	if err != nil || !steps.Incomplete || !strings.Contains(steps.Why, "words could not be searched") {
		t.Errorf("the search for steps says %+v, %v; want it incomplete, with the reason", steps, err)
	}
	m, err := s.service(t).Match(t.Context(), "needle", memory.Selection{Kinds: []memory.Kind{memory.Rule}, Project: "p-own"}, 5, AskOptions{})
	if err != nil || m.Incomplete == "" {
		t.Errorf("the match says %+v, %v; want it incomplete", m, err)
	}
}

// TestCodeIsNotSearchedYet: while the first index of a repository is being built there
// may be code that nobody can find.
func TestCodeIsNotSearchedYet(t *testing.T) {
	for missing, want := range map[string]bool{memory.FirstIndexing: true, memory.NotIndexed: false, "": false} {
		s := newShelf()
		a, err := s.service(t, func(o *Options) { o.Missing = func(string) string { return missing } }).Recall(t.Context(), memory.RecallRequest{Query: "needle"})
		if err != nil || a.Incomplete != want || a.NothingRelevant == want {
			t.Errorf("missing %q: incomplete %v (%s), nothing relevant %v, %v; want incomplete %v", missing, a.Incomplete, a.Why, a.NothingRelevant, err, want)
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
