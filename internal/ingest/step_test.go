package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/index"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/steptext"
)

// TestStepIsFoundAtOnce, with all that is derived of it.
func TestStepIsFoundAtOnce(t *testing.T) {
	r := newRig(t, vocabulary)
	session := r.start(memory.StartSessionRequest{Goal: "smoke test", FlowTags: []string{"send"}})
	at := r.after(1)
	const page = `{"state":{"currentScreen":"confirm-tx","n":1.50},"testIds":["confirm-hunter2"]}`
	out := r.step(memory.RecordStepRequest{
		Tool:        memory.StepTool{Name: "mm_click", Input: json.RawMessage(`{"testId":"confirm"}`), Target: json.RawMessage(`"confirm"`)},
		Outcome:     memory.Outcome{Error: &memory.StepError{Code: "E_TIMEOUT", Message: "error: no element hunter2 after 500 ms", Details: json.RawMessage(`{"t":"hunter2"}`)}},
		Observation: json.RawMessage(page), Environment: json.RawMessage(`{"os":"hunter2"}`), DurationMs: 12, Screenshot: "1.png",
	})
	labels := []string{"mm_click", "on confirm", "failed"}
	if !out.Timestamp.Equal(at) || out.SessionID != session.ID || out.Project != session.Project || !out.Redacted || !cmp.Equal(out.Labels, labels) {
		t.Errorf("recorded = %+v, want a step of %s at %s", out, session.ID, at)
	}
	rec := r.record(out.ID)
	want := memory.StepContent{
		Tool: memory.StepTool{Name: "mm_click", Input: json.RawMessage(`{"testId":"confirm"}`), Target: json.RawMessage(`"confirm"`)},
		Outcome: memory.Outcome{Error: &memory.StepError{
			Code: "E_TIMEOUT", Message: "error: no element [redacted] after 500 ms", Details: json.RawMessage(`{"t":"[redacted]"}`)}},
		Observation: json.RawMessage(strings.ReplaceAll(page, "hunter2", "[redacted]")), Environment: json.RawMessage(`{"os":"[redacted]"}`),
		DurationMs: 12, Screenshot: "1.png", Labels: labels, Screen: "confirm-tx", Fingerprints: rec.Step.Fingerprints,
	}
	if diff := cmp.Diff(want, *rec.Step); diff != "" {
		t.Errorf("the step (-want +got):\n%s", diff)
	}
	if rec.Text != steptext.Text(rec, session.Session) || !strings.Contains(rec.Text, "smoke test") || strings.Contains(rec.Text, "hunter2") {
		t.Errorf("it is searched by %q", rec.Text)
	}
	for _, s := range r.index.Sources() {
		allow, universe := r.index.Select(memory.Selection{Project: out.Project, Kinds: []memory.Kind{memory.Step}})
		res, err := s.Retriever.Retrieve(t.Context(), index.Query{Text: "confirm a transaction", Allow: allow, Universe: universe, Limit: 5})
		if err != nil || len(res.Hits) != 1 {
			t.Errorf("%s finds %d steps, %v; want it at once", s.Name, len(res.Hits), err)
		}
	}
}

func TestErrorsOfAStep(t *testing.T) {
	r := newRig(t)
	r.start(memory.StartSessionRequest{})
	const npm = "npm ERR! code EACCES: permission denied, mkdir '/srv/app/node_modules'"
	print := func(o memory.Outcome, observation string) []string {
		req := memory.RecordStepRequest{Tool: memory.StepTool{Name: "bash"}, Outcome: o, Observation: json.RawMessage(observation)}
		return r.record(r.step(req).ID).Step.Fingerprints
	}
	quoted, _ := json.Marshal(map[string]string{"stderr": "building\n" + npm + "\n"})
	failed := memory.Outcome{Error: &memory.StepError{Message: "exit status 1"}}
	byMessage, byOutput := print(memory.Outcome{Error: &memory.StepError{Message: npm}}, ""), print(failed, string(quoted))
	if len(byMessage) == 0 || len(byMessage) != len(union(byOutput, byMessage, 100)) {
		t.Errorf("an error has the fingerprints %v as a message and %v in the output, want the same", byMessage, byOutput)
	}
	many := slices.Repeat([]string{"building"}, 3000)
	long := strings.Join(many, "\n")
	for where, output := range map[string]any{
		"the end": long + "\n" + npm, "the beginning": npm + "\n" + long,
		"a field between two": map[string]string{"stdout": long[:9_000], "stderr": npm, "zdiff": long},
		"the end of a list":   map[string]any{"lines": append(many, npm)},
	} {
		long, _ := json.Marshal(output)
		if got := print(failed, string(long)); len(union(got, byMessage, 100)) != len(got) || len(got) == 0 {
			t.Errorf("at %s of a long output it has the fingerprints %v, want those of the message, %v", where, got, byMessage)
		}
	}
	if got := print(memory.Outcome{OK: true}, string(quoted)); got != nil {
		t.Errorf("a step that went well has the errors %v", got)
	}
}

