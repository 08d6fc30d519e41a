package ingest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

func (r *rig) importSession(session memory.Session, steps ...memory.Record) Imported {
	r.t.Helper()
	out, err := r.ingest.ImportSession(r.t.Context(), r.project(), session, steps)
	if err != nil {
		r.t.Fatalf("import %+v: %v", session, err)
	}
	return out
}

func (r *rig) session(id string) memory.Session {
	r.t.Helper()
	x, err := r.store.Session(r.project().ID, id)
	must(r.t, err)
	return x
}

// fileStep is a step as a file holds it.
func fileStep(second int, tool, input string) memory.Record {
	return memory.Record{
		Created: testTime.Add(time.Duration(second) * time.Second),
		Step: &memory.StepContent{
			Tool: memory.StepTool{Name: tool, Input: json.RawMessage(input)}, Outcome: memory.Outcome{OK: true},
			Extra: map[string]json.RawMessage{"who": json.RawMessage(`"hunter2"`)},
		},
	}
}

func fileSession() memory.Session {
	return memory.Session{
		ID: "mm-20260115-abc", CreatedAt: testTime, Goal: "send hunter2", FlowTags: []string{"send", "not in the vocabulary"},
		Git: &memory.Git{Branch: "main"}, Extra: map[string]json.RawMessage{"host": json.RawMessage(`{"n":1.0}`)},
	}
}

func TestImportSession(t *testing.T) {
	r := newRig(t, vocabulary)
	steps := []memory.Record{fileStep(1, "read", `{"path":"a.go"}`), fileStep(2, "bash", `"hunter2"`), fileStep(2, "read", `{}`)}
	steps[2].Step.Labels = []string{"own"}
	out := r.importSession(fileSession(), steps...)
	if out.Added != 3 || out.Known+out.Forgotten+len(out.Problems) != 0 {
		t.Fatalf("import = %+v, want 3 steps added", out)
	}
	want := fileSession()
	want.Project, want.Goal, want.Imported = r.project().ID, "send [redacted]", true
	want.Provenance.Origin = memory.OriginImported
	if diff := cmp.Diff(want, r.session(want.ID)); diff != "" {
		t.Errorf("the session (-want +got):\n%s", diff)
	}
	rec := r.record(stepID(want.Key(), steps[1].Created, "bash"))
	if !cmp.Equal(rec.Step.Labels, []string{"bash"}) || string(rec.Step.Tool.Input) != `"[redacted]"` || string(rec.Step.Extra["who"]) != `"[redacted]"` {
		t.Errorf("the step = %+v, want it labelled and without secrets", rec.Step)
	}
	if own := r.record(stepID(want.Key(), steps[2].Created, "read")); !cmp.Equal(own.Step.Labels, []string{"own"}) {
		t.Errorf("the labels are %v, want those of the file", own.Step.Labels)
	}
	before := r.store.Seq()
	if out := r.importSession(fileSession(), steps...); out.Known != 3 || out.Added != 0 || r.store.Seq() != before {
		t.Errorf("imported again = %+v with %d commits, want all known and nothing written", out, r.store.Seq()-before)
	}
	if out := r.importSession(fileSession(), append(steps, fileStep(3, "read", `{}`))...); out.Known != 3 || out.Added != 1 || r.store.Seq() != before+1 {
		t.Errorf("imported with one more = %+v, want it added", out)
	}
	if _, err := r.ingest.Forget(t.Context(), memory.ForgetRequest{IDs: []string{rec.ID}}, r.store); err != nil {
		t.Fatal(err)
	}
	if out := r.importSession(fileSession(), steps...); out.Known != 2 || out.Forgotten != 1 {
		t.Errorf("imported with one forgotten = %+v, want it left out", out)
	}
}

// TestLogsOfOneSession: an agent below an agent has a log of its own, which does not change the
// goal, begin and end of the session that it shares.
func TestLogsOfOneSession(t *testing.T) {
	r := newRig(t)
	from := memory.Provenance{Agent: "claude-code"}
	whole := memory.Session{ID: "mm-20260115-abc", CreatedAt: testTime, EndedAt: testTime.Add(time.Hour), Goal: "mend it", Provenance: from}
	below := memory.Session{ID: whole.ID, CreatedAt: testTime.Add(time.Minute), EndedAt: testTime.Add(2 * time.Minute), Provenance: from}
	for _, logs := range [][]memory.Session{{whole, below}, {below, whole}} {
		for _, log := range logs {
			r.importSession(log)
		}
		got := r.session(whole.ID)
		if got.Goal != whole.Goal || !got.CreatedAt.Equal(whole.CreatedAt) || !got.EndedAt.Equal(whole.EndedAt) {
			t.Errorf("the session is %q from %v to %v, want that of its own log", got.Goal, got.CreatedAt, got.EndedAt)
		}
	}
}

