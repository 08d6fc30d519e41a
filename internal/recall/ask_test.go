package recall

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
)

// asked is Ask of a shelf, which must succeed.
func (s *shelf) asked(t *testing.T, req memory.RecallRequest, opts AskOptions, change ...func(*Options)) (*memory.RecallResponse, memory.Receipt) {
	t.Helper()
	if req.Query == "" {
		req.Query = "needle"
	}
	a, r, err := s.service(t, change...).Ask(t.Context(), req, opts)
	if err != nil {
		t.Fatalf("ask %+v with %+v: %v", req, opts, err)
	}
	return a, r
}

// TestAskIsRecallWithoutTheLedger: the same answer, and a receipt that nobody kept.
func TestAskIsRecallWithoutTheLedger(t *testing.T) {
	s := newShelf()
	s.many(3)
	a, r := s.asked(t, memory.RecallRequest{Explain: true, MinRelevance: new(.5)}, AskOptions{})
	if len(s.receipts) != 0 {
		t.Errorf("the ledger was given %v", s.receipts)
	}
	recalled := s.ask(t, memory.RecallRequest{Explain: true, MinRelevance: new(.5)})
	if len(s.receipts) != 1 || r.ID != a.Receipt {
		t.Fatalf("%d receipts after a recall, want 1; the receipt is %s, the answer's %s", len(s.receipts), r.ID, a.Receipt)
	}
	if diff := cmp.Diff(recalled.Items, a.Items); diff != "" {
		t.Errorf("items (-recall +ask):\n%s", diff)
	}
	kept := s.receipts[0]
	kept.ID, kept.Seq = r.ID, r.Seq // which grows with every question
	if diff := cmp.Diff(kept, r); diff != "" {
		t.Errorf("receipt (-recall +ask):\n%s", diff)
	}
}