func TestSessionOfAStep(t *testing.T) {
	r := newRig(t, vocabulary)
	tool := memory.StepTool{Name: "read"}
	record := func(req memory.RecordStepRequest) (*memory.StepRecorded, error) {
		req.Tool, req.Outcome.OK = tool, true
		if req.Caller.Dir == "" {
			req.Caller.Dir = r.repo
		}
		return r.ingest.RecordStep(t.Context(), req)
	}
	_, err := record(memory.RecordStepRequest{})
	refused(t, "no session", err, memory.CodeInvalidInput, "sessionId")
	if hint := memory.AsError(err).Hint; !strings.Contains(hint, "session_start") {
		t.Errorf("the hint is %q, want it to name session_start", hint)
	}
	_, err = record(memory.RecordStepRequest{SessionID: "unknown"})
	refused(t, "an unknown session", err, memory.CodeNotFound, "sessionId")
	_, err = record(memory.RecordStepRequest{Open: true})
	refused(t, "opening one without a name", err, memory.CodeInvalidInput, "sessionId")
	_, err = record(memory.RecordStepRequest{Open: true, Caller: memory.Caller{Dir: r.repo, Session: "no id"}})
	refused(t, "opening one with a bad name", err, memory.CodeInvalidInput, "sessionId")

	opened, err := record(memory.RecordStepRequest{SessionID: "hook-1", Open: true, Caller: memory.Caller{Dir: r.repo, Client: "hook"}})
	if err != nil || opened.SessionID != "hook-1" {
		t.Fatalf("opened = %+v, %v", opened, err)
	}
	session, err := r.store.Session(opened.Project, "hook-1")
	if err != nil || !session.Open() || session.Client != "hook" || session.Git == nil || !session.CreatedAt.Equal(testTime) {
		t.Errorf("the session opened = %+v, %v; want it open with what is known", session, err)
	}
	if next, err := record(memory.RecordStepRequest{Caller: memory.Caller{Dir: r.repo, Client: "hook"}}); err != nil || next.SessionID != "hook-1" {
		t.Errorf("the client's next step = %+v, %v; want it of the current session", next, err)
	}
	mine := r.start(memory.StartSessionRequest{SessionID: "mine"})
	if by, err := record(memory.RecordStepRequest{Caller: memory.Caller{Dir: r.repo, Client: "hook", Session: "mine"}}); err != nil || by.SessionID != mine.ID {
		t.Errorf("the step of the caller's session = %+v, %v; want it of mine", by, err)
	}
	if _, err := r.ingest.EndSession(t.Context(), memory.EndSessionRequest{SessionID: "mine", Caller: r.caller}); err != nil {
		t.Fatal(err)
	}
	for _, open := range []bool{false, true} {
		_, err = record(memory.RecordStepRequest{SessionID: "mine", Open: open})
		refused(t, "a session that has ended", err, memory.CodeConflict, "sessionId")
	}
}

