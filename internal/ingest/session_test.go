package ingest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

// vocabulary is a rig's flow tags, labels and git.
func vocabulary(r *rig, o *Options) {
	o.FlowTags = []string{"send", "swap"}
	o.Labels = func(tool, target string, failed bool) []string {
		if failed {
			return []string{tool, "on " + target, "failed"}
		}
		return []string{tool}
	}
	o.Git = func(dir string) *memory.Git {
		if dir != r.repo {
			return nil
		}
		return &memory.Git{Branch: "main", Commit: "c0ffee"}
	}
}

func TestSessionIsStarted(t *testing.T) {
	r := newRig(t, vocabulary)
	r.caller.Client = "agent"
	out := r.start(memory.StartSessionRequest{
		SessionID: "mm-20260115-abc", Goal: " try hunter2 ", FlowTags: []string{"send", "send"}, Tags: []string{"smoke", "hunter2", "smoke"},
		Build: json.RawMessage(`{"buildType":"test","key":"hunter2"}`), Launch: json.RawMessage(`null`), Screenshots: true,
	})
	want := memory.Session{
		ID: "mm-20260115-abc", Project: out.Project, Client: "agent", CreatedAt: testTime, Goal: "try [redacted]", FlowTags: []string{"send"},
		Tags: []string{"smoke", "[redacted]"}, Git: &memory.Git{Branch: "main", Commit: "c0ffee"},
		Build: json.RawMessage(`{"buildType":"test","key":"[redacted]"}`), Screenshots: true,
	}
	if diff := cmp.Diff(want, out.Session); diff != "" || !out.Redacted || out.ProjectName != "demo" || out.Seq != r.store.Seq() {
		t.Errorf("started = %+v (-want +got):\n%s", out, diff)
	}
	stored, err := r.store.Session(out.Project, out.ID)
	if diff := cmp.Diff(want, stored); diff != "" || err != nil {
		t.Errorf("stored, %v (-want +got):\n%s", err, diff)
	}
	named := r.start(memory.StartSessionRequest{})
	if !regexp.MustCompile(`^mm-20260102-[a-z0-9]{6}$`).MatchString(named.ID) || named.Redacted {
		t.Errorf("a session without an id is %+v, want one named by its day", named)
	}
	several, _, err := r.store.CurrentSession(out.Project, memory.Caller{Client: "agent"})
	refused(t, "the current one of two", err, memory.CodeInvalidInput, "sessionId")
	if limit := memory.AsError(err).Limit; !strings.Contains(limit, out.ID) || !strings.Contains(limit, named.ID) {
		t.Errorf("the current session is %+v, choices %q; want those of %s and %s", several, limit, out.ID, named.ID)
	}
}

func TestSessionsThatAreRefused(t *testing.T) {
	r := newRig(t, vocabulary)
	r.start(memory.StartSessionRequest{SessionID: "taken"})
	before := r.store.Seq()
	for name, tc := range map[string]struct {
		req   memory.StartSessionRequest
		code  memory.Code
		field string
	}{
		"an id that is taken": {memory.StartSessionRequest{SessionID: "taken"}, memory.CodeConflict, "sessionId"},
		"a folder":            {memory.StartSessionRequest{SessionID: "../etc"}, memory.CodeInvalidInput, "sessionId"},
		"another flow tag":    {memory.StartSessionRequest{FlowTags: []string{"send", "buy"}}, memory.CodeInvalidInput, "flowTags[1]"},
		"a long goal":         {memory.StartSessionRequest{Goal: strings.Repeat("x", 2001)}, memory.CodeInvalidInput, "goal"},
		"unknown project":     {memory.StartSessionRequest{Project: "nowhere"}, memory.CodeNotFound, "project"},
	} {
		tc.req.Caller = r.caller
		_, err := r.ingest.StartSession(t.Context(), tc.req)
		refused(t, name, err, tc.code, tc.field)
	}
	_, err := r.ingest.StartSession(t.Context(), memory.StartSessionRequest{FlowTags: []string{"buy"}, Caller: r.caller})
	if e := memory.AsError(err); e.Limit != "send, swap" {
		t.Errorf("the error is %+v, want it to list the vocabulary", e)
	}
	if r.store.Seq() != before {
		t.Error("a refused session was written")
	}
}

