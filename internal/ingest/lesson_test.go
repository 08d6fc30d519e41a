package ingest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/fingerprint"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/redact"
)

// TestRememberedIsFoundAtOnce by its words and by its meaning.
func TestRememberedIsFoundAtOnce(t *testing.T) {
	r := newRig(t)
	out := r.remember(memory.RememberRequest{
		Type: memory.EventError, Context: "npm install fails", Command: "npm ci", Lesson: "chown the cache folder",
		SuccessRate: "9/10", Tags: []string{"npm", "permissions"}, AgentID: "agent-1",
	})
	if out.ProjectName != "demo" || out.Repo != "demo" || out.Merged || out.Redacted || out.Seq != r.store.Seq() {
		t.Errorf("remembered = %+v, want a new lesson of demo at %d", out, r.store.Seq())
	}
	want := memory.Record{
		ID: out.ID, Kind: memory.Lesson, Project: out.Project, Repo: "demo", Tags: []string{"npm", "permissions"}, Created: testTime,
		Provenance: memory.Provenance{Origin: memory.OriginTold, Agent: "agent-1"},
		Text:       "npm install fails\nchown the cache folder\nnpm ci\nnpm permissions",
		Event: &memory.Event{
			AgentID: "agent-1", Type: memory.EventError, Context: "npm install fails", Command: "npm ci",
			Lesson: "chown the cache folder", Rate: &memory.Rate{Successes: 9, Attempts: 10}, RateAt: testTime, Seen: 1,
			Observations: []memory.Observation{{At: testTime, AgentID: "agent-1", Rate: &memory.Rate{Successes: 9, Attempts: 10}}},
			Fingerprints: fingerprint.Of("npm install fails\nchown the cache folder\nnpm ci"),
		},
	}
	want.Doc = memory.DocumentID(want.Text)
	if diff := cmp.Diff(want, r.record(out.ID)); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	for _, s := range r.index.Sources() {
		allow, universe := r.index.Select(memory.Selection{Project: out.Project, Kinds: memory.DefaultKinds, Tag: "npm"})
		res, err := s.Retriever.Retrieve(t.Context(), index.Query{Text: "npm permission problem", Allow: allow, Universe: universe, Limit: 5})
		if err != nil || len(res.Hits) != 1 {
			t.Errorf("%s finds %d lessons, %v; want it at once", s.Name, len(res.Hits), err)
		}
	}
}

func TestSameLessonIsMerged(t *testing.T) {
	r := newRig(t)
	first := r.remember(memory.RememberRequest{Type: memory.EventError, Context: "npm install", Lesson: "Clear the cache", SuccessRate: "9/10", Tags: []string{"npm"}})
	r.now = testTime.Add(time.Hour)
	again := r.remember(memory.RememberRequest{Type: memory.EventSuccess, Context: " NPM  install", Lesson: "clear the\ncache ", SuccessRate: "1/2", Tags: []string{"ci", "npm"}})
	if !again.Merged || again.ID != first.ID {
		t.Errorf("the same lesson in other letters = %+v, want it merged into %s", again, first.ID)
	}
	r.now = testTime.Add(2 * time.Hour)
	third := r.remember(memory.RememberRequest{Context: "npm install", Lesson: "Clear the cache"})
	rec := r.record(third.ID)
	want := memory.Event{
		Type: memory.EventPattern, Context: "npm install", Lesson: "Clear the cache", Seen: 3,
		Rate: &memory.Rate{Successes: 1, Attempts: 2}, RateAt: testTime.Add(time.Hour),
		Observations: []memory.Observation{
			{At: testTime, Rate: &memory.Rate{Successes: 9, Attempts: 10}},
			{At: testTime.Add(time.Hour), Rate: &memory.Rate{Successes: 1, Attempts: 2}},
			{At: testTime.Add(2 * time.Hour)},
		},
	}
	if diff := cmp.Diff(want, *rec.Event); diff != "" {
		t.Errorf("the event after three tellings (-want +got):\n%s", diff)
	}
	if !rec.Created.Equal(testTime) || !rec.Updated.Equal(r.now) || !cmp.Equal(rec.Tags, []string{"npm", "ci"}) {
		t.Errorf("record = %+v, want the first time, the last update and all tags once", rec)
	}
	if got, want := r.contents(), (contents{Records: 1, Documents: 1, Projects: 1}); got != want {
		t.Errorf("the store holds %+v, want %+v", got, want)
	}
	if other := r.remember(memory.RememberRequest{Context: "npm install", Lesson: "Clear the cache", Command: "npm cache clean"}); other.Merged {
		t.Error("a lesson with another command was merged")
	}
}