func TestTimesOfStepsDiffer(t *testing.T) {
	r := newRig(t)
	session := r.start(memory.StartSessionRequest{})
	const writers, steps = 8, 10
	var mu sync.Mutex
	times := map[time.Time]bool{}
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range steps {
				out, err := r.ingest.RecordStep(context.Background(), memory.RecordStepRequest{Tool: memory.StepTool{Name: "bash"}, Caller: r.caller})
				if err != nil {
					t.Errorf("record: %v", err)
					return
				}
				mu.Lock()
				times[out.Timestamp] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(times) != writers*steps || !times[testTime] || !times[testTime.Add((writers*steps-1)*time.Millisecond)] {
		t.Errorf("%d steps of one time have %d times, want as many, a millisecond apart", writers*steps, len(times))
	}
	other := r.step(memory.RecordStepRequest{Tool: memory.StepTool{Name: "read"}, Timestamp: testTime.Add(1200 * time.Microsecond)})
	if want := testTime.Add(time.Millisecond); !other.Timestamp.Equal(want) {
		t.Errorf("another tool's step is at %s, want %s", other.Timestamp, want)
	}
	if got := stepID(session.Key(), other.Timestamp, "read"); got != other.ID {
		t.Errorf("the step is called %s, want %s, which its file says", other.ID, got)
	}
	if len(r.ingest.stepIDs.reserved) != 0 {
		t.Errorf("%d places are still taken", len(r.ingest.stepIDs.reserved))
	}
}

func TestStepIsRecordedOnce(t *testing.T) {
	r := newRig(t)
	session := r.start(memory.StartSessionRequest{})
	req := memory.RecordStepRequest{RequestID: "step-1", Tool: memory.StepTool{Name: "bash", Input: json.RawMessage(`"hunter2"`)}}
	first := r.step(req)
	r.after(1)
	want := *first
	want.Repeated = true
	if diff := cmp.Diff(&want, r.step(req)); first.Repeated || diff != "" {
		t.Errorf("the request repeated (-want +got):\n%s", diff)
	}
	if _, err := r.ingest.EndSession(t.Context(), memory.EndSessionRequest{SessionID: session.ID, Caller: r.caller}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, r.step(req)); diff != "" {
		t.Errorf("repeated when the session has ended (-want +got):\n%s", diff)
	}
	if got := r.contents().Records; got != 1 {
		t.Errorf("%d records are stored, want one", got)
	}
}

func TestStepsYetToComeAreRefused(t *testing.T) {
	r := newRig(t)
	r.start(memory.StartSessionRequest{})
	for ahead, want := range map[time.Duration]bool{memory.MaxAhead: true, memory.MaxAhead + time.Millisecond: false, 365 * 24 * time.Hour: false} {
		_, err := r.ingest.RecordStep(t.Context(), memory.RecordStepRequest{
			Tool: memory.StepTool{Name: "bash"}, Timestamp: r.now.Add(ahead), Caller: r.caller,
		})
		if want && err != nil {
			t.Errorf("a step %s ahead = %v, want it recorded", ahead, err)
		} else if !want {
			refused(t, fmt.Sprintf("a step %s ahead", ahead), err, memory.CodeInvalidInput, "timestamp")
		}
	}
}

// TestCleaningEndsWithTheCaller: of a step whose caller has gone nothing more is
// cleaned, and nothing of it is kept.
func TestCleaningEndsWithTheCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cleaned := 0
	var counting bool
	r := newRig(t, func(_ *rig, o *Options) {
		o.Redact = func(text string) (string, int) {
			if counting {
				cleaned++
				cancel()
			}
			return text, 0
		}
	})
	r.start(memory.StartSessionRequest{})
	counting = true
	_, err := r.ingest.RecordStep(ctx, memory.RecordStepRequest{
		Tool: memory.StepTool{Name: "bash", Input: json.RawMessage(`["a","b","c","d"]`)}, Outcome: memory.Outcome{OK: true}, Caller: r.caller,
	})
	if !errors.Is(err, context.Canceled) || cleaned != 1 {
		t.Errorf("%d texts were cleaned and the step ended with %v, want one and that the caller is gone", cleaned, err)
	}
	if got := r.contents().Records; got != 0 {
		t.Errorf("%d records are stored, want none", got)
	}
}