// TestExplainNamesTheWithheld: an explained answer has the beginnings of the lessons and steps
// that are not shown. Other answers, receipts and what was asked for by its id have none.
func TestExplainNamesTheWithheld(t *testing.T) {
	s := newShelf()
	s.lesson("l-1")
	s.lesson("l-2", func(r *memory.Record) { r.Event.Lesson = "keep hunter2 secret" })
	s.did("x", "go test")
	other := s.did("y", "go build", func(r *memory.Record) { r.Project = "p-other" })
	s.docs = s.docs[:3] // a search does not find it
	titles := func(req memory.RecallRequest) map[string]string {
		t.Helper()
		req.Limit = 1
		a, receipt := s.asked(t, req, AskOptions{}, func(o *Options) {
			o.Redact = func(text string) (string, int) {
				return strings.ReplaceAll(text, "hunter2", "[redacted]"), strings.Count(text, "hunter2")
			}
		})
		got := map[string]string{}
		for _, w := range a.Withheld {
			got[w.ID] = w.Title
		}
		for _, w := range receipt.Withheld {
			if w.Title != "" {
				t.Errorf("the receipt keeps the title %q", w.Title)
			}
		}
		return got
	}
	for name, test := range map[string]struct {
		req  memory.RecallRequest
		want map[string]string
	}{
		"explained":     {memory.RecallRequest{Explain: true, MinRelevance: new(.0)}, map[string]string{"l-2": "context of l-2: keep [redacted] secret", "s-002": "go test → ok"}},
		"not explained": {memory.RecallRequest{MinRelevance: new(.0)}, map[string]string{"l-2": "", "s-002": ""}},
		"by id":         {memory.RecallRequest{IDs: []string{other.ID}, Explain: true}, map[string]string{other.ID: ""}},
	} {
		if diff := cmp.Diff(test.want, titles(test.req)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestOtherProjectIsNamed: as a person names it; by its id where its name is not known.
func TestOtherProjectIsNamed(t *testing.T) {
	for project, want := range map[string]string{"p-other": "name the project other to see it", "p-gone": "name the project p-gone to see it"} {
		s := newShelf()
		id := s.did("x", "go test", func(r *memory.Record) { r.Project = project }).ID
		if a := s.ask(t, memory.RecallRequest{IDs: []string{id}}); len(a.Withheld) != 1 || a.Withheld[0].Note != want {
			t.Errorf("withheld %+v, want the note %q", a.Withheld, want)
		}
	}
}

// TestTypingLeavesNoReceipt: a question that is still being typed is answered as any
// other, and names no receipt, because there is none.
func TestTypingLeavesNoReceipt(t *testing.T) {
	s := newShelf()
	s.many(3)
	recalled := s.ask(t, memory.RecallRequest{MinRelevance: new(.5)})
	typed := s.ask(t, memory.RecallRequest{MinRelevance: new(.5), Typing: true})
	if len(s.receipts) != 1 || typed.Receipt != "" {
		t.Errorf("%d receipts, want that of the first question; the second is answered with receipt %q", len(s.receipts), typed.Receipt)
	}
	if diff := cmp.Diff(recalled.Items, typed.Items); diff != "" {
		t.Errorf("items (-recall +typing):\n%s", diff)
	}
	if shown := s.ask(t, memory.RecallRequest{IDs: []string{recalled.Items[0].ID}, Typing: true}); len(shown.Items) != 1 || shown.Receipt != "" {
		t.Errorf("by id %d items with receipt %q, want one without", len(shown.Items), shown.Receipt)
	}
}

func TestReceiptTellsItsSettings(t *testing.T) {
	s := newShelf()
	s.many(1)
	kinds := []memory.Kind{memory.Lesson, memory.Chunk}
	lesson, code := defaultLevels(memory.Lesson), defaultLevels(memory.Chunk)
	type of = map[memory.Kind]float64
	sure := of{memory.Lesson: lesson.sure, memory.Chunk: code.sure}
	for name, test := range map[string]struct {
		req   memory.RecallRequest
		other *memory.AnswerSettings
		want  memory.AnswerSettings
	}{
		"the service's": {
			memory.RecallRequest{Kinds: kinds}, nil,
			memory.AnswerSettings{MinRelevance: of{memory.Lesson: lesson.likely, memory.Chunk: code.likely}, Sure: sure, Maybe: of{memory.Lesson: lesson.maybe, memory.Chunk: code.maybe}, VectorWeight: index.ZScoreWeight, Code: 3, CodeBytes: 2048},
		},
		"the question's floor": {
			memory.RecallRequest{Kinds: kinds, MinRelevance: new(.3)}, nil,
			memory.AnswerSettings{MinRelevance: of{memory.Lesson: .3, memory.Chunk: .3}, Sure: sure, VectorWeight: index.ZScoreWeight, Code: 3, CodeBytes: 2048},
		},
		"code alone": {
			memory.RecallRequest{Kinds: kinds[1:], Limit: 10, MaxTokens: 8000}, nil,
			memory.AnswerSettings{MinRelevance: of{memory.Chunk: code.likely}, Sure: of{memory.Chunk: code.sure}, Maybe: of{memory.Chunk: code.maybe}, VectorWeight: index.ZScoreWeight, Code: 10, CodeBytes: 24000},
		},
		"others": {
			memory.RecallRequest{Kinds: kinds, MinRelevance: new(.3)},
			&memory.AnswerSettings{MinRelevance: map[memory.Kind]float64{memory.Lesson: .9}, VectorWeight: .2, Embedder: noEmbedder, Code: 1, CodeBytes: 100},
			memory.AnswerSettings{MinRelevance: of{memory.Lesson: .9, memory.Chunk: .3}, Sure: of{memory.Lesson: max(lesson.sure, .9), memory.Chunk: code.sure}, VectorWeight: .2, Embedder: noEmbedder, Code: 1, CodeBytes: 100},
		},
	} {
		_, r := s.asked(t, test.req, AskOptions{Settings: test.other})
		if diff := cmp.Diff(&test.want, r.Settings); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		// What a receipt says is what it takes to ask again.
		_, again := s.asked(t, test.req, AskOptions{Settings: r.Settings})
		if diff := cmp.Diff(r.Settings, again.Settings); diff != "" {
			t.Errorf("%s, asked again (-first +again):\n%s", name, diff)
		}
	}
	if got := s.service(t).Settings(); got.MinRelevance[memory.Chunk] != .75 || got.VectorWeight != index.ZScoreWeight || got.Embedder != "" {
		t.Errorf("today's settings are %+v, want the defaults", got)
	}
}

// TestOtherSettingsAreOfOneQuestion: the service keeps its own.
func TestOtherSettingsAreOfOneQuestion(t *testing.T) {
	s := newShelf()
	s.many(2)
	s.scale = .001
	service := s.service(t)
	before := service.Settings()
	before.MinRelevance = maps.Clone(before.MinRelevance)
	all := &memory.AnswerSettings{MinRelevance: map[memory.Kind]float64{memory.Lesson: 0}, Embedder: noEmbedder}
	a, _, err := service.Ask(t.Context(), memory.RecallRequest{Query: "needle"}, AskOptions{Settings: all})
	if err != nil || len(a.Items) != 2 {
		t.Errorf("with a floor of 0: %v, %+v; want both lessons", err, a)
	}
	if diff := cmp.Diff(before, service.Settings()); diff != "" {
		t.Errorf("the service's settings (-before +after):\n%s", diff)
	}
	if a, _, err := service.Ask(t.Context(), memory.RecallRequest{Query: "needle"}, AskOptions{}); err != nil || !a.NothingRelevant {
		t.Errorf("with its own settings again: %v, %+v; want nothing relevant", err, a)
	}
}

func TestEmbedderChoosesRetrievers(t *testing.T) {
	s := newShelf()
	s.many(1)
	var mu sync.Mutex // guards asked: all are asked at once
	asked := map[string]bool{}
	source := func(model string) index.Source {
		return index.Source{Name: "vector/" + model, Collection: model, Retriever: retriever(func(context.Context, index.Query) (index.Result, error) {
			mu.Lock()
			defer mu.Unlock()
			asked[model] = true
			return index.Result{}, nil
		})}
	}
	s.more = []index.Source{source("builtin/static-v1"), source("ollama/nomic:latest"), source("ollama/nomic-2"), failing("vector/ollama/down", context.DeadlineExceeded)}
	for embedder, want := range map[string]string{
		"": "builtin/static-v1 ollama/nomic-2 ollama/nomic:latest", "none": "", "builtin": "builtin/static-v1",
		"builtin/static-v1": "builtin/static-v1", "ollama/nomic": "ollama/nomic:latest", "ollama/nomic-2": "ollama/nomic-2",
		"ollama": "ollama/nomic-2 ollama/nomic:latest",
	} {
		clear(asked)
		a, r := s.asked(t, memory.RecallRequest{}, AskOptions{Settings: &memory.AnswerSettings{VectorWeight: .05, Embedder: embedder}})
		if got := strings.Join(slices.Sorted(maps.Keys(asked)), " "); got != want {
			t.Errorf("%q asks %s, want %s", embedder, got, want)
		}
		if len(a.Items) != 1 || len(r.Spaces) != len(asked) {
			t.Errorf("%q: items %v, spaces %v; want what words found, and the spaces that were asked", embedder, ids(a), r.Spaces)
		}
		// One that is left out is not missing.
		if down := len(a.Degraded) > 0; down != (embedder == "" || embedder == "ollama") {
			t.Errorf("%q: degraded %v", embedder, a.Degraded)
		}
	}
	_, _, err := s.service(t).Ask(t.Context(), memory.RecallRequest{Query: "q"}, AskOptions{Settings: &memory.AnswerSettings{Embedder: "ollama/nom"}})
	if e := memory.AsError(err); e.Code != memory.CodeNotFound || e.Field != "embedder" || !strings.Contains(e.Hint, "builtin/static-v1") {
		t.Errorf("an unknown embedder = %v, hint %q; want it not found, and those that there are", err, e.Hint)
	}
}

// current answers for one client.
type current map[string]string

func (c current) CurrentSession(_ string, caller memory.Caller) (memory.Session, bool, error) {
	id, ok := c[caller.Client]
	return memory.Session{ID: id}, ok, nil
}

func TestReceiptIsOfASession(t *testing.T) {
	s := newShelf()
	s.many(1)
	s.session("mine")
	s.session("ended", func(x *memory.Session) { x.EndedAt = now })
	for name, test := range map[string]struct {
		caller  memory.Caller
		session string
		turn    int
	}{
		"its own":                {memory.Caller{Session: "mine", Client: "c"}, "mine", 4},
		"its own, ended":         {memory.Caller{Session: "ended"}, "ended", 5},
		"of another project":     {memory.Caller{Session: "elsewhere", Client: "c"}, "", 0},
		"the client's current":   {memory.Caller{Client: "c"}, "open", 4},
		"a client that has none": {memory.Caller{Client: "d"}, "", 0},
	} {
		_, r := s.asked(t, memory.RecallRequest{Caller: test.caller}, AskOptions{}, func(o *Options) {
			o.Current = current{"c": "open"}
			o.Turn = func(k memory.SessionKey) int {
				if k.Project != "p-own" {
					t.Errorf("%s: the turn is asked of project %q", name, k.Project)
				}
				return len(k.ID) // which tells sessions apart
			}
		})
		if r.Session != test.session || r.Turn != test.turn {
			t.Errorf("%s: session %q, turn %d; want %q, %d", name, r.Session, r.Turn, test.session, test.turn)
		}
	}
	if _, r := s.asked(t, memory.RecallRequest{Caller: memory.Caller{Session: "mine"}}, AskOptions{}); r.Session != "mine" || r.Turn != 0 {
		t.Errorf("without turns: session %q, turn %d; want mine and 0", r.Session, r.Turn)
	}
}

// TestAskAtAnotherTime: of what is said about time, and of the age of what is found.
func TestAskAtAnotherTime(t *testing.T) {
	s := newShelf()
	s.many(1)
	_, late := s.asked(t, memory.RecallRequest{Filters: &memory.Filters{SinceHours: 2}}, AskOptions{At: now.Add(90 * day)})
	if got, want := s.selected[0].Since, now.Add(90*day-2*time.Hour); !got.Equal(want) {
		t.Errorf("the last two hours begin %v, want %v", got, want)
	}
	if got := late.Items[0].RankFactors.Recency; got != .9 {
		t.Errorf("a lesson of 90 days before has the recency %v, want .9", got)
	}
	if !late.At.Equal(now) {
		t.Errorf("the receipt is of %v, want the time of the answer, %v", late.At, now)
	}
}

// TestAskOfAKnownProject does not look for it.
func TestAskOfAKnownProject(t *testing.T) {
	s := newShelf()
	s.many(1)
	own := memory.Project{ID: "p-own", Name: "renamed", Names: []string{"renamed", "own"}}
	a, _ := s.asked(t, memory.RecallRequest{Caller: memory.Caller{Dir: "/gone"}}, AskOptions{Project: &own},
		func(o *Options) { o.Projects = noProjects{t} })
	if len(a.Items) != 1 || a.ProjectName != "renamed" || a.Items[0].Foreign {
		t.Errorf("the answer is of %q with %+v, want the project that was given and its lesson", a.ProjectName, a.Items)
	}
}

// noProjects are not to be asked.
type noProjects struct{ t *testing.T }

func (p noProjects) Resolve(context.Context, string, memory.Caller) (memory.Project, bool, error) {
	p.t.Error("the project is looked for")
	return memory.Project{}, false, nil
}
