package ingest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

// after sets the rig's clock to so many minutes after its start.
func (r *rig) after(minutes int) time.Time {
	r.now = testTime.Add(time.Duration(minutes) * time.Minute)
	return r.now
}

// refused fails the test unless err is of the code and names the field.
func refused(t *testing.T, what string, err error, code memory.Code, field string) {
	t.Helper()
	if e := memory.AsError(err); err == nil || e.Code != code || e.Field != field {
		t.Errorf("%s = %v (field %q), want %s that names %q", what, err, e.Field, code, field)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	r := newRig(t)
	const tellings = memory.MaxObservations + 10
	var id string
	for i := range tellings {
		r.after(i)
		id = r.remember(memory.RememberRequest{Lesson: "x", SuccessRate: fmt.Sprintf("%d/%d", i, i)}).ID
	}
	e := r.record(id).Event
	if e.Seen != tellings || len(e.Observations) != memory.MaxObservations {
		t.Fatalf("seen %d times with %d tellings kept, want %d and %d", e.Seen, len(e.Observations), tellings, memory.MaxObservations)
	}
	if first, second := e.Observations[0].At, e.Observations[1].At; !first.Equal(testTime) || !second.Equal(testTime.Add((tellings-memory.MaxObservations+1)*time.Minute)) {
		t.Errorf("the history begins at %s and %s, want the first telling and then the latest", first, second)
	}
	if last := tellings - 1; *e.Rate != (memory.Rate{Successes: last, Attempts: last}) {
		t.Errorf("the rate is %s, want that of the latest telling", e.Rate)
	}
}

// TestRate: a rate is a snapshot, to which outcomes add until the next one.
func TestRate(t *testing.T) {
	r := newRig(t)
	id := r.remember(memory.RememberRequest{Lesson: "x", SuccessRate: "9/10"}).ID
	check := func(when string, want memory.Rate) {
		t.Helper()
		if got := r.record(id).Event.Rate; got == nil || *got != want {
			t.Errorf("%s the rate is %v, want %s", when, got, want)
		}
	}
	outcome := func(ok bool, ids ...string) {
		t.Helper()
		must(t, r.ingest.Outcome(t.Context(), ids, ok))
	}
	outcome(true, id, "l-unknown", id)
	check("after a success", memory.Rate{Successes: 10, Attempts: 11})
	outcome(false, id)
	check("after a failure", memory.Rate{Successes: 10, Attempts: 12})
	r.after(1)
	r.remember(memory.RememberRequest{Lesson: "x"})
	check("after a telling without a rate", memory.Rate{Successes: 10, Attempts: 12})
	r.remember(memory.RememberRequest{Lesson: "x", SuccessRate: "3/4"})
	check("after a telling with one", memory.Rate{Successes: 3, Attempts: 4})

	bare := r.remember(memory.RememberRequest{Lesson: "y"}).ID
	before := r.store.Seq()
	outcome(false, "l-unknown")
	if r.store.Seq() != before {
		t.Error("an outcome of nothing was written")
	}
	outcome(false, bare)
	if e := r.record(bare).Event; *e.Rate != (memory.Rate{Attempts: 1}) || !e.RateAt.Equal(r.now) {
		t.Errorf("the first outcome makes the rate %s at %s, want 0/1 now", e.Rate, e.RateAt)
	}
}

// TestFilesTakeNoOutcomeBack: what a file tells of a rate is of then, and outcomes
// since stay counted.
func TestFilesTakeNoOutcomeBack(t *testing.T) {
	r := newRig(t)
	_, told, err := r.ingest.RememberLine(t.Context(), memory.RememberRequest{Lesson: "x", SuccessRate: "9/10", AgentID: "a", Caller: r.caller})
	must(t, err)
	id := r.lessons()[0].ID
	r.after(10)
	must(t, r.ingest.Outcome(t.Context(), []string{id}, true))
	exported := *told
	exported.Hash, exported.SuccessRate = memory.DocID{}, "10/11"
	earlier := *told
	earlier.AgentID, earlier.SuccessRate, earlier.Timestamp, earlier.Hash = "b", "1/9", testTime.Add(5*time.Minute), memory.DocID{1}
	counted := func(minutes int, rate string) memory.LogLine {
		l := *told
		l.Counted, l.AgentID, l.SuccessRate, l.Hash = true, "", rate, memory.DocID{2}
		l.Timestamp = testTime.Add(time.Duration(minutes) * time.Minute)
		return l
	}
	for _, tc := range []struct {
		name string
		line memory.LogLine
		want Imported
		rate string
		seen int
	}{
		{"its own line", *told, Imported{Known: 1}, "10/11", 1},
		{"its telling with the rate of now", exported, Imported{Known: 1}, "10/11", 1},
		{"another telling, of before the outcome", earlier, Imported{Added: 1}, "10/11", 2},
		{"the outcome", counted(10, "10/11"), Imported{}, "10/11", 2},
		{"a count of before", counted(9, "1/1"), Imported{}, "10/11", 2},
		{"a later count, of another machine", counted(11, "12/14"), Imported{}, "12/14", 2},
		{"the outcome again", counted(10, "10/11"), Imported{}, "12/14", 2},
	} {
		if got := r.importLines(tc.line); !cmp.Equal(got, tc.want) {
			t.Errorf("%s: taken %+v, want %+v", tc.name, got, tc.want)
		}
		if e := r.record(id).Event; e.Rate.String() != tc.rate || e.Seen != tc.seen {
			t.Errorf("%s: the rate is %s and it was seen %d times, want %s and %d", tc.name, e.Rate, e.Seen, tc.rate, tc.seen)
		}
	}
}

func TestSupersedeAndRetract(t *testing.T) {
	r := newRig(t)
	old := r.remember(memory.RememberRequest{Lesson: "rm -rf node_modules"}).ID
	wrong := r.remember(memory.RememberRequest{Lesson: "chmod 777"}).ID
	r.after(1)
	out, line, err := r.ingest.RememberLine(t.Context(), memory.RememberRequest{
		Lesson: "npm ci", Supersedes: []string{old, old[:len("l-")+6]}, Retracts: []string{wrong[:len("l-")+6]}, Caller: r.caller,
	})
	if err != nil || out.Merged {
		t.Fatalf("remember = %+v, %v; want a new lesson", out, err)
	}
	if !cmp.Equal(line.Supersedes, []string{old}) || !cmp.Equal(line.Retracts, []string{wrong}) {
		t.Errorf("the line is %+v, want what it puts aside in it, once", line)
	}
	for id, reason := range map[string]string{old: "superseded", wrong: "retracted"} {
		want := &memory.Withdrawal{At: r.now, By: out.ID, Reason: reason}
		if diff := cmp.Diff(want, r.record(id).Event.Withdrawn); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	if r.record(out.ID).Event.Withdrawn != nil {
		t.Error("the new lesson is aside itself")
	}
	r.after(2)
	if back := r.remember(memory.RememberRequest{Lesson: "chmod 777"}); !back.Merged || r.record(wrong).Event.Withdrawn != nil {
		t.Errorf("a retracted lesson that is told again = %+v, aside %v; want it back", back, r.record(wrong).Event.Withdrawn)
	}
}

func TestAsideOfNothing(t *testing.T) {
	r := newRig(t)
	own := r.remember(memory.RememberRequest{Lesson: "own"}).ID
	foreign := r.remember(memory.RememberRequest{Lesson: "foreign", Caller: memory.Caller{Dir: t.TempDir()}}).ID
	before := r.contents()
	for name, tc := range map[string]struct {
		req   memory.RememberRequest
		code  memory.Code
		field string
	}{
		"unknown":          {memory.RememberRequest{Lesson: "x", Supersedes: []string{own, "l-unknown"}}, memory.CodeNotFound, "supersedes[1]"},
		"another project":  {memory.RememberRequest{Lesson: "x", Retracts: []string{foreign}}, memory.CodeNotFound, "retracts[0]"},
		"its beginning":    {memory.RememberRequest{Lesson: "x", Retracts: []string{foreign[:len("l-")+6]}}, memory.CodeNotFound, "retracts[0]"},
		"a short one":      {memory.RememberRequest{Lesson: "x", Retracts: []string{own[:len("l-")+5]}}, memory.CodeNotFound, "retracts[0]"},
		"itself":           {memory.RememberRequest{Lesson: "own", Supersedes: []string{own}}, memory.CodeInvalidInput, "supersedes[0]"},
		"itself retracted": {memory.RememberRequest{Lesson: " OWN", Retracts: []string{own}}, memory.CodeInvalidInput, "retracts[0]"},
	} {
		tc.req.Caller = r.caller
		_, err := r.ingest.Remember(t.Context(), tc.req)
		refused(t, name, err, tc.code, tc.field)
	}
	if e := r.record(own).Event; r.contents() != before || e.Withdrawn != nil || e.Seen != 1 {
		t.Errorf("refused requests left %+v and %+v, want nothing changed", r.contents(), e)
	}
}

// TestForgottenComesBackOnlyByTelling: an import leaves a forgotten lesson out.
func TestForgottenComesBackOnlyByTelling(t *testing.T) {
	r := newRig(t)
	_, line, err := r.ingest.RememberLine(t.Context(), memory.RememberRequest{Lesson: "x", Caller: r.caller})
	must(t, err)
	id := r.remember(memory.RememberRequest{Lesson: "x"}).ID
	if _, err := r.ingest.Forget(t.Context(), memory.ForgetRequest{IDs: []string{id, "l-never"}}, r.store); err != nil {
		t.Fatal(err)
	}
	if dead, err := r.store.Tombstoned("l-never"); err != nil || dead {
		t.Errorf("an id that no record had has a tombstone: %v, %v", dead, err)
	}
	before := r.store.Seq()
	out := r.importLines(*line)
	if out.Forgotten != 1 || out.Added != 0 || r.store.Seq() != before {
		t.Errorf("the import = %+v, want the forgotten line left out and nothing written", out)
	}
	r.after(1)
	if again := r.remember(memory.RememberRequest{Lesson: "x"}); again.Merged || again.ID != id {
		t.Errorf("told again = %+v, want it new under the same id", again)
	}
	if out := r.importLines(*line); out.Added != 1 || r.record(id).Event.Seen != 2 {
		t.Errorf("the import after that = %+v, want its line counted", out)
	}
}

func TestLessonOfASession(t *testing.T) {
	r := newRig(t)
	r.caller.Client = "agent"
	session := r.start(memory.StartSessionRequest{})
	failing := memory.RecordStepRequest{Tool: memory.StepTool{Name: "bash"},
		Outcome: memory.Outcome{Error: &memory.StepError{Message: "npm ERR! EACCES: permission denied, open '/srv/a/1'"}}}
	step := r.record(r.step(failing).ID)
	if len(step.Step.Fingerprints) == 0 {
		t.Fatal("the failing step has no fingerprint")
	}
	holds := func(id string) bool {
		return len(union(r.record(id).Event.Fingerprints, step.Step.Fingerprints, 100)) == len(r.record(id).Event.Fingerprints)
	}
	r.after(30)
	if pattern := r.remember(memory.RememberRequest{Lesson: "grid tracks shrink", Caller: r.caller}).ID; holds(pattern) {
		t.Error("a pattern, which may be about anything, is taken to be about the error")
	}
	told := memory.RememberRequest{Type: memory.EventError, Lesson: "own the folder", Caller: r.caller}
	soon := r.remember(told).ID
	if rec := r.record(soon); rec.Session != session.ID || rec.Event.Observations[0].Session != session.ID || rec.Event.AgentID != "agent" || !holds(soon) {
		t.Errorf("a lesson half an hour after = %+v, want it of the session, with the step's errors", rec.Event)
	}
	if other := r.remember(memory.RememberRequest{Lesson: "of another client", Caller: memory.Caller{Dir: r.repo, Client: "b"}}).ID; holds(other) || r.record(other).Session != "" {
		t.Errorf("another client's lesson = %+v, want it of no session", r.record(other))
	}
	if foreign := r.remember(memory.RememberRequest{Lesson: "of no session", Caller: memory.Caller{Dir: r.repo, Session: "mm-elsewhere"}}).ID; r.record(foreign).Session != "" {
		t.Errorf("a lesson is taken to be of a session that this project does not have: %+v", r.record(foreign))
	}
	told.Lesson = "and another thing"
	if second := r.remember(told).ID; holds(second) {
		t.Error("a second lesson is taken to be about the same failure")
	}
	r.step(failing)
	r.after(61)
	told.Lesson = "much later"
	if late := r.remember(told).ID; holds(late) {
		t.Error("a lesson is taken to be about an error of long before")
	}
}

func TestFailuresAreBounded(t *testing.T) {
	var f recent
	key := func(i int) memory.SessionKey { return memory.SessionKey{Project: "p", ID: fmt.Sprint(i)} }
	for i := range maxSessions + 1 {
		f.put(key(i), testTime.Add(time.Duration(i)*time.Millisecond), []string{"e"}, 1)
	}
	f.put(key(5), testTime, []string{"older"}, 1)
	f.put(key(6), testTime.Add(time.Second), nil, 0)
	n, first := len(f.last), f.take(key(0), testTime)
	if n != maxSessions || first != nil || f.take(key(maxSessions), testTime) == nil {
		t.Errorf("%d sessions are kept, the first of them %v; want the oldest out of %d", n, first, maxSessions)
	}
	if got := f.take(key(5), testTime); !cmp.Equal(got, []string{"e"}) {
		t.Errorf("the last failure is %v, want the later one kept", got)
	}
	if got := f.take(key(5), testTime); got != nil {
		t.Errorf("the same failure is taken twice: %v", got)
	}
}