func TestSessionIsStartedOnce(t *testing.T) {
	r := newRig(t, vocabulary)
	for _, id := range []string{"", "mm-own"} {
		req := memory.StartSessionRequest{RequestID: "start " + id, SessionID: id, Goal: "once"}
		first := r.start(req)
		r.after(1)
		if again := r.start(req); again.ID != first.ID || !again.CreatedAt.Equal(first.CreatedAt) || again.Seq != first.Seq {
			t.Errorf("the request repeated = %+v, want %+v", again, first)
		}
	}
	// Of many that want one id, one gets it.
	var mu sync.Mutex
	won := 0
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, err := r.ingest.StartSession(t.Context(), memory.StartSessionRequest{SessionID: "wanted", Caller: r.caller})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else if memory.CodeOf(err) != memory.CodeConflict {
				t.Errorf("start: %v", err)
			}
		})
	}
	wg.Wait()
	if won != 1 {
		t.Errorf("%d sessions were started under one id", won)
	}
}

func TestSessionIsEnded(t *testing.T) {
	r := newRig(t)
	first := r.start(memory.StartSessionRequest{Goal: "first"})
	r.after(1)
	r.caller.Window = "another"
	second := r.start(memory.StartSessionRequest{})
	end := func(req memory.EndSessionRequest) *memory.SessionState {
		t.Helper()
		req.Caller.Dir, req.Caller.Window = r.repo, r.caller.Window
		out, err := r.ingest.EndSession(t.Context(), req)
		if err != nil {
			t.Fatalf("end %+v: %v", req, err)
		}
		return out
	}
	ended := r.after(2)
	req := memory.EndSessionRequest{RequestID: "end"}
	if out := end(req); out.ID != second.ID || !out.EndedAt.Equal(ended) {
		t.Errorf("ended = %+v, want that of the window at %s", out, ended)
	}
	r.after(3)
	if out := end(req); out.ID != second.ID || !out.EndedAt.Equal(ended) {
		t.Errorf("the request repeated = %+v, want the same", out)
	}
	if out := end(memory.EndSessionRequest{SessionID: second.ID}); !out.EndedAt.Equal(ended) {
		t.Errorf("ended again = %+v, want nothing changed", out)
	}
	last := memory.EndSessionRequest{RequestID: "end the last", Caller: memory.Caller{Session: first.ID}}
	if out := end(last); out.ID != first.ID || out.Goal != "first" {
		t.Errorf("ended by the caller's session = %+v, want %s whole", out, first.ID)
	}
	last.Caller.Session = ""
	if out := end(last); out.ID != first.ID { // none is open, and still it was answered before
		t.Errorf("the last request repeated = %+v, want %s", out, first.ID)
	}
	for name, tc := range map[string]struct {
		req  memory.EndSessionRequest
		code memory.Code
	}{
		"none is open":   {memory.EndSessionRequest{RequestID: "late"}, memory.CodeInvalidInput},
		"again":          {memory.EndSessionRequest{RequestID: "late"}, memory.CodeInvalidInput},
		"an unknown one": {memory.EndSessionRequest{SessionID: "unknown"}, memory.CodeNotFound},
	} {
		tc.req.Caller.Dir = r.repo
		_, err := r.ingest.EndSession(t.Context(), tc.req)
		refused(t, name, err, tc.code, "sessionId")
		if memory.AsError(err).Hint == "" {
			t.Errorf("%s: the error has no hint", name)
		}
	}
}