// TestFailuresGoByOurClock, whatever time a step was given.
func TestFailuresGoByOurClock(t *testing.T) {
	r := newRig(t)
	session := r.start(memory.StartSessionRequest{})
	try := func(at time.Time, ok bool) memory.Record {
		t.Helper()
		req := memory.RecordStepRequest{Tool: memory.StepTool{Name: "bash", Target: json.RawMessage(`"npm install"`)}, Timestamp: at}
		if req.Outcome.OK = ok; !ok {
			req.Outcome.Error = &memory.StepError{Message: "npm ERR! EACCES: permission denied, open '/srv/a/1'"}
		}
		step := r.record(r.step(req).ID)
		must(t, r.ingest.Settle(t.Context(), step))
		return step
	}
	failed := try(testTime.Add(-5*time.Hour), false)
	lesson := r.record(r.remember(memory.RememberRequest{Type: memory.EventError, Lesson: "own the folder"}).ID)
	if !shares(lesson.Event.Fingerprints, failed.Step.Fingerprints) {
		t.Error("a lesson right after a failure that was given an old time is not about it")
	}
	r.ingest.attempts.handOut(session.Key(), failed.Step.Fingerprints, []string{lesson.ID})
	try(testTime, true)
	if rate := r.record(lesson.ID).Event.Rate; rate == nil || *rate != (memory.Rate{Successes: 1, Attempts: 1}) {
		t.Errorf("the lesson's rate is %v, want the success counted", rate)
	}
}

func TestEchoIsNotKept(t *testing.T) {
	echo := NewQuoteFilter()
	r := newRig(t, func(_ *rig, o *Options) { o.QuoteFilter = echo })
	r.start(memory.StartSessionRequest{})
	const answer = "**Relevant Memories (1):**\n\n1. [2025-10-28] npm install → EACCES: own the folder first, then run it again (9/10 success)\n"
	echo.add(answer)
	_, err := r.ingest.Remember(t.Context(), memory.RememberRequest{Lesson: answer, Caller: r.caller})
	refused(t, "a lesson that was handed out", err, memory.CodeInvalidInput, "lesson")
	out := r.remember(memory.RememberRequest{Lesson: answer + "On macOS the folder is another one.", Context: answer})
	if e := r.record(out.ID).Event; e.Lesson != "On macOS the folder is another one." || e.Context != "" {
		t.Errorf("the lesson is %+v, want only what is new of it", e)
	}
	quoted, _ := json.Marshal(map[string]any{"text": answer, "n": 1.5})
	step := r.step(memory.RecordStepRequest{Tool: memory.StepTool{Name: "recall"}, Outcome: memory.Outcome{OK: true}, Observation: quoted})
	if got := string(r.record(step.ID).Step.Observation); strings.Contains(got, "EACCES") || !strings.Contains(got, recalled) {
		t.Errorf("the step saw %s, want the answer marked", got)
	}
}

func BenchmarkRecordStep(b *testing.B) {
	r := newRig(b)
	r.start(memory.StartSessionRequest{Goal: "a benchmark"})
	i := 0
	for b.Loop() {
		i++
		r.step(memory.RecordStepRequest{
			Outcome:     memory.Outcome{OK: true},
			Tool:        memory.StepTool{Name: "bash", Input: json.RawMessage(fmt.Sprintf(`{"command":"go test ./internal/p%d"}`, i))},
			Observation: json.RawMessage(`"ok  \tgithub.com/x/y/internal/p\t0.301s\n"`),
		})
	}
}

// TestRequestOfAnotherKind: an id under which something else was done is no answer, also where no
// sum of the request was kept.
func TestRequestOfAnotherKind(t *testing.T) {
	r := newRig(t)
	r.start(memory.StartSessionRequest{RequestID: "start"})
	lesson := r.remember(memory.RememberRequest{RequestID: "lesson", Lesson: "x"})
	for _, id := range []string{"start", "lesson"} {
		_, err := r.ingest.RecordStep(t.Context(), memory.RecordStepRequest{RequestID: id, Tool: memory.StepTool{Name: "t"}, Caller: r.caller})
		if code := memory.CodeOf(err); err == nil || code != memory.CodeConflict && code != memory.CodeNotFound {
			t.Errorf("a step under the id of %q = %v, want it refused", id, err)
		}
	}
	if _, err := r.ingest.StartSession(t.Context(), memory.StartSessionRequest{RequestID: "lesson", Caller: r.caller}); err == nil {
		t.Errorf("a session under the id of lesson %s was answered", lesson.ID)
	}
}
