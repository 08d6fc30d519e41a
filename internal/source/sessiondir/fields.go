package sessiondir

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/recalld/recalld/internal/memory"
)

// fields are the fields of a JSON object. An input reads them into the variables, an output
// writes them, in the order of the calls.
type fields interface {
	text(name string, s *string)
	list(name string, list *[]string)
	flag(name string, set *bool)
	raw(name string, value *json.RawMessage)
	time(name string, t *time.Time)
	whole(name string, n *int64)
	object(name string, of func(fields))
	outcome(o *memory.Outcome)
}

// sessionFields are the fields of a session file. Two are not in the contract: endedAt, and
// screenshots if the session asked for pictures. Project and client are not written.
func sessionFields(c fields, s *memory.Session) {
	c.text("sessionId", &s.ID)
	c.time("createdAt", &s.CreatedAt)
	c.time("endedAt", &s.EndedAt)
	c.text("goal", &s.Goal)
	c.list("flowTags", &s.FlowTags)
	c.list("tags", &s.Tags)
	c.raw("build", &s.Build)
	gitFields(c, &s.Git)
	c.raw("launch", &s.Launch)
	c.flag("screenshots", &s.Screenshots)
}

// stepFields are the fields of a step file. Screen and fingerprints are derived and left out.
func stepFields(c fields, r *memory.Record) {
	s := r.Step
	c.time("timestamp", &r.Created)
	c.text("sessionId", &r.Session)
	c.raw("environment", &s.Environment)
	gitFields(c, &s.Git)
	c.raw("build", &s.Build)
	c.object("tool", func(c fields) {
		c.text("name", &s.Tool.Name)
		c.raw("input", &s.Tool.Input)
		c.raw("target", &s.Tool.Target)
	})
	c.object("timing", func(c fields) { c.whole("durationMs", &s.DurationMs) })
	c.outcome(&s.Outcome)
	c.raw("observation", &s.Observation)
	c.object("artifacts", func(c fields) { c.text("screenshot", &s.Screenshot) })
	c.list("labels", &s.Labels)
}

// gitFields are the state of a repository.
func gitFields(c fields, g **memory.Git) {
	var x memory.Git
	if *g != nil {
		x = **g
	}
	c.object("git", func(c fields) {
		c.text("branch", &x.Branch)
		c.text("commit", &x.Commit)
		c.flag("dirty", &x.Dirty)
	})
	if x != (memory.Git{}) {
		*g = &x
	}
}

func errorFields(c fields, e *memory.StepError) {
	c.text("code", &e.Code)
	c.text("message", &e.Message)
	c.raw("details", &e.Details)
}

// decodeSession decodes a session file, in which every field is optional, and returns its
// version. The error is errNotJSON or names a field.
func decodeSession(text []byte) (s memory.Session, version int, err error) {
	in, err := readInput(text)
	if err != nil {
		return s, 0, err
	}
	version = in.version()
	// Neither is in the contract: with another type it has another meaning.
	aside := map[string]json.RawMessage{}
	_, _, isTime := timeOf(in.fields["endedAt"])
	for name, ours := range map[string]bool{"endedAt": isTime, "screenshots": string(in.fields["screenshots"]) == "true"} {
		if raw, ok := in.fields[name]; ok && !ours {
			aside[name] = raw
			delete(in.fields, name)
		}
	}
	sessionFields(in, &s)
	maps.Copy(in.fields, aside)
	s.Extra = in.rest()
	return s, version, *in.err
}

func encodeSession(s memory.Session) ([]byte, error) {
	out := newOutput(s.Extra)
	out.version()
	sessionFields(out, &s)
	return out.file()
}

// decodeStep decodes a step file and returns its version. Only the tool's name is
// required, and a time, in the file or in its name. The record has no id and project, and
// the session that the file names, if any. The error is errNotJSON or names a field.
func decodeStep(text []byte, name string) (r memory.Record, version int, err error) {
	in, err := readInput(text)
	if err != nil {
		return r, 0, err
	}
	version = in.version()
	r = memory.Record{Kind: memory.Step, Step: &memory.StepContent{}}
	stepFields(in, &r)
	if r.Created.IsZero() {
		r.Created, _ = timeInName(name)
	}
	r.Step.Extra = in.rest()
	return r, version, *in.err
}

// encodeStep encodes a step file. Fields that are required by the contract are always
// there.
func encodeStep(r memory.Record, session string) ([]byte, error) {
	c := *r.Step
	// Readers of the contract expect a state in it.
	if _, ok := c.Extra["observation"]; len(c.Observation) == 0 && !ok {
		c.Observation = json.RawMessage("{}")
	}
	r.Step, r.Session = &c, session
	out := newOutput(c.Extra)
	out.version()
	stepFields(out, &r)
	return out.file()
}