// TestMetadataComesLater: a session whose steps come first is bare until then.
func TestMetadataComesLater(t *testing.T) {
	r := newRig(t)
	step := fileStep(9, "read", `{}`)
	bare := memory.Session{ID: "mm-20260115-abc", Bare: true}
	if out := r.importSession(bare); out.Added+out.Known+out.Forgotten+len(out.Problems) != 0 {
		t.Errorf("a folder with nothing in it = %+v", out)
	}
	if r.contents() != (contents{}) {
		t.Error("a bare session without steps was written")
	}
	r.importSession(bare, step, fileStep(5, "read", `{}`))
	got := r.session(bare.ID)
	if !got.Bare || got.Open() || !got.CreatedAt.Equal(testTime.Add(5*time.Second)) {
		t.Errorf("the session = %+v, want it bare and of its first step's time", got)
	}
	id := stepID(got.Key(), step.Created, "read")
	if text := r.record(id).Text; strings.Contains(text, "send") {
		t.Errorf("the step is searched by %q before its session is known", text)
	}
	if out := r.importSession(fileSession(), step); out.Known != 1 || out.Added != 0 {
		t.Errorf("with its metadata = %+v, want the step known", out)
	}
	if got := r.session(bare.ID); got.Bare || got.Goal == "" {
		t.Errorf("the session = %+v, want it whole", got)
	}
	if text := r.record(id).Text; !strings.Contains(text, "send") {
		t.Errorf("the step is searched by %q, want its session's goal in it", text)
	}
	r.importSession(bare, step)
	if got := r.session(bare.ID); got.Bare {
		t.Error("the session is bare again")
	}
}

// TestSessionThatChangesInItsFile is followed, unless it is ours.
func TestSessionThatChangesInItsFile(t *testing.T) {
	r := newRig(t)
	changed := fileSession()
	changed.EndedAt, changed.Goal = testTime.Add(time.Hour), "another"
	r.importSession(fileSession())
	r.importSession(changed)
	if got := r.session(changed.ID); got.Goal != "another" || got.Open() {
		t.Errorf("the session = %+v, want it as the file says now", got)
	}
	ours := r.start(memory.StartSessionRequest{SessionID: "ours", Goal: "mine", Caller: memory.Caller{Dir: r.repo, Client: "agent"}})
	changed.ID = "ours"
	before := r.store.Seq()
	r.importSession(changed)
	if got := r.session("ours"); !cmp.Equal(got, ours.Session) || r.store.Seq() != before {
		t.Errorf("our session = %+v, want it unchanged", got)
	}
	nameless := r.start(memory.StartSessionRequest{SessionID: "nameless", Goal: "mine"}) // of no client
	changed.ID = "nameless"
	r.importSession(changed)
	if got := r.session("nameless"); !cmp.Equal(got, nameless.Session) {
		t.Errorf("our session of no client = %+v, want it unchanged", got)
	}
}

// TestImportKeepsPrivate: a session that is imported again stays private, and is known.
func TestImportKeepsPrivate(t *testing.T) {
	r := newRig(t)
	r.importSession(fileSession())
	id := fileSession().ID
	caller := r.caller
	caller.Session = id
	r.remember(memory.RememberRequest{Lesson: "the key is under the mat", Private: true, Caller: caller})
	before := r.store.Seq()
	r.importSession(fileSession())
	if !r.session(id).Private || r.store.Seq() != before {
		t.Errorf("%+v after %d commits, want it private and none", r.session(id), r.store.Seq()-before)
	}
}