// TestRefusedRequestMayComeAgain: a request that found no session is done when it comes again and
// there is one.
func TestRefusedRequestMayComeAgain(t *testing.T) {
	r := newRig(t, vocabulary)
	step := memory.RecordStepRequest{RequestID: "step", SessionID: "mm-late", Tool: memory.StepTool{Name: "bash"}, Caller: r.caller}
	_, err := r.ingest.RecordStep(t.Context(), step)
	refused(t, "a step of no session", err, memory.CodeNotFound, "sessionId")
	end := memory.EndSessionRequest{RequestID: "end", SessionID: "mm-late", Caller: r.caller}
	_, err = r.ingest.EndSession(t.Context(), end)
	refused(t, "the end of no session", err, memory.CodeNotFound, "sessionId")
	r.start(memory.StartSessionRequest{SessionID: "mm-late"})
	if out, err := r.ingest.RecordStep(t.Context(), step); err != nil || out.SessionID != "mm-late" {
		t.Errorf("the step = %+v, %v", out, err)
	}
	if out, err := r.ingest.EndSession(t.Context(), end); err != nil || out.EndedAt.IsZero() {
		t.Errorf("the end = %+v, %v", out, err)
	}
}

func TestForgottenProjectTakesItsSessions(t *testing.T) {
	r := newRig(t, vocabulary)
	session := r.start(memory.StartSessionRequest{SessionID: "mm-1", Goal: "a secret plan"})
	step := r.step(memory.RecordStepRequest{Tool: memory.StepTool{Name: "bash"}})
	rec := r.record(step.ID)
	project := r.project()
	if _, err := r.ingest.Forget(t.Context(), memory.ForgetRequest{Project: project.ID}, r.store); err != nil {
		t.Fatal(err)
	}
	if _, err := r.store.Session(session.Project, session.ID); memory.CodeOf(err) != memory.CodeNotFound {
		t.Errorf("the session = %v, want it gone", err)
	}
	out, err := r.ingest.ImportSession(t.Context(), project, session.Session, []memory.Record{rec})
	if err != nil || out.Forgotten != 1 || out.Added != 0 || r.contents() != (contents{}) {
		t.Errorf("import = %+v, %v with %+v stored; want what was forgotten left out", out, err, r.contents())
	}
	rec.Created = rec.Created.Add(1e9)
	if out, err = r.ingest.ImportSession(t.Context(), project, session.Session, []memory.Record{rec}); err != nil || out.Added != 1 {
		t.Fatalf("import of a new step = %+v, %v; want it added", out, err)
	}
	if got, err := r.store.Session(session.Project, session.ID); err != nil || !got.Bare || got.Goal != "" {
		t.Errorf("its session is %+v, %v; want nothing of it but its name", got, err)
	}
	if again := r.start(memory.StartSessionRequest{SessionID: "mm-1", Goal: "another"}); again.Bare {
		t.Errorf("started anew = %+v, want it whole", again)
	}
}

// TestNoSecretInNames: branches, commits and clients are anybody's text.
func TestNoSecretInNames(t *testing.T) {
	r := newRig(t, func(_ *rig, o *Options) {
		o.Git = func(string) *memory.Git { return &memory.Git{Branch: "try-hunter2", Commit: "hunter2"} }
	})
	caller := memory.Caller{Dir: r.repo, Client: "agent hunter2"}
	started := r.start(memory.StartSessionRequest{Caller: caller})
	want := &memory.Git{Branch: "try-[redacted]", Commit: "[redacted]"}
	if !cmp.Equal(started.Git, want) || started.Client != "agent [redacted]" {
		t.Errorf("the session = %+v of %q, want no secret in it", started.Git, started.Client)
	}
	if step := r.step(memory.RecordStepRequest{Tool: memory.StepTool{Name: "bash"}, Caller: caller}); step.SessionID != started.ID {
		t.Errorf("its client's step is of %q, want of the current session", step.SessionID)
	}
	read := fileSession()
	read.Git = &memory.Git{Branch: "try-hunter2", Commit: "hunter2"}
	one := fileStep(1, "read", `{}`)
	one.Step.Git = read.Git
	r.importSession(read, one)
	step := r.record(stepID(memory.SessionKey{Project: r.project().ID, ID: read.ID}, one.Created, "read"))
	if !cmp.Equal(r.session(read.ID).Git, want) || !cmp.Equal(step.Step.Git, want) {
		t.Errorf("imported are %+v and %+v, want no secret in them", r.session(read.ID).Git, step.Step.Git)
	}
	if read.Git.Commit != "hunter2" {
		t.Error("what was given is changed")
	}
}

