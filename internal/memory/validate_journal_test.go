package memory_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// jsonOf is a JSON object of n bytes.
func jsonOf(n int) json.RawMessage {
	const frame = len(`{"a":""}`)
	return json.RawMessage(`{"a":"` + strings.Repeat("x", n-frame) + `"}`)
}

// Every limit of what is written of sessions and steps is tried from both sides;
// the error names the field.
func TestJournalLimits(t *testing.T) {
	start := func(change func(*memory.StartSessionRequest)) any {
		r := &memory.StartSessionRequest{}
		change(r)
		return r
	}
	step := func(change func(*memory.RecordStepRequest)) any {
		r := &memory.RecordStepRequest{Tool: memory.StepTool{Name: "t"}, Outcome: memory.Outcome{Error: &memory.StepError{}}}
		change(r)
		return r
	}
	end := func(id string) any { return &memory.EndSessionRequest{SessionID: id} }
	session := func(id string) any {
		return start(func(r *memory.StartSessionRequest) { r.SessionID = id })
	}
	remember := func(change func(*memory.RememberRequest)) any {
		r := &memory.RememberRequest{Lesson: "l"}
		change(r)
		return r
	}
	imported := func(change func(*memory.Session)) any {
		s := &memory.Session{ID: "abcd", CreatedAt: time.Unix(0, 0)}
		change(s)
		return s
	}
	check := func(request any) error {
		if s, ok := request.(*memory.Session); ok {
			return s.Validate()
		}
		return memory.Check(request)
	}
	for name, tc := range map[string]struct {
		at, over any // at the limit, and past it
		field    string
	}{
		"supersedes": {remember(func(r *memory.RememberRequest) { r.Supersedes = many(20, "l-1") }),
			remember(func(r *memory.RememberRequest) { r.Supersedes = many(21, "l-1") }), "supersedes"},
		"retracts": {remember(func(r *memory.RememberRequest) { r.Retracts = many(20, "l-1") }),
			remember(func(r *memory.RememberRequest) { r.Retracts = many(21, "l-1") }), "retracts"},
		"retracts, empty": {remember(func(r *memory.RememberRequest) { r.Retracts = []string{"a", repeat(200)} }),
			remember(func(r *memory.RememberRequest) { r.Retracts = []string{"a", ""} }), "retracts[1]"},

		"id, least":       {session("abcd"), session("abc"), "sessionId"},
		"id, most":        {session(strings.Repeat("a", 200)), session(strings.Repeat("a", 201)), "sessionId"},
		"id, letters":     {session("aZ09._-x"), session("a/bcd"), "sessionId"},
		"id, first a dot": {session("a.bc"), session(".abc"), "sessionId"},
		"id, last a dot":  {session("ab.c"), session("abc."), "sessionId"},
		"id, not ASCII":   {session("-abc"), session("käse"), "sessionId"},
		"id, to end":      {end("abcd"), end("a\\bc"), "sessionId"},
		"id, imported":    {imported(func(s *memory.Session) {}), imported(func(s *memory.Session) { s.ID = "" }), "sessionId"},
		"created":         {imported(func(s *memory.Session) {}), imported(func(s *memory.Session) { s.CreatedAt = time.Time{} }), "createdAt"},
		"created, bare": {imported(func(s *memory.Session) { s.CreatedAt, s.Bare = time.Time{}, true }),
			imported(func(s *memory.Session) { s.CreatedAt = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }), "createdAt"},
		"goal": {start(func(r *memory.StartSessionRequest) { r.Goal = repeat(2000) }),
			start(func(r *memory.StartSessionRequest) { r.Goal = repeat(2001) }), "goal"},
		"flow tags": {start(func(r *memory.StartSessionRequest) { r.FlowTags = many(20, "send") }),
			start(func(r *memory.StartSessionRequest) { r.FlowTags = many(21, "send") }), "flowTags"},
		"tags": {start(func(r *memory.StartSessionRequest) { r.Tags = many(20, "x") }),
			start(func(r *memory.StartSessionRequest) { r.Tags = many(21, "x") }), "tags"},
		"tag": {start(func(r *memory.StartSessionRequest) { r.Tags = []string{repeat(64)} }),
			start(func(r *memory.StartSessionRequest) { r.Tags = []string{repeat(65)} }), "tags[0]"},
		"build": {start(func(r *memory.StartSessionRequest) { r.Build = jsonOf(16 << 10) }),
			start(func(r *memory.StartSessionRequest) { r.Build = jsonOf(16<<10 + 1) }), "build"},
		"launch": {start(func(r *memory.StartSessionRequest) { r.Launch = json.RawMessage(`null`) }),
			start(func(r *memory.StartSessionRequest) { r.Launch = json.RawMessage(`[1]`) }), "launch"},
		"launch, broken": {start(func(r *memory.StartSessionRequest) { r.Launch = json.RawMessage(`{}`) }),
			start(func(r *memory.StartSessionRequest) { r.Launch = json.RawMessage(`{`) }), "launch"},
		"request": {start(func(r *memory.StartSessionRequest) { r.RequestID = repeat(200) }),
			start(func(r *memory.StartSessionRequest) { r.RequestID = repeat(201) }), "request_id"},

		"git": {imported(func(s *memory.Session) { s.Git = &memory.Git{Branch: repeat(4096)} }),
			imported(func(s *memory.Session) { s.Git = &memory.Git{Branch: repeat(4097)} }), "git.branch"},
		"ended": {imported(func(s *memory.Session) { s.EndedAt = time.Unix(0, 0) }),
			imported(func(s *memory.Session) { s.EndedAt = time.Unix(-1, 0) }), "endedAt"},
		"other fields": {imported(func(s *memory.Session) { s.Extra = map[string]json.RawMessage{"x": jsonOf(16<<10 - 1)} }),
			imported(func(s *memory.Session) { s.Extra = map[string]json.RawMessage{"x": jsonOf(16 << 10)} }), "sessionId"},
		"client": {start(func(r *memory.StartSessionRequest) { r.Caller.Client = repeat(200) }),
			start(func(r *memory.StartSessionRequest) { r.Caller.Client = repeat(201) }), "caller.client"},
		"client of a step": {step(func(r *memory.RecordStepRequest) { r.Caller.Session = repeat(200) }),
			step(func(r *memory.RecordStepRequest) { r.Caller.Session = repeat(201) }), "caller.session"},
		"client of a lesson": {remember(func(r *memory.RememberRequest) { r.Caller.Dir = repeat(4096) }),
			remember(func(r *memory.RememberRequest) { r.Caller.Dir = repeat(4097) }), "caller.dir"},

		"tool, most": {step(func(r *memory.RecordStepRequest) { r.Tool.Name = repeat(200) }),
			step(func(r *memory.RecordStepRequest) { r.Tool.Name = repeat(201) }), "tool.name"},
		"tool, least": {step(func(r *memory.RecordStepRequest) { r.Tool.Name = "x" }),
			step(func(r *memory.RecordStepRequest) { r.Tool.Name = " " }), "tool.name"},
		"message": {step(func(r *memory.RecordStepRequest) { r.Outcome.Error.Message = repeat(8000) }),
			step(func(r *memory.RecordStepRequest) { r.Outcome.Error.Message = repeat(8001) }), "outcome.error.message"},
		"error of a success": {step(func(r *memory.RecordStepRequest) { r.Outcome = memory.Outcome{OK: true} }),
			step(func(r *memory.RecordStepRequest) { r.Outcome.OK = true }), "outcome.error"},
		"failure without an error": {step(func(r *memory.RecordStepRequest) { r.Outcome.Error = nil }),
			step(func(r *memory.RecordStepRequest) { r.Outcome.Error.Code = repeat(201) }), "outcome.error.code"},
		"duration, least": {step(func(r *memory.RecordStepRequest) { r.DurationMs = 0 }),
			step(func(r *memory.RecordStepRequest) { r.DurationMs = -1 }), "durationMs"},
		"duration, most": {step(func(r *memory.RecordStepRequest) { r.DurationMs = 604_800_000 }),
			step(func(r *memory.RecordStepRequest) { r.DurationMs = 604_800_001 }), "durationMs"},
		"values together": {
			step(func(r *memory.RecordStepRequest) { r.Tool.Input, r.Observation = jsonOf(100<<10), jsonOf(156<<10) }),
			step(func(r *memory.RecordStepRequest) { r.Tool.Input, r.Observation = jsonOf(100<<10), jsonOf(156<<10+1) }), "observation"},
		"values, the largest named": {
			step(func(r *memory.RecordStepRequest) { r.Outcome.Error.Details = jsonOf(256 << 10) }),
			step(func(r *memory.RecordStepRequest) { r.Outcome.Error.Details = jsonOf(256<<10 + 1) }), "outcome.error.details"},
		"input, broken": {step(func(r *memory.RecordStepRequest) { r.Tool.Input = json.RawMessage(`[1,"a"]`) }),
			step(func(r *memory.RecordStepRequest) { r.Tool.Input = json.RawMessage(`[1,"a"`) }), "tool.input"},
		"target, broken": {step(func(r *memory.RecordStepRequest) { r.Tool.Target = json.RawMessage(`"t"`) }),
			step(func(r *memory.RecordStepRequest) { r.Tool.Target = json.RawMessage(`t`) }), "tool.target"},
		"observation": {step(func(r *memory.RecordStepRequest) { r.Observation = json.RawMessage(`"text"`) }),
			step(func(r *memory.RecordStepRequest) { r.Observation = json.RawMessage(`12`) }), "observation"},
		"environment": {step(func(r *memory.RecordStepRequest) { r.Environment = json.RawMessage(` {} `) }),
			step(func(r *memory.RecordStepRequest) { r.Environment = json.RawMessage(`}`) }), "environment"},
		"time": {step(func(r *memory.RecordStepRequest) { r.Timestamp = time.Unix(0, 0) }),
			step(func(r *memory.RecordStepRequest) { r.Timestamp = time.Unix(-1, 0) }), "timestamp"},
		"session of a step": {step(func(r *memory.RecordStepRequest) { r.SessionID = "abcd" }),
			step(func(r *memory.RecordStepRequest) { r.SessionID = "a b c" }), "sessionId"},
		"screenshot": {step(func(r *memory.RecordStepRequest) { r.Screenshot = repeat(200) }),
			step(func(r *memory.RecordStepRequest) { r.Screenshot = repeat(201) }), "screenshot"},
	} {
		if err := check(tc.at); err != nil {
			t.Errorf("%s: at the limit: %v", name, err)
		}
		err := check(tc.over)
		if e := memory.AsError(err); err == nil || e.Code != memory.CodeInvalidInput || e.Field != tc.field || e.Limit == "" {
			t.Errorf("%s: past the limit: %v, want invalid input that names %s and the limit", name, err, tc.field)
		}
	}
}

