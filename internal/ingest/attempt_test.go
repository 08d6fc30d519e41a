package ingest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/fingerprint"
	"github.com/recalld/recalld/internal/memory"
)

// tried is a step of a shell: a command that works, or fails with an error.
func tried(command, failure string) *memory.StepContent {
	input, _ := json.Marshal(map[string]string{"command": command}) // of a text
	c := &memory.StepContent{Tool: memory.StepTool{Name: "bash", Input: input}, Outcome: memory.Outcome{OK: failure == ""}}
	if failure != "" {
		c.Outcome.Error = &memory.StepError{Message: failure}
		c.Fingerprints = []string{"print of " + failure}
	}
	return c
}

// What comes after a failure counts for or against the lessons that were handed out
// about it, and nothing else does.
func TestOutcomesOfAttempts(t *testing.T) {
	key := memory.SessionKey{Project: "p", ID: "s"}
	used := []string{"l-1"}
	for name, tc := range map[string]struct {
		next    *memory.StepContent
		after   time.Duration
		lessons []string
		ok      bool
	}{
		"the same works":               {tried("npm install", ""), time.Minute, used, true},
		"the same with a flag":         {tried("cd /x && npm install --force", ""), time.Minute, used, true},
		"the same fails alike":         {tried("npm install", "EACCES"), time.Minute, used, false},
		"the same fails otherwise":     {tried("npm install", "ENOSPC"), time.Minute, nil, false},
		"something else works":         {tried("ls -la", ""), time.Minute, nil, false},
		"the same program, elsewhere":  {tried("npm test", ""), time.Minute, nil, false},
		"the same works much later":    {tried("npm install", ""), time.Hour, nil, false},
		"a step that says no subject":  {&memory.StepContent{Tool: memory.StepTool{Name: "bash"}, Outcome: memory.Outcome{OK: true}}, time.Minute, nil, false},
		"another tool, the same thing": {&memory.StepContent{Tool: memory.StepTool{Name: "run", Input: json.RawMessage(`{"command":"npm install"}`)}, Outcome: memory.Outcome{OK: true}}, time.Minute, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			var a attempts
			if lessons, _ := a.step(key, testTime, tried("npm install", "EACCES")); len(lessons) > 0 {
				t.Fatalf("the first failure says something of %v", lessons)
			}
			a.handOut(key, []string{"print of another"}, []string{"l-other"})
			a.handOut(memory.SessionKey{Project: "p", ID: "another"}, []string{"print of EACCES"}, []string{"l-other"})
			a.handOut(key, []string{"print of EACCES"}, used)
			lessons, ok := a.step(key, testTime.Add(tc.after), tc.next)
			if !slices.Equal(lessons, tc.lessons) || ok != tc.ok {
				t.Errorf("it says %v for %v, want %v for %v", ok, lessons, tc.ok, tc.lessons)
			}
			if again, _ := a.step(key, testTime.Add(tc.after), tried("npm install", "")); len(tc.lessons) > 0 && len(again) > 0 {
				t.Errorf("it counts a second time: %v", again)
			}
		})
	}
}

// TestAttemptThatFailsAgainStays: a session over its bound drops the attempt that is idle longest.
func TestAttemptThatFailsAgainStays(t *testing.T) {
	for _, again := range []string{"broken", "broken in another way"} {
		var a attempts
		key := memory.SessionKey{Project: "p", ID: "s"}
		for i := range maxOpenAttempts {
			a.step(key, testTime.Add(time.Duration(i)*time.Second), tried(fmt.Sprint("make t", i), "broken"))
		}
		a.step(key, testTime.Add(time.Minute), tried("make t0", again))
		a.handOut(key, []string{"print of " + again}, []string{"l-1"})
		a.step(key, testTime.Add(2*time.Minute), tried("make more", "broken"))
		if lessons, ok := a.step(key, testTime.Add(3*time.Minute), tried("make t0", "")); !ok || !slices.Equal(lessons, []string{"l-1"}) {
			t.Errorf("%s: its success says %v for %v, want true for the lesson handed out before", again, ok, lessons)
		}
	}
}

func TestAttemptsAreBounded(t *testing.T) {
	var a attempts
	for i := range maxTriedSessions + 10 {
		key := memory.SessionKey{Project: "p", ID: fmt.Sprint(i)}
		for j := range maxOpenAttempts + 2 {
			a.step(key, testTime.Add(time.Duration(i)*time.Millisecond), tried(fmt.Sprint("make t", j), "broken"))
		}
		if n := len(a.open[key]); n != maxOpenAttempts {
			t.Fatalf("session %d has %d open attempts, want %d", i, n, maxOpenAttempts)
		}
	}
	if len(a.open) != maxTriedSessions || len(a.open[memory.SessionKey{Project: "p", ID: "0"}]) != 0 {
		t.Errorf("%d sessions are kept, want %d without the first", len(a.open), maxTriedSessions)
	}
}

// TestAnsweredFindsRedactedClient: an answer finds the session of a client whose name holds a
// secret, which no session keeps.
func TestAnsweredFindsRedactedClient(t *testing.T) {
	r := newRig(t)
	caller := r.caller
	caller.Client = "agent hunter2"
	state, err := r.ingest.StartSession(t.Context(), memory.StartSessionRequest{Caller: caller})
	must(t, err)
	const quoted = "npm ERR! code EACCES: permission denied, mkdir '/usr/lib'"
	failed := tried("npm install", "EACCES")
	failed.Fingerprints = fingerprint.Of(quoted)
	r.ingest.attempts.step(state.Session.Key(), testTime, failed)
	r.ingest.Answered(memory.RecallRequest{Query: quoted, Caller: caller}, &memory.RecallResponse{Project: state.Session.Project}, func(string) (memory.Receipt, error) {
		return memory.Receipt{Items: []memory.ReceiptItem{{ID: "l-1", Kind: memory.Lesson}}}, nil
	})
	if lessons, ok := r.ingest.attempts.step(state.Session.Key(), testTime, tried("npm install", "")); !ok || !slices.Equal(lessons, []string{"l-1"}) {
		t.Errorf("the success says %v for %v, want true for the lesson handed out", ok, lessons)
	}
}