// TestLessonsOfTwoRepositories are two, or the second would not be found by its own
// repository's name.
func TestLessonsOfTwoRepositories(t *testing.T) {
	r := newRig(t)
	one := r.remember(memory.RememberRequest{Repo: "alpha", Lesson: "Pin the base image"})
	two := r.remember(memory.RememberRequest{Repo: "beta", Lesson: "pin the  base image"})
	if two.Merged || one.ID == two.ID {
		t.Errorf("remembered = %+v and %+v, want a lesson of each repository", one, two)
	}
}

func TestMergeKeepsTagsWithinTheirLimit(t *testing.T) {
	r := newRig(t)
	var tags []string
	for i := range memory.MaxTags {
		tags = append(tags, fmt.Sprint("tag", i))
	}
	r.remember(memory.RememberRequest{Lesson: "x", Tags: tags})
	out := r.remember(memory.RememberRequest{Lesson: "x", Tags: []string{"tag0", "more"}})
	if got := r.record(out.ID).Tags; !cmp.Equal(got, tags) {
		t.Errorf("the tags after merging are %v, want %v", got, tags)
	}
}

func TestRedactionInEveryField(t *testing.T) {
	const secret = "hunter2"
	for field, set := range map[string]func(*memory.RememberRequest){
		"lesson":   func(q *memory.RememberRequest) { q.Lesson = "the password is " + secret },
		"context":  func(q *memory.RememberRequest) { q.Context = secret },
		"command":  func(q *memory.RememberRequest) { q.Command = "login -p " + secret },
		"tag":      func(q *memory.RememberRequest) { q.Tags = []string{"a", secret} },
		"repo":     func(q *memory.RememberRequest) { q.Repo = secret },
		"agent id": func(q *memory.RememberRequest) { q.AgentID = secret },
	} {
		r := newRig(t)
		req := memory.RememberRequest{Lesson: "a lesson"}
		set(&req)
		tags := append([]string(nil), req.Tags...)
		out := r.remember(req)
		if !out.Redacted {
			t.Errorf("%s: the answer does not say that something was taken out", field)
		}
		rec := r.record(out.ID)
		for _, text := range append([]string{rec.Text, rec.Repo, out.Repo, rec.Event.Context, rec.Event.Command, rec.Event.Lesson, rec.Event.AgentID}, rec.Tags...) {
			if strings.Contains(text, secret) {
				t.Errorf("%s: the secret is kept in %q", field, text)
			}
		}
		if !cmp.Equal(tags, req.Tags) {
			t.Errorf("%s: the caller's tags were changed to %v", field, req.Tags)
		}
	}
}

func TestLessonOfNothingButSecrets(t *testing.T) {
	r := newRig(t, func(_ *rig, o *Options) {
		o.Redact = func(text string) (string, int) { return strings.ReplaceAll(text, "hunter2", ""), 1 }
	})
	_, err := r.ingest.Remember(t.Context(), memory.RememberRequest{Lesson: "hunter2", Caller: r.caller})
	if memory.CodeOf(err) != memory.CodeInvalidInput || memory.AsError(err).Field != "lesson" {
		t.Errorf("remember = %v, want the lesson refused", err)
	}
	if got := r.contents(); got != (contents{}) {
		t.Errorf("the store holds %+v, want nothing", got)
	}
}