// TestImportedSession: it is nobody's current one, and does not open again.
func TestImportedSession(t *testing.T) {
	r := newRig(t)
	open := fileSession()
	open.Client = "agent" // a file cannot claim one
	r.importSession(open)
	for _, client := range []string{"", "agent"} {
		if x, ok, err := r.store.CurrentSession(r.project().ID, memory.Caller{Client: client}); ok || err != nil {
			t.Errorf("the current session of %q is %+v, %v; want none", client, x, err)
		}
	}
	if _, err := r.ingest.EndSession(t.Context(), memory.EndSessionRequest{SessionID: open.ID, Caller: r.caller}); err != nil {
		t.Fatal(err)
	}
	open.Goal = "another"
	r.importSession(open)
	if got := r.session(open.ID); got.EndedAt.IsZero() || got.Goal != "another" {
		t.Errorf("the session = %+v, want it changed and still ended", got)
	}
}

// TestOwnStepIsKnown when its file is read, even before its session's.
func TestOwnStepIsKnown(t *testing.T) {
	r := newRig(t)
	session := r.start(memory.StartSessionRequest{Caller: memory.Caller{Dir: r.repo, Client: "agent"}})
	step := r.step(memory.RecordStepRequest{SessionID: session.ID, Tool: memory.StepTool{Name: "bash", Input: json.RawMessage(`"ls"`)}})
	rec := r.record(step.ID)
	read := memory.Record{Created: step.Timestamp, Step: rec.Step}
	before := r.store.Seq()
	for _, s := range []memory.Session{session.Session, {ID: session.ID, Bare: true}} {
		if out := r.importSession(s, read); out.Known != 1 || out.Added != 0 || r.store.Seq() != before {
			t.Errorf("our own file = %+v, want it known", out)
		}
	}
	if diff := cmp.Diff(rec, r.record(step.ID)); diff != "" {
		t.Errorf("the step has changed:\n%s", diff)
	}
}

func TestImportSessionPassesOverBadSteps(t *testing.T) {
	r := newRig(t)
	long := fileStep(1, strings.Repeat("x", 201), `{}`)
	broken := fileStep(2, "read", `{`)
	twice := fileStep(3, "read", `{}`)
	out := r.importSession(fileSession(), long, fileStep(0, "read", `{}`), broken, memory.Record{}, twice, twice)
	var got []string
	for _, p := range out.Problems {
		got = append(got, fmt.Sprint(p.Index, " ", memory.AsError(p.Err).Field))
	}
	if want := []string{"0 tool.name", "2 tool.input", "3 tool"}; !cmp.Equal(got, want) || out.Added != 2 || out.Known != 1 {
		t.Errorf("import = %+v with problems %q, want %q, two added and one known", out, got, want)
	}
	for name, s := range map[string]memory.Session{"..": {ID: "../x", CreatedAt: testTime}, "no time": {ID: "mm-1x"}} {
		if _, err := r.ingest.ImportSession(t.Context(), r.project(), s, nil); memory.CodeOf(err) != memory.CodeInvalidInput {
			t.Errorf("a session with %s = %v, want it refused", name, err)
		}
	}
}

// TestManyLargeSteps: an import fits into commits however much it is.
func TestManyLargeSteps(t *testing.T) {
	r := newLargeRig(t, 16<<20) // that of users
	large := `"` + strings.Repeat("word ", 40<<10) + `"`
	var steps []memory.Record
	for i := range 300 {
		input := `{}`
		if i%15 == 0 {
			input = large
		}
		step := fileStep(i, "read", input)
		if i%3 == 1 {
			step.Step.Extra = map[string]json.RawMessage{"other": json.RawMessage(large)}
		}
		steps = append(steps, step)
	}
	if out := r.importSession(fileSession(), steps...); out.Added != 300 {
		t.Errorf("import = %+v, want all 300 steps added", out)
	}
	if got := r.contents().Records; got != 300 {
		t.Errorf("%d records are stored, want 300", got)
	}
}

func TestParts(t *testing.T) {
	sizes := []int{maxPartBytes + 1, 5, maxPartBytes - 5, 1, 0}
	var got []int
	for _, part := range bySize(sizes, func(n int) int { return n }) {
		got = append(got, len(part))
	}
	if !cmp.Equal(got, []int{1, 2, 2}) {
		t.Errorf("the parts have %v items, want 1, 2 and 2", got)
	}
	if parts := bySize(make([]int, maxPart+1), func(int) int { return 0 }); len(parts) != 2 || len(parts[0]) != maxPart {
		t.Errorf("%d items make %d parts", maxPart+1, len(parts))
	}
	if parts := bySize(nil, func(int) int { return 0 }); parts != nil {
		t.Errorf("nothing makes the parts %v", parts)
	}
}