// TestSessionsOfHooksAreRecognised: a session that hooks opened has the first prompt as
// its goal, else its first step, and tags of its branch and tools; whoever takes it up
// again in another window has it there, and only while it is open.
func TestSessionsOfHooksAreRecognised(t *testing.T) {
	r := newRig(t, vocabulary)
	in := func(id, window string) memory.Caller {
		return memory.Caller{Dir: r.repo, Client: "hook", Session: id, Window: window}
	}
	start := func(id, window, goal string) error {
		_, err := r.ingest.StartSession(t.Context(), memory.StartSessionRequest{SessionID: id, Goal: goal, Resume: true, Caller: in(id, window)})
		return err
	}
	step := func(id, window, tool, input string) {
		t.Helper()
		r.step(memory.RecordStepRequest{SessionID: id, Open: true, Caller: in(id, window), Outcome: memory.Outcome{OK: true},
			Tool: memory.StepTool{Name: tool, Input: json.RawMessage(input)}})
	}
	for _, err := range []error{start("prompted", "w-1", ""), start("prompted", "w-1", "Mend the login with hunter2"), start("prompted", "w-1", "And now the logout")} {
		must(t, err)
	}
	for _, tool := range []string{"Bash", "Bash", "Edit", "mcp__github__create_issue"} {
		step("prompted", "w-1", tool, `{"command":"go test ./..."}`)
	}
	got := r.session("prompted")
	if got.Goal != "Mend the login with [redacted]" || !slices.Equal(got.Tags, []string{"main", "Bash", "Edit", "github"}) || got.Window != "w-1" || !got.ResumedAt.IsZero() {
		t.Errorf("the session is %+v, want the first prompt without its secret, and tags of branch and tools", got)
	}
	step("unprompted", "w-1", "Bash", `{"command":"go test ./...\ngo vet ./..."}`)
	if got := r.session("unprompted"); got.Goal != "Bash: go test ./..." {
		t.Errorf("without a prompt the goal is %q, want the first step", got.Goal)
	}
	for i := range 20 {
		step("prompted", "w-1", fmt.Sprintf("tool-%d", i), `{}`)
	}
	if n := len(r.session("prompted").Tags); n != maxToolTags+1 {
		t.Errorf("after 20 other tools it has %d tags, want %d", n, maxToolTags+1)
	}
	seq := r.store.Seq()
	if err := start("prompted", "w-1", "A third prompt"); err != nil || r.store.Seq() != seq {
		t.Errorf("a prompt that changes nothing: %v, %d updates", err, r.store.Seq()-seq)
	}
	r.after(1)
	must(t, start("prompted", "w-2", ""))
	if got := r.session("prompted"); got.Window != "w-2" || !got.Started().After(got.CreatedAt) {
		t.Errorf("taken up in another window it is %+v, want it there, and started again", got)
	}
	r.after(2)
	step("unprompted", "w-3", "Bash", `{}`)
	if got := r.session("unprompted"); got.Window != "w-3" {
		t.Errorf("a step from another window leaves the session in %q", got.Window)
	}
	if err := func() error {
		_, err := r.ingest.StartSession(t.Context(), memory.StartSessionRequest{SessionID: "prompted", Resume: true, Caller: memory.Caller{Dir: r.repo, Client: "another"}})
		return err
	}(); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("another client takes it up: %v, want a conflict", err)
	}
	if _, err := r.ingest.EndSession(t.Context(), memory.EndSessionRequest{SessionID: "prompted", Caller: r.caller}); err != nil {
		t.Fatal(err)
	}
	if err := start("prompted", "w-2", ""); memory.CodeOf(err) != memory.CodeConflict {
		t.Errorf("an ended one is taken up: %v, want a conflict", err)
	}
}