func TestRequestIsDoneOnce(t *testing.T) {
	r := newRig(t)
	req := memory.RememberRequest{RequestID: "req-1", Lesson: "once", SuccessRate: "1/1"}
	first := r.remember(req)
	again := r.remember(req)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("the repeated request is answered otherwise (-first +again):\n%s", diff)
	}
	if rec := r.record(first.ID); rec.Event.Seen != 1 || rec.Event.Rate.Attempts != 1 {
		t.Errorf("the repeated request counted: %+v", rec.Event)
	}
	req.RequestID = "req-2"
	if out := r.remember(req); !out.Merged || out.Seq <= first.Seq {
		t.Errorf("another request = %+v, want it merged later than %d", out, first.Seq)
	}
}

// TestRepeatedAfterForget: a repeated request has its first answer, also if the lesson that it
// superseded was forgotten since.
func TestRepeatedAfterForget(t *testing.T) {
	r := newRig(t)
	old := r.remember(memory.RememberRequest{Lesson: "npm install"}).ID
	requests := []memory.RememberRequest{
		{RequestID: "id", Lesson: "npm ci", Supersedes: []string{old}, Caller: r.caller},
		{RequestID: "beginning", Lesson: "npm ci again", Supersedes: []string{old[:len("l-")+6]}, Caller: r.caller},
	}
	first := []*memory.Remembered{r.remember(requests[0]), r.remember(requests[1])}
	if _, err := r.ingest.Forget(t.Context(), memory.ForgetRequest{IDs: []string{old}}, r.store); err != nil {
		t.Fatal(err)
	}
	for i, req := range requests {
		again, err := r.ingest.Remember(t.Context(), req)
		if diff := cmp.Diff(first[i], again); err != nil || diff != "" {
			t.Errorf("the request %s again: %v (-first +again)\n%s", req.RequestID, err, diff)
		}
	}
	req := memory.RememberRequest{RequestID: "new", Lesson: "npm ci", Supersedes: []string{old}, Caller: r.caller}
	if _, err := r.ingest.Remember(t.Context(), req); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("a new request: %v, want not found", err)
	}
}

func TestProjectOfALesson(t *testing.T) {
	r := newRig(t)
	own := r.remember(memory.RememberRequest{Lesson: "from the folder"})
	byName := r.remember(memory.RememberRequest{Lesson: "by name", Project: "demo", Caller: memory.Caller{Dir: t.TempDir()}})
	byID := r.remember(memory.RememberRequest{Lesson: "by id", Project: own.Project, Repo: "elsewhere"})
	if byName.Project != own.Project || byID.Project != own.Project || byID.Repo != "elsewhere" || byName.Repo != "demo" {
		t.Errorf("by folder %+v, by name %+v, by id %+v; want one project", own, byName, byID)
	}
	for name, test := range map[string]struct {
		req  memory.RememberRequest
		code memory.Code
	}{
		"unknown name": {memory.RememberRequest{Lesson: "x", Project: "nowhere"}, memory.CodeNotFound},
		"no folder":    {memory.RememberRequest{Lesson: "x"}, memory.CodeInvalidInput},
		"gone folder":  {memory.RememberRequest{Lesson: "x", Caller: memory.Caller{Dir: r.repo + "-gone"}}, memory.CodeNotFound},
	} {
		before := r.contents()
		if _, err := r.ingest.Remember(t.Context(), test.req); memory.CodeOf(err) != test.code {
			t.Errorf("%s: remember = %v, want %s", name, err, test.code)
		}
		if r.contents() != before {
			t.Errorf("%s: something was written", name)
		}
	}
}