func TestStepOfAFile(t *testing.T) {
	at := time.Unix(1, 0)
	for name, tc := range map[string]struct {
		r     memory.Record
		field string
	}{
		"a step":      {memory.Record{Created: at, Step: &memory.StepContent{Tool: memory.StepTool{Name: "t"}}}, ""},
		"no content":  {memory.Record{Created: at}, "tool"},
		"no time":     {memory.Record{Step: &memory.StepContent{Tool: memory.StepTool{Name: "t"}}}, "timestamp"},
		"no tool":     {memory.Record{Created: at, Step: &memory.StepContent{}}, "tool.name"},
		"many labels": {memory.Record{Created: at, Step: &memory.StepContent{Tool: memory.StepTool{Name: "t"}, Labels: many(21, "l")}}, "labels"},
		"success with an error": {memory.Record{Created: at, Step: &memory.StepContent{
			Tool: memory.StepTool{Name: "t"}, Outcome: memory.Outcome{OK: true, Error: &memory.StepError{Message: "a warning"}},
		}}, ""},
	} {
		err := tc.r.ValidateStep()
		if tc.field == "" && err != nil || tc.field != "" && (err == nil || memory.AsError(err).Field != tc.field) {
			t.Errorf("%s: %v, want an error that names %q", name, err, tc.field)
		}
	}
}
