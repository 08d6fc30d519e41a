package daemon

import (
	"fmt"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/hook"
	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/spool"
)

const spoolSession = "0f8fad5b-d9cb-469f-a165-70867728950e"

// hookEvent is an event of a session in a folder.
func hookEvent(t *testing.T, dir, event, more string, at time.Time) hook.Event {
	t.Helper()
	payload := fmt.Sprintf(`{"session_id":%q,"cwd":%q%s}`, spoolSession, dir, more)
	req, err := hook.Parse("claude-code", event, []byte(payload), hook.Environment{})
	must(t, err)
	if req.Step != nil {
		req.Step.Timestamp = at
	}
	e, _ := req.Event(fmt.Sprintf("%s-%d", event, at.UnixNano()))
	return e
}

func spooled(t *testing.T, s spool.Spool, at time.Time, e hook.Event) {
	t.Helper()
	text, err := e.Encode()
	must(t, err)
	must(t, s.Put(at, text))
}

// TestSpoolIsDrained: what waits is recorded in its order, and once even if it was recorded
// before, also a step with a time to come, made before the clock was set back; what is no event
// is set aside and counted.
func TestSpoolIsDrained(t *testing.T) {
	cfg, dir := newConfig(t), shop(t)
	waiting := spool.In(cfg.Paths().Spool)
	begin := time.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond)
	must(t, waiting.Put(begin, []byte(`{"v":1,"id":"x","step":{"unknown":1}}`)))
	spooled(t, waiting, begin.Add(1), hookEvent(t, dir, "SessionStart", "", begin))
	const steps = 30
	var live []hook.Event
	for i := range steps {
		at := begin.Add(time.Duration(i+2) * time.Second)
		e := hookEvent(t, dir, "PostToolUse", fmt.Sprintf(`,"tool_name":"Bash","tool_input":{"command":"make step%d"},"tool_response":{"stdout":"ok"}`, i), at)
		spooled(t, waiting, at, e)
		live = append(live, e)
	}
	s := serve(t, cfg)
	s.until("drained", func(st *memory.Status) bool { return st.Hooks != nil && st.Hooks.Waiting == 0 })
	st, err := service.Status.Do(t.Context(), s, service.None{})
	must(t, err)
	if *st.Hooks != (memory.HookEvents{Aside: 1}) {
		t.Errorf("hook events: %+v, want one aside", *st.Hooks)
	}
	// The hooks whose calls came through late.
	for _, e := range live[:10] {
		if _, err := e.Apply(t.Context(), s, time.Now()); err != nil {
			t.Errorf("again: %v", err)
		}
		spooled(t, waiting, time.Now(), e)
	}
	ahead := hookEvent(t, dir, "PostToolUse", `,"tool_name":"Bash","tool_input":{"command":"make ahead"},"tool_response":{"stdout":"ok"}`, time.Now().Add(48*time.Hour))
	// A failing step asks for advice only where its hook waits for it.
	failing := hookEvent(t, dir, "PostToolUse", `,"tool_name":"Bash","tool_input":{"command":"grep '<b>&' page.html"},"tool_response":{"stdout":"ok"}`, begin.Add(time.Second))
	failing.Step.Advise = true
	for _, e := range []hook.Event{ahead, failing} {
		if _, err := e.Apply(t.Context(), s, time.Now()); err != nil {
			t.Errorf("live: %v", err)
		}
		spooled(t, waiting, time.Now(), e)
	}
	spooled(t, waiting, time.Now(), hookEvent(t, dir, "SessionEnd", "", time.Now()))
	s.until("drained again", func(st *memory.Status) bool { return st.Hooks.Waiting == 0 })
	list, err := service.LastSteps.Do(t.Context(), s, memory.LastStepsRequest{N: 100, Scope: &memory.Scope{Session: spoolSession}, Caller: memory.Caller{Dir: dir}})
	must(t, err)
	if len(list.Steps) != steps+2 {
		t.Fatalf("%d steps, want %d", len(list.Steps), steps+2)
	}
	if n := waiting.Aside(); n != 1 {
		t.Errorf("%d events are aside, want the one that is none", n)
	}
	if newest := list.Steps[0].Timestamp; newest.After(time.Now()) {
		t.Errorf("the step with a time to come is of %v", newest)
	}
	for i, step := range list.Steps[1 : steps+1] { // newest first
		if want := begin.Add(time.Duration(steps-i+1) * time.Second); !step.Timestamp.Equal(want) {
			t.Errorf("step %d is of %v, want %v", i, step.Timestamp, want)
		}
	}
	sessions, err := service.Sessions.Do(t.Context(), s, memory.SessionsRequest{Caller: memory.Caller{Dir: dir}})
	must(t, err)
	if len(sessions.Sessions) != 1 {
		t.Errorf("the sessions are %+v, want one", sessions.Sessions)
	}
}