func TestBadInputWritesNothing(t *testing.T) {
	long := func(n int) string { return strings.Repeat("ü", n) }
	many := make([]string, 21)
	for i := range many {
		many[i] = "t" + long(i)
	}
	for name, test := range map[string]struct {
		req   memory.RememberRequest
		field string
	}{
		"no lesson":      {memory.RememberRequest{Context: "c"}, "lesson"},
		"blank lesson":   {memory.RememberRequest{Lesson: " \n"}, "lesson"},
		"long lesson":    {memory.RememberRequest{Lesson: long(4001)}, "lesson"},
		"long context":   {memory.RememberRequest{Lesson: "x", Context: long(2001)}, "context"},
		"long command":   {memory.RememberRequest{Lesson: "x", Command: long(2001)}, "command"},
		"long repo":      {memory.RememberRequest{Lesson: "x", Repo: long(201)}, "repo"},
		"long agent":     {memory.RememberRequest{Lesson: "x", AgentID: long(201)}, "agent_id"},
		"long request":   {memory.RememberRequest{Lesson: "x", RequestID: long(201)}, "request_id"},
		"unknown type":   {memory.RememberRequest{Lesson: "x", Type: "idea"}, "event_type"},
		"too many tags":  {memory.RememberRequest{Lesson: "x", Tags: many}, "tags"},
		"empty tag":      {memory.RememberRequest{Lesson: "x", Tags: []string{"a", ""}}, "tags[1]"},
		"long tag":       {memory.RememberRequest{Lesson: "x", Tags: []string{long(65)}}, "tags[0]"},
		"rate over one":  {memory.RememberRequest{Lesson: "x", SuccessRate: "3/2"}, "success_rate"},
		"rate of words":  {memory.RememberRequest{Lesson: "x", SuccessRate: "often"}, "success_rate"},
		"negative rate":  {memory.RememberRequest{Lesson: "x", SuccessRate: "-1/2"}, "success_rate"},
		"NUL":            {memory.RememberRequest{Lesson: "x\x00y"}, "lesson"},
		"invalid UTF-8":  {memory.RememberRequest{Lesson: "x\xffy"}, "lesson"},
		"NUL in context": {memory.RememberRequest{Lesson: "x", Context: "\x00"}, "context"},
	} {
		r := newRig(t)
		test.req.Caller = r.caller
		_, err := r.ingest.Remember(t.Context(), test.req)
		e := memory.AsError(err)
		if memory.CodeOf(err) != memory.CodeInvalidInput || e.Field != test.field || e.Limit == "" {
			t.Errorf("%s: remember = %v (field %q, limit %q), want invalid input that names %q and a limit", name, err, e.Field, e.Limit, test.field)
		}
		if got := r.contents(); got != (contents{}) {
			t.Errorf("%s: the store holds %+v, want nothing", name, got)
		}
	}
}

// TestManyWritersOfOneLesson: every telling counts, whoever was first.
func TestManyWritersOfOneLesson(t *testing.T) {
	r := newRig(t)
	const writers, tellings = 8, 10
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range tellings {
				if _, err := r.ingest.Remember(context.Background(), memory.RememberRequest{Lesson: "one and the same", SuccessRate: "1/2", Caller: r.caller}); err != nil {
					t.Errorf("remember: %v", err)
				}
			}
		})
	}
	wg.Wait()
	out := r.remember(memory.RememberRequest{Lesson: "one and the same"})
	rec := r.record(out.ID)
	if n := writers * tellings; rec.Event.Seen != n+1 || *rec.Event.Rate != (memory.Rate{Successes: 1, Attempts: 2}) || len(rec.Event.Observations) != memory.MaxObservations {
		t.Errorf("seen %d times with a rate of %s and %d tellings kept, want %d, 1/2 and %d",
			rec.Event.Seen, rec.Event.Rate, len(rec.Event.Observations), n+1, memory.MaxObservations)
	}
}

// TestLessonOfNothingButMarks is refused: nothing is left that could help.
func TestLessonOfNothingButMarks(t *testing.T) {
	r := newRig(t, func(_ *rig, o *Options) { o.Redact = redact.Redact })
	before := r.contents()
	for _, lesson := range []string{"<private>the key is under the mat</private>", "<private>a</private>, <private>b</private>.", "<private> not closed"} {
		_, err := r.ingest.Remember(t.Context(), memory.RememberRequest{Lesson: lesson, Context: "at the door", Caller: r.caller})
		refused(t, lesson, err, memory.CodeInvalidInput, "lesson")
	}
	if r.contents() != before {
		t.Errorf("the store holds %+v, want nothing", r.contents())
	}
	out := r.importLines(memory.LogLine{Type: memory.EventError, Lesson: "<private>x</private>", Timestamp: testTime})
	if len(out.Problems) != 1 {
		t.Errorf("a line of it = %+v, want a problem", out)
	}
	r.remember(memory.RememberRequest{Lesson: "ask at the desk <private>for Bob</private>"})
}
